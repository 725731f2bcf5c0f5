"""Results of which Snakemake has no record are not taken for today's without a word."""

from foldshift.engine.layout.labels import forgotten


def test_results_without_a_record_are_named_with_the_remedy(tmp_path):
    results, memory = tmp_path / "results", tmp_path / ".snakemake"
    (results / "saez_2022/tables").mkdir(parents=True)
    assert forgotten(results, ["saez_2022"], memory) is None  # nothing there
    (results / "saez_2022/tables/error.csv").write_text("")
    note = forgotten(results, ["saez_2022", "wong_2015"], memory)
    assert "files of saez_2022, and" in note and "--forceall" in note
    assert forgotten(results, ["wong_2015"], memory) is None  # not of this run
    (memory / "metadata").mkdir(parents=True)
    assert forgotten(results, ["saez_2022"], memory) == note
    (memory / "metadata/cmVzdWx0cw==").write_text("{}")
    assert forgotten(results, ["saez_2022"], memory) is None


def test_a_data_base_is_a_record(tmp_path):
    (tmp_path / "saez_2022").mkdir()
    (tmp_path / "saez_2022/a").write_text("")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/metadata.db").write_text("")
    assert forgotten(tmp_path, ["saez_2022"], tmp_path / "memory") is None
