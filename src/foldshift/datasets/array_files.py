"""Arrays read from files of NumPy, every one with its checksum."""

from __future__ import annotations

import struct
import zipfile
import zlib
from tokenize import TokenError
from typing import TYPE_CHECKING

import numpy as np

from foldshift.core.errors import DamagedError
from foldshift.core.printable import printable

if TYPE_CHECKING:
    from foldshift.core.types import Array, PathLike

# What a damaged file makes zipfile and NumPy raise; some of them are errors of memory or of the operating system, too.
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, KeyError, SyntaxError, TokenError)
# Bytes of the header of a member, and where the lengths of its name and extra field are in it (APPNOTE.TXT, 4.3.7).
HEADER, LENGTHS = 30, 26


def read_arrays(path: PathLike) -> dict[str, Array]:
    """Read all arrays of an ``.npz`` file; raise DamagedError if one does not have its checksum."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            if not _is_complete(archive.zip):
                raise zipfile.BadZipFile("its list of arrays is not complete")
            return arrays
    except FileNotFoundError:
        raise
    except (*DAMAGE, OverflowError, RuntimeError, MemoryError) as error:
        raise DamagedError(path, printable(f"{type(error).__name__}: {error}")) from error


def _is_complete(archive: zipfile.ZipFile) -> bool:
    """Report whether the members of an archive fill it without a gap: one that its list has lost would leave one."""
    end = 0
    for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
        if info.header_offset != end:
            return False
        archive.fp.seek(end)  # type: ignore[union-attr]  # it is open
        header = archive.fp.read(HEADER)  # type: ignore[union-attr]
        end += HEADER + sum(struct.unpack("<HH", header[LENGTHS:])) + info.compress_size
    return end == archive.start_dir
