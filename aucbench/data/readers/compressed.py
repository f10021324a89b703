"""Plain and compressed files as streams of bytes."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aucbench.errors import DataError

_OPENERS: dict[str, Any] = {".bz2": bz2.open, ".xz": lzma.open, ".gz": gzip.open}
SUFFIXES = tuple(_OPENERS)


@contextmanager
def open_bytes(path: Path) -> Iterator[Any]:
    """The bytes of a plain or compressed file; what cannot be read or unpacked is a `DataError`."""
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            yield stream
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
    except OSError as error:
        if error.errno is None:  # the bz2 module's "Invalid data stream"
            raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
