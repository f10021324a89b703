"""Formats of files, told by their first bytes and not by their names, and compressed text as a stream."""

import bz2
import glob
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aucbench.errors import DataError

SUFFIXES = (".bz2", ".xz", ".gz")  # under which a mirror may have a file
_SAMPLE = 4096
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
_OTHERS = {  # first bytes of files that hold no text, with what they are and the way out
    b"PAR1": ("a Parquet file", "read it with dataset=parquet"),
    b"ARROW1": ("an Arrow file", "write it as Parquet"),
    b"FEA1": ("a Feather file", "write it as Parquet"),
    b"\x93NUMPY": (
        "a NumPy array",
        "write rows X and labels y with numpy.savez, and read them with dataset=npz",
    ),
    b"\xd0\xcf\x11\xe0": ("an Excel file", "save it as CSV"),
    b"\x89HDF": ("an HDF5 file", "write it as Parquet"),
    b"ORC": ("an ORC file", "write it as Parquet"),
    b"Obj\x01": ("an Avro file", "write it as Parquet"),
    b"SQLite format 3": ("an SQLite database", "write the table as CSV"),
    b"<stata_dta>": ("a Stata file", "save it as CSV"),
    b"$FL2": ("an SPSS file", "save it as CSV"),
    b"RDX": ("an R workspace", "write the data frame with write.csv"),
    b"%PDF": ("a PDF document", "save the table as CSV"),
    b"\x80\x04": ("a pickle", "write the data frame with to_parquet"),
    b"\x80\x05": ("a pickle", "write the data frame with to_parquet"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it"),
    b"Rar!": ("a RAR archive", "unpack it"),
    b"\x04\x22\x4d\x18": ("packed by lz4", "unpack it"),
    bytes(12) + b"\xc2\xea\x81\x60": ("a SAS file", "save it as CSV"),
}
_TAR = slice(257, 262), b"ustar"
_MARKUP = re.compile(rb"\s*<(!doctype|html|head|body|div|table|\?xml)", re.IGNORECASE)
_JSON = re.compile(rb'\s*(\{\s*"|\[\s*[\[{])')
_LIBSVM = re.compile(rb"\s*[-+.0-9eE,]+(\s+qid:\d+)?(\s+\d+:[-+.0-9eEinfa]+)+\s*(#.*)?$")
_UNPACKING = (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile)


@contextmanager
def open_bytes(path: Path) -> Iterator[Any]:
    """The bytes of a plain or compressed text file.

    Raises
    ------
    DataError
        The file cannot be read or unpacked, or its first bytes are those of another format.
    """
    try:
        with open(path, "rb") as file:
            packed = _packed(file.read(_SAMPLE))
            file.seek(0)
            with _unpacked(path, packed, file) as stream:
                text = io.BufferedReader(stream, _SAMPLE) if packed else file
                if (other := _other(text.peek(_SAMPLE))) is not None:
                    raise DataError(f"{path} is {other[0]}; {other[1]}.")
                yield text
    except _UNPACKING as error:
        raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
    except OSError as error:
        if error.errno is None:  # "Invalid data stream" of bz2
            raise DataError(f"{path}: the archive is damaged or cut short ({error}).") from None
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None


@contextmanager
def _unpacked(path: Path, packed: str, file: Any) -> Iterator[Any]:
    if packed == "zip":
        with zipfile.ZipFile(file) as archive:
            names = [each.filename for each in archive.infolist() if not each.is_dir()]
            names = [name for name in names if not name.startswith("__MACOSX/")]  # written beside by macOS
            _refuse_archive(path, names)
            with archive.open(names[0]) as stream:
                yield stream
    elif packed == "zstd":
        import pyarrow

        with io.BufferedReader(pyarrow.CompressedInputStream(file, "zstd")) as stream:
            yield stream
    elif packed:
        opener: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[packed]
        with opener(file, "rb") as stream:
            yield stream
    else:
        yield file


def _packed(head: bytes) -> str:
    """How a file is compressed, "" if it is not."""
    if head.startswith(b"PK\x03\x04"):
        return "zip"
    return next((name for magic, name in _PACKED.items() if head.startswith(magic)), "")


def _refuse_archive(path: Path, names: list[str]) -> None:
    if any(name.startswith(("xl/", "[Content_Types]")) for name in names):
        raise DataError(f"{path} is an Excel file; save it as CSV.")
    if "content.xml" in names:
        raise DataError(f"{path} is a spreadsheet of OpenDocument; save it as CSV.")
    if any(name.endswith(".npy") for name in names):
        raise DataError(f"{path} is an archive of NumPy arrays; read it with dataset=npz.")
    if len(names) != 1:
        raise DataError(f"{path} is a zip archive of {len(names)} files; unpack the one that is wanted.")


def _other(head: bytes) -> tuple[str, str] | None:
    """What a file that holds no rows of text is, and the way out; None if it may hold text."""
    for magic, found in _OTHERS.items():
        if head.startswith(magic):
            return found
    if head[_TAR[0]] == _TAR[1]:
        return "a tar archive", "unpack it"
    if _MARKUP.match(head):
        return "a web page or XML", "save the table as CSV"
    if _JSON.match(head):
        return "JSON", "write it as CSV or Parquet"
    return None


def reader_of(path: str) -> str:
    """The data set that reads a file, a folder or a pattern: by first bytes, else by the ending of a name."""
    file = Path(path).expanduser()
    if not file.is_file():
        several = file.rglob("*") if file.is_dir() else map(Path, glob.glob(str(file), recursive=True))
        file = min((each for each in several if each.is_file() and each.name[0] not in "._"), default=file)
    ending = (file.with_suffix("") if file.suffix in (*SUFFIXES, ".zst", ".zip") else file).suffix.lower()
    named = {".tsv": "csv", ".pq": "parquet", ".svm": "libsvm"}.get(ending, ending.removeprefix("."))
    named = named if named in ("csv", "parquet", "arff", "npz", "libsvm") else ""
    try:
        with open(file, "rb") as stream:
            head = stream.read(_SAMPLE)
        if head.startswith(b"PAR1"):
            return "parquet"
        if _packed(head) == "zip":
            with zipfile.ZipFile(file) as archive:
                if all(name.endswith(".npy") for name in archive.namelist()):
                    return "npz"
        if named:
            return named
        with open_bytes(file) as text:
            lines = [line.strip() for line in text.read(_SAMPLE).splitlines()[:20]]
    except (OSError, zipfile.BadZipFile, DataError):  # the reader says what is wrong
        return named or "libsvm"
    if any(line.lower().startswith((b"@relation", b"@attribute")) for line in lines):
        return "arff"
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return "libsvm" if _LIBSVM.match(first) else "csv"
