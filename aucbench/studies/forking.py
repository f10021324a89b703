"""Processes of our own: forked, where the system can, from one that has imported all they need."""

import multiprocessing
from typing import Any

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PRELOADED = ("distributed", "aucbench.studies.performing", "aucbench.studies.preloading")


def forking_context() -> Any:
    """The multiprocessing context of workers and trial runs."""
    context = multiprocessing.get_context(METHOD)
    if METHOD == "forkserver":
        context.set_forkserver_preload(list(PRELOADED))
    return context
