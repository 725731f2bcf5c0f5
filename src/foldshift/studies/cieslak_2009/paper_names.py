"""Names of data sets in the paper; light, because the declarations of the study rest on it."""

# The rows of Table 1, in its order.
PAPER_DATASETS = ("Compustat", "E-State", "Mammography", "Oil", "Page", "Pendigits", "Phoneme", "Satimage", "Segment")


def paper_name(dataset):
    """Name of a data set in the paper's Table 1; its own name if it is not one of them.

    ``estate`` is E-State, ``page-blocks`` is Page: the letters and digits of the printed name begin those of the data set.
    """
    letters = _letters(dataset)
    return next((name for name in PAPER_DATASETS if letters.startswith(_letters(name))), dataset)


def _letters(name):
    return "".join(letter for letter in name.lower() if letter.isalnum())
