"""Spellings of one word: labels that differ in capitals, blanks and invisible marks only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))  # marks without width
_WORD = re.compile(r"[^\W\d_].*[^\W\d_].*[^\W\d_]")  # three letters or more: `Aa` and `AA` are different genotypes
_SHORT = {"no", "on", "ok", "ja", "si", "sí", "da"}  # answers of two letters
_LETTERS = ({"y", "n"}, {"m", "f"}, {"t", "f"}, {"j", "n"})  # answers of one letter, where no other letter is a label


def by_word(labels: Iterable[str]) -> dict[str, list[str]]:
    """Group labels by the word that they spell, in their order; those of fewer than three letters are words if they are answers.

    >>> from foldshift.datasets.readers.columns.spellings import by_word
    >>> by_word(["Rome", "Aa", "ROME ", "AA", "no"])
    {'rome': ['Rome', 'ROME '], 'no': ['no']}
    """
    plain = {label: " ".join(normalize("NFC", label.translate(_INVISIBLE)).casefold().split()) for label in labels}
    letters = {word for word in plain.values() if len(word) == 1 and word.isalpha()}
    short = _SHORT | (letters if letters in _LETTERS else set())
    words = dict[str, list[str]]()
    for label, word in plain.items():
        if word in short or _WORD.search(label):
            words.setdefault(word, []).append(label)
    return words


def same_words(labels: Set[str], others: Set[str]) -> dict[str, str]:
    """Return which of the other labels spell the word of a label in another way; words that labels spell in two ways are not.

    >>> from foldshift.datasets.readers.columns.spellings import same_words
    >>> same_words({"Rome", "Oslo", "OSLO"}, {"ROME", "oslo", "Oslo"})
    {'ROME': 'Rome'}
    """
    known = {word: some for word, some in by_word(labels).items() if len(some) == 1}
    return {
        label: known[word][0] for word, some in by_word(others).items() if word in known for label in some if label not in labels
    }
