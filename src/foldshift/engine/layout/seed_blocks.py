"""Names of the blocks of seeds that jobs work through: first and last position in the draw of seeds."""

from __future__ import annotations


def block_names(n_seeds: int, seeds_per_block: int) -> list[str]:
    """Names of the blocks that hold the seeds number 0 to ``n_seeds - 1``."""
    starts = range(0, n_seeds, seeds_per_block)
    return [f"{start}-{min(start + seeds_per_block, n_seeds) - 1}" for start in starts]


def block_range(name: str) -> tuple[int, int]:
    """First position and length of a block, from its name."""
    first, last = (int(part) for part in name.split("-"))
    return first, last - first + 1
