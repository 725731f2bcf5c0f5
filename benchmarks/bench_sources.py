"""Multiple-source part of `make bench`: naive Bayes and the linear SVM, the shared path against plain scikit-learn.

Times are processor seconds of one thread, so that other work on the machine changes them little. The plain path is timed on some
of the data sets and scaled to all; its losses there must be those of the shared path for naive Bayes, and those of the SVM may
differ where a decision is closer to 0 than the tolerance: the share is printed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.naive_bayes import MultinomialNB

from foldshift.core.files import write_text
from foldshift.datasets.sources.reviews import TEN_DOMAINS, bag_of_words, generate_reviews, load_reviews
from foldshift.evaluation.source_losses import DESIGNS, draw_rows, estimate_losses, random_blocks, source_losses
from foldshift.learners.linear.text import MultinomialNBClassifier, text_learner
from foldshift.reporting.table_grid import to_csv

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldshift.core.types import Array, IntArray, PathLike, Sparse, UnsignedArray
    from foldshift.datasets.sources.reviews import Counts

COLUMNS = ["M", "design", "n_datasets", "seconds_shared", "seconds_plain", "plain_over_shared", "mean_error"]


def load(mirror: PathLike | None) -> Counts:
    """Load the counts of the ten domains from a mirror folder, or generate ten sources of 2000 reviews."""
    return bag_of_words(load_reviews(mirror, TEN_DOMAINS)) if mirror else generate_reviews(10, 2000, np.random.default_rng(0))


def plain_losses(X: Sparse, y: Array, blocks: IntArray) -> UnsignedArray:
    """Compute the losses (R, K, M) by scikit-learn alone: one fit per block."""
    losses = np.empty(blocks.shape, dtype=np.uint8)
    for r, k in np.ndindex(blocks.shape[:2]):
        train, test = np.delete(blocks[r], k, axis=0).ravel(), blocks[r, k]
        losses[r, k] = MultinomialNB().fit(X[train], y[train]).predict(X[test]) != y[test]
    return losses


def timed(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> tuple[Any, float]:
    """Return the result and the processor seconds of one call."""
    start = time.process_time()
    result = function(*arguments, **keywords)
    return result, time.process_time() - start


def bench(counts: Counts, sizes: Sequence[int], n_datasets: int, n_plain: int) -> pd.DataFrame:
    """Measure a row per M and design: seconds of both paths for `n_datasets`, their ratio, and the mean error."""
    sources, table = range(len(counts.domains)), []
    for M in sizes:
        rows = draw_rows(counts.groups, sources, M, n_datasets, np.random.default_rng(M))
        source_losses(counts.X, counts.y, rows[:1], MultinomialNBClassifier(), "cvs")  # compiles before the clock runs
        plain_losses(counts.X, counts.y, rows[:1])
        for design in DESIGNS:
            shared, seconds = timed(
                source_losses, counts.X, counts.y, rows, MultinomialNBClassifier(), design, np.random.default_rng(0)
            )
            blocks = rows if design == "cvs" else random_blocks(rows, np.random.default_rng(0))
            plain, plain_seconds = timed(plain_losses, counts.X, counts.y, blocks[:n_plain])
            if not np.array_equal(shared[:n_plain], plain):
                raise AssertionError(f"design {design}, M = {M}: the losses of the two paths differ")
            plain_seconds *= n_datasets / len(plain)
            table.append((M, design, n_datasets, seconds, plain_seconds, plain_seconds / seconds, shared.mean()))
    return pd.DataFrame(table, columns=COLUMNS)


def bench_svm(counts: Counts, sizes: Sequence[int], n_datasets: int, n_plain: int) -> pd.DataFrame:
    """Measure the same for the linear SVM: both designs and a source held out, nine sources, all in one."""
    learner, X = text_learner("SVM", counts.X)
    held_out, table = np.flatnonzero(counts.groups == len(counts.domains) - 1), []
    for M in sizes:
        rows = draw_rows(counts.groups, range(len(counts.domains) - 1), M, n_datasets, np.random.default_rng(M))
        new = np.broadcast_to(held_out, (n_datasets, len(held_out)))
        estimate_losses(X, counts.y, rows[:1], new[:1], learner, np.random.default_rng(0))  # compiles before the clock runs
        both = []
        for some, is_shared in ((n_datasets, True), (min(n_plain, n_datasets), False)):
            losses, seconds = timed(
                estimate_losses, X, counts.y, rows[:some], new[:some], learner, np.random.default_rng(0), shared=is_shared
            )
            both.append((np.concatenate([one.reshape(some, -1) for one in losses], axis=1), seconds * n_datasets / some))
        (shared, seconds), (plain, plain_seconds) = both
        differ = (shared[: len(plain)] != plain).mean()
        table.append((M, "all", n_datasets, seconds, plain_seconds, plain_seconds / seconds, shared.mean(), differ))
    return pd.DataFrame(table, columns=[*COLUMNS, "losses_differ"])


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, print, write a table."""
    parser = argparse.ArgumentParser(description="Learners over several sources: shared path against plain scikit-learn.")
    parser.add_argument("--mirror", metavar="FOLDER", help="folder with sentiment/fdu-mtl; without it, generated reviews")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100], metavar="M", help="reviews per source (default: 100)")
    parser.add_argument("--datasets", type=int, default=1000, metavar="R", help="data sets (default: 1000)")
    parser.add_argument(
        "--plain", type=int, default=20, metavar="R", help="data sets of them that the plain path is timed on (default: 20)"
    )
    parser.add_argument("--svm-datasets", type=int, default=10, metavar="R", help="data sets of the SVM (default: 10)")
    parser.add_argument("--output", type=Path, default=Path("results/bench/sources.csv"), metavar="FILE")
    options = parser.parse_args(argv)
    if min(*options.sizes, options.datasets, options.plain, options.svm_datasets) < 1:
        parser.error("--sizes, --datasets, --plain and --svm-datasets must be at least 1")
    counts = load(options.mirror)
    kind = "the real reviews" if options.mirror else "generated reviews"
    print(f"\nSeveral sources, {kind}: {len(counts.domains)} sources, {counts.X.shape[0]} reviews, {counts.X.shape[1]} words")
    table = bench(counts, options.sizes, options.datasets, options.plain).assign(learner="NB", losses_differ=0.0)
    svm = bench_svm(counts, options.sizes, options.svm_datasets, max(1, options.plain // 4)).assign(learner="SVM")
    table = pd.concat([table, svm], ignore_index=True)[["learner", *COLUMNS, "losses_differ"]]
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    print(
        f"plain: timed on {min(options.plain, options.datasets)} data sets (SVM: a quarter as many), and scaled to all; the same "
        "losses with naive Bayes"
    )
    write_text(options.output, to_csv(table))


if __name__ == "__main__":
    main()
