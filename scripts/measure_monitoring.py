"""Monitor classifiers on one data set while its test part shifts: a block of random splits, every injected shift, every detector."""

import logging

import pyarrow as pa

from foldshift.datasets.dataset import read_prepared
from foldshift.errors import DataError
from foldshift.evaluation.monitoring import measure_repeat
from foldshift.evaluation.storage import TEXT, write_rows
from foldshift.jobs import run
from foldshift.planning.blocks import block_range

KEYS = [("dataset", TEXT), ("repeat", pa.int32()), ("condition", TEXT)]


def numbers(*names, kind=pa.float64):
    """Columns of one type."""
    return [(name, kind()) for name in names]


COUNTS = ("fails_positive", "fails_negative", "tested_positive", "tested_negative")  # NaN but for base and prior shift
SCHEMAS = {
    "shift": pa.schema(
        [
            *KEYS,
            *numbers("version", "n_train", "n_test", kind=pa.int32),
            *numbers("share_positive", "tied_share"),
            *numbers("n_tested", "fails_paper", "fails", "fails_holm", "fails_bh", "self_tested", kind=pa.int32),
            *numbers("self_paper", "self_valid", "hellinger", "hellinger_expected", "hellinger_p", *COUNTS),
        ]
    ),
    "readings": pa.schema([*KEYS, ("removed", TEXT), *numbers("sides", "n_cells", "failing", kind=pa.int32)]),
    "co_failure": pa.schema(
        [
            *KEYS,
            *numbers("n_tests", kind=pa.int32),
            *numbers("phi_paper", "phi_paper_sd", "phi", "phi_sd"),
            *numbers("n_undefined", kind=pa.int32),
            *numbers("jaccard", "hellinger_mean", "hellinger_skew"),
        ]
    ),
    "learners": pa.schema(
        [
            *KEYS,
            *numbers("version", kind=pa.int32),
            ("learner", TEXT),
            *numbers("accuracy_validation", "accuracy_test", "auc_test"),
            *numbers("friedman_p", "two_proportion_p", "kruskal_p", "ks_scores_p"),
            ("status", TEXT),
            ("message", TEXT),
        ]
    ),
    "multivariate": pa.schema([*KEYS, *numbers("version", kind=pa.int32), ("detector", TEXT), *numbers("p_value", "statistic")]),
}


def main(job):
    """Write the rows of every kind; those of a learner that fails are NaN and carry its message."""
    data, params = read_prepared(job.input.data), job.params
    settings = dict(params.settings)
    positive = settings.pop("positive_class").get(data.name)
    start, n_repeats = block_range(job.wildcards.block)
    rows = {kind: [] for kind in SCHEMAS}
    for repeat in range(start, start + n_repeats):
        try:
            found = measure_repeat(
                data, params.learners, params.master_seed, repeat, positive=positive, progress=logging.warning, **settings
            )
        except ValueError as error:
            raise DataError(f"data set {data.name}: {error}") from error
        for kind, columns in found.items():
            if columns:
                rows[kind].append(columns)
        logging.info("repeat %d: %d rows of learners", repeat, len(found["learners"].get("version", ())))
    for kind, schema in SCHEMAS.items():
        write_rows(getattr(job.output, kind), rows[kind] or {name: [] for name in schema.names}, schema)


if __name__ == "__main__":
    run(main, snakemake)  # noqa: F821
