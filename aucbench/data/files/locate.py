"""Finds the files of a data set: in the cache, in the mirror, or at their public addresses."""

import contextlib
import os
import shutil
import time
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from aucbench.contracts import File
from aucbench.contracts.cache_folder import cache_folder, folder_of
from aucbench.data.files.cache import refuse_unwritable
from aucbench.data.files.download import (
    Allowance,
    RefusedError,
    check_content,
    download,
    free_bytes,
    remote_size,
)
from aucbench.data.readers.formats import SUFFIXES
from aucbench.errors import DataError, FetchError, ParameterError
from aucbench.pool import file_lock

PUBLIC_SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
OLD_SECONDS = 7 * 86400  # no running download leaves its folder alone that long


class FoundFile(NamedTuple):
    """A declared file and where its content is."""

    file: File
    path: Path
    source: str  # the address it was downloaded from, else its path


class _Candidate(NamedTuple):
    """One address that may have a file."""

    address: str
    name: str  # of the file, with its suffix
    public: bool  # whether the declared hash holds here


def find(
    name: str, file: File, allowance: Allowance | None = None, rejected: Collection[str] = ()
) -> FoundFile:
    """The content of a declared file of the data set `name`, downloaded if need be.

    Looked for in this order: an earlier download, the mirror `AUCBENCH_MIRROR` (a folder, whose files are
    used in place, or an http address), the file's public addresses, but for those rejected because their
    content proved to be wrong. With `AUCBENCH_OFFLINE` set nothing is downloaded. Each place is tried under
    the declared name and with .bz2, .xz, .gz.

    A FetchError when no place has it (names the places and the two ways out) or it is larger than what is
    allowed; a DataError for a file of one's own that is none, or when the cache folder cannot be written.
    """
    if Path(file.path).is_absolute():
        return _user_file(name, file)
    home = (raw_folder() / file.path).parent
    here = _present(raw_folder(), file)
    if here:
        return FoundFile(file, here, _read_source(here))
    refusals: dict[str, str] = {}
    place = mirror()
    if isinstance(place, Path):
        there = _present(place, file)
        try:
            if there:
                check_content(there, file.kind)
                return FoundFile(file, there, str(there))
            refusals[f"{place / file.path}{_also(file)}"] = "no such file"
        except RefusedError as refused:
            refusals[str(there)] = str(refused)
    with refuse_unwritable(f"{name}: the folder {home}"):
        path = _download(file, home, refusals, allowance or Allowance(name), rejected)
    if path is None:
        raise FetchError(_failure(name, file, refusals))
    return FoundFile(file, path, _read_source(path))


def missing_bytes(file: File) -> int | None:
    """How much is to be downloaded for a file: 0 when it is here, None when no source tells."""
    place = mirror()
    folders = [raw_folder(), place] if isinstance(place, Path) else [raw_folder()]
    if Path(file.path).is_absolute() or any(_present(folder, file) for folder in folders):
        return 0
    if _offline():
        return None
    room = free_bytes(raw_folder())
    candidates = (each for several in _sources(file).values() for each in several)
    sizes = (remote_size(each.address) for each in candidates)
    return next((size for size in sizes if size is not None and size <= room), None)


def mirror() -> Path | str | None:
    """The mirror that `AUCBENCH_MIRROR` names: a folder, also as file:///FOLDER, a web server, or None."""
    text = os.environ.get("AUCBENCH_MIRROR", "")
    if "://" not in text:
        return folder_of(text, "AUCBENCH_MIRROR") if text else None
    expected = "expected a folder or an address that begins with http:// or https://"
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").encode("idna").decode()
        _ = parts.port  # is checked when it is asked for
    except ValueError as error:
        raise ParameterError(f"AUCBENCH_MIRROR is {text!r}, {expected} ({error}).") from None
    if parts.scheme == "file" and host in ("", "localhost"):
        return folder_of(unquote(parts.path) or "/", "AUCBENCH_MIRROR")
    if parts.scheme not in ("http", "https") or not host:
        raise ParameterError(f"AUCBENCH_MIRROR is {text!r}, {expected}.")
    return text.rstrip("/")


def raw_folder() -> Path:
    """The folder of downloads."""
    return cache_folder() / "raw"


def downloads_of(file: File) -> list[Path]:
    """The downloads that belong to a file: none, one, or OpenML's description and data."""
    if Path(file.path).is_absolute():
        return []
    place = raw_folder() / file.path
    if file.kind == "openml":
        return sorted(place.parent.glob(f"{place.name}.*"))
    here = _present(raw_folder(), file)
    return [here] if here else []


def unfinished_downloads(quiet_seconds: float) -> Iterator[Path]:
    """The folders of downloads to which nothing was written for that long."""
    for folder in raw_folder().rglob(".*.download-*"):
        with contextlib.suppress(OSError):  # it has just come to an end
            last_change = max(path.lstat().st_mtime for path in (folder, *folder.iterdir()))
            if time.time() - last_change > quiet_seconds:
                yield folder


def download_source(path: Path) -> str | None:
    """The address that a file was downloaded from; None for a file elsewhere."""
    return _read_source(path) if path.is_relative_to(raw_folder()) else None


def discard(path: Path) -> None:
    """Remove a downloaded file; files elsewhere, in a mirror folder or of one's own, are left alone."""
    if path.is_relative_to(raw_folder()):
        path.unlink(missing_ok=True)
        _source_note(path).unlink(missing_ok=True)


def names(path: str) -> list[str]:
    """The names under which a file may be found: as declared, plain, .bz2, .xz, .gz."""
    last = PurePosixPath(path).name
    plain = _plain(last)
    return list(dict.fromkeys([last, plain, *(plain + suffix for suffix in SUFFIXES)]))


def _plain(name: str) -> str:
    return name.removesuffix(PurePosixPath(name).suffix) if name.endswith(SUFFIXES) else name


def _user_file(name: str, file: File) -> FoundFile:
    if not os.path.exists(file.path):
        raise DataError(f"{name}: the file {file.path} does not exist.")
    if not os.path.isfile(file.path):
        what = "a folder" if os.path.isdir(file.path) else "a device"
        raise DataError(f"{name}: {file.path} is {what}, expected a file.")
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


def _sources(file: File) -> dict[str, list[_Candidate]]:
    """The addresses of a file under its declared name, each with those of its compressed variants."""
    place = mirror()
    found = {f"{place}/{file.path}": False} if isinstance(place, str) else {}
    public = () if file.by_hand else file.urls or (f"{PUBLIC_SITE}/{file.path}",)
    found |= dict.fromkeys(public, True)
    return {address: _candidates(file, address, public) for address, public in found.items()}


def _candidates(file: File, address: str, public: bool) -> list[_Candidate]:
    if "?" in address or "#" in address or file.kind in ("arff", "openml"):  # no suffix can be appended
        return [_Candidate(address, PurePosixPath(file.path).name, public)]
    base, _, last = address.rpartition("/")
    return [_Candidate(f"{base}/{name}", name, public and name == last) for name in names(last)]


def _download(
    file: File, home: Path, refusals: dict[str, str], allowance: Allowance, rejected: Collection[str]
) -> Path | None:
    """Download the file from the first source that has it; notes down the reasons of the others."""
    sources = _sources(file)
    if _offline():
        refusals.update(dict.fromkeys(sources, "not tried, AUCBENCH_OFFLINE is set"))
        return None
    with file_lock(home / f".{PurePosixPath(file.path).name}.lock"):
        here = _present(raw_folder(), file)  # by another process, while we waited
        if here:
            return here
        killed = [rest for name in names(file.path) for rest in home.glob(f".{name}.download-*")]
        for folder in (*killed, *unfinished_downloads(OLD_SECONDS)):  # of this file we hold the lock
            shutil.rmtree(folder, ignore_errors=True)
        for source, candidates in sources.items():
            reasons: list[str] = []
            for address, name, public in candidates:
                if address in rejected:
                    reasons.append("its content cannot be used")
                    continue
                # The suffix says how to read the file, so it is the source's; the rest is the declared name.
                target = home / (_plain(PurePosixPath(file.path).name) + name.removeprefix(_plain(name)))
                try:
                    download(address, target, file.sha256 if public else None, allowance, file.kind)
                except RefusedError as refused:
                    reasons.append(str(refused))
                    if refused.unreachable:
                        break
                else:
                    _source_note(target).write_text(address)
                    return target
            # A name that does not exist tells least.
            telling = [reason for reason in reasons if reason != "HTTP status 404"]
            refusals[source + (_also(file) if len(reasons) > 1 else "")] = (telling or reasons)[0]
    return None


def _also(file: File) -> str:
    """The other names under which a file was looked for."""
    last, *others = names(file.path)
    suffixes = [name.removeprefix(_plain(last)) or "no suffix" for name in others]
    return f" (also with {', '.join(suffixes)})"


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
