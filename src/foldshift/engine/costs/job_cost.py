"""Cost of a job, as the engine and the studies declare it."""

from typing import NamedTuple


class Cost(NamedTuple):
    """Expected cost of a job.

    Attributes
    ----------
    seconds : float
        Of one core, without the start of Python.
    mb : float
        Memory in MB, beside that of an idle process.
    writes_mb : float
        Size in MB of what it writes.
    """

    seconds: float
    mb: float = 0.0
    writes_mb: float = 0.0
