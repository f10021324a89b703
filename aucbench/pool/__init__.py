"""The pool: processes for work that may hang, crash or take long, such as cells, trials and checks.

The module imports nothing else of the framework, so that every part can use it. Two libraries failed the
attacks in `tests/helpers/hostile_methods.py`. Workers of pebble share a pipe: a worker that writes to it
blocks all others. Loky has no time limits, and waits for incomplete answers and for daemons that hold its
pipe.
"""

from aucbench.pool.executor import Pool, ProcessEnded
from aucbench.pool.file_lock import file_lock
from aucbench.pool.process import called, dumped, tell
from aucbench.pool.start_methods import METHOD, SAFE_PATH, interrupted_later, start_fork_server

__all__ = [
    "METHOD",
    "SAFE_PATH",
    "Pool",
    "ProcessEnded",
    "called",
    "dumped",
    "file_lock",
    "interrupted_later",
    "start_fork_server",
    "tell",
]
