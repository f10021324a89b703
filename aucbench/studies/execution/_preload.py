"""Imports for the process that forks workers: the framework and the built-in plugins only."""

from importlib.metadata import entry_points

import aucbench.studies.execution.worker  # noqa: F401
from aucbench.contracts.hooks import PROJECT
from aucbench.registry import GROUP

for entry in entry_points(group=GROUP):
    if entry.dist is not None and entry.dist.name == PROJECT:
        entry.load()
