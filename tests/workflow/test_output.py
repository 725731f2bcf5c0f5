"""Output of a run: few lines, failures at once with their message and log, and where the results are, for every target."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from workflow_runner import ROOT, TINY, Workflow

pytestmark = pytest.mark.workflow
MOST_LINES = 25
RESULTS = r"foldshift: saez_2022: \d+ tables in results/saez_2022/tables, \d+ figures"
SNAKEMAKE = str(Path(sys.executable).with_name("snakemake"))


def said(done):
    return done.stdout + done.stderr


@pytest.fixture
def copied(finished, tmp_path):
    """The finished run in a folder of its own, to be damaged."""
    subprocess.run(["cp", "-a", f"{finished.folder}/.", str(tmp_path)], check=True)
    return Workflow(tmp_path)


def test_a_run_prints_few_lines_and_where_the_results_are(finished):
    text = finished.said
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES, text
    assert not re.search(r"Finished jobid|steps \(|Select jobs|^Job \d", text, re.MULTILINE)
    assert re.search(
        r"foldshift: \d+ jobs, [\d.]+ core-minutes, about .* on 2 cores; every job: --verbose, and \.snakemake/log/", text
    )
    assert "finished in" in text and re.search(RESULTS, text)
    (log,) = re.findall(r"Complete log\(s\): (\S+)", text)
    assert Path(log).read_text().count("Finished jobid") > 20


def test_a_job_that_fails_is_shown_at_once_with_its_message_and_log(copied):
    damaged = next(copied.folder.glob("results/saez_2022/shift/*/*/*.parquet"))
    damaged.write_text("no")
    done = copied("--forcerun", "collect_shift", "--rerun-triggers", "mtime", cores=1)
    text = said(done)
    assert done.returncode and "Error in rule collect_shift" in text and "Parquet file size is 2 bytes" in text
    log = re.findall(r"foldshift: failed: collect_shift, log (\S+)", text)
    assert log and (copied.folder / log[0]).exists()
    assert text.index("Parquet file size") < text.index("stopped after") < text.index("foldshift: failed")


def test_a_run_with_nothing_to_do_says_where_the_results_are(finished):
    text = said(finished(check=True))
    assert "Nothing to be done" in text and re.search(RESULTS, text)
    assert len(text.splitlines()) <= MOST_LINES


def test_a_table_or_figure_is_a_target_by_its_name(finished):
    assert finished.plan(targets=["saez_2022_dn_boxes"]) == {}
    jobs = finished.plan("--forcerun", "saez_2022_shift_figures", targets=["saez_2022_dn_boxes"])
    assert jobs == {"saez_2022_shift_figures": 1, "saez_2022_dn_boxes": 1}
    text = said(finished(targets=["saez_2022_dn_boxes"], check=True))
    assert "foldshift: results/saez_2022/figures/dn_boxes.html" in text
    wrong = finished(targets=["saez_2022_dn_boxs"])
    assert wrong.returncode and "saez_2022_dn_boxes" in said(wrong)


def test_the_list_names_items_beside_the_rule_that_makes_them(finished):
    text = said(finished("--list", targets=[]))
    assert re.search(r"^saez_2022_shift_figures \(.* Items: dn_boxes, dn_by_dataset\.\)$", text, re.MULTILINE)
    assert not re.search(r"^saez_2022_dn_boxes", text, re.MULTILINE) and re.search(r"^paper \(", text, re.MULTILINE)


def dry_run(folder, *arguments):
    command = [SNAKEMAKE, *arguments, "--snakefile", str(ROOT / "Snakefile"), "--cores", "1", "--dry-run", "--quiet", "rules"]
    return subprocess.run(
        [*command, "--workflow-profile", str(ROOT / "profiles/default")], cwd=folder, capture_output=True, text=True
    )


def test_paper_is_the_five_papers_in_full_without_a_configuration_file(tmp_path):
    stats = dict(re.findall(r"^(\w+) +(\d+)$", said(dry_run(tmp_path, "paper")), re.MULTILINE))
    one_of_each = [
        "saez_2022_error",
        "moreno_torres_2012_agreement",
        "geras_2013_error",
        "wong_2015_audit",
        "cieslak_2009_features",
    ]
    assert set(one_of_each) <= stats.keys()
    assert not [rule for rule in stats if rule.startswith(("foldshift_2026", "advice")) or rule.endswith("_published")]
    named = said(
        dry_run(tmp_path, "all", "--configfile", *(str(ROOT / f"config/{name}.yaml") for name in ("paper", "published_papers")))
    )
    total = re.search(r"^total +(\d+)$", named, re.MULTILINE)[1]
    assert int(stats["total"]) == int(total) > 1000


def test_paper_takes_settings_of_the_command_line_and_no_other_target(tmp_path):
    mixed = dry_run(tmp_path, "paper", "saez_2022")
    assert mixed.returncode and "snakemake saez_2022 --configfile config/paper.yaml" in said(mixed)
    fewer = dict(
        re.findall(r"^(\w+) +(\d+)$", said(dry_run(tmp_path, "paper", "--config", "n_seeds=2", "n_truth=2")), re.MULTILINE)
    )
    assert int(fewer["evaluate"]) < 76


def test_paper_says_its_plan_before_anything_is_started(tmp_path):
    config = TINY | {"studies": {"saez_2022": {}}}
    workflow = Workflow(tmp_path, config)
    text = said(workflow("--until", "write_provenance", targets=["paper"], check=True))
    assert text.index("core-minutes   longest    memory      disk") < text.index("Time, if nothing else runs: 1 core")
    assert (tmp_path / "results/provenance/config.yaml").exists()


def test_published_results_stand_beside_those_of_the_default_configuration(tmp_path):
    text = said(dry_run(tmp_path, "wong_2015"))
    assert re.search(r"^wong_2015_published +1$", text, re.MULTILINE)
    command = [SNAKEMAKE, "wong_2015_published", "--snakefile", str(ROOT / "Snakefile"), "--cores", "1"]
    subprocess.run(
        [*command, "--workflow-profile", str(ROOT / "profiles/default")], cwd=tmp_path, check=True, capture_output=True
    )
    for page in ("tables/table1_textbooks.html", "figures/repetitions.html"):
        assert "Published, full scale: commit " in (tmp_path / "results/wong_2015/published" / page).read_text()
