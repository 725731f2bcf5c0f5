"""Flip single bits in files of results and count what is noticed.

    python tests/fuzz/flip_bits.py FOLDER [FLIPS] [SEED]

FOLDER is one that the workflow was run in, FLIPS the number of flipped bits (default 2400), spread evenly over the
kinds of files. Every flip is made in a copy of the file. It is read as the workflow reads it, and compared with the record.
"""

import random
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np

from foldshift.core.errors import FoldshiftError
from foldshift.core.files import content_of
from foldshift.datasets.array_files import read_arrays
from foldshift.datasets.dataset import read_prepared
from foldshift.engine.storage.checksums import recorded
from foldshift.engine.storage.fold_files import read_folds
from foldshift.engine.storage.parquet_files import read_parquet
from foldshift.engine.storage.prediction_files import read_predictions


def parquet(path):
    """All values of a Parquet file."""
    table = read_parquet(path)
    return {name: table[name].to_pylist() for name in table.column_names}


def text(path):
    """Bytes of a file that has no checksum of its own."""
    return Path(path).read_bytes()


def prepared(path):
    """All values of a prepared data set."""
    return asdict(read_prepared(path))


READERS = {"folds": read_folds, "predictions": read_predictions, "prepared": prepared, "reviews": read_arrays}


def kind_of(name):
    """Kind of a file by its name, and how it is read."""
    if name.endswith(".npz"):
        kind = next(kind for kind in READERS if f"/{kind}/" in name)
        return kind, READERS[kind]
    ending = Path(name).suffix
    return ("parquet", parquet) if ending == ".parquet" else (ending.removeprefix("."), text)


def flip(path, whole, expected, read, rng, counts):
    """Flip one bit, read the file, compare it with the record."""
    good = repr(read(path))
    bit = rng.randrange(8 * len(whole))
    damaged = bytearray(whole)
    damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)
    try:
        counts["the same values" if repr(read(path)) == good else "other values"] += 1
    except FoldshiftError:
        counts["refused"] += 1
    counts["seen by check_results"] += tuple(content_of(path)) != expected
    path.write_bytes(whole)


def main(folder, n_flips=2400, seed=1):
    """Print, for every kind of file, what readers and the check of all files noticed."""
    folder, rng, kinds = Path(folder), random.Random(seed), {}
    record = recorded("results", folder)
    for name in record:
        if (folder / name).is_file() and (folder / name).stat().st_size and tuple(content_of(folder / name)) == record[name]:
            kinds.setdefault(kind_of(name), []).append(name)
    np.set_printoptions(threshold=10**9)
    with tempfile.TemporaryDirectory() as scratch:
        for (kind, read), names in sorted(kinds.items(), key=lambda pair: pair[0][0]):
            counts = Counter()
            for _ in range(n_flips // len(kinds)):
                name = rng.choice(names)
                path, whole = Path(scratch, Path(name).name), (folder / name).read_bytes()
                path.write_bytes(whole)
                flip(path, whole, record[name], read, rng, counts)
            print(f"{kind}: {n_flips // len(kinds)} flips in {len(names)} files: {dict(sorted(counts.items()))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
