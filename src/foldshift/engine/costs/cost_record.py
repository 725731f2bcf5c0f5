"""Cost of a job, as the engine and the studies declare it."""

from typing import NamedTuple


class Cost(NamedTuple):
    """Expected cost of a job."""

    seconds: float  # of one core, without the start of Python
    mb: float = 0.0  # memory in MB, beside that of an idle process
    writes_mb: float = 0.0  # size in MB of what it writes
