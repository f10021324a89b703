"""Data sets: download, parsing into memory-mapped arrays, labels, scaling and splits."""

from aucbench.contracts.cache_folder import cache_folder
from aucbench.data.description import columns_of, describe
from aucbench.data.loader import Loaded, Part, fetch, has_test_part, load, missing_bytes

__all__ = [
    "Loaded",
    "Part",
    "cache_folder",
    "columns_of",
    "describe",
    "fetch",
    "has_test_part",
    "load",
    "missing_bytes",
]
