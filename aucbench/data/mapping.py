"""Memory maps of files."""

import mmap
import platform
from pathlib import Path


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
