"""Files that appear whole or not at all."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

from foldshift.errors import DataError


@contextmanager
def atomic_path(path):
    """Give a temporary path that becomes `path` when the block ends well, and vanishes when it does not.

    The name is unique, so a job that outlived a killed run cannot write into the file of its successor.

    Parameters
    ----------
    path : path-like
        Where the finished file shall be; missing folders are made.

    Yields
    ------
    temporary : pathlib.Path
        Path in the same folder, with the same suffix; write to it.

    Raises
    ------
    DataError
        If the folder cannot be written or the disk is full.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.", suffix=path.suffix)
        os.close(handle)
        yield Path(temporary)
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files that only their owner can read
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise DataError(
            f"cannot write {path}: {error.strerror or error}; check the folder's permissions and the free space"
        ) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path, text):
    """Write text to a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file.
    text : str
        Its content; written as UTF-8 with line feeds.
    """
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
