"""Where the files of a data set are: in the cache, in the mirror, or at their public addresses."""

import contextlib
import os
import shutil
import time
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from aucbench.contracts import File
from aucbench.data.files.build_cache import Found
from aucbench.data.files.cache import cache_folder, folder_of
from aucbench.data.files.download import (
    Allowance,
    RefusedError,
    TooLargeError,
    check_content,
    download,
    free_bytes,
    size_of,
)
from aucbench.errors import DataError, FetchError, ParameterError

_WANTED = "expected a folder or an address that begins with http:// or https://"

PUBLIC_SITE = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
SUFFIXES = (".bz2", ".xz", ".gz")
OLD_SECONDS = 7 * 86400


def mirror() -> Path | str | None:
    """What `AUCBENCH_MIRROR` names: a folder, also as file:///FOLDER, a web server, or nothing.

    Raises
    ------
    ParameterError
        An address that is malformed or of another kind.
    """
    text = os.environ.get("AUCBENCH_MIRROR", "")
    if "://" not in text:
        return folder_of(text, "AUCBENCH_MIRROR") if text else None
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").encode("idna").decode()
        _ = parts.port  # is checked when it is asked for
    except ValueError as error:
        raise ParameterError(f"AUCBENCH_MIRROR is {text!r}, {_WANTED} ({error}).") from None
    if parts.scheme == "file" and host in ("", "localhost"):
        return folder_of(unquote(parts.path) or "/", "AUCBENCH_MIRROR")
    if parts.scheme not in ("http", "https") or not host:
        raise ParameterError(f"AUCBENCH_MIRROR is {text!r}, {_WANTED}.")
    return text.rstrip("/")


class _Try(NamedTuple):
    """One place where a file may be."""

    address: str  # of a web server, or a path
    name: str  # of the file, with its suffix
    public: bool  # whether the declared hash holds here


def find(name: str, file: File, allowance: Allowance | None = None, rejected: Collection[str] = ()) -> Found:
    """The content of a declared file, downloaded if need be.

    Looked for in this order: a download of before, the mirror `AUCBENCH_MIRROR` (a folder, whose files are
    used in place, or an http address), the file's public addresses. With `AUCBENCH_OFFLINE` set the network
    is left alone. Each place is tried under the declared name and with .bz2, .xz, .gz.

    Parameters
    ----------
    name : str
        The data set's name, for messages.
    file : File
        The declared file.
    allowance : Allowance, optional
        How much may be downloaded; 100 MB when left out.
    rejected : collection of str
        Addresses whose content proved to be wrong.

    Raises
    ------
    FetchError
        No place has it (names the places and the two ways out), or it is larger than what is allowed.
    DataError
        A file of one's own that does not exist or is a folder; the cache folder cannot be written.
    """
    if Path(file.path).is_absolute():
        return _own(name, file)
    home = raw_folder() / PurePosixPath(file.path).parent
    before = _present(home, file)
    if before:
        return Found(file, before, _note(before))
    refusals: dict[str, str] = {}
    for folder in _mirror_folders():
        there = _present(folder / PurePosixPath(file.path).parent, file)
        if there:
            try:
                check_content(there, file.kind)
                return Found(file, there, str(there))
            except RefusedError as refused:
                refusals[str(there)] = str(refused)
        else:
            refusals[f"{folder / file.path}{_variants(file)}"] = "no such file"
    try:
        path = _download(file, home, refusals, allowance or Allowance(), rejected)
    except TooLargeError as large:
        raise FetchError(
            f"{name}: {file.path} is a download of {large.size / 1e6:,.0f} MB; if you want that, run "
            f"aucbench fetch {name} --yes first."
        ) from None
    except OSError as error:
        raise DataError(
            f"{name}: the folder {home} cannot be written ({error.strerror}); free some space there, "
            "or set AUCBENCH_CACHE to another folder."
        ) from None
    if path is None:
        raise FetchError(_failure(name, file, refusals))
    return Found(file, path, _note(path))


def missing_bytes(file: File) -> int | None:
    """How much is to be downloaded for a file: 0 when it is here, None when no source tells."""
    places = [raw_folder(), *_mirror_folders()]
    if Path(file.path).is_absolute() or any(
        _present(place / PurePosixPath(file.path).parent, file) for place in places
    ):
        return 0
    if _offline():
        return None
    tries = [place for source in _sources(file) for place in _tries(file, *source)]
    room = free_bytes(raw_folder())
    sizes = (size_of(place.address) for place in tries)
    return next((size for size in sizes if size is not None and size <= room), None)


def downloaded(file: File) -> list[Path]:
    """The downloads that belong to a file: none, one, or OpenML's description and data."""
    if Path(file.path).is_absolute():
        return []
    place = raw_folder() / file.path
    if file.kind == "openml":
        return sorted(place.parent.glob(f"{place.name}.*"))
    here = _present(place.parent, file)
    return [here] if here else []


def source_of(path: Path) -> str | None:
    """The address that a file was downloaded from; None for a file elsewhere."""
    return _note(path) if path.is_relative_to(raw_folder()) else None


def discard(path: Path) -> None:
    """Remove a downloaded file that proved to be wrong, so that the next start fetches it anew.

    Files elsewhere, in a mirror folder or of one's own, are left alone.
    """
    if path.is_relative_to(raw_folder()):
        path.unlink(missing_ok=True)
        _note_file(path).unlink(missing_ok=True)


def names(path: str) -> list[str]:
    """The names under which a file may be found: as declared, plain, .bz2, .xz, .gz."""
    last = PurePosixPath(path).name
    plain = last.removesuffix(PurePosixPath(last).suffix) if last.endswith(SUFFIXES) else last
    return list(dict.fromkeys([last, plain, *(plain + suffix for suffix in SUFFIXES)]))


def _own(name: str, file: File) -> Found:
    if not os.path.exists(file.path):
        raise DataError(f"{name}: the file {file.path} does not exist.")
    if not os.path.isfile(file.path):
        what = "a folder" if os.path.isdir(file.path) else "a device"
        raise DataError(f"{name}: {file.path} is {what}, expected a file.")
    return Found(file, Path(file.path), file.path)


def raw_folder() -> Path:
    """Where downloads are kept."""
    return cache_folder() / "raw"


def _note_file(path: Path) -> Path:
    return path.with_name(f".{path.name}.source")


def _note(path: Path) -> str:
    """Where a downloaded file came from."""
    try:
        return _note_file(path).read_text()
    except OSError:
        return str(path)


def _present(folder: Path, file: File) -> Path | None:
    return next((folder / name for name in names(file.path) if os.path.isfile(folder / name)), None)


def _offline() -> bool:
    return os.environ.get("AUCBENCH_OFFLINE", "0") not in ("", "0")


def _mirror_folders() -> list[Path]:
    place = mirror()
    return [place] if isinstance(place, Path) else []


def _sources(file: File) -> Iterator[tuple[str, bool]]:
    """Full addresses of the file under its declared name, and whether they are public."""
    place = mirror()
    if isinstance(place, str):
        yield f"{place}/{file.path}", False
    for url in () if file.by_hand else file.urls or (f"{PUBLIC_SITE}/{file.path}",):
        yield url, True


def _tries(file: File, address: str, public: bool) -> list[_Try]:
    base, _, last = address.rpartition("/")
    if (
        "?" in address or "#" in address or file.kind in ("arff", "openml")
    ):  # not a path that a suffix can be put to
        return [_Try(address, PurePosixPath(file.path).name, public)]
    return [_Try(f"{base}/{name}", name, public and name == last) for name in names(last)]


def _download(
    file: File, home: Path, refusals: dict[str, str], allowance: Allowance, rejected: Collection[str]
) -> Path | None:
    """Download the file from the first source that has it; notes down the reasons of the others."""
    from filelock import FileLock

    sources = list(_sources(file))
    if _offline():
        refusals.update({address: "not tried, AUCBENCH_OFFLINE is set" for address, _ in sources})
        return None
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / f".{PurePosixPath(file.path).name}.lock"):
        before = _present(home, file)  # by another process, while we waited
        if before:
            return before
        for variant in names(file.path):  # what a killed process left behind: we hold the lock
            for left_over in home.glob(f".{variant}.download-*"):
                shutil.rmtree(left_over, ignore_errors=True)
        _sweep_old(raw_folder())
        for address, public in sources:
            reasons: list[str] = []
            for place in _tries(file, address, public):
                # The suffix says how to read the file, so it is the source's; the rest is the declared name.
                target = home / _renamed(file, place.name)
                if place.address in rejected:
                    reasons.append("what it sent cannot be used")
                    continue
                try:
                    sha256 = file.sha256 if place.public else None
                    download(place.address, target, sha256, allowance, file.kind)
                except RefusedError as refused:
                    reasons.append(str(refused))
                    if refused.unreachable:
                        break
                else:
                    _note_file(target).write_text(place.address)
                    return target
            refusals[address + (_variants(file) if len(reasons) > 1 else "")] = _summary(reasons)
    return None


def _sweep_old(home: Path) -> None:
    """Remove what killed downloads of other files left behind: no running one is as old."""
    for folder in home.rglob(".*.download-*"):
        with contextlib.suppress(OSError):  # another process removes it too
            if time.time() - folder.stat().st_mtime > OLD_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _renamed(file: File, name: str) -> str:
    plain = next(n for n in names(file.path) if not n.endswith(SUFFIXES))
    suffix = PurePosixPath(name).suffix
    return plain + suffix if suffix in SUFFIXES else plain


def _summary(reasons: list[str]) -> str:
    """The most telling of the reasons: a name that does not exist tells least."""
    return next((reason for reason in reasons if reason != "HTTP status 404"), reasons[0])


def _variants(file: File) -> str:
    last = PurePosixPath(file.path).name
    plain = _renamed(file, "")
    other = [name.removeprefix(plain) or "no suffix" for name in names(file.path) if name != last]
    return f" (also with {', '.join(other)})"


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
