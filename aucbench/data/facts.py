"""Checking what a file holds against what is published about it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from aucbench.contracts import File
from aucbench.errors import DataError

Label = float | str  # text where a label is no number


def check_facts(file: File, path: Path, rows: int, counts: Mapping[Label, int]) -> dict[Label, Label]:
    """Compare the rows and label counts of a parsed file with its declaration.

    Copies differ in how they name two classes (0/1 where the original has -1/+1). Where the counts agree in
    ascending order of the labels, the published names are used.

    Returns
    -------
    dict
        From each label in the file to its published name.

    Raises
    ------
    DataError
        No rows, or facts that differ; names the file, what was expected and what was found.
    """
    if rows == 0:
        raise DataError(f"{path} is empty: expected at least one row of data.")
    if file.rows is not None and rows != file.rows:
        raise DataError(f"{path}: expected {file.rows} rows, got {rows}.")
    found = [(label, counts[label]) for label in ordered(counts)]
    published = [(label, file.labels[label]) for label in ordered(file.labels)]
    if not published or found == published:
        return {label: label for label in counts}
    if len(found) == len(published) == 2 and [n for _, n in found] == [n for _, n in published]:
        return {label: name for (label, _), (name, _) in zip(found, published, strict=True)}
    raise DataError(f"{path}: expected {in_words(file.labels)}, got {in_words(counts)}.")


def check_features(name: str, features: int | None, columns: Mapping[str, int]) -> int:
    """The number of columns of a data set: the published one, else the largest index in any part.

    Parameters
    ----------
    name : str
        The data set's name.
    features : int or None
        The published number.
    columns : mapping
        From each file's path to its largest index.

    Raises
    ------
    DataError
        A file has an index beyond the published number of features, or no file has any feature.
    """
    widest_of_all = max(columns.values())
    if widest_of_all == 0:
        raise DataError(f"{name}: no row of {', '.join(columns)} has a feature.")
    if features is None:
        return widest_of_all
    for path, widest in columns.items():
        if widest > features:
            raise DataError(f"{name}: {path} has an index {widest}, expected at most {features} features.")
    return features


def ordered(labels: Iterable[Label]) -> list[Any]:
    """Labels in ascending order, numbers before texts."""
    return sorted(labels, key=lambda label: (isinstance(label, str), label))


def shown(label: Label) -> str:
    """A label as text, 1 and not 1.0."""
    return label if isinstance(label, str) else f"{label:.15g}"


def in_words(counts: Mapping[Label, int], most: int = 12) -> str:
    """Label counts as text, such as ``10 times label -1 and 3 times label 1``."""
    words = [f"{counts[label]} times label {shown(label)}" for label in ordered(counts)]
    if len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more labels"]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
