"""The built-in data sets: the tables of the catalogue, and classes for data that no table describes."""

from aucbench import hookimpl
from aucbench_datasets import catalogue, generated, openml, scikit_learn, user_files
from aucbench_datasets.tables import datasets_from_toml

__all__ = ["aucbench_datasets", "datasets_from_toml"]

_CLASSES = (
    scikit_learn.BreastCancer,
    scikit_learn.Digits,
    scikit_learn.Wine,
    *catalogue.CLASSES,
    openml.Openml,
    generated.Gaussian,
    generated.HardMargin,
    generated.LabelNoise,
    generated.SparseText,
    user_files.Arff,
    user_files.Csv,
    user_files.Libsvm,
    user_files.Npz,
    user_files.Parquet,
)


@hookimpl
def aucbench_datasets() -> tuple[type, ...]:
    """Classes of the built-in data sets."""
    return _CLASSES
