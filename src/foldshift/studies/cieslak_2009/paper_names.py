"""Names of data sets in the paper; light, because the declarations of the study rest on it."""

from __future__ import annotations

# The rows of Table 1, in its order.
PAPER_DATASETS = ("Compustat", "E-State", "Mammography", "Oil", "Page", "Pendigits", "Phoneme", "Satimage", "Segment")


def paper_name(dataset: str) -> str:
    """Name of a data set in the paper's Table 1; its own name if it is not one of them.

    ``estate`` is E-State: letters and digits are those of the printed name. A set of the user's own is never taken for one of the
    paper's because its name begins alike.
    """
    return next((name for name in PAPER_DATASETS if _letters(dataset) == _letters(name)), dataset)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
