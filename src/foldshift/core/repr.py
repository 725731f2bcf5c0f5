"""Text and HTML of results: sentences and a table, the same for all results."""

from __future__ import annotations

from html import escape
from typing import Any, Literal, TypeVar

from foldshift.core.printable import printable_lines

_Class = TypeVar("_Class")
LARGE = 1e15  # from here, an exponent is easier to read


def figures(value: float, digits: int = 4, sign: Literal["", "+"] = "") -> str:
    """Format a number with some significant digits, without an exponent unless it is very large or small.

    >>> [figures(value) for value in (37561.2, 0.51234, 1500, 2e-7)]
    ['37,560', '0.5123', '1500', '2e-07']
    >>> figures(37561.2, 3, sign="+")
    '+37,600'
    """
    text = format(value, f"{sign}.{digits}g")
    return format(float(text), f"{sign},.0f") if "e+" in text and abs(value) < LARGE else text


def readable(cls: type[_Class]) -> type[_Class]:
    """Decorate the class of a result: ``str()`` gives its sentences and its table, a notebook shows both as HTML.

    The class needs two methods: ``sentences()``, a list of sentences, and ``to_frame()``, a data frame of the numbers at full
    precision. A ``__str__`` that the class defines itself is kept.

    >>> from typing import NamedTuple
    >>> import pandas as pd
    >>> @readable
    ... class Share(NamedTuple):
    ...     share: float
    ...
    ...     def sentences(self):
    ...         return [f"A share of {self.share:.3g} was right."]
    ...
    ...     def to_frame(self):
    ...         return pd.DataFrame([self._asdict()])
    >>> print(Share(0.51234))
    A share of 0.512 was right.
    <BLANKLINE>
     share
    0.5123
    """

    def to_text(self: Any) -> str:
        table = self.to_frame().to_string(index=False, float_format=figures, na_rep="-")
        return printable_lines("\n".join([*self.sentences(), "", table]))

    def to_html(self: Any) -> str:
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())
        return paragraphs + self.to_frame().to_html(index=False, float_format=figures, na_rep="-", border=0)

    for name, method in (("__str__", to_text), ("_repr_html_", to_html)):
        if name != "__str__" or name not in vars(cls):
            setattr(cls, name, method)
    return cls
