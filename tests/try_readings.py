"""Printed numbers that were not met: could another reading, or another split, have given them?

    make validate WHAT=readings MIRROR=FOLDER

*Page.* In print 3 of its 10 features fail without any shift. Of 10,000 random splits: in how many do so many fail, and what comes
of those in which exactly 3 do, beside the printed numbers that rest on the same split.

*Table 6.* Skewness of the Hellinger distances, under every reading of what varies (versions, features, both), of what is
averaged, of the bins, of the end that is removed and of the skewness. Each is compared with the 48 printed numbers by correlation
and by signs; the largest of all is judged against the same after the printed data sets are exchanged, which counts the choice.

*Table III of the classification study.* Three facts of the paper's tool, read in its source and its data files, not chosen by the
printed numbers: its logistic model has a ridge, and its optimiser stops by rules of its own (SVM on hepatitis); inputs are
scaled by the ranges that the header declares (SVM on bands); the length of a rule is counted in natural logarithms (RIPPER on
mammographic).

*Table 5 of the regression study.* How much the error of the nearest-neighbour mean depends on which of several samples at equal
distance are taken, which the paper does not say: standard deviation over random orders of the rows, folds unchanged. And RPART
with 6 samples per leaf, as printed, and with 7, R's own default.

*Tables V and VI of the classification study.* From the seed rows of a run of it (``make validate WHAT=readings RUN=FOLDER``,
as below): the printed Table V held against every way to cut that was run, with one iteration and with all of an experiment,
and with the printed p of Table IV as thresholds, so that the truth of the run plays no part; and Table VI by the number of
iterations. The tool takes equal samples for no neighbours, and what its DB-SCV does is not published: the 2,201 rows of
titanic are 24 different ones, and cut into two folds by that rule DB-SCV puts equal rows into the same fold. So its cut is
also held against print with titanic cut anew, equal rows being neighbours.

*Table VII of the classification study.* From the predictions of a run of it (``make validate WHAT=readings RUN=FOLDER``, the
folder that holds ``results`` and ``resources``): experiments until the correlation is reached, by the first step that reaches
it and by the first from which on it holds; for three ways to read ".9999" (reached; passed, when four digits are looked at;
the same of its square); and for three vectors: whether every instance is right, its predicted class, and the predicted class
of every place in the files of test parts. The tool writes these fold by fold and in a fold class by class, and its results
have no other name for an instance, so that a place keeps its class and not its instance. Further the recall of every fold and
class, and what changes with one thing of it, with the distance of every reading to print. And what the agreement between single
runs leads one to expect, for every distance and rule of the partitioners."""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import skew

from foldshift.datasets import load_dataset
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.config.runs import configure
from foldshift.engine.layout.bundles import TRUTH
from foldshift.engine.layout.file_names import in_order
from foldshift.engine.storage.fold_files import read_folds
from foldshift.engine.storage.prediction_files import read_predictions
from foldshift.evaluation import build_learner, classification_scores, design_matrix, evaluate_folds
from foldshift.inference.comparisons.wilcoxon import rank_sum_p
from foldshift.inference.missing import mean_present
from foldshift.inference.repetitions.agreement import agreements, pairwise_tests
from foldshift.inference.repetitions.convergence import CAP, THRESHOLD, THRESHOLDS, converge_cell
from foldshift.inference.repetitions.recall_convergence import converge_by_recall
from foldshift.learners import NNRegressor, PDFClassifier, RIPPERClassifier, RPARTRegressor, SVMClassifier
from foldshift.partition import make_folds
from foldshift.studies.cieslak_2009.detectors.feature_detectors import TrainTest, feature_p_values, shift_rows
from foldshift.studies.cieslak_2009.measure import draw_repeat, shifted_tests
from foldshift.studies.cieslak_2009.shift_conditions import BIAS
from foldshift.studies.moreno_torres_2012.experiments import read_experiments

ROOT = Path(__file__).resolve().parents[1]
PRINTED = ROOT / "src/foldshift/studies/cieslak_2009/printed"
NAMES = {"E-State": "estate"} | {
    name: name.lower() for name in ("Mammography", "Oil", "Page", "Pendigits", "Phoneme", "Satimage", "Segment")
}
BINS = (("width", 10), ("width", 30), ("share", 30), ("value", None))
SEED, ALPHA, IN_PRINT = 2022, 0.05, 3
N_TIE_SEEDS = 40  # of every order of the rows
CLASSES = ROOT / "src/foldshift/studies/moreno_torres_2012/printed"
AUC = CLASSES / "table3_auc.csv"
REGRESSION = ROOT / "src/foldshift/studies/saez_2022/printed"
CONVERGENCE = CLASSES / "table7_convergence.csv"
PAPER_LEARNERS = {"1NN@paper", "3NN@paper", "C4.5@paper", "FURIA", "LDA@paper", "PART@paper", "PDFC", "RIPPER@paper", "SVM@paper"}
PAIR_ALPHA = 0.1  # at which classifiers differ
TOOL, DUPLICATED = "@keel-keel", "titanic"  # the tool's cut, and the data set that its rule for duplicates parts most
N_ORDERS = 10  # of experiments
ITERATIONS = {2: 5, 5: 2, 10: 1}  # of an experiment, by number of folds
READINGS = {".9999": 0.9999, "1.0000 in print": 0.99995, "square 1.0000 in print": 0.99995**0.5}
KEEL_RIPPER = {"remaining_rows_mdl": True, "final_polish": False, "columns_once": True, "greedy_pruning": True}
CELLS = (
    (SVMClassifier(threshold="logistic_one_step"), "SVM", ("hepatitis", "bands", "bands-declared", "crx", "crx-declared")),
    (PDFClassifier(), "PDFC", ("hepatitis", "hepatitis-declared", "bands", "bands-declared")),
    (RIPPERClassifier(**KEEL_RIPPER), "RIPPER", ("mammographic-repaired",)),
)


def tables(data, number):
    """A random split, its training and its test table."""
    repeat = draw_repeat(data, SEED, number)
    return repeat, data.X[repeat.parts.train], data.X[repeat.parts.test]


def page(data, n_splits):
    """Features that fail in every split by the paper's p, and what the splits with as many as in print give."""
    nominal, failing, found = data.categorical_features, [], []
    for number in range(n_splits):
        repeat, train, test = tables(data, number)
        failing.append(int((feature_p_values(train, test, np.arange(len(test))[None], nominal).paper < ALPHA).sum()))
        if failing[-1] != IN_PRINT:
            continue
        row = {}
        for shifted in shifted_tests(repeat, "smallest", print):
            if shifted.condition.kind in ("mcar", "translation"):
                per_version, whole = shift_rows(TrainTest.of(repeat), shifted.versions, ALPHA)
                row[f"{shifted.condition.name}: share"] = (per_version["fails_paper"] / per_version["n_tested"]).mean()
                row[f"{shifted.condition.name}: phi"] = whole["phi_paper"]
        found.append(row)
    return np.array(failing), pd.DataFrame(found)


def codes(column, how, n):
    """Bin of every value, and the number of bins: of equal width, of equal share of the rows, or one for every value."""
    if how == "width":
        low, width = column.min(), np.ptp(column) / n
        return np.minimum((column - low) / (width or 1.0), n - 1).astype(int), n
    edges = np.unique(np.quantile(column, np.arange(1, n) / n)) if how == "share" else np.unique(column)[1:]
    return np.searchsorted(edges, column, side="right"), len(edges) + 1


def distances(train, test, rows, bins):
    """Hellinger distance of every version and feature."""
    out = np.empty((len(rows), train.shape[1]))
    for j in range(train.shape[1]):
        code, n = codes(np.concatenate([train[:, j], test[:, j]]), *bins)
        root = np.sqrt(np.bincount(code[: len(train)], minlength=n) / len(train))
        for v, kept in enumerate(rows):
            other = np.bincount(code[len(train) :][kept], minlength=n) / len(kept)
            out[v, j] = np.sqrt(((root - np.sqrt(other)) ** 2).sum())
    return out


def readings(found):
    """Skewness under every reading, by what varies and how it is measured, of distances of versions and features."""
    with np.errstate(all="ignore"):
        sets = {
            "versions, mean feature": np.nanmean(found, axis=1),
            "versions, median feature": np.nanmedian(found, axis=1),
            "versions, largest feature": np.nanmax(found, axis=1),
            "versions, root mean square": np.sqrt(np.nanmean(found**2, axis=1)),
            "features, mean version": np.nanmean(found, axis=0),
            "features, first version": found[0],
            "versions and features": found.ravel(),
        }
    out = {}
    for name, values in sets.items():
        values = values[~np.isnan(values)]
        out[name, "moment"] = skew(values)
        out[name, "mean less median"] = 3 * (values.mean() - np.median(values)) / (values.std() or np.nan)
    out["features, then mean over versions", "moment"] = np.mean([skew(row[~np.isnan(row)]) for row in found])
    out["versions, then mean over features", "moment"] = np.nanmean([skew(row[~np.isnan(row)]) for row in found.T])
    return out


def table6(mirror, n_splits):
    """Every reading of the 48 numbers: shape (readings, data sets, conditions), and names of the readings."""
    rows = []
    for name in NAMES.values():
        data = load_dataset(name, mirror=mirror)
        for number in range(n_splits):
            repeat, train, test = tables(data, number)
            for end in ("smallest", "largest"):
                for shifted in shifted_tests(repeat, end, print):
                    if shifted.condition.name not in BIAS:
                        continue
                    for bins in BINS:
                        found = distances(train, test, shifted.versions.rows, bins)
                        if shifted.condition.kind == "mnar":
                            np.fill_diagonal(found, np.nan)
                        for reading, value in readings(found).items():
                            rows.append((name, shifted.condition.name, (end, bins[0], bins[1], *reading), value))
        print(f"{name}: {n_splits} splits", flush=True)
    table = pd.DataFrame(rows, columns=["dataset", "condition", "reading", "value"])
    wide = table.groupby(["reading", "dataset", "condition"])["value"].mean().unstack("condition")[list(BIAS)].unstack("dataset")
    wide = wide.dropna()
    values = wide.to_numpy().reshape(len(wide), len(BIAS), -1).transpose(0, 2, 1)
    return values, list(wide.index), list(wide.columns.get_level_values(1)[: len(NAMES)])


def agreement(readings, printed):
    """Correlation with print, and how many more signs than half are the same or the opposite, of every reading."""

    def scaled(values):
        return (values - values.mean(axis=(-2, -1), keepdims=True)) / values.std(axis=(-2, -1), keepdims=True)

    correlation = (scaled(readings) * scaled(printed)).mean(axis=(1, 2))
    return correlation, ((readings > 0) == (printed > 0)).sum(axis=(1, 2)) - printed.size / 2


def table3(mirror, n_experiments):
    """Gaps to print, in experiments of 5x2 by SCV, with their standard errors, those of print's 200 experiments included."""
    printed = pd.read_csv(AUC).set_index(["dataset", "classifier"])["auc"].rename(str.lower, level=0)
    for model, classifier, names in CELLS:
        for name in names:
            data = load_dataset(name, mirror=mirror, scaling="global")
            folds = make_folds("SCV", None, data.y, 5, range(2 * n_experiments))
            states = np.arange(folds.shape[0] * 5, dtype=np.uint32).reshape(-1, 5)
            right = (
                model.set_params(categorical_features=data.categorical_features).predict_folds(data.X, data.y, folds, states)
                == data.y
            )
            rates = [
                [right[s, (folds[s] == k) & (data.y == c)].mean() for k in range(5) for c in (0, 1)] for s in range(len(folds))
            ]
            area = np.mean(rates, axis=1).reshape(-1, 2).mean(axis=1)
            gap = area.mean() - printed[name.removesuffix("-repaired").removesuffix("-declared"), classifier]
            error = np.std(area, ddof=1) * np.sqrt(1 / n_experiments + 1 / 200)
            print(f"Table III, {classifier} on {name}: {gap:+.4f}, {abs(gap) / error:.1f} standard errors", flush=True)


def fold_errors(model, data, folds, order):
    """RMSE of every seed, mean over folds, with the rows in another order: shape (n_seeds,)."""
    folds = np.ascontiguousarray(folds[:, order])
    X, y = data.X[order], data.y[order]
    squares = (model.predict_folds(X, y, folds) - y) ** 2
    masks = [folds == fold for fold in range(folds.max() + 1)]
    return np.mean([np.sqrt((squares * mask).sum(axis=1) / mask.sum(axis=1)) for mask in masks], axis=0)


def table5(mirror, n_orders, n_seeds):
    """Mean errors beside print: of nearest neighbours in several orders of the rows, of trees with two sizes of leaves."""
    printed = pd.read_csv(REGRESSION / "table5_error.csv")
    printed = printed[(printed["metric"] == "rmse") & (printed["quantity"] == "mean")]
    printed = printed.set_index(["regressor", "k", "partitioner"])["value"]
    errors, cells = {}, [(k, name) for k in (2, 5, 10) for name in ("CV", "TSCV")]
    for name in pd.read_csv(REGRESSION / "table1_datasets.csv")["dataset"]:
        data = load_dataset(name, mirror=mirror, scaling="global")
        rng, rows = np.random.default_rng(0), np.arange(len(data.y))
        orders = [rng.permutation(rows) for _ in range(n_orders)]
        for k, partitioner in cells:
            folds = make_folds(partitioner, None, data.y, k, range(n_seeds))
            found = [fold_errors(NNRegressor(), data, folds[:N_TIE_SEEDS], order).mean() for order in orders]
            errors.setdefault(("NN", k, partitioner), []).append(found)
            for leaf in (6, 7):
                trees = fold_errors(RPARTRegressor(min_leaf=leaf), data, folds, rows)
                errors.setdefault((leaf, k, partitioner), []).append(trees)
    for k, partitioner in cells:
        ties = np.mean(errors["NN", k, partitioner], axis=0)
        print(
            f"Table 5, NN, {k} folds, {partitioner}: {ties.mean():.6f} over {n_orders} orders of the rows, standard deviation "
            f"{ties.std(ddof=1):.6f}, in print {printed['NN', k, partitioner]:.6f}"
        )
        for leaf in (6, 7):
            trees = np.mean(errors[leaf, k, partitioner], axis=0)
            gap = trees.mean() - printed["RPART", k, partitioner]
            error = trees.std(ddof=1) * np.sqrt(1 / n_seeds + 1 / 1000)
            print(
                f"Table 5, RPART, {leaf} samples in a leaf, {k} folds, {partitioner}: gap {gap:+.6f}, "
                f"{abs(gap) / error:.1f} standard errors"
            )


def by_place(y, folds, values, rng):
    """Values of every run in the order of the files of test parts: by fold, by class, then at random."""
    places = np.argsort(2.0 * folds + y + rng.random(folds.shape), axis=1)
    return np.take_along_axis(values, places, axis=1)


def of_print(tests):
    """Printed p of every pair that differs in print, and the name of the better: exact, from the printed sums of ranks."""
    found = {}
    for row in pd.read_csv(CLASSES / "table4_wilcoxon.csv").itertuples():
        if row.row < row.column and (p := float(rank_sum_p(float(row.r_plus), tests.n_datasets[0]))) <= PAIR_ALPHA:
            found[row.row, row.column] = p, float(row.r_plus) > float(row.r_minus)
    return found


def share_found(values, names, limits):
    """Per cent of experiments that find each pair at the printed p, in the same direction; of whole experiments alone."""
    hits = {pair: [] for pair in limits}
    for one in np.moveaxis(values, 2, 0):
        if np.isnan(one).any():
            continue
        tests = pairwise_tests(one, "paper")
        for i, j, p, plus, minus in zip(tests.row, tests.column, tests.p_value, tests.r_plus, tests.r_minus):
            pair, ahead = ((names[i], names[j]), plus > minus) if names[i] < names[j] else ((names[j], names[i]), minus > plus)
            if pair in limits:
                hits[pair].append(p <= limits[pair][0] + 1e-12 and plus != minus and ahead == limits[pair][1])
    return pd.Series({pair: 100 * np.mean(found) for pair, found in hits.items()}), len(next(iter(hits.values())))


def cut_anew(path, learners, cut, k, n_runs):
    """Areas of a data set that is cut by the tool's distance, equal samples being neighbours: shape (n_learners, n_runs)."""
    data, entries = read_prepared(path), configure({"scale": "paper"}, ROOT).learners
    nominal = data.categorical_features
    folds = make_folds(
        cut, data.X, data.y, k, range(n_runs), metric="keel", duplicates="neighbours", categorical_features=nominal
    )
    states = np.arange(n_runs * k, dtype=np.uint32).reshape(n_runs, k)
    areas = []
    for learner in learners:
        estimator = build_learner(entries[learner], categorical_features=nominal)
        predicted = evaluate_folds(
            estimator, design_matrix(data, entries[learner]["nominal"]), data.y, folds, random_states=states
        )
        classes = predicted.argmax(axis=2) if predicted.ndim == 3 else predicted
        areas.append(classification_scores(data.y, classes, None, folds, k)["auc_crisp"].mean(axis=1))
    return np.array(areas)


def judged_in_print(percents):
    """Numbers of pairs that some printed percentages allow: each is a whole number of 100 tests of every pair."""
    slack = 0.00101  # three digits, some rounded and some cut off
    return [n for n in range(1, 37) if all(abs(percent * n - round(percent * n)) <= slack * n for percent in percents)]


def tables5_and_6(run):
    """How often one experiment finds what is true, by cut and by iterations of an experiment, beside print."""
    paths = sorted((run / "results/moreno_torres_2012/seed_scores").glob("*.parquet"))
    learners, datasets = sorted(PAPER_LEARNERS), [path.stem for path in paths]
    names = [name.partition("@")[0] for name in learners]
    single = read_experiments(paths, learners, datasets, dict.fromkeys(ITERATIONS, 1))
    for k, cut in [key for key in single if key[1].endswith(TOOL) and DUPLICATED in datasets]:
        values = single[k, cut].copy()
        path = run / f"resources/prepared/global/{DUPLICATED}.npz"
        values[:, datasets.index(DUPLICATED)] = cut_anew(path, learners, cut.removesuffix(TOOL), k, values.shape[2])
        single[k, f"{cut}, {DUPLICATED} anew"] = values
    limits = of_print(pairwise_tests(mean_present(single[5, TRUTH]), "paper"))
    printed = pd.read_csv(CLASSES / "table5_dobscv_5x2_agreement.csv")
    printed = pd.Series({(row.row, row.column): row.times_same_result for row in printed.itertuples() if row.row < row.column})
    printed6 = pd.read_csv(CLASSES / "table6_accuracy.csv").set_index(["scheme", "partitioner"])["percent_same_result"]
    rows, means = [], []
    for (k, cut), values in single.items():
        n, r = values.shape[2] // ITERATIONS[k], ITERATIONS[k]
        whole = values.reshape(*values.shape[:2], n, r)
        for m in sorted({1, 2, r} - {2 if r == 1 else 0}) if cut != TRUTH else ():
            taken = whole[..., :m].mean(axis=3)
            found = agreements(mean_present(single[k, TRUTH]), taken, PAIR_ALPHA, "paper")
            percent = 100 * mean_present(np.where(found.judged, found.agree, np.nan), axis=0)
            error = np.nanstd(percent, ddof=1) / np.sqrt((~np.isnan(percent)).sum())
            means.append((f"{k}x{r}", cut, m, printed6.get((f"{k}x{r}", cut.partition("@")[0])), np.nanmean(percent), error, n))
            if k == 5:
                share, n = share_found(taken, names, limits)
                gap = share[printed.index] - printed
                chance = np.sqrt((printed * (100 - printed)).mean() * (1 / max(n, 1) + 1 / 100))
                rows.append((cut, m, n, np.sqrt((gap**2).mean()), chance, gap.mean(), share.loc[("PDFC", "SVM")]))
    columns = ["cut", "iterations", "experiments", "rms gap", "by chance", "mean gap", "PDFC-SVM"]
    print(
        f"Table V (DOB-SCV, 5x2; PDFC-SVM {printed['PDFC', 'SVM']}), thresholds of Table IV in print, {len(datasets)} data sets:"
    )
    print(pd.DataFrame(rows, columns=columns).sort_values("rms gap").round(1).to_string(index=False))
    columns = ["scheme", "cut", "iterations", "print", "ours", "error", "experiments"]
    judged = {k: len(agreements(mean_present(single[k, TRUTH]), single[k, "SCV"], PAIR_ALPHA, "paper").agree) for k in ITERATIONS}
    in_print = {scheme: judged_in_print(part) for scheme, part in printed6.groupby(level=0, sort=False)}
    print(f"pairs that differ in truth: {judged}; in print, by its decimals: {in_print}")
    print(f"Table VI:\n{pd.DataFrame(means, columns=columns).round(1).to_string(index=False)}\n", flush=True)


def table7(run):
    """Experiments that agreement between single runs leads one to expect, beside print."""
    printed = pd.read_csv(CONVERGENCE).set_index(["scheme", "partitioner"])
    study, rows, rng = run / "results/moreno_torres_2012", [], np.random.default_rng(0)
    for folder in sorted((study / "predictions").iterdir()):
        y, folds, runs = read_prepared(run / f"resources/prepared/global/{folder.name}.npz").y, {}, {}
        for path in in_order(str(path) for path in folder.glob("*/*/all/*/*.npz") if "/truth" not in str(path)):
            for (learner, *cell), predictions in read_predictions(path).items():
                if learner.partition("-")[0] in PAPER_LEARNERS:
                    runs.setdefault((learner, *cell), []).append(predictions)
        for path in in_order(str(path) for path in study.glob(f"folds/{folder.name}/*/*.npz") if "/truth" not in str(path)):
            for cell, values in read_folds(path)[0].items():
                folds.setdefault(cell, []).append(values)
        for (learner, cut, k), parts in runs.items():
            predicted, cuts = np.concatenate(parts), np.concatenate(folds[cut, k])
            if len(predicted) != len(cuts):  # the run has not got to its end
                continue
            n_experiments = len(cuts) // ITERATIONS[k]
            orders = np.argsort(rng.random((N_ORDERS, n_experiments)), axis=1)
            found = converge_cell(y, predicted, cuts, ITERATIONS[k], orders, tuple(READINGS.values()))
            placed = converge_cell(y, by_place(y, cuts, predicted, rng), cuts, ITERATIONS[k], orders, tuple(READINGS.values()))
            vectors = {"correct": found.experiments["instances correct, run"], "class": found.experiments["instances class, run"]}
            vectors |= {"place": placed.experiments["instances class, run"]}
            fold_order = np.argsort(rng.random((len(cuts), k)), axis=1)
            for name, steps in converge_by_recall(y, predicted, cuts, ITERATIONS[k], orders, fold_order).items():
                first = np.nan_to_num(steps[:, THRESHOLDS.index(THRESHOLD), 0], nan=n_experiments).mean()
                rows.append((folder.name, learner, cut, f"{k}x{ITERATIONS[k]}", ".9999", f"{name}, first", first))
            for i, reading in enumerate(READINGS):
                key = (folder.name, learner, cut, f"{k}x{ITERATIONS[k]}", reading)
                rows.append((*key, "correct, expected", min(found.expected[i], CAP)))
                for name, values in vectors.items():
                    first, last = np.nan_to_num(values[:, i], nan=n_experiments).mean(axis=0)
                    rows += [(*key, f"{name}, first", first), (*key, f"{name}, last", last)]
    columns = ["dataset", "learner", "partitioner", "scheme", "reading", "vector", "experiments"]
    table = pd.DataFrame(rows, columns=columns)
    print(f"Table VII, {table['dataset'].nunique()} data sets; in print:\n{printed.unstack().to_string()}")
    plain = table[~table["partitioner"].str.contains("@")]
    for what in ("mean", "std"):
        shown = plain.pivot_table("experiments", ["vector", "reading", "scheme"], "partitioner", aggfunc=what)
        print(f"{what}:\n{shown.round(1).to_string()}")
    wide = plain.pivot_table("experiments", ["vector", "reading"], ["scheme", "partitioner"])
    ratios = np.log(wide / printed["mean_experiments"].reindex(wide.columns))
    distances = pd.DataFrame({"distance": np.sqrt((ratios**2).mean(axis=1)), "level": np.exp(ratios.mean(axis=1))})
    print(f"distance to print (root mean square logarithm) and level:\n{distances.sort_values('distance').round(2).to_string()}")
    means = table[(table["scheme"] == "5x2") & (table["vector"] == "correct, expected")]
    n_cuts = means.groupby("dataset")["partitioner"].nunique()
    common = n_cuts.index[n_cuts == n_cuts.max()]  # the variants may have been left out on large sets
    means = means[means["dataset"].isin(common)].pivot_table("experiments", "partitioner", "reading")
    print(f"against SCV, 5x2, expected, by distance and rule of the partitioner, {len(common)} data sets:")
    print((means / means.loc["SCV"]).round(3).to_string())


def main():
    """Print all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, help="folder with the data files")
    parser.add_argument("--splits", type=int, default=10_000, help="of Page; 10,000 unless told")
    parser.add_argument("--experiments", type=int, default=100, help="of Table III; 100 unless told")
    parser.add_argument("--orders", type=int, default=30, help="of the rows, for Table 5; 30 unless told")
    parser.add_argument("--seeds", type=int, default=120, help="of Table 5; 120 unless told, 1,000 take a quarter of an hour")
    parser.add_argument("--run", type=Path, help="folder in which the classification study was run, for Tables V to VII alone")
    args = parser.parse_args()
    if args.run:
        tables5_and_6(args.run)
        table7(args.run)
        return
    warnings.simplefilter("ignore", RuntimeWarning)  # skewness of values that are all the same, where nothing moves
    table5(args.mirror, args.orders, args.seeds)
    table3(args.mirror, args.experiments)
    failing, found = page(load_dataset("page", mirror=args.mirror), args.splits)
    shares = ", ".join(f"{n} or more {100 * (failing >= n).mean():.1f} %" for n in range(1, 6))
    print(f"Page, {args.splits} random splits without a shift, features that fail by the paper's p: {shares}")
    print(f"of the {len(found)} splits in which {IN_PRINT} fail, as in print:")
    print(found.agg(["mean", "std", "min", "max"]).T.round(3).to_string(), "\n", flush=True)
    values, names, datasets = table6(args.mirror, 3)
    printed = pd.read_csv(PRINTED / "table6_hellinger_skew.csv").replace({"dataset": NAMES})
    printed = printed.pivot(index="dataset", columns="condition", values="skew").loc[datasets, list(BIAS)].to_numpy()
    rng, seen = np.random.default_rng(0), agreement(values, printed)
    null = [[np.abs(one).max() for one in agreement(values, printed[rng.permutation(len(printed))])] for _ in range(2000)]
    for what, found, chance in zip(("correlation", "signs beyond half"), seen, np.array(null).T):
        best = int(np.abs(found).argmax())
        print(
            f"Table 6, {len(names)} readings, {what}: {found[best]:+.2f} at most ({', '.join(map(str, names[best]))}); as much "
            f"or more in {100 * (chance >= abs(found[best]) - 1e-12).mean():.0f} % of 2,000 exchanges of the printed data sets"
        )


if __name__ == "__main__":
    main()
