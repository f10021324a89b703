"""Data sets: fetched, parsed once, kept as memory-mapped arrays, labelled, scaled and split."""

from aucbench.data.cache import cache_folder
from aucbench.data.loading import Loaded, Part, fetch, has_test_part, load
from aucbench.data.splitting import holdout

__all__ = ["Loaded", "Part", "cache_folder", "fetch", "has_test_part", "holdout", "load"]
