"""Figures 1 to 4 of the classification study (Moreno-Torres, Saez, Herrera 2012): made-up data cut by the real partitioners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from foldshift.learners.neighbours.nearest_classifier import NNClassifier
from foldshift.partition.methods.distance_based import ms_scv_folds
from foldshift.partition.methods.scv import scv_folds
from foldshift.partition.neighbours.visiting_order import exploration
from foldshift.reporting.figure_style import COLOURS, DASHES, plt
from foldshift.shift.measures.covariates import fold_covariates
from foldshift.shift.measures.ks import fold_ks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from foldshift.core.types import BoolArray, FloatArray, Inputs, IntArray
    from foldshift.partition.neighbours.visiting_order import Exploration

    Cut = Literal["DB-SCV", "DOB-SCV"]

# The paper gives no coordinates of its Figure 2. These were searched for: from the first sample on, hops to the nearest spiral
# outwards. Both attributes span 0 to 10, so that scaling them changes no neighbour.
ARTIFICIAL = np.array([[5, 7], [4, 5], [6, 3], [8, 6], [7, 10], [0, 4], [3, 0], [10, 0]], dtype=np.float64)
N_FOLDS = 4
START = 0
N_SEEDS = 1000  # of 32 pairs of starts, one would stay unseen in one such search out of 10^12
EXTREME_SEED = 2012  # Figure 1 is made-up data that show an idea, no result: it is the same whatever the master seed
GREY = "#7F7F7F"


def partitioners(inputs: Inputs, settings: dict[str, Any]) -> dict[str, Figure]:
    """Draw Figures 1 to 4; they depend on no configuration."""
    return {
        "figure1_extreme_shift (figure)": draw_extreme_shift(),
        "figure2_artificial (figure)": draw_artificial(),
        "figure3_db_scv (figure)": draw_db_scv(),
        "figure4_dob_scv (figure)": draw_dob_scv(),
    }


def extreme_data(rng_seed: int = EXTREME_SEED) -> tuple[FloatArray, IntArray, BoolArray]:
    """Make two classes, one of which has a cluster apart at the bottom left; return X, y and the rows of the cluster."""
    rng = np.random.default_rng(rng_seed)
    parts = [((1.4, 1.3), 0.5, 6), ((6.0, 7.2), 1.0, 18), ((4.6, 2.9), 0.9, 24)]
    X = np.concatenate([rng.normal(centre, spread, (size, 2)) for centre, spread, size in parts])
    row = np.arange(48)
    return X, (row >= 24).astype(np.int64), row < 6


def draw_extreme_shift() -> Figure:
    """Draw Figure 1: a whole cluster falls into the test part, and a classifier that never saw it gets it wrong."""
    X, y, cluster = extreme_data()
    cuts, found = {}, {}
    for name, make in (("MS-SCV", ms_scv_folds), ("SCV", scv_folds)):
        cuts[name] = make(X, y, N_FOLDS, [np.random.default_rng(seed) for seed in range(N_SEEDS)])
        found[name] = np.array(
            [[np.array_equal((cut == fold) & (y == 0), cluster) for fold in range(N_FOLDS)] for cut in cuts[name]]
        )
    seed, fold = np.argwhere(found["MS-SCV"])[0]
    folds = cuts["MS-SCV"][seed]
    share = {name: hits.any(axis=1).mean() for name, hits in found.items()}
    test = folds == fold
    nearest = NNClassifier(metric="euclidean").fit(X[~test], y[~test])
    wrong = test.copy()
    wrong[test] = nearest.predict(X[test]) != y[test]
    d_n = [fold_ks(X[:, j], folds)[0, fold] for j in range(2)]
    low, high = X.min(axis=0) - 0.8, X.max(axis=0) + 0.8
    across, up = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300))
    regions = nearest.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)

    figure, axes = plt.subplots(1, 3, figsize=(9.6, 4.1), sharex=True, sharey=True)
    missed = [f"{(wrong & (y == label)).sum()} of {(test & (y == label)).sum()}" for label in (0, 1)]
    titles = [
        f"(a) the data set, 48 samples\nfold like (c): {share['MS-SCV']:.0%} of MS-SCV’s cuts, {share['SCV']:.0%} of SCV’s",
        f"(b) the training part, {(~test).sum()} samples\nshift against (c): D$_n$ = {d_n[0]:.2f} (x$_1$), {d_n[1]:.2f} (x$_2$)",
        f"(c) the test part, {test.sum()} samples\nwrong: {missed[0]} crosses, {missed[1]} circles",
    ]
    for axis, title, shown in zip(axes, titles, (test | ~test, ~test, test)):
        if axis is not axes[0]:
            axis.contourf(across, up, regions, levels=[0.5, 1.5], colors=["#E6E6E6"])
            axis.contour(across, up, regions, levels=[0.5], colors=[GREY], linewidths=1, linestyles="--")
        crosses, circles = X[shown & (y == 0)], X[shown & (y == 1)]
        axis.plot(*crosses.T, "x", color="#000000", ms=6, mew=1.5, label="class “cross”")
        axis.plot(*circles.T, "o", color=COLOURS[5], mfc="none", ms=6, mew=1.2, label="class “circle”")
        axis.set(title=title, xlabel="x$_1$", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        axis.title.set_fontsize(9)
        axis.grid(False)
        axis.set_aspect("equal")
    axes[2].plot(*X[wrong].T, "s", color=COLOURS[1], mfc="none", ms=10, mew=1.2, label="classified wrongly")
    axes[0].set_ylabel("x$_2$")
    handles = axes[2].get_legend_handles_labels()[0]
    handles.append(plt.Rectangle((0, 0), 1, 1, fc="#E6E6E6", ec=GREY, ls="--", label="called “circle” by 1NN trained on (b)"))
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def artificial_cuts(partitioner: Cut) -> dict[tuple[int, ...], Exploration]:
    """Find every way in which a partitioner can cut the eight artificial samples into four folds, by its starts."""
    y = np.zeros(len(ARTIFICIAL), dtype=np.int64)
    cuts = {}
    for seed in range(N_SEEDS):
        path = exploration(partitioner, ARTIFICIAL, y, N_FOLDS, np.random.default_rng(seed))
        cuts[tuple(path.rows[path.is_start].tolist())] = path
    return dict(sorted(cuts.items()))


def artificial_shift(path: Exploration) -> tuple[float, ...]:
    """Measure the covariate shift of a cut of the artificial samples: D_n and energy distance, mean over the folds."""
    shift = fold_covariates(ARTIFICIAL, path.folds[None, np.argsort(path.rows)], N_FOLDS)
    # Cuts that mirror each other have the same shift, but for the last bits of a sum.
    return tuple(round(float(shift[measure].mean()), 9) for measure in ("ks_mean", "energy"))


def worst_starts() -> tuple[int, ...]:
    """Find the starts of the cut by DOB-SCV with the most covariate shift of those that begin as Figure 3."""
    cuts = artificial_cuts("DOB-SCV")
    return max((starts for starts in cuts if starts[0] == START), key=lambda starts: artificial_shift(cuts[starts]))


def draw_artificial() -> Figure:
    """Draw Figure 2: the artificial data set."""
    figure, axis = _artificial_axis("Eight samples of one class,\nto be cut into four folds of two")
    axis.plot(*ARTIFICIAL.T, "o", color="#333333", ms=15)
    return figure


def draw_db_scv() -> Figure:
    """Draw Figure 3: DB-SCV on the artificial data set spirals around the centre."""
    return _draw_cut("DB-SCV", (START,), "DOB-SCV, same start, at worst", artificial_cuts("DOB-SCV")[worst_starts()])


def draw_dob_scv() -> Figure:
    """Draw Figure 4: DOB-SCV on the artificial data set, with the same start and the worst choice of the second one."""
    return _draw_cut("DOB-SCV", worst_starts(), "DB-SCV, same start", artificial_cuts("DB-SCV")[START,])


def _artificial_axis(title: str) -> tuple[Figure, Axes]:
    """Make an empty plot of the artificial samples."""
    figure, axis = plt.subplots(figsize=(5.4, 5.8))
    axis.set(xlim=(-1.4, 11.4), ylim=(-1.4, 11.4), xlabel="x$_1$", ylabel="x$_2$", aspect="equal")
    axis.set_title(title, fontsize=9)
    return figure, axis


def _draw_cut(partitioner: Cut, starts: tuple[int, ...], other_name: str, other: Exploration) -> Figure:
    """Draw the way through the samples, numbered, and an outline around the samples of each fold."""
    cuts = artificial_cuts(partitioner)
    path = cuts[starts]
    mean = np.mean([artificial_shift(cut) for cut in cuts.values()], axis=0)
    figure, axis = _artificial_axis(
        f"{partitioner}: D$_n$ = {{:.2f}}, energy distance {{:.2f}}\n{other_name}: {{:.2f}} and {{:.2f}}\n"
        f"{partitioner}, mean over every choice of starts: {{:.2f}} and {{:.2f}}".format(
            *artificial_shift(path), *artificial_shift(other), *mean
        )
    )
    for fold in range(N_FOLDS):
        ends = ARTIFICIAL[path.rows[path.folds == fold]]
        dashes = [length for length in DASHES[fold] if length] or (1, 0)
        axis.add_patch(plt.Polygon(_outline(*ends), fc="none", ec=COLOURS[fold], lw=1.8, ls=(0, dashes), zorder=2))
    for step, (row, source, fold) in enumerate(zip(*path)):
        start = source < 0
        axis.plot(*ARTIFICIAL[row], "o", ms=17, mfc="#FFFFFF" if start else "#333333", mec="#333333", mew=1.8)
        axis.annotate(
            "ABCD"[fold],
            ARTIFICIAL[row],
            color="#333333" if start else "#FFFFFF",
            ha="center",
            va="center_baseline",
            weight="bold",
        )
        if start:
            continue
        tail, tip = ARTIFICIAL[source], ARTIFICIAL[row]
        axis.annotate(
            "", tip, tail, arrowprops={"arrowstyle": "-|>", "color": "#000000", "lw": 1.2, "shrinkA": 10, "shrinkB": 10}
        )
        axis.annotate(
            str(step - path.is_start[: step + 1].sum() + 1), (tail + tip) / 2, ha="center", va="center_baseline", fontsize=8,
            bbox={"boxstyle": "round,pad=0.15", "fc": "#FFFFFF", "ec": "none"},
        )  # fmt: skip
    return figure


def _outline(a: FloatArray, b: FloatArray, radius: float = 0.55) -> FloatArray:
    """Compute the corners of a strip with round ends about the line from a to b."""
    turn = np.arctan2(*(b - a)[::-1]) + np.linspace(-np.pi / 2, np.pi / 2, 25)
    round_end = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.concatenate([b + round_end, a - round_end])
