"""Names of the blocks of seeds that jobs work through: first and last position in the draw of seeds."""


def block_names(n_seeds, seeds_per_block):
    """Names of the blocks that hold the seeds number 0 to ``n_seeds - 1``.

    Parameters
    ----------
    n_seeds, seeds_per_block : int
        At least 1.

    Returns
    -------
    names : list of str
        First and last position of each block in the draw of seeds, e.g. ``["0-99", "100-149"]``.
    """
    starts = range(0, n_seeds, seeds_per_block)
    return [f"{start}-{min(start + seeds_per_block, n_seeds) - 1}" for start in starts]


def block_range(name):
    """First position and length of a block, from its name.

    Parameters
    ----------
    name : str
        A name that `block_names` made.

    Returns
    -------
    start, n_seeds : int, int
    """
    first, last = (int(part) for part in name.split("-"))
    return first, last - first + 1
