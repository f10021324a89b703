"""Formats of files, detected by first bytes instead of names, and compressed text as a stream."""

import bz2
import codecs
import glob
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from aucbench.errors import DataError

SUFFIXES = (".bz2", ".xz", ".gz")  # suffixes of compressed files in a mirror
_SAMPLE = 4096
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_ZSTD, _ZIP = b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_OTHERS = {  # first bytes of files that are not text, with the format and the advice
    b"PAR1": ("a Parquet file", "read it with dataset=parquet"),
    b"ARROW1": ("an Arrow file", "write it as Parquet"),
    b"\x93NUMPY": ("a NumPy array", "write rows X and labels y with numpy.savez for dataset=npz"),
    b"\xd0\xcf\x11\xe0": ("an Excel file", "save it as CSV"),
}
_MARKUP = re.compile(rb"\s*<(!doctype|html|head|body|div|table|\?xml)", re.IGNORECASE)
_JSON = re.compile(rb'\s*(\{\s*"|\[\s*[\[{])')
_LIBSVM = re.compile(rb"\s*[-+.0-9eE,]+(\s+qid:\d+)?(\s+\d+:[-+.0-9eEinfa]+)+\s*(#.*)?$")
_UNPACKING = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)


@contextmanager
def open_bytes(path: Path) -> Iterator[Any]:
    """The bytes of a plain or compressed text file, after a byte order mark.

    Raises
    ------
    DataError
        The file cannot be read or unpacked, or its first bytes are those of another format.
    """
    try:
        with ExitStack() as stack:
            file = stack.enter_context(open(path, "rb"))
            head = file.peek(_SAMPLE)
            opener = next((function for magic, function in _OPENERS.items() if head.startswith(magic)), None)
            text: Any = file
            if head.startswith(_ZIP):
                text = stack.enter_context(_only_member(path, stack.enter_context(zipfile.ZipFile(file))))
            elif head.startswith(_ZSTD):
                import pyarrow

                text = stack.enter_context(pyarrow.CompressedInputStream(file, "zstd"))
            elif opener:
                text = stack.enter_context(opener(file, "rb"))
            text = file if text is file else io.BufferedReader(text, _SAMPLE)
            _refuse_other(path, text.peek(_SAMPLE))
            if text.peek(3).startswith(codecs.BOM_UTF8):
                text.read(3)
            yield text
    except _UNPACKING as error:
        raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
    except OSError as error:
        if error.errno is None:  # "Invalid data stream" of bz2
            raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None


def _only_member(path: Path, archive: zipfile.ZipFile) -> Any:
    names = [member.filename for member in archive.infolist() if not member.is_dir()]
    names = [name for name in names if not name.startswith("__MACOSX/")]  # added by macOS
    if any(name.startswith("xl/") for name in names):
        raise DataError(f"{path} is an Excel file; save it as CSV.")
    if any(name.endswith(".npy") for name in names):
        raise DataError(f"{path} is an archive of NumPy arrays; read it with dataset=npz.")
    if len(names) != 1:
        raise DataError(f"{path} is a zip archive of {len(names)} files; unpack the one that is wanted.")
    return archive.open(names[0])


def _refuse_other(path: Path, head: bytes) -> None:
    """Refuse a file whose first bytes are not those of text."""
    for magic, (kind, way_out) in _OTHERS.items():
        if head.startswith(magic):
            raise DataError(f"{path} is {kind}; {way_out}.")
    if _MARKUP.match(head):
        raise DataError(f"{path} is a web page or XML; save the table as CSV.")
    if _JSON.match(head):
        raise DataError(f"{path} is JSON; write it as CSV or Parquet.")
    if 8 * head.count(0) > len(head):
        raise DataError(f"{path} is not UTF-8 text; save the table as CSV in UTF-8.")


def reader_of(path: str) -> str:
    """The name of the data set that reads a file, a folder or a pattern: by first bytes, else by suffix."""
    file = Path(path).expanduser()
    if not file.is_file():
        paths = file.rglob("*") if file.is_dir() else map(Path, glob.glob(str(file), recursive=True))
        file = min((entry for entry in paths if entry.is_file() and entry.name[0] not in "._"), default=file)
    suffix = (file.with_suffix("") if file.suffix in (*SUFFIXES, ".zst", ".zip") else file).suffix.lower()
    kind = {".tsv": "csv", ".pq": "parquet", ".svm": "libsvm"}.get(suffix, suffix.removeprefix("."))
    kind = kind if kind in ("csv", "parquet", "arff", "npz", "libsvm") else ""
    try:
        with open_bytes(file) as text:
            lines = [line.strip() for line in text.read(_SAMPLE).splitlines()[:20]]
    except DataError as error:  # otherwise the reader reports the error
        match = re.search("dataset=(parquet|npz)", str(error))
        return match[1] if match else kind or "libsvm"
    if kind:
        return kind
    if any(line.lower().startswith((b"@relation", b"@attribute")) for line in lines):
        return "arff"
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return "libsvm" if _LIBSVM.match(first) else "csv"
