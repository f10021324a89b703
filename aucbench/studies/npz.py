"""NumPy's ``.npz`` files, read faster than by NumPy, some arrays compressed; nothing is pickled."""

import struct
import zlib
from collections.abc import Collection, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

ENDING = ".npy"  # suffix of member names
# Errors when reading a file that is damaged, too large for memory, encrypted, or has pickled objects.
DAMAGE = (
    OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, RuntimeError, BadZipFile, struct.error,
    zlib.error,
)  # fmt: skip


def write(handle: Any, arrays: Mapping[str, NDArray[Any]], compressed: Collection[str]) -> None:
    """Write arrays by name, some of them compressed."""
    with ZipFile(handle, "w") as archive:
        for name, values in arrays.items():
            info = ZipInfo(name + ENDING)
            info.compress_type = ZIP_DEFLATED if name in compressed else ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, values, allow_pickle=False)


def copy(file: Path, handle: Any, without: Collection[str]) -> None:
    """Write the arrays of a file but for some."""
    with ZipFile(file) as old, ZipFile(handle, "w") as new:
        for info in old.infolist():
            if info.filename.removesuffix(ENDING) not in without:
                new.writestr(info, old.read(info))


def sizes(file: Path) -> dict[str, int]:
    """The bytes that each array takes in a file, by name."""
    with ZipFile(file) as archive:
        return {info.filename.removesuffix(ENDING): info.compress_size for info in archive.infolist()}


def members(file: Path, without: Collection[str] = (), only: str | None = None) -> dict[str, bytes]:
    """The bytes of the arrays in a file by name, but for some, or of one alone."""
    with ZipFile(file) as archive:
        names = {name: name.removesuffix(ENDING) for name in archive.namelist()}
        return {
            short: archive.read(name)
            for name, short in names.items()
            if short not in without and only in (None, short)
        }


def values(content: bytes) -> bytes:
    """The bytes of the values of an array, without its header."""
    return content[_header_end(content) :]


def _header_end(content: bytes) -> int:
    """Offset of an array's values; bytes 8 and 9 hold the length of its header."""
    return 10 + int.from_bytes(content[8:10], "little")


def array(content: bytes) -> NDArray[Any]:
    """The array of these bytes, header and values."""
    start = _header_end(content)
    kind, shape, order = _described(content[:start])
    return np.ndarray(shape, kind, bytearray(content[start:]), order=order)


@lru_cache(maxsize=1024)
def _described(header: bytes) -> tuple[np.dtype[Any], tuple[int, ...], Literal["C", "F"]]:
    """Type, shape and order of an array from its header; object arrays are refused."""
    file = BytesIO(header)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array is in a version of NumPy's format other than 1.0")
    shape, is_fortran, kind = np.lib.format.read_array_header_1_0(file)
    if kind.hasobject:
        raise ValueError("Object arrays cannot be loaded")
    return kind, shape, "F" if is_fortran else "C"
