"""The files that a path, a folder or a pattern of the user stands for."""

import glob
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aucbench import ParameterError

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
PARTITION = re.compile(r"([^=]+)=(.*)")
HIDDEN = (".", "_")  # first letters of names that other programs leave in folders of data


class OwnFile(NamedTuple):
    """A file, and the columns that the names of its folders stand for."""

    path: str
    partitions: tuple[tuple[str, str], ...]


def own_files(name: str, path: str, endings: Sequence[str]) -> list[OwnFile]:
    """The files of a path, in the order of their names.

    Parameters
    ----------
    name : str
        The data set, for messages.
    path : str
        Absolute path of a file or a folder, or a pattern with ``*``, ``?`` or ``**``.
    endings : sequence of str
        Endings of the files of a folder that are read; all files if none has one of them.

    Raises
    ------
    ParameterError
        A folder or a pattern without files.
    """
    place = Path(path)
    if place.is_dir():
        root, found = place, [each for each in place.rglob("*") if each.is_file()]
        visible = [each for each in found if not _is_hidden(each.relative_to(root))]
        found = [each for each in visible if _ending(each) in endings] or visible
    elif not place.exists() and glob.has_magic(path):
        fixed = [part for part in place.parts if not glob.has_magic(part)]
        root = Path(*place.parts[: next(k for k, part in enumerate(place.parts) if glob.has_magic(part))])
        found = (
            [Path(each) for each in glob.glob(path, recursive=True) if Path(each).is_file()] if fixed else []
        )
    else:
        return [OwnFile(path, ())]
    if not found:
        raise ParameterError(f"{name}: {path} has no files of this kind.")
    files = sorted(found, key=lambda each: each.relative_to(root).parts)
    return [OwnFile(utf8(str(each)), _partitions(each.relative_to(root))) for each in files]


def utf8(path: str) -> str:
    """The path itself; a ParameterError if it is not UTF-8, since no record could hold it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ParameterError(f"{os.fsencode(path)!r} is not UTF-8: rename the file or folder.") from None
    return path


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(HIDDEN) for part in path.parts)


def _ending(path: Path) -> str:
    return (path.with_suffix("") if path.suffix in PACKED else path).suffix.lower()


def _partitions(path: Path) -> tuple[tuple[str, str], ...]:
    found = (PARTITION.fullmatch(part) for part in path.parts[:-1])
    return tuple((each[1], each[2]) for each in found if each)
