"""Contents and size of the data cache, checks for damage, and removal."""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aucbench.contracts import DatasetFacts
from aucbench.contracts.cache_folder import cache_folder
from aucbench.data.files import locate
from aucbench.data.files.cache import locked_folder, read_record
from aucbench.data.files.checksums import damaged_files
from aucbench.data.files.kept_files import kept_files
from aucbench.errors import AucbenchError

QUIET_SECONDS = 120  # a running download writes, or is given up, sooner


@dataclass
class Held:
    """The content of the cache for a data set, or for a file of one's own."""

    name: str  # of the data set, or the file's path
    dataset: str  # whose folder it is in
    parsed: int = 0  # bytes on disk
    downloads: dict[Path, int] = field(default_factory=dict)  # bytes of each downloaded or kept file

    @property
    def size(self) -> int:
        """Bytes on disk, of parsed data, downloads and kept files."""
        return self.parsed + sum(self.downloads.values())


def held(datasets: Iterable[Any]) -> list[Held]:
    """The content of the cache, by the name of the data set or the path of the file; nothing is fetched.

    Declarations of the known data sets say which download is whose. Data of unknown ones, such as a removed
    plugin's, count as well.
    """
    found: dict[str, Held] = {}
    home = cache_folder() / "data"
    for folder in home.iterdir() if home.is_dir() else []:
        for part in folder.iterdir():
            if size := _size(part):
                name = _owner(part)
                found.setdefault(name, Held(name, folder.name)).parsed += size
    for dataset in datasets:
        for path in _downloads(dataset):
            each = found.setdefault(dataset.name, Held(dataset.name, dataset.name))
            each.downloads[path] = path.stat().st_size
    for path in kept_files():
        each = found.setdefault(str(path), Held(str(path), path.parent.name))
        each.downloads[path] = path.stat().st_size
    return sorted(found.values(), key=lambda each: each.name)


def _owner(part: Path) -> str:
    """The name of the data set of a folder, or the path of the own file that it was read from."""
    record = None if part.name.startswith(".") else read_record(part)
    path = record.files[0].path if record else ""
    return path if Path(path).is_absolute() else part.parent.name


def verify(name: str) -> dict[str, list[str]]:
    """Read all cached parts of a data set: by the name of the folder, the files that are damaged.

    A part with damaged files is removed, so that it is parsed anew when it is needed.
    """
    home = cache_folder() / "data" / name
    found: dict[str, list[str]] = {}
    for folder in sorted(home.glob("[!.]*")) if home.is_dir() else []:
        record = read_record(folder)
        damaged = ["meta.json"] if record is None else damaged_files(folder)
        found[folder.name if record is None else f"{record.part} part, {folder.name}"] = damaged
        if damaged:
            with locked_folder(name):
                _remove_folder(folder)
    return found


def _remove_folder(folder: Path) -> None:
    """Remove a folder whose lock is held; first out of sight, so that nobody opens half of it."""
    shutil.rmtree(folder.rename(folder.with_name(f".building-removed-{folder.name}")))


def remove(each: Held) -> int:
    """Remove parsed data, downloads and kept files; returns the bytes that were freed.

    Files elsewhere, in a mirror folder or of one's own, are left alone. A part that another process is
    writing is waited for.
    """
    freed = 0
    home = cache_folder() / "data" / each.dataset
    if home.is_dir():
        with locked_folder(each.dataset):
            for folder in [entry for entry in home.iterdir() if not entry.name.startswith(".")]:
                if _owner(folder) == each.name:
                    freed += _size(folder)
                    _remove_folder(folder)
    kept = set(kept_files())
    for path, size in each.downloads.items():
        freed += size
        locate.discard(path)
        if path in kept:
            path.unlink(missing_ok=True)
    return freed


def left_overs() -> dict[Path, int]:
    """Folders of downloads that were killed, and their bytes; those of running downloads are left out."""
    return {folder: _size(folder) for folder in locate.unfinished_downloads(QUIET_SECONDS)}


def remove_left_overs() -> int:
    """Remove what killed downloads left behind; returns the bytes that were freed."""
    freed = 0
    for folder, size in left_overs().items():
        shutil.rmtree(folder, ignore_errors=True)
        freed += 0 if folder.exists() else size
    return freed


def _downloads(dataset: Any) -> list[Path]:
    try:
        files = tuple(DatasetFacts(dataset).files)
    except AucbenchError:  # a file of one's own that is not named
        return sorted((locate.raw_folder() / "openml").glob("[!.]*")) if dataset.name == "openml" else []
    return [path for file in files for path in locate.downloads_of(file)]


def _size(folder: Path) -> int:
    return sum(
        os.lstat(Path(parent) / name).st_size
        for parent, _, names in os.walk(folder)
        for name in names
        if name != ".lock"
    )
