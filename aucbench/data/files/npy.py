"""Memory maps of files, and .npy files of a length not known beforehand."""

import hashlib
import mmap
import platform
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray


def map_file(path: Path, shared: bool = False) -> mmap.mmap:
    """A memory map of a whole file.

    Private and writable, so that writing changes no file; where the system refuses that (under a limit on the
    process's data), read-only. With `shared`, writing changes the file: for scratch files.
    """
    with path.open("r+b" if shared else "rb") as file:
        if shared:
            return mmap.mmap(file.fileno(), 0)
        if platform.system() == "Linux":
            # Without a reservation the system promises no memory for copies of all pages; else it would
            # refuse files larger than memory and swap together.
            flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0x4000)
            try:
                return mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
            except OSError:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


class NpyWriter:
    """Appends arrays to one .npy file; the shape is filled in when the file is closed.

    Writes go through the file system, never a memory map: a full disk is then an `OSError`, not a signal.

    Parameters
    ----------
    path : Path
        A new file.
    dtype : dtype
        What the arrays are converted to.
    columns : int, optional
        Number of columns of a two-dimensional array (C order); left out for one dimension.
    hashed : bool
        Whether to keep a hash of what is written.
    """

    def __init__(self, path: Path, dtype: DTypeLike, columns: int | None = None, hashed: bool = False):
        self.path = path
        self.size = 0
        self._dtype = np.dtype(dtype)
        self._columns = columns
        self._hash = hashlib.sha256() if hashed else None
        self._file: BinaryIO = path.open("w+b")
        self._header()
        self._begin = self._file.tell()

    def _header(self) -> None:
        # NumPy pads the header so that its first dimension can grow in place.
        shape = (self.size,) if self._columns is None else (self.size // max(1, self._columns), self._columns)
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def write(self, array: NDArray[Any]) -> None:
        """Append an array."""
        data: Any = np.ascontiguousarray(array, self._dtype).reshape(-1).view(np.uint8)
        self._file.write(data)
        if self._hash is not None:
            self._hash.update(data)
        self.size += array.size

    @property
    def digest(self) -> str:
        """The sha256 of what was written, without the header, in hex; empty unless `hashed`."""
        return self._hash.hexdigest() if self._hash is not None else ""

    def close(self) -> None:
        """Fill in the shape."""
        self._file.seek(0)
        self._header()
        if self._file.tell() != self._begin:
            raise RuntimeError(f"{self.path}: the header grew beyond its place.")
        self._file.close()

    def __enter__(self) -> "NpyWriter":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()


def open_npy(path: Path, shared: bool = False) -> NDArray[Any]:
    """The array of a .npy file, a plain ndarray over a memory map.

    Parameters
    ----------
    path : Path
        The file.
    shared : bool
        Whether writing to the array changes the file; else it is left alone.

    Raises
    ------
    ValueError
        The file is no .npy file, or cut short.
    """
    with path.open("rb") as file:
        np.lib.format.read_magic(file)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        begin = file.tell()
    if fortran or dtype.hasobject:
        raise ValueError(f"{path} is not a file of this package.")
    if 0 in shape:  # an empty file cannot be mapped
        return np.empty(shape, dtype)
    mapped = map_file(path, shared)
    try:
        return np.ndarray(shape, dtype, buffer=mapped, offset=begin)
    except TypeError:  # NumPy's "buffer is too small"
        raise ValueError(f"{path} is cut short.") from None
