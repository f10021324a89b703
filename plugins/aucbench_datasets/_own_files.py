"""The files of a path, a folder or a pattern of the user."""

import glob
import re
from collections.abc import Sequence
from pathlib import Path

from aucbench import ParameterError, utf8_path

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
PARTITION = re.compile(r"([^=]+)=(.*)")
HIDDEN = (".", "_")  # first characters of files that other programs leave in data folders


def own_files(name: str, path: str, endings: Sequence[str]) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    """The files of a path, in the order of their names, each with the columns that its folders encode.

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
        files = [entry for entry in root.rglob("*") if entry.is_file()]
        parts = {entry: entry.relative_to(root).parts for entry in files}
        visible = [entry for entry in files if not any(part.startswith(HIDDEN) for part in parts[entry])]
        files = [entry for entry in visible if _ending(entry) in endings] or visible
    elif not root.exists() and glob.has_magic(path):
        files = [entry for entry in map(Path, glob.glob(path, recursive=True)) if entry.is_file()]
        while glob.has_magic(str(root)):
            root = root.parent
    else:
        return [(path, ())]
    if not files:
        raise ParameterError(f"{name}: {path} has no files of this kind.")
    result = []
    for parts_of_name, file in sorted((entry.relative_to(root).parts, entry) for entry in files):
        matches = (PARTITION.fullmatch(part) for part in parts_of_name[:-1])
        result.append((utf8_path(str(file)), tuple((match[1], match[2]) for match in matches if match)))
    return result


def _ending(path: Path) -> str:
    return (path.with_suffix("") if path.suffix in PACKED else path).suffix.lower()
