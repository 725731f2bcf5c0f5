"""Cut the seeds of a study into blocks, the unit of work."""


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


def bundles(partitioners, size):
    """Cut the partitioners of a study into the bundles that one job works through.

    Parameters
    ----------
    partitioners : sequence of str
        In the order of the configuration.
    size : int
        Partitioners per bundle, at least 1.

    Returns
    -------
    bundles : dict of str to list of str
        By name, which joins the partitioners by ``+``. A partitioner that is added at the end leaves the full bundles as they are.
    """
    parts = [list(partitioners[i : i + size]) for i in range(0, len(partitioners), size)]
    return {"+".join(part): part for part in parts}
