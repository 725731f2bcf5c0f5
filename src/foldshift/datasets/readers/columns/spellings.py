"""Spellings of one word: labels that differ in capitals, blanks and invisible marks only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))  # marks without width
_WORD = re.compile(r"[^\W\d_].*[^\W\d_].*[^\W\d_]")  # three letters or more: `Aa` and `AA` are different genotypes


def by_word(labels: Iterable[str]) -> dict[str, list[str]]:
    """Group labels by the word that they spell, in their order; those of fewer than three letters are no words.

    >>> from foldshift.datasets.readers.columns.spellings import by_word
    >>> by_word(["Rome", "Aa", "ROME ", "AA"])
    {'rome': ['Rome', 'ROME ']}
    """
    words = dict[str, list[str]]()
    for label in labels:
        if _WORD.search(label):
            word = " ".join(normalize("NFC", label.translate(_INVISIBLE)).casefold().split())
            words.setdefault(word, []).append(label)
    return words


def same_words(labels: Set[str], others: Set[str]) -> dict[str, str]:
    """Return which of the other labels spell the word of a label in another way; words that labels spell in two ways are not.

    >>> from foldshift.datasets.readers.columns.spellings import same_words
    >>> same_words({"Rome", "Oslo", "OSLO"}, {"ROME", "oslo", "Oslo"})
    {'ROME': 'Rome'}
    """
    known = {word: some[0] for word, some in by_word(labels).items() if len(some) == 1}
    return {label: known[word] for word, some in by_word(others - labels).items() if word in known for label in some}
