"""Search for the files of a data set: in the cache, in the mirror, and at their public addresses."""

import os
import shutil
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from aucbench.contracts import File
from aucbench.contracts.cache_folder import absolute, cache_folder
from aucbench.data.files.cache import refuse_unwritable
from aucbench.data.files.download import LARGE_BYTES, RefusedError, download, remote_size
from aucbench.data.readers.formats import SUFFIXES
from aucbench.errors import DataError, FetchError, ParameterError
from aucbench.pool import file_lock

PUBLIC_SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"


class FoundFile(NamedTuple):
    """A declared file and where its content is."""

    file: File
    path: Path
    source: str  # the address of the download, else the path


def find(name: str, file: File, limit: int | None = LARGE_BYTES) -> FoundFile:
    """The content of a declared file of the data set `name`, downloaded if needed, up to `limit` bytes.

    Sources, in this order: an earlier download, the mirror `AUCBENCH_MIRROR` (a folder, whose files are used
    in place, or an http address), the file's public addresses. With `AUCBENCH_OFFLINE` set nothing is
    downloaded. In folders, a file may also be named with .bz2, .xz or .gz, or without an ending.

    Raises FetchError if no source has the file (the message names sources and remedies) or if it exceeds the
    limit. Raises DataError if a user's path is not a file, or if the cache folder cannot be written.
    """
    if Path(file.path).is_absolute():
        return _user_file(name, file)
    if downloaded := _present(raw_folder(), file):
        return FoundFile(file, downloaded, _read_source(downloaded))
    refusals: dict[str, str] = {}
    root = mirror()
    if isinstance(root, Path):
        if mirrored := _present(root, file):
            return FoundFile(file, mirrored, str(mirrored))
        refusals[f"{root / file.path} (also with another ending)"] = "no such file"
    with refuse_unwritable(f"{name}: the folder {(raw_folder() / file.path).parent}"):
        path = _download(name, file, refusals, limit)
    if path is None:
        raise FetchError(_failure(name, file, refusals))
    return FoundFile(file, path, _read_source(path))


def missing_bytes(file: File) -> int | None:
    """The bytes to download for a file: 0 if it is present, None if no source reports a size."""
    root = mirror()
    folders = [raw_folder(), root] if isinstance(root, Path) else [raw_folder()]
    if Path(file.path).is_absolute() or any(_present(folder, file) for folder in folders):
        return 0
    sizes = map(remote_size, [] if _offline() else _addresses(file))
    return next((size for size in sizes if size is not None), None)


def mirror() -> Path | str | None:
    """The mirror that `AUCBENCH_MIRROR` names: a folder, a web server, or None."""
    text = os.environ.get("AUCBENCH_MIRROR", "")
    if text.startswith(("http://", "https://")):
        return text.rstrip("/")
    if "://" in text:
        raise ParameterError(
            f"AUCBENCH_MIRROR is {text!r}, expected a folder or an address that begins with http:// or https://."
        )
    return absolute(text) if text else None


def raw_folder() -> Path:
    """The folder of downloads."""
    return cache_folder() / "raw"


def downloads_of(file: File) -> list[Path]:
    """The downloads that belong to a file: none, one, or OpenML's description and data."""
    if Path(file.path).is_absolute():
        return []
    target = raw_folder() / file.path
    if file.kind == "openml":
        return sorted(target.parent.glob(f"{target.name}.*"))
    downloaded = _present(raw_folder(), file)
    return [downloaded] if downloaded else []


def discard(path: Path) -> None:
    """Remove a downloaded file; files in a mirror folder and a user's files are left alone."""
    if path.is_relative_to(raw_folder()):
        path.unlink(missing_ok=True)
        _source_note(path).unlink(missing_ok=True)


def names(path: str) -> list[str]:
    """The names under which a file may be found in a folder: as declared, plain, .bz2, .xz, .gz."""
    last = PurePosixPath(path)
    plain = last.stem if last.suffix in SUFFIXES else last.name
    return list(dict.fromkeys([last.name, plain, *(plain + suffix for suffix in SUFFIXES)]))


def _user_file(name: str, file: File) -> FoundFile:
    if not os.path.isfile(file.path):
        reason = "is no file" if os.path.exists(file.path) else "does not exist"
        raise DataError(f"{name}: the file {file.path} {reason}.")
    return FoundFile(file, Path(file.path), file.path)


def _source_note(path: Path) -> Path:
    return path.with_name(f".{path.name}.source")


def _read_source(path: Path) -> str:
    try:
        return _source_note(path).read_text()
    except OSError:
        return str(path)


def _present(root: Path, file: File) -> Path | None:
    folder = (root / file.path).parent
    return next((folder / name for name in names(file.path) if os.path.isfile(folder / name)), None)


def _offline() -> bool:
    return os.environ.get("AUCBENCH_OFFLINE", "0") not in ("", "0")


def _addresses(file: File) -> list[str]:
    """The addresses of a file, the mirror first."""
    root = mirror()
    public = () if file.by_hand else file.urls or (f"{PUBLIC_SITE}/{file.path}",)
    return [f"{root}/{file.path}", *public] if isinstance(root, str) else [*public]


def _download(name: str, file: File, refusals: dict[str, str], limit: int | None) -> Path | None:
    """Download the file from the first source that has it; `refusals` receives failures of other sources."""
    addresses = _addresses(file)
    if _offline():
        refusals.update(dict.fromkeys(addresses, "not tried, AUCBENCH_OFFLINE is set"))
        return None
    target = raw_folder() / file.path
    with file_lock(target.with_name(f".{target.name}.lock")):
        if downloaded := _present(raw_folder(), file):  # downloaded by another process while we waited
            return downloaded
        for folder in target.parent.glob(f".{target.name}.download-*"):  # left by a killed process
            shutil.rmtree(folder, ignore_errors=True)
        for address in addresses:
            is_public = address in file.urls or address.startswith(PUBLIC_SITE)
            try:
                download(name, address, target, file.sha256 if is_public else None, limit, file.kind)
            except RefusedError as refused:
                refusals[address] = str(refused)
            else:
                _source_note(target).write_text(address)
                return target
    return None


def _failure(name: str, file: File, refusals: dict[str, str]) -> str:
    tried = "; ".join(f"{address}: {reason}" for address, reason in refusals.items())
    if file.by_hand:
        return (
            f"{name}: its file cannot be fetched automatically; download {file.by_hand}, and put it at "
            f"{raw_folder() / file.path} (or as {file.path} into the folder that AUCBENCH_MIRROR names)."
        )
    network = "unset AUCBENCH_OFFLINE" if _offline() else "connect to the network"
    return (
        f"{name}: no source has the file {file.path} (tried {tried}); set AUCBENCH_MIRROR to a folder or an "
        f"address that has it, or {network}."
    )
