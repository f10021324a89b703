"""Arrays in .npy files: read through memory maps, and written before their length is known."""

import hashlib
import mmap
import platform
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray


def open_npy(path: Path, shared: bool = False) -> NDArray[Any]:
    """The array of a .npy file, a plain ndarray over a memory map; a truncated file is a ValueError.

    Writing to the array changes the file only if `shared`, as for scratch files.
    """
    with path.open("r+b" if shared else "rb") as file:
        np.lib.format.read_magic(file)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        begin = file.tell()
        if fortran or dtype.hasobject:
            raise ValueError(f"{path} is not a file of this package.")
        if 0 in shape:  # an empty file cannot be mapped
            return np.empty(shape, dtype)
        mapped = mmap.mmap(file.fileno(), 0) if shared else _private_map(file)
    try:
        return np.ndarray(shape, dtype, buffer=mapped, offset=begin)
    except TypeError:  # NumPy's "buffer is too small"
        raise ValueError(f"{path} is cut short.") from None


def _private_map(file: BinaryIO) -> mmap.mmap:
    """A private and writable map; read-only if the process has a limit on data."""
    if platform.system() != "Linux":
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    import resource

    # A writable map counts as data in full, though no page is copied, and would use up the limit.
    if resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    # Without a reservation the system promises no memory for copies of all pages; otherwise it would refuse
    # files larger than memory and swap together.
    flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0x4000)
    return mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)


class NpyWriter:
    """Appends arrays to one new .npy file; the shape is filled in when the file is closed.

    Arrays are converted to `dtype`; with `columns` the file holds two dimensions (C order), else one. Writes
    go through the file system, never a memory map: a full disk is then an `OSError`, not a signal.
    """

    def __init__(self, path: Path, dtype: DTypeLike, columns: int | None = None, hashed: bool = False):
        self.size = 0
        self._dtype = np.dtype(dtype)
        self._columns = columns
        self._hash = hashlib.sha256() if hashed else None
        self._file: BinaryIO = path.open("w+b")
        self._write_header()

    def _write_header(self) -> None:
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
        """The sha256 of the values in hex; empty unless `hashed`."""
        return self._hash.hexdigest() if self._hash is not None else ""

    def __enter__(self) -> "NpyWriter":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        with self._file:
            if kind is None:
                self._file.seek(0)
                self._write_header()
