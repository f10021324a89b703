"""One address to one file: nothing is visible under the final name before it is complete and checked."""

import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CONNECT_SECONDS, STALL_SECONDS = 10, 30
ATTEMPTS = 3
PAUSE_SECONDS = 0.5  # doubled after each attempt
CHUNK_BYTES = 1 << 18
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_MAGIC = {".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".gz": b"\x1f\x8b"}


class RefusedError(Exception):
    """An address that did not give the file; the text says why.

    `unreachable` means that the host did not answer, so that its other addresses need not be tried.
    """

    def __init__(self, reason: str, unreachable: bool = False):
        super().__init__(reason)
        self.unreachable = unreachable


def download(url: str, target: Path, sha256: str | None = None) -> None:
    """Download an address into a file, which appears when it is complete.

    Errors that may pass (no answer, a cut connection, status 429 or 5xx) are tried three times.

    Parameters
    ----------
    url : str
        http or https.
    target : Path
        In an existing folder.
    sha256 : str, optional
        Expected hash, in hex.

    Raises
    ------
    RefusedError
        With the reason.
    OSError
        The file cannot be written.
    """
    for attempt in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.download-", dir=target.parent) as aside:
            path = Path(aside) / target.name
            try:
                _transfer(url, path)
            except _PassingError as error:
                if attempt + 1 == ATTEMPTS:
                    raise RefusedError(str(error), error.unreachable) from None
                time.sleep(PAUSE_SECONDS * 2**attempt)
                continue
            check_content(path)
            if sha256 is not None:
                _check_hash(path, sha256)
            with path.open("rb+") as file:
                os.fsync(file.fileno())
            path.replace(target)
            return


class _PassingError(RefusedError):
    """A refusal that a second attempt may mend."""


def _transfer(url: str, path: Path) -> None:
    import pooch
    import requests

    seen: dict[str, Any] = {}

    def keep(response: Any, **_: Any) -> None:
        seen.update(response.headers)

    # Without "identity" a server may compress on the way, and the length would not be the file's.
    fetch = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        chunk_size=CHUNK_BYTES,
        timeout=(CONNECT_SECONDS, STALL_SECONDS),
        headers={"Accept-Encoding": "identity"},
        hooks={"response": keep},
    )
    try:
        fetch(url, str(path), None)
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
    headers = {key.lower(): value for key, value in seen.items()}
    length = headers.get("content-length", "")
    got = path.stat().st_size
    if "content-encoding" not in headers and length.isdigit() and int(length) != got:
        raise _PassingError(f"expected {length} bytes, got {got}")


def check_content(path: Path) -> None:
    """Refuse what is obviously not a data file.

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
    if begin.lstrip().lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise RefusedError("a web page instead of data")
    if magic and not begin.startswith(magic):
        raise RefusedError(f"not a {path.suffix[1:]} archive")


def _check_hash(path: Path, expected: str) -> None:
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    if got != expected.lower():
        raise RefusedError(f"expected sha256 {expected.lower()}, got {got}")
