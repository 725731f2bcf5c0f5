"""Cross-validate over several domains of reviews: the estimate, the error on a domain held out, the parts of the variance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_matrix

from foldshift.core.seeding import generator
from foldshift.datasets.sources.reviews import read_counts
from foldshift.engine.layout.seed_blocks import block_range
from foldshift.engine.storage.score_files import TEXT
from foldshift.evaluation.source_losses import draw_rows, estimate_losses
from foldshift.inference.repetitions.variance import ESTIMATORS, cv_variance, theta_gam_kl, theta_om_k, variance_components
from foldshift.inference.repetitions.variance_bias import term_errors
from foldshift.learners.linear.text import text_learner

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray, Inputs, Rows, UnsignedArray
    from foldshift.studies.geras_2013.held_out_errors import Fixed

ANY_SEED = 0  # of the first call, whose result is thrown away
KEYS = [("learner", TEXT), ("sampling", TEXT), ("n_points", pa.int32()), ("design", TEXT)]
SCHEMAS = {
    "error": pa.schema(
        [
            ("learner", TEXT),
            ("sampling", TEXT),
            ("n_sources", pa.int32()),
            ("n_points", pa.int32()),
            ("draw", pa.int32()),
            ("cvs", pa.float64()),
            ("cvr", pa.float64()),
            ("out_of_source", pa.float64()),
            ("sd_cvs", pa.float64()),
            ("sd_cvr", pa.float64()),
        ]
    ),
    "estimates": pa.schema(
        [*KEYS, ("dataset", pa.int32()), *[(name, pa.float64()) for name in ("mean", "W", "S2", *ESTIMATORS)]]
    ),
    "components": pa.schema([*KEYS, ("kind", TEXT), ("k", pa.int32()), ("l", pa.int32()), ("value", pa.float64())]),
    "single_source": pa.schema(
        [*KEYS, ("estimator", TEXT), ("k", pa.int32()), ("l", pa.int32()), ("bias", pa.float64()), ("se_bias", pa.float64())]
    ),
}
TERMS = ("sigma_term", "omega_term", "gamma_term", "theta")


def measure_error(
    inputs: Inputs,
    cell: dict[str, Any],
    *,
    n_datasets: int,
    n_sources: Sequence[int],
    n_points: Sequence[int],
    held_fixed: Fixed,
    master_seed: int,
) -> dict[str, Rows]:
    """Measure estimates of cross-validation beside the error on a domain held out (Figures 2 and 3).

    For every draw: domains, data sets from them, cross-validation cut both ways, and the error on the domain held out when
    trained on all others.
    """
    learner_id, sampling = cell["learner"], cell["sampling"]
    counts = read_counts(inputs.counts)
    learner, X = text_learner(learner_id, counts.X)
    start, n_draws = block_range(cell["block"])
    grid = sorted({(k, held_fixed["n_points"]) for k in n_sources} | {(held_fixed["n_sources"], m) for m in n_points})
    found: list[tuple[Any, ...]] = []
    for draw in range(start, start + n_draws):
        # One order of the domains per draw: more training domains contain the fewer, and the one held out stays the same.
        order = generator(master_seed, "geras_2013", "domains", draw).permutation(len(counts.domains))
        held_out = np.flatnonzero(counts.groups == order[0])
        for k, m in grid:
            # The same data sets and cuts for every learner.
            rng = generator(master_seed, "geras_2013", "rows", sampling, k, m, draw)
            rows = draw_rows(counts.groups, order[1 : k + 1].tolist(), m, n_datasets, rng, replace=sampling == "with")
            test = np.broadcast_to(held_out, (len(rows), len(held_out)))
            losses = estimate_losses(X, counts.y, rows, test, learner, rng)
            cvs, cvr, new = (one.reshape(len(rows), -1).mean(axis=1) for one in losses)
            numbers = cvs.mean(), cvr.mean(), new.mean(), cvs.std(ddof=1), cvr.std(ddof=1)
            found.append((learner_id, sampling, k, m, draw, *numbers))
    return {"error": [_columns("error", found)]}


def measure_variance(inputs: Inputs, cell: dict[str, Any], *, n_truth: int, master_seed: int) -> dict[str, Rows]:
    """Measure the variance of cross-validation over all domains, its parts, and its estimates (Figures 4 to 6)."""
    sampling, n_points = cell["sampling"], int(cell["points"])
    counts = read_counts(inputs.counts)
    learner, X = text_learner(cell["learner"], counts.X)
    rng = generator(master_seed, "geras_2013", "rows of all domains", sampling, n_points)
    domains = range(len(counts.domains))
    rows = draw_rows(counts.groups, domains, n_points, n_truth, rng, replace=sampling == "with")
    estimates: list[tuple[Any, ...]] = []
    components: list[tuple[Any, ...]] = []
    nothing = np.empty((len(rows), 0), dtype=np.int64)  # no rows are held out
    cvs, cvr, _ = estimate_losses(X, counts.y, rows, nothing, learner, rng)
    by_design: dict[Literal["cvs", "cvr"], UnsignedArray] = {"cvs": cvs, "cvr": cvr}
    for design, losses in by_design.items():
        keys = (cell["learner"], sampling, n_points, design)
        found = cv_variance(losses)
        values = np.column_stack([getattr(found, name) for name in ("mean", "W", "S2", *ESTIMATORS)])
        estimates += [(*keys, number, *row) for number, row in enumerate(values.tolist())]
        components += [(*keys, *row) for row in component_rows(losses, design)]
    single = [(cell["learner"], sampling, n_points, "cvs", *row) for row in single_source_rows(cvs)]
    rows_by_kind = {"estimates": estimates, "components": components, "single_source": single}
    return {kind: [_columns(kind, found)] for kind, found in rows_by_kind.items()}


def component_rows(losses: UnsignedArray, design: Literal["cvs", "cvr"]) -> Iterator[tuple[str, int, int, float]]:
    """Yield kind, pair of blocks and value of every component; -1 where a component has no block."""
    parts, errors = variance_components(losses, design), term_errors(losses)
    for kind in TERMS:
        yield kind, -1, -1, getattr(parts, kind)
        yield f"se_{kind}", -1, -1, getattr(errors, kind)
    means = losses.mean(axis=(0, 2))
    for kind, values in (("sigma", parts.sigma), ("omega", parts.omega), ("mu", means)):
        for k, value in enumerate(values):
            yield kind, k, k, value
    for k, other in combinations(range(len(parts.sigma)), 2):
        yield "gamma", k, other, parts.gamma[k, other]


def single_source_rows(losses: UnsignedArray) -> Iterator[tuple[str, int, int, float, float]]:
    """Yield estimator, source or pair of sources, bias and its error, for the first two lines of Table 1."""
    of_source, of_pair = theta_om_k(losses), theta_gam_kl(losses)
    means = losses.mean(axis=(1, 2))
    R, K = of_source.shape
    theta = (means - means.mean()) ** 2 * R / (R - 1)  # the mean over data sets is the true variance

    def bias(estimates: FloatArray) -> tuple[float, float]:
        return float((estimates - theta).mean()), float((estimates - theta).std(ddof=1) / np.sqrt(R))

    for k in range(K):
        yield ("theta_om_k", k, k, *bias(of_source[:, k]))
    for k, other in combinations(range(K), 2):
        yield ("theta_gam_kl", k, other, *bias(of_pair[:, k, other]))


def _columns(kind: str, rows: Iterable[tuple[Any, ...]]) -> dict[str, list[Any]]:
    """Turn rows into columns by name."""
    return {name: list(values) for name, values in zip(SCHEMAS[kind].names, zip(*rows))}


def first_call() -> None:
    """Compile the kernels of the study: cross-validation over few and many sources of made-up texts, by both learners."""
    y, new = np.arange(48) % 2, np.arange(40, 48)[None]
    for name in ("NB", "SVM"):
        learner, X = text_learner(name, csr_matrix(np.ones((48, 5))))
        for n_sources in (4, 8):  # fits that run side by side: as many as one line of the cache takes, and more
            rows = np.arange(40).reshape(1, n_sources, -1)
            estimate_losses(X, y, rows, new, learner, np.random.default_rng(ANY_SEED))
