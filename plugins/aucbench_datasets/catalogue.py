"""The data sets of the tables beside this module, each an attribute by its name."""

from pathlib import Path

from aucbench_datasets.tables import datasets_from_toml

_FOLDER = Path(__file__).parent
_TABLES = (
    "libsvm_binary",
    "libsvm_multiclass",
    "uci",
    "openml",
    "keel_imbalanced",
    "keel_standard",
    "adbench",
    "by_hand",
)
CLASSES = tuple(cls for table in _TABLES for cls in datasets_from_toml(_FOLDER / f"{table}.toml", __name__))
