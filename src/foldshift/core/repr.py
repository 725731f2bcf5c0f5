"""Results that read as sentences in a terminal and as a page in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any, Literal

LARGE = 1e15  # from here an exponent is shorter to read


def figures(value: float, digits: int = 4, sign: Literal["", "+"] = "") -> str:
    """A number with some significant digits, and without an exponent where it is large.

    Examples
    --------
    >>> [figures(value) for value in (37561.2, 0.51234, 1500, 2e-7)]
    ['37,560', '0.5123', '1500', '2e-07']
    >>> figures(37561.2, 3, sign="+")
    '+37,600'
    """
    text = format(value, f"{sign}.{digits}g")
    return format(float(text), f"{sign},.0f") if "e+" in text and abs(value) < LARGE else text


def readable(cls: type[Any]) -> type[Any]:
    """Class decorator for a result: ``str()`` gives its sentences and its table, a notebook shows the same as HTML.

    The class says what there is to read, this says how it is shown, so that all results look alike.

    Examples
    --------
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
        return "\n".join([*self.sentences(), "", table])

    def to_html(self: Any) -> str:
        paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())
        return paragraphs + self.to_frame().to_html(index=False, float_format=figures, na_rep="-", border=0)

    if "__str__" not in vars(cls):
        cls.__str__ = to_text
    cls._repr_html_ = to_html
    return cls
