"""Download of one file: it appears under its final name when it is complete and checked."""

import hashlib
import os
import shutil
import sys
import tempfile
import time
import zipfile
import zlib
from itertools import dropwhile
from pathlib import Path
from typing import Any

from aucbench.errors import FetchError
from aucbench.humanize import filesize

PATIENCE = 10, 30  # timeouts in seconds: to connect, and between two parts of a response
ATTEMPTS = 3
PAUSE_SECONDS = 0.5  # doubled after each attempt
CHUNK_BYTES = 1 << 18
LARGE_BYTES = 100_000_000
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_HEADERS = {"Accept-Encoding": "identity"}  # else servers may compress, and the length is not the file's


class RefusedError(Exception):
    """Raised if an address does not provide the file; `may_pass` is true if another attempt may succeed."""

    def __init__(self, reason: str, may_pass: bool = False):
        super().__init__(reason)
        self.may_pass = may_pass


def download(name: str, url: str, target: Path, sha256: str | None, limit: int | None, kind: str) -> None:
    """Download an address into a file, which appears when it is complete.

    After a transient error (no response, a cut connection, status 429 or 5xx) there are up to three attempts.
    ``#NAME`` after the address of a zip archive selects the file of that name in the archive.

    Raises RefusedError if the address does not provide a file with this hash (in hex), FetchError if the file
    has more than `limit` bytes, and OSError if it cannot be written.
    """
    address, _, member = url.partition("#")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.download-", dir=target.parent) as aside:
        path = Path(aside) / ("archive.zip" if member else target.name)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                _transfer(name, address, path, limit)
                break
            except RefusedError as refused:
                if not refused.may_pass or attempt == ATTEMPTS:
                    raise
            time.sleep(PAUSE_SECONDS * 2**attempt)
        if member:
            path = _extract(path, member, Path(aside) / target.name)
        with path.open("rb+") as file:
            got = _sha256(file, kind) if sha256 else ""
            os.fsync(file.fileno())
        if sha256 is not None and got != sha256.lower():
            raise RefusedError(f"expected sha256 {sha256.lower()}, got {got}")
        path.replace(target)


def remote_size(url: str) -> int | None:
    """The size of the file at an address; None if no server reports it."""
    import requests

    address = url.partition("#")[0]
    try:
        response = requests.head(address, timeout=PATIENCE[0], allow_redirects=True, headers=_HEADERS)
    except (requests.RequestException, ValueError):  # the latter from malformed addresses
        return None
    length = response.headers.get("Content-Length", "")
    return int(length) if response.ok and length.isdecimal() else None


def _transfer(name: str, url: str, path: Path, limit: int | None) -> None:
    """Download an address to a file."""
    import requests
    from tqdm import tqdm

    try:
        with requests.get(url, stream=True, timeout=PATIENCE, headers=_HEADERS) as response:
            response.raise_for_status()
            length = response.headers.get("Content-Length", "")
            expected = int(length) if length.isdecimal() else None
            _check_size(name, url, expected or 0, limit)
            bar = tqdm(total=expected, unit="B", unit_scale=True, disable=not sys.stderr.isatty())
            with path.open("wb") as file, bar:
                for chunk in response.iter_content(CHUNK_BYTES):
                    file.write(chunk)
                    bar.update(len(chunk))
                    _check_size(name, url, file.tell(), limit, "more than ")
    except requests.HTTPError as error:
        status = error.response.status_code
        raise RefusedError(f"HTTP status {status}", status in _PASSING) from None
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
        raise RefusedError("no connection, or one that was cut", may_pass=True) from None
    except (requests.RequestException, ValueError) as error:  # the latter from malformed addresses
        raise RefusedError(f"{type(error).__name__}: {error}") from None


def _check_size(name: str, url: str, size: int, limit: int | None, at_least: str = "") -> None:
    if limit is not None and size > limit:
        raise FetchError(
            f"{name}: {url} is a download of {at_least}{filesize(size)}; if you want that, run "
            f"aucbench fetch {name} --yes first."
        )


def _sha256(file: Any, kind: str) -> str:
    """The hash of an open file; for a KEEL file, the hash of its rows, with Unix line ends."""
    if kind != "keel":
        return hashlib.file_digest(file, "sha256").hexdigest()
    rows = dropwhile(lambda line: line.startswith(b"@") or not line.strip(), file)
    return hashlib.sha256(b"".join(rows).replace(b"\r\n", b"\n")).hexdigest()


def _extract(archive: Path, member: str, target: Path) -> Path:
    """Extract the member of a zip archive, from any folder of the archive, to a file."""
    try:
        with zipfile.ZipFile(archive) as opened:
            entry = next((n for n in opened.namelist() if n.rpartition("/")[2] == member), None)
            if entry is None:
                raise RefusedError(f"the archive has no file {member}")
            with opened.open(entry) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:  # RuntimeError: encrypted
        raise RefusedError(f"a damaged or encrypted zip archive ({error})") from None
    return target
