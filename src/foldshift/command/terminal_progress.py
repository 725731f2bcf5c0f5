"""Progress on standard error: one line that is written over on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

EVERY = 10.0  # seconds between lines where standard error is no terminal


class Progress:
    """Called with what is being done; leaves nothing behind on a terminal."""

    def __init__(self, quiet: bool, stream: Any = None) -> None:
        self.quiet, self.stream, self.last = quiet, stream or sys.stderr, -EVERY
        self.terminal = bool(getattr(self.stream, "isatty", lambda: False)())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: Any) -> None:
        if self.terminal and not self.quiet:
            self.stream.write("\r\033[K")
            self.stream.flush()

    def __call__(self, text: str) -> None:
        """Say what is being done."""
        if self.quiet:
            return
        if self.terminal:
            self.stream.write(f"\r\033[K{text[:100]}")
            self.stream.flush()
        elif time.monotonic() - self.last >= EVERY:
            self.last = time.monotonic()
            self.stream.write(text + "\n")
            self.stream.flush()
