"""Contents and size of the data cache, checks for damage, and removal."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aucbench.contracts import DatasetFacts
from aucbench.contracts.cache_folder import cache_folder
from aucbench.data.files import locate
from aucbench.data.files.cache import damaged_files, locked_folder, read_record
from aucbench.data.files.kept_files import kept_files
from aucbench.errors import AucbenchError


@dataclass
class Held:
    """The content of the cache for a data set, or for a user's file."""

    name: str  # name of the data set, or path of the file
    dataset: str  # data set whose folder holds the parsed parts
    parts: list[Path] = field(default_factory=list)  # folders of parsed parts
    files: list[Path] = field(default_factory=list)  # downloads and kept files

    @property
    def parsed_bytes(self) -> int:
        """Bytes of the parsed parts on disk."""
        return sum(file.stat().st_size for part in self.parts for file in part.iterdir())

    @property
    def file_bytes(self) -> int:
        """Bytes of the downloads and kept files."""
        return sum(file.stat().st_size for file in self.files)


def held(datasets: Iterable[Any]) -> list[Held]:
    """The content of the cache, by the name of the data set or the path of the file; nothing is fetched.

    Downloads are assigned by the declarations of `datasets`. Data of unknown data sets, such as those of a
    removed plugin, are included.
    """
    contents: dict[str, Held] = {}
    for part in sorted((cache_folder() / "data").glob("*/[!.]*/")):
        record, folder = read_record(part), part.parent.name
        first_path = record.files[0].path if record else ""
        name = first_path if Path(first_path).is_absolute() else folder
        contents.setdefault(name, Held(name, folder)).parts.append(part)
    for dataset in datasets:
        if downloads := _downloads(dataset):
            contents.setdefault(dataset.name, Held(dataset.name, dataset.name)).files += downloads
    for path in kept_files():
        contents.setdefault(str(path), Held(str(path), path.parent.name)).files.append(path)
    return sorted(contents.values(), key=lambda entry: entry.name)


def _downloads(dataset: Any) -> list[Path]:
    try:
        files = tuple(DatasetFacts(dataset).files)
    except AucbenchError:  # a user's file without a path
        return sorted((locate.raw_folder() / "openml").glob("[!.]*")) if dataset.name == "openml" else []
    return [path for file in files for path in locate.downloads_of(file)]


def verify(name: str) -> dict[str, list[str]]:
    """Read all cached parts of a data set; returns the damaged files by the name of the folder.

    A part with damaged files is removed, so that it is parsed anew when it is needed.
    """
    report: dict[str, list[str]] = {}
    for folder in sorted((cache_folder() / "data" / name).glob("[!.]*")):
        damaged = report[folder.name] = damaged_files(folder)
        if damaged:
            with locked_folder(name):
                _remove_folder(folder)
    return report


def _remove_folder(folder: Path) -> None:
    """Remove a folder whose lock is held; it is renamed first, so that no process opens half of it."""
    shutil.rmtree(folder.rename(folder.with_name(f".building-removed-{folder.name}")))


def remove(each: Held) -> int:
    """Remove parsed data, downloads and kept files; returns the bytes that were freed.

    Files in a mirror folder and a user's files are left alone. If another process is writing a part, the
    function waits for the lock.
    """
    freed = each.parsed_bytes + each.file_bytes
    if each.parts:
        with locked_folder(each.dataset):
            for folder in each.parts:
                _remove_folder(folder)
    for path in each.files:
        locate.discard(path)
        path.unlink(missing_ok=True)
    return freed
