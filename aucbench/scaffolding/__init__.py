"""``aucbench new``: packages that hold one working plugin, to be changed."""

from aucbench.scaffolding.naming import Names, check_name
from aucbench.scaffolding.writing import KINDS, Kind, find_kind, render, write

__all__ = ["KINDS", "Kind", "Names", "check_name", "find_kind", "render", "write"]
