"""Imported once, where workers are forked from: the plugins, so that no worker imports them again."""

import contextlib
import os
import signal
import warnings

from aucbench.errors import AucbenchError
from aucbench.processes import end_with_parent

# What fails to load is said by the process that plans the study.
with contextlib.suppress(AucbenchError), warnings.catch_warnings(action="ignore"):
    from aucbench.registry import catalog

    catalog()

# Ctrl-C reaches the whole group of processes; what is to be done about it is for the one that planned.
signal.signal(signal.SIGINT, signal.SIG_IGN)

# No worker outlives the process that started all, not even where that is killed: this one ends with it.
os.register_at_fork(after_in_child=end_with_parent)
