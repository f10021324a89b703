"""One address to one file: nothing is visible under the final name before it is complete and checked."""

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONNECT_SECONDS, STALL_SECONDS = 10, 30
ATTEMPTS = 3  # without any progress
PAUSE_SECONDS = 0.5  # doubled after each attempt
CHUNK_BYTES = 1 << 18
LARGE_BYTES = 100_000_000
_PASSING = {408, 416, 425, 429, 500, 502, 503, 504}
_MAGIC = {".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".gz": b"\x1f\x8b", ".zip": b"PK", ".parquet": b"PAR1"}


class RefusedError(Exception):
    """An address that did not give the file; the text says why.

    `unreachable` means that the host did not answer, so that its other addresses need not be tried.
    """

    def __init__(self, reason: str, unreachable: bool = False):
        super().__init__(reason)
        self.unreachable = unreachable


class TooLargeError(Exception):
    """A file that goes beyond the allowance; `size` in bytes."""

    def __init__(self, size: int):
        super().__init__(f"{size} bytes")
        self.size = size


@dataclass
class Allowance:
    """How many bytes may be downloaded for a data set without asking; None for any number."""

    limit: int | None = LARGE_BYTES
    spent: int = 0

    def check(self, size: int) -> None:
        """Refuse what goes beyond the limit, together with what was downloaded before."""
        if self.limit is not None and self.spent + size > self.limit:
            raise TooLargeError(size)


def download(
    url: str,
    target: Path,
    sha256: str | None = None,
    allowance: Allowance | None = None,
    kind: str = "",
) -> None:
    """Download an address into a file, which appears when it is complete.

    After an error that may pass (no answer, a cut connection, status 429 or 5xx) the download goes on where
    it stopped if the server can do that with an unchanged file, else from the beginning; it is given up after
    three attempts in a row that brought nothing.

    Parameters
    ----------
    url : str
        http or https; ``#NAME`` behind the address of a zip archive means the file of that name in it.
    target : Path
        In an existing folder.
    sha256 : str, optional
        Expected hash of the file, in hex.
    allowance : Allowance, optional
        How much may be downloaded.
    kind : str
        Of the file, as it is declared.

    Raises
    ------
    RefusedError
        With the reason.
    TooLargeError
        The file is larger than what is allowed.
    OSError
        The file cannot be written.
    """
    address, _, member = url.partition("#")
    allowance = allowance or Allowance(None)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.download-", dir=target.parent) as aside:
        path = Path(aside) / ("archive.zip" if member else target.name)
        _complete(address, path, allowance)
        allowance.spent += path.stat().st_size
        check_content(path, "" if member else kind)
        if member:
            path = _extract(path, member, Path(aside) / target.name)
            check_content(path, kind)
        if sha256 is not None:
            _check_hash(path, sha256)
        with path.open("rb+") as file:
            os.fsync(file.fileno())
        path.replace(target)


def size_of(url: str) -> int | None:
    """The size of a file by its address; None where the server does not tell, or there is none."""
    import requests

    try:
        answer = requests.head(
            url.partition("#")[0],
            timeout=CONNECT_SECONDS,
            allow_redirects=True,
            headers={"Accept-Encoding": "identity"},
        )
    except (requests.RequestException, ValueError):  # the latter from addresses that are none
        return None
    length = answer.headers.get("Content-Length", "")
    return int(length) if answer.ok and length.isdigit() else None


class _PassingError(RefusedError):
    """A refusal that a second attempt may mend."""


def _complete(url: str, path: Path, allowance: Allowance) -> None:
    """Transfer until the file is complete, as long as attempts bring something."""
    best, failures, version = 0, 0, ""
    while True:
        offset = path.stat().st_size if path.exists() else 0
        seen: dict[str, Any] = {}
        try:
            _transfer(url, path, offset, version, seen, allowance)
            return
        except _PassingError as error:
            got = path.stat().st_size if path.exists() else 0
            failures = 1 if got > best else failures + 1
            best = max(best, got)
            if failures == ATTEMPTS:
                raise RefusedError(str(error), error.unreachable) from None
            # Only a strong version tells that the rest will fit to what is there.
            version = seen.get("etag", "") if not seen.get("etag", "W/").startswith("W/") else version
            if seen.get("status") == 416 or "refused" in seen:  # the rest is not what is needed
                version = ""
            if not version and path.exists():
                path.unlink()
            time.sleep(PAUSE_SECONDS * 2 ** (failures - 1))


def _transfer(
    url: str, path: Path, offset: int, version: str, seen: dict[str, Any], allowance: Allowance
) -> None:
    import pooch
    import requests

    file = path.open("ab")

    def keep(response: Any, **_: Any) -> None:
        seen.update({key.lower(): value for key, value in response.headers.items()})
        seen["status"] = getattr(response, "status_code", 200)
        if seen["status"] == 200:  # from the beginning, whatever was asked for
            file.truncate(0)
        begin = re.match(r"bytes (\d+)-", seen.get("content-range", ""))
        if seen["status"] == 206 and (begin is None or int(begin[1]) != offset):
            seen["refused"] = True
            raise _PassingError("it sent another range than was asked for")
        length = seen.get("content-length", "")
        if length.isdigit() and seen["status"] in (200, 206):
            room = free_bytes(path.parent)
            if int(length) > room:
                raise RefusedError(
                    f"{int(length):,} bytes to come, and {room:,} are free in {path.parent.parent}"
                )
            allowance.check(int(length) + (offset if seen["status"] == 206 else 0))

    resume = {"Range": f"bytes={offset}-", "If-Range": version} if offset and version else {}
    # Without "identity" a server may compress on the way, and the length would not be the file's.
    fetch = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        chunk_size=CHUNK_BYTES,
        timeout=(CONNECT_SECONDS, STALL_SECONDS),
        headers={"Accept-Encoding": "identity", **resume},
        hooks={"response": keep},
    )
    try:
        with file:
            fetch(url, file, None)
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else "unknown"
        raise (_PassingError if status in _PASSING else RefusedError)(f"HTTP status {status}") from None
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        raise _PassingError("the connection was cut in the middle") from None
    except requests.Timeout as error:
        connecting = isinstance(error, requests.ConnectTimeout)
        raise (RefusedError if connecting else _PassingError)("no answer in time", unreachable=True) from None
    except requests.ConnectionError as error:
        # A stall in the middle comes as a ConnectionError too, but with something received already.
        raise _PassingError(
            "no connection" if not seen else f"cut off ({type(error).__name__})", not seen
        ) from None
    except (requests.RequestException, ValueError) as error:
        raise RefusedError(f"{type(error).__name__}: {error}") from None
    length = seen.get("content-length", "")
    got = path.stat().st_size - (offset if seen.get("status") == 206 else 0)
    if "content-encoding" not in seen and length.isdigit() and int(length) != got:
        raise _PassingError(f"expected {length} bytes, got {got}")
    whole = seen.get("content-range", "").rpartition("/")[2] if seen.get("status") == 206 else ""
    if whole.isdigit() and int(whole) != path.stat().st_size:
        raise _PassingError(f"expected {whole} bytes, got {path.stat().st_size}")


def _extract(archive: Path, member: str, target: Path) -> Path:
    """The member of a zip archive as a file, in whatever folder of the archive it is."""
    try:
        with zipfile.ZipFile(archive) as opened:
            found = next((n for n in opened.namelist() if n.rpartition("/")[2] == member), None)
            if found is None:
                raise RefusedError(f"the archive has no file {member}")
            with opened.open(found) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
    except zipfile.BadZipFile as error:
        raise RefusedError(f"a damaged zip archive ({error})") from None
    return target


def free_bytes(folder: Path) -> int:
    """Free space where a folder is, or is going to be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def check_content(path: Path, kind: str = "") -> None:
    """Refuse what is obviously not a data file of that kind.

    Raises
    ------
    RefusedError
        The file is empty, a page of HTML, or not the kind of archive that its name says.
    """
    with path.open("rb") as file:
        begin = file.read(512)
    magic = _MAGIC.get(path.suffix)
    if not begin:
        raise RefusedError("an empty file")
    first = begin.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first == b"<":
        raise RefusedError("a web page instead of data")
    if first == b"{" and kind in ("libsvm", "csv"):
        raise RefusedError("a message in JSON instead of data")
    if magic and not begin.startswith(magic):
        raise RefusedError(f"not a {path.suffix[1:]} archive")


def _check_hash(path: Path, expected: str) -> None:
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    if got != expected.lower():
        raise RefusedError(f"expected sha256 {expected.lower()}, got {got}")
