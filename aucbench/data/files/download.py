"""One address to one file: nothing is visible under the final name before it is complete and checked."""

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aucbench.data.readers.formats import skip_keel_header
from aucbench.errors import FetchError
from aucbench.humanize import filesize

CONNECT_SECONDS, STALL_SECONDS = 10, 30
ATTEMPTS = 3  # without any progress
PAUSE_SECONDS = 0.5  # doubled after each attempt
CHUNK_BYTES = 1 << 18
LARGE_BYTES = 100_000_000
MOST_UNPACKED = 100  # times the bytes of an archive; tables have 3 to 20
_PASSING = {408, 416, 425, 429, 500, 502, 503, 504}
_MAGIC = {".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".gz": b"\x1f\x8b", ".zip": b"PK", ".parquet": b"PAR1"}
_HEADERS = {"Accept-Encoding": "identity"}  # else servers may compress, and the length is not the file's


class RefusedError(Exception):
    """An address that did not give the file; the text says why.

    `unreachable` means that the host did not answer, so that its other addresses need not be tried.
    """

    def __init__(self, reason: str, unreachable: bool = False):
        super().__init__(reason)
        self.unreachable = unreachable


@dataclass
class Allowance:
    """How many bytes may be downloaded for a data set without asking; None for any number."""

    dataset: str
    limit: int | None = LARGE_BYTES
    spent: int = 0

    def check(self, url: str, size: int, at_least: str = "") -> None:
        """Refuse a download beyond the limit, together with what was downloaded before."""
        if self.limit is not None and self.spent + size > self.limit:
            raise FetchError(
                f"{self.dataset}: {url} is a download of {at_least}{filesize(size)}; if you want that, run "
                f"aucbench fetch {self.dataset} --yes first."
            )


def download(url: str, target: Path, sha256: str | None, allowance: Allowance, kind: str = "") -> None:
    """Download an address into a file, which appears when it is complete.

    After an error that may pass (no response, a cut connection, status 429 or 5xx) the download resumes where
    it stopped if the server supports that for an unchanged file, else it starts over; it is given up after
    three attempts in a row that brought nothing. ``#NAME`` behind the address of a zip archive means the file
    of that name in it.

    A RefusedError when the address does not give a file of this hash (in hex) and kind, a FetchError when it
    is larger than what is allowed, an OSError when it cannot be written.
    """
    address, _, member = url.partition("#")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.download-", dir=target.parent) as aside:
        path = Path(aside) / ("archive.zip" if member else target.name)
        _transfer(address, path, allowance)
        allowance.spent += path.stat().st_size
        check_content(path, "" if member else kind)
        if member:
            path = _extract(path, member, Path(aside) / target.name)
            check_content(path, kind)
        with path.open("rb+") as file:
            got = _sha256(file, kind) if sha256 else ""
            os.fsync(file.fileno())
        if sha256 is not None and got != sha256.lower():
            raise RefusedError(f"expected sha256 {sha256.lower()}, got {got}")
        path.replace(target)


def remote_size(url: str) -> int | None:
    """The size of a file by its address; None where the server does not tell, or there is none."""
    import requests

    address = url.partition("#")[0]
    try:
        answer = requests.head(address, timeout=CONNECT_SECONDS, allow_redirects=True, headers=_HEADERS)
    except (requests.RequestException, ValueError):  # the latter from malformed addresses
        return None
    length = answer.headers.get("Content-Length", "")
    return int(length) if answer.ok and length.isdecimal() else None


def _transfer(url: str, path: Path, allowance: Allowance) -> None:
    """Repeat attempts until the file is complete, as long as they bring something."""
    best, failures, version = 0, 0, ""
    path.touch()
    while True:
        error, version = _attempt(url, path, version, allowance)
        if error is None:
            return
        got = path.stat().st_size
        failures = 1 if got > best else failures + 1
        best = max(best, got)
        if failures == ATTEMPTS:
            raise error
        time.sleep(PAUSE_SECONDS * 2 ** (failures - 1))


def _attempt(url: str, path: Path, version: str, allowance: Allowance) -> tuple[RefusedError | None, str]:
    """Resume a file of a known version, which is the server's strong ETag, or start over.

    Returns the error that a further attempt may mend, or None, and the version by which that may resume.
    """
    import requests

    offset = path.stat().st_size if version else 0
    resume = {"Range": f"bytes={offset}-", "If-Range": version} if offset else {}
    patience = CONNECT_SECONDS, STALL_SECONDS
    response = None
    try:
        with requests.get(url, stream=True, timeout=patience, headers=_HEADERS | resume) as response:
            response.raise_for_status()
            length = response.headers.get("Content-Length", "")
            if response.status_code == 206:
                sent = re.match(r"bytes (\d+)-\d*/(.*)", response.headers.get("Content-Range", ""))
                if sent is None or int(sent[1]) != offset:
                    return RefusedError("the server sent another range than requested"), ""
                expected = int(sent[2]) if sent[2].isdecimal() else None
            else:
                tag = response.headers.get("ETag", "")
                offset, version = 0, "" if tag.startswith("W/") else tag
                expected = int(length) if length.isdecimal() else None
            if expected is not None:
                needed, room = expected - offset, free_bytes(path.parent)
                if needed > room:
                    where = path.parent.parent
                    raise RefusedError(f"needs {needed:,} bytes, but only {room:,} are free in {where}")
                allowance.check(url, expected)
            for size in _append(response, path, offset, expected):
                # An announced size is that of what is sent, which may be compressed.
                allowance.check(url, size, "more than ")
            got = path.stat().st_size
            if expected in (None, got) or "Content-Encoding" in response.headers:
                return None, version
            return RefusedError(f"expected {expected} bytes, got {got}"), version
    except requests.HTTPError as error:
        status = error.response.status_code
        refused = RefusedError(f"HTTP status {status}")
        if status not in _PASSING:
            raise refused from None
        return refused, "" if status == 416 else version
    except (requests.exceptions.ChunkedEncodingError, requests.exceptions.ContentDecodingError):
        return RefusedError("the connection was cut in the middle"), version
    except requests.ConnectTimeout:
        raise RefusedError("no response in time", unreachable=True) from None
    except requests.Timeout:
        return RefusedError("no response in time", unreachable=True), version
    except requests.TooManyRedirects:
        raise RefusedError("its redirections lead to no file") from None
    except requests.ConnectionError as error:
        # A stall in the middle comes as a ConnectionError too, but with something received already.
        reason = "no connection" if response is None else f"cut off ({type(error).__name__})"
        return RefusedError(reason, unreachable=response is None), version
    except (requests.RequestException, ValueError) as error:  # the latter from malformed addresses
        raise RefusedError(f"{type(error).__name__}: {error}") from None


def _sha256(file: Any, kind: str) -> str:
    """The hash of an open file; of a KEEL file that of its rows, with Unix line ends."""
    if kind != "keel":
        return hashlib.file_digest(file, "sha256").hexdigest()
    skip_keel_header(file)
    return hashlib.sha256(file.read().replace(b"\r\n", b"\n")).hexdigest()


def _append(response: Any, path: Path, offset: int, expected: int | None) -> Iterator[int]:
    """Write the content of a response behind the first `offset` bytes of the file; yields the size so far."""
    from tqdm import tqdm

    hidden = not sys.stderr.isatty()
    with (
        path.open("ab" if offset else "wb") as file,
        tqdm(total=expected, initial=offset, unit="B", unit_scale=True, disable=hidden) as bar,
    ):
        for chunk in response.iter_content(CHUNK_BYTES):
            file.write(chunk)
            bar.update(len(chunk))
            yield file.tell()


def _extract(archive: Path, member: str, target: Path) -> Path:
    """The member of a zip archive as a file, in whatever folder of the archive it is."""
    try:
        with zipfile.ZipFile(archive) as opened:
            found = next((n for n in opened.namelist() if n.rpartition("/")[2] == member), None)
            if found is None:
                raise RefusedError(f"the archive has no file {member}")
            if (size := opened.getinfo(found).file_size) > MOST_UNPACKED * archive.stat().st_size:
                raise RefusedError(f"{member} would have {filesize(size)}, as no table does")
            with opened.open(found) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)  # no more than the size above
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:  # RuntimeError: encrypted
        raise RefusedError(f"a damaged or encrypted zip archive ({error})") from None
    return target


def free_bytes(folder: Path) -> int:
    """Free space where a folder is, or is going to be."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def check_content(path: Path, kind: str = "") -> None:
    """Refuse a file that is empty, a page of HTML, or not the kind of archive that its name says."""
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
