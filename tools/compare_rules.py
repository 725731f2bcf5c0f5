"""The rules that most of the papers' time goes to, at an earlier commit and now: processor time in one run, and whether models
are the same.

python tools/compare_rules.py COMMIT --mirror FOLDER [--rules classify audit reviews] [--datasets NAME ...]

Both run in processes of their own, piece by piece in turn, with the packages of this environment. A piece of ``classify`` is a
data set with all classifiers in both configurations, k = 2, 5 and 10; of ``audit`` a population; of ``reviews`` one draw of
domains at some points of the axes.
"""

import argparse
import hashlib
import os
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from main_studies import main_study, measure_of
from two_commits import ROOT, run, sources_of

SEEDS = (3, 12)  # of a data set with more and with fewer rows than
MANY_ROWS = 2000
REPLICATES = 30  # of a population
DATASETS = 20  # of a draw of domains
POINTS = ((2, 100), (9, 20), (9, 100), (9, 500))  # training domains, reviews of each
N_FEATURES = 5000
AUDIT = "audit_coverage"
SEED = 20260101


def measure(task):
    """Seconds by name, and what the models say, as text or as numbers."""
    return {"classify": classify, "audit": audit, "reviews": reviews}[task["rule"]](task)


def seconds():
    """Processor time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def settings_of(study, root=ROOT):
    """Settings of a study, by its id, at the paper's scale, and the learners file, of a checkout."""
    from foldshift.studies.configure import configure

    whole = configure({"scale": "paper"}, Path(root))
    return whole.config["studies"][study], whole.learners


def classify(task):
    """Every classifier as a job has it: one process, one data set, cut by cut."""
    from foldshift.datasets.dataset import read_prepared
    from foldshift.evaluation import build_learner, design_matrix
    from foldshift.partition import make_folds
    from foldshift.planning.learners_file import configured_learners

    study, learners = settings_of(main_study("classification").id, task["root"])
    ids = dict.fromkeys(name for names in configured_learners(study, learners).values() for name in names.values())
    ids = sorted(ids, key=lambda name: name.partition("@")[0])  # both configurations beside each other
    data = read_prepared(task["data"])
    n_seeds = SEEDS[len(data.y) <= MANY_ROWS]
    matrices = {name: design_matrix(data, learners[name]["nominal"]) for name in ids}
    estimators = {name: build_learner(learners[name], categorical_features=data.categorical_features) for name in ids}
    spent, labels, scores = dict.fromkeys(ids, 0.0), {}, {}
    for timed in (False, True):  # compile before the clock runs
        for k in (2, 5, 10) if timed else (2,):
            folds = make_folds("SCV", None, data.y, k, range(n_seeds) if timed else (1000, 1001))
            states = np.arange(len(folds) * k, dtype=np.uint32).reshape(-1, k)
            for name in ids:
                start = seconds()
                found = estimators[name].scores_folds(matrices[name], data.y, folds, states)
                if timed:
                    spent[name] += seconds() - start
                    labels.setdefault(name, []).append(estimators[name].decide(found))
                    scores.setdefault(name, []).append(found)
    np.savez(task["out"], **{name: np.concatenate([one.reshape(-1) for one in labels[name]]) for name in ids})
    return {"seconds": spent, "scores": {name: _digest(scores[name]) for name in ids}, "labels": task["out"]}


def audit(task):
    """Samples of one population, all learners and partitioners of the audit."""
    study, audit_coverage = measure_of(AUDIT)
    settings, learners = settings_of(study, task["root"])
    settings = settings["audit"]
    keywords = {key: settings[key] for key in ("n_sample", "n_folds", "partitioners")}
    keywords |= {"learners": {name: learners[name] for name in settings["learners"]}, "master_seed": SEED, "limits": {}}
    cell, nothing = {"population": task["population"]}, SimpleNamespace(data=None)
    audit_coverage(nothing, cell, n_replicates=1, **keywords)
    start = seconds()
    rows = audit_coverage(nothing, cell, n_replicates=REPLICATES, **keywords)["audit"]
    return {"seconds": {task["population"]: seconds() - start}, "scores": {task["population"]: _digest(rows)}}


def reviews(task):
    """One draw of domains, both learners and both samplings."""
    _, measure_error = measure_of("measure_error")
    found, spent, inputs = {}, {}, SimpleNamespace(counts=task["counts"])
    keywords = {"n_sources": [], "held_fixed": {"n_sources": 9, "n_points": 100}, "master_seed": SEED}
    for learner in ("NB", "SVM"):
        for k, m in POINTS:
            keywords |= {"n_sources": [k], "n_points": [m], "held_fixed": {"n_sources": k, "n_points": m}}
            for sampling in ("with", "without"):
                cell = {"learner": learner, "sampling": sampling, "block": "0-0"}
                measure_error(inputs, cell, n_datasets=2, **keywords)
                start = seconds()
                (row,) = measure_error(inputs, cell, n_datasets=DATASETS, **keywords)["error"]
                name = f"{learner} {k} x {m} {sampling}"
                spent[name] = seconds() - start
                found[name] = [row[one][0] for one in ("cvs", "cvr", "out_of_source")]
    return {"seconds": spent, "means": found}


def _digest(values):
    return hashlib.sha256(repr([one if isinstance(one, dict) else one.tobytes() for one in values]).encode()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the earlier one")
    parser.add_argument("--mirror", type=Path, required=True, help="folder with the data files")
    parser.add_argument("--rules", nargs="+", default=["classify", "audit", "reviews"], choices=["classify", "audit", "reviews"])
    parser.add_argument("--datasets", nargs="+", help="of classify (default: all of the paper's)")
    args = parser.parse_args()
    with sources_of(args.commit) as sources, tempfile.TemporaryDirectory() as folder:
        for rule in args.rules:
            print(f"\n{rule}: seconds before and now", flush=True)
            {"classify": compare_classify, "audit": compare_audit, "reviews": compare_reviews}[rule](sources, args, Path(folder))


def both(sources, task):
    """A piece of work before and now."""
    return [
        run(source, "compare_rules", task | {"out": f"{task.get('out', '')}{i}.npz", "root": str(source.parent)})
        for i, source in enumerate(sources)
    ]


def compare_classify(sources, args, folder):
    """Print seconds by data set, then by classifier, and how many predictions are the same.

    Both commits get the rows that this one prepares: a data set may be new, or have had its rows in another order.
    """
    from foldshift.datasets.catalogue import load_dataset
    from foldshift.datasets.dataset import write_prepared

    totals, same_scores, n_labels, n_other, n_cells = {}, {}, {}, {}, 0
    for name in args.datasets or settings_of(main_study("classification").id)[0]["datasets"]:
        prepared = folder / "prepared.parquet"
        write_prepared(prepared, load_dataset(name, scaling="global", mirror=args.mirror))
        task = {"rule": "classify", "data": str(prepared), "out": str(folder / "labels")}
        old, new = both(sources, task)
        n_cells += 1
        with np.load(old["labels"], allow_pickle=False) as before, np.load(new["labels"], allow_pickle=False) as now:
            for one in new["seconds"]:
                total = totals.setdefault(one, [0.0, 0.0])
                total[0] += old["seconds"][one]
                total[1] += new["seconds"][one]
                same_scores[one] = same_scores.get(one, 0) + (old["scores"][one] == new["scores"][one])
                n_labels[one] = n_labels.get(one, 0) + len(now[one])
                n_other[one] = n_other.get(one, 0) + int((before[one] != now[one]).sum())
        _print(name, sum(old["seconds"].values()), sum(new["seconds"].values()))
    print()
    for one, (old, new) in totals.items():
        same = f"same scores on {same_scores[one]} of {n_cells} sets; {n_other[one]} of {n_labels[one]:,} labels differ"
        _print(one, old, new, same)
    _print("all", *np.sum(list(totals.values()), axis=0))


def compare_audit(sources, args, folder):
    """Print seconds by population, and whether all rows are the same."""
    settings, _ = settings_of(measure_of(AUDIT)[0])
    totals = []
    for name in settings["audit"]["populations"]:
        if "/" in name or name in ("phoneme", "banana"):  # data sets of the catalogue
            continue
        old, new = both(sources, {"rule": "audit", "population": name})
        totals.append([old["seconds"][name], new["seconds"][name]])
        _print(name, *totals[-1], "the same rows" if old["scores"] == new["scores"] else "OTHER ROWS")
    _print("all", *np.sum(totals, axis=0))


def compare_reviews(sources, args, folder):
    """Print seconds by learner and point, and by how much the means move."""
    from foldshift.datasets.reviews import bag_of_words, load_reviews, write_counts

    counts = folder / "counts.npz"
    write_counts(counts, bag_of_words(load_reviews(args.mirror), n_features=N_FEATURES))
    old, new = both(sources, {"rule": "reviews", "counts": str(counts)})
    totals = []
    for name in new["seconds"]:
        totals.append([old["seconds"][name], new["seconds"][name]])
        gap = np.abs(np.subtract(old["means"][name], new["means"][name])).max()
        _print(name, *totals[-1], f"means of {DATASETS} data sets differ by {gap:.1e} at most")
    _print("all", *np.sum(totals, axis=0))


def _print(name, old, new, told=""):
    ratio = f"{old / new:6.2f}" if min(old, new) >= 0.1 else 6 * " "  # the clock of processes goes in hundredths
    print(f"{name:28} {old:8.2f} {new:8.2f} {ratio}  {told}", flush=True)


if __name__ == "__main__":
    main()
