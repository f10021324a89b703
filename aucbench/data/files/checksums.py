"""Checksums of the files of a cached part: a flipped bit in an array shows nowhere else.

They are compared when a version of the package uses a part for the first time, and by ``aucbench data
verify``. CRC-32 finds all damage within 32 bits in a row, and is faster than a cryptographic digest, which
accidents do not need.
"""

import contextlib
import os
import tempfile
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

NOTE = ".checksums.json"
DESCRIBED = "meta.json"  # has a check of its own
BLOCK_BYTES = 1 << 22


class Checksums(msgspec.Struct, frozen=True):
    """The note beside the files of a part."""

    compared_by: str  # the version of the package that compared them last
    crc32: dict[str, int]  # of each file by name


def note_checksums(folder: Path) -> None:
    """Write the checksums of the files in a folder; what cannot be written is left."""
    _write(folder, {path.name: crc32(path) for path in sorted(folder.iterdir()) if _is_covered(path)})


def is_whole(folder: Path) -> bool:
    """Whether a part is what was written; it is read only if this version has not used it before.

    Parts that were made without checksums get them, as they are.
    """
    note = _read(folder)
    if note is None:
        if (folder / NOTE).exists():
            return False
        note_checksums(folder)
    elif note.compared_by != _version():
        if damaged_files(folder):
            return False
        _write(folder, note.crc32)
    return True


def damaged_files(folder: Path) -> list[str]:
    """The names of files that are missing or other than what was written; all of them are read."""
    note = _read(folder)
    if note is None:
        return [NOTE] if (folder / NOTE).exists() else []
    return [name for name, known in note.crc32.items() if crc32(folder / name) != known]


def crc32(path: Path) -> int | None:
    """The checksum of a file, None when it cannot be read."""
    found = 0
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                found = zlib.crc32(block, found)
    except OSError:
        return None
    return found


@cache
def _version() -> str:
    return version("aucbench")


def _is_covered(path: Path) -> bool:
    return path.is_file() and path.name not in (NOTE, DESCRIBED)


def _read(folder: Path) -> Checksums | None:
    try:
        return msgspec.json.decode((folder / NOTE).read_bytes(), type=Checksums)
    except (OSError, ValueError):
        return None


def _write(folder: Path, found: Mapping[str, int | None]) -> None:
    known = {name: value for name, value in found.items() if value is not None}
    with contextlib.suppress(OSError):  # a cache that others own and that is read-only here
        handle, name = tempfile.mkstemp(prefix=NOTE, dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(Checksums(_version(), known)))
        os.replace(name, folder / NOTE)
