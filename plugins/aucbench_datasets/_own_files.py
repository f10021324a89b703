"""The files that a path, a folder or a pattern of the user stands for."""

import glob
import re
from collections.abc import Sequence
from pathlib import Path

from aucbench import ParameterError, utf8_path

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
PARTITION = re.compile(r"([^=]+)=(.*)")
HIDDEN = (".", "_")  # first letters of names that other programs leave in folders of data


def own_files(name: str, path: str, endings: Sequence[str]) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """The files of a path, in the order of their names, each with the columns that its folders stand for.

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
    root = Path(path)
    if root.is_dir():
        found = [each for each in root.rglob("*") if each.is_file()]
        parts = {each: each.relative_to(root).parts for each in found}
        visible = [each for each in found if not any(part.startswith(HIDDEN) for part in parts[each])]
        found = [each for each in visible if _ending(each) in endings] or visible
    elif not root.exists() and glob.has_magic(path):
        found = [each for each in map(Path, glob.glob(path, recursive=True)) if each.is_file()]
        while glob.has_magic(str(root)):
            root = root.parent
    else:
        return [(path, ())]
    if not found:
        raise ParameterError(f"{name}: {path} has no files of this kind.")
    own = []
    for parts_of_name, file in sorted((each.relative_to(root).parts, each) for each in found):
        columns = (PARTITION.fullmatch(part) for part in parts_of_name[:-1])
        own.append((utf8_path(str(file)), tuple((each[1], each[2]) for each in columns if each)))
    return own


def _ending(path: Path) -> str:
    return (path.with_suffix("") if path.suffix in PACKED else path).suffix.lower()
