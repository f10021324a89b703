"""NumPy's ``.npz`` files, read faster than by NumPy, some arrays compressed; nothing is pickled."""

import struct
import zlib
from collections.abc import Callable, Collection, Mapping
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


def sizes(file: Path) -> dict[str, int]:
    """The bytes that each array takes in a file, by name."""
    with ZipFile(file) as archive:
        return {info.filename.removesuffix(ENDING): info.compress_size for info in archive.infolist()}


def read(file: Path, text: str, keep: Callable[[str], bool]) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """The bytes of the array `text` in a file, and the other arrays whose names `keep` accepts."""
    with ZipFile(file) as archive:
        names = {name.removesuffix(ENDING): name for name in archive.namelist()}
        content = archive.read(names.pop(text))
        arrays = {short: _array(archive.read(name)) for short, name in names.items() if keep(short)}
    return content[_header_end(content) :], arrays


def _header_end(content: bytes) -> int:
    return 10 + int.from_bytes(content[8:10], "little")  # bytes 8 and 9 are the length of the header


def _array(content: bytes) -> NDArray[Any]:
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
