"""Processes of our own: forked, where the system can, from one that has imported all they need."""

import multiprocessing
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PRELOADED = ("distributed", "aucbench.studies.performing", "aucbench.studies.preloading")


def begin() -> None:
    """Start the process to fork from, which imports while this one does something else."""
    forking_context()
    if METHOD == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()


def forking_context() -> Any:
    """The multiprocessing context of workers and trial runs."""
    context = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        context.set_forkserver_preload(list(PRELOADED))
    return context
