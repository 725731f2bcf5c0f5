"""Processor time of compiling partitioners, by module: measured by `python benchmarks/bench_compiling.py`."""

COMPILE_SECONDS = {
    "foldshift.partition.methods.distance_based": 15.3,
    "foldshift.partition.methods.balanced": 6.0,
    "foldshift.partition.methods.anticlustering": 3.0,
}
