"""Leases divide the work in a store among several processes, also of several machines.

A lease is a lock on a file. The system releases the lock when the process ends in any way.
"""

import contextlib
from pathlib import Path

from aucbench.errors import MachineError
from aucbench.pool import file_lock


class Leases:
    """The leases that this process holds in a folder; `close` gives them back.

    Parameters
    ----------
    folder : Path
        Folder of the lease files of all processes, created when needed.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._held: dict[str, contextlib.ExitStack] = {}

    def __enter__(self) -> "Leases":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, name: str) -> bool:
        """Take a lease; return whether this process holds it."""
        from filelock import Timeout  # imported only when a folder is shared

        if name not in self._held:
            with contextlib.ExitStack() as stack:
                try:
                    stack.enter_context(file_lock(self._folder / name, timeout=0.0))
                except (Timeout, FileNotFoundError, FileExistsError):  # held, or just released, by another
                    return False
                except OSError as error:
                    raise MachineError(
                        f"{self._folder} cannot be written to: {error.strerror or error}."
                    ) from error
                self._held[name] = stack.pop_all()
        return True

    def holds(self, name: str) -> bool:
        """Whether this process has a lease."""
        return name in self._held

    def give_back(self, name: str) -> None:
        """Give a lease back; nothing happens if this process does not hold it."""
        if (stack := self._held.pop(name, None)) is not None:
            with contextlib.suppress(OSError):  # Windows refuses to delete a locked file
                (self._folder / name).unlink()
            stack.close()

    def close(self) -> None:
        """Give all leases back; a refused study leaves no folder."""
        for name in list(self._held):
            self.give_back(name)
        with contextlib.suppress(OSError):  # the folder has leases of other processes, or results
            self._folder.rmdir()
            self._folder.parent.rmdir()
