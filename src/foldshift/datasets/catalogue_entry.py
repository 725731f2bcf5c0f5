"""What the catalogue says about one data set."""

from dataclasses import dataclass

TASKS = ("regression", "classification")


@dataclass(frozen=True)
class CatalogueEntry:
    """One data set of the catalogue.

    Attributes
    ----------
    name : str
        Identifier of the data set, lower case.
    task : {"regression", "classification"}
        What is predicted.
    target : str, default=""
        Name of the target column; used where a file does not declare one. Empty: the last column.
    n_rows : int or None, default=None
        Rows without missing values; None if not known.
    n_features : int or None, default=None
        Input columns; None if not known.
    fingerprint : str, default=""
        `foldshift.datasets.readers.raw_table.fingerprint` of the table; empty if not known.
    sources : tuple of str, default=()
        Where the data set can be had, in order of preference; grammar in `foldshift.datasets.sources.fetch.parse_source`.
    title : str, default=""
        Name for people.
    citation : str, default=""
        What to cite.
    licence : str, default=""
        Licence of the data as publicly stated.
    optin_sources : tuple of str, default=()
        Further sources that are used only when the user asks for them.
    own : bool, default=False
        Whether the data are the user's own, of which nothing is known beforehand: they are read as
        `foldshift.datasets.readers.infer` says. No column of a catalogue.
    """

    name: str
    task: str
    target: str = ""
    n_rows: int | None = None
    n_features: int | None = None
    fingerprint: str = ""
    sources: tuple[str, ...] = ()
    title: str = ""
    citation: str = ""
    licence: str = ""
    optin_sources: tuple[str, ...] = ()
    own: bool = False
