"""Reading NumPy's ``.npz`` files faster than NumPy; nothing is unpickled."""

import struct
import zlib
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

ENDING = ".npy"  # suffix of member names
HEADER_BYTES = 30  # length of a member's local header, before its name
ENCRYPTED = 1  # flag of an encrypted member
# Errors when reading a file that is damaged, too large for memory, encrypted, or has pickled objects.
DAMAGE = (
    OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, RuntimeError, BadZipFile, struct.error,
    zlib.error,
)  # fmt: skip


def names(file: Path) -> set[str]:
    """The names of the arrays in a file."""
    with ZipFile(file) as archive:
        return {name.removesuffix(ENDING) for name in archive.namelist()}


def member(file: Path, name: str) -> dict[str, bytes]:
    """The bytes of one array, by name, without reading the whole file."""
    with ZipFile(file) as archive:
        return {name: archive.read(name + ENDING)}


def members(file: Path) -> dict[str, bytes]:
    """The bytes of all arrays in a file, by name; a resumed study reads tens of thousands of files.

    Uncompressed members, as NumPy writes them, are sliced from the file's bytes: opening each with `ZipFile`
    would take most of the time.
    """
    content, found = file.read_bytes(), {}
    with ZipFile(BytesIO(content)) as archive:
        for info in archive.infolist():
            if info.compress_type != ZIP_STORED or info.flag_bits & ENCRYPTED:
                found[info.filename.removesuffix(ENDING)] = archive.read(info)
                continue
            header = content[info.header_offset : info.header_offset + HEADER_BYTES]
            # The last two numbers of the header are the lengths of the name and of the extra field.
            start = info.header_offset + HEADER_BYTES + sum(struct.unpack("<HH", header[-4:]))
            stored = content[start : start + info.file_size]
            if zlib.crc32(stored) != info.CRC:
                raise BadZipFile(f"Bad CRC-32 for file {info.filename!r}")
            found[info.filename.removesuffix(ENDING)] = stored
    return found


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
