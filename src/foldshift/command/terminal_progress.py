"""Progress on standard error: one line that is overwritten on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from foldshift.core.printable import printable

if TYPE_CHECKING:
    from typing import Self, TextIO

EVERY = 10.0  # seconds between lines if standard error is not a terminal


class Progress:
    """A function of the current step, as text; on a terminal it leaves only lines that are marked as lasting.

    `known` holds the results that were told, for a run that ends early.
    """

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.quiet, self.stream, self.last = quiet, stream or sys.stderr, -EVERY
        self.known: list[str] = []
        self.terminal = bool(getattr(self.stream, "isatty", lambda: False)())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self.terminal and not self.quiet:
            self._write("\r\033[K")

    def __call__(self, text: str) -> None:
        """Show the current step, and remember a result."""
        if getattr(text, "known", False):
            self.known.append(str(text))
        if self.quiet:
            return
        lasting, text = getattr(text, "lasting", False), printable(text)
        if lasting:
            self._write(f"{chr(13) + chr(27) + '[K' if self.terminal else ''}{text}\n")
        elif self.terminal:
            self._write(f"\r\033[K{text[:100]}")
        elif time.monotonic() - self.last >= EVERY:
            self.last = time.monotonic()
            self._write(text + "\n")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
