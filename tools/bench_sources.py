"""The multiple-source part of `make bench`: the data sets of Figures 4 to 6 with naive Bayes, shared path against plain
scikit-learn.

Times are processor seconds of one thread, so that other work on the machine changes them little. The plain path is timed on some
of the data sets and scaled to all; its losses there must be those of the shared path.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.naive_bayes import MultinomialNB

from foldshift.datasets.reviews import TEN_DOMAINS, bag_of_words, generate_reviews, load_reviews
from foldshift.evaluation.sources import DESIGNS, draw_rows, random_blocks, source_losses
from foldshift.files import write_text
from foldshift.learners.text import MultinomialNBClassifier
from foldshift.reporting.tables import to_csv


def load(mirror):
    """Counts of the ten domains from a mirror folder; of ten generated sources of 2000 reviews where there is none."""
    return bag_of_words(load_reviews(mirror, TEN_DOMAINS)) if mirror else generate_reviews(10, 2000, np.random.default_rng(0))


def plain_losses(X, y, blocks):
    """Losses (R, K, M) by scikit-learn alone: one fit per block."""
    losses = np.empty(blocks.shape, dtype=np.uint8)
    for r, k in np.ndindex(blocks.shape[:2]):
        train, test = np.delete(blocks[r], k, axis=0).ravel(), blocks[r, k]
        losses[r, k] = MultinomialNB().fit(X[train], y[train]).predict(X[test]) != y[test]
    return losses


def timed(function, *arguments, **keywords):
    """Result and processor seconds of one call."""
    start = time.process_time()
    result = function(*arguments, **keywords)
    return result, time.process_time() - start


def bench(counts, sizes, n_datasets, n_plain):
    """One row per M and design: seconds of both paths for `n_datasets`, their ratio, and the mean error."""
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
    return pd.DataFrame(
        table, columns=["M", "design", "n_datasets", "seconds_shared", "seconds_plain", "plain_over_shared", "mean_error"]
    )


def main(argv=None):
    """Measure, print, write a table."""
    parser = argparse.ArgumentParser(description="Naive Bayes over ten sources: shared path against plain scikit-learn.")
    parser.add_argument("--mirror", metavar="FOLDER", help="folder with sentiment/fdu-mtl; without it, generated reviews")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100], metavar="M", help="reviews per source (default: 100)")
    parser.add_argument("--datasets", type=int, default=1000, metavar="R", help="data sets (default: 1000)")
    parser.add_argument(
        "--plain", type=int, default=20, metavar="R", help="data sets of them that the plain path is timed on (default: 20)"
    )
    parser.add_argument("--output", type=Path, default=Path("results/bench/sources.csv"), metavar="FILE")
    options = parser.parse_args(argv)
    if min(*options.sizes, options.datasets, options.plain, 10**9) < 1:
        parser.error("--sizes, --datasets and --plain must be at least 1")
    counts = load(options.mirror)
    kind = "the real reviews" if options.mirror else "generated reviews"
    print(f"\nNaive Bayes on {kind}: {len(counts.domains)} sources, {counts.X.shape[0]} reviews, {counts.X.shape[1]} words")
    table = bench(counts, options.sizes, options.datasets, options.plain)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    print(
        f"plain: timed on {min(options.plain, options.datasets)} data sets, with the same losses, and scaled to "
        f"{options.datasets}"
    )
    write_text(options.output, to_csv(table))


if __name__ == "__main__":
    main()
