"""Labels of a data set: sorting, checks against published counts, and the choice of the positive class."""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from aucbench.contracts import File, Grouping
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.errors import DataError

Label = float | str  # str if the label is not a number

MAX_LABELS = 1 << 16  # distinct labels of a file
MOST_CLASSES = 100  # a column with more distinct values is not a label column
_TRUTH = {"false": "0", "true": "1"}
_TWO_SIGNS: tuple[set[Label], ...] = ({-1.0, 1.0}, {0.0, 1.0})


def ordered(labels: Iterable[Label]) -> list[Any]:
    """Labels in ascending order, numbers before texts."""
    return sorted(labels, key=lambda label: (isinstance(label, str), label))


def shown(label: Label) -> str:
    """A label as text; 1.0 is shown as 1."""
    return label if isinstance(label, str) else f"{label:.15g}"


def in_words(counts: Mapping[Label, int], most: int = 12) -> str:
    """Label counts as text, such as ``10 times label -1 and 3 times label 1``."""
    phrases = [f"{counts[label]} times label {shown(label)}" for label in ordered(counts)]
    if len(phrases) > most:
        phrases = [*phrases[: most - 1], f"{len(phrases) - most + 1} more labels"]
    return " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases)


def check_facts(file: File, path: Path, rows: int, counts: Mapping[Label, int]) -> dict[Label, Label]:
    """Compare the rows and label counts of a parsed file with its declaration.

    Copies may name the two classes differently, such as 0/1 instead of -1/+1. If the counts agree in
    ascending order of the labels, the result maps each label to its published name.
    """
    if rows == 0:
        raise DataError(f"{path} is empty: expected at least one row of data.")
    if file.rows is not None and rows != file.rows:
        raise DataError(f"{path}: expected {file.rows} rows, got {rows}.")
    observed = [(label, counts[label]) for label in ordered(counts)]
    published = [(label, file.labels[label]) for label in ordered(file.labels)]
    if not published or observed == published:
        return {label: label for label in counts}
    if len(observed) == len(published) == 2 and [n for _, n in observed] == [n for _, n in published]:
        return {label: name for (label, _), (name, _) in zip(observed, published, strict=True)}
    raise DataError(f"{path}: expected {in_words(file.labels)}, got {in_words(counts)}.")


def check_features(name: str, features: int | None, columns: Mapping[str, int]) -> int:
    """The number of columns of a data set: the published number, else the largest index in its files."""
    widest_of_all = max(columns.values())
    if widest_of_all == 0:
        raise DataError(f"{name}: no row of {', '.join(columns)} has a feature.")
    if features is None:
        return widest_of_all
    for path, widest in columns.items():
        if widest > features:
            raise DataError(f"{name}: {path} has an index {widest}, expected at most {features} features.")
    return features


def positive_labels(
    name: str,
    counts: Mapping[Label, int],
    declared: Any = None,
    grouping: Grouping | None = None,
    grouping_seed: int = 0,
    column: str | None = None,
) -> frozenset[Label]:
    """The labels that become +1; all others become -1.

    `counts` are the training rows per label. Errors name the label `column` of a table, which may be wrong.

    Declared labels (`positive` of the data set, one or several) come first, then the grouping. Without
    either, the larger label of -1/+1 or 0/1 is positive, and the rarer of any other two (the larger label if
    both are equally frequent). Raises DataError for a single class, for more than two classes without a
    declaration, and for declared labels that do not occur.
    """
    labels, where = ordered(counts), "" if column is None else f" in column {column!r}"
    spellings = Counter(map(_spelling, labels))
    if alike := [shown(label) for label in labels if spellings[_spelling(label)] > 1]:
        raise DataError(
            f"{name}: labels {' and '.join(alike[:4])} are spellings of one label{where}; write them alike."
        )
    if declared is not None:
        return _declared(name, counts, declared, where)
    if column is not None and len(labels) > MOST_CLASSES and grouping is None:
        raise DataError(
            f"{name}: column {column!r} has {len(labels):,} different values, expected the labels of two "
            "classes; name the column of labels with dataset.target=COLUMN."
        )
    if len(labels) < 2:
        raise DataError(f"{name}: expected two classes, got {in_words(counts)} only{where}.")
    if grouping is Grouping.largest:
        return frozenset({max(labels, key=lambda label: counts[label])})
    if grouping is Grouping.rarest:
        return frozenset({min(labels, key=lambda label: counts[label])})
    if len(labels) > 2 and grouping is Grouping.halves:
        order = generator(grouping_seed, RandomStream.class_halves).permutation(len(labels))
        return frozenset(labels[i] for i in order[: len(labels) // 2])
    if len(labels) > 2:
        first, second = (shown(label) for label in labels[:2])
        raise DataError(
            f"{name}: expected two classes, got {len(labels)}{where} ({in_words(counts)}); say which labels "
            f"are positive with dataset.positive={first} or dataset.positive=[{first},{second}]."
        )
    if set(labels) in _TWO_SIGNS or set(spellings) == set(_TRUTH.values()):
        return frozenset(label for label in labels if _spelling(label) == "1")
    low, high = labels
    return frozenset({high if counts[high] <= counts[low] else low})


def _spelling(label: Label) -> str:
    """The common form of labels with the same meaning: Yes and yes, or True and 1."""
    text = shown(label).lower()
    return _TRUTH.get(text, text)


def _declared(name: str, counts: Mapping[Label, int], declared: Any, where: str) -> frozenset[Label]:
    labels = declared if isinstance(declared, Iterable) and not isinstance(declared, str) else [declared]
    # Hydra parses 1 and true, which may be texts in the file.
    texts: dict[str, Label] = {shown(label).lower(): label for label in counts}
    positive: frozenset[Any] = frozenset(
        label if label in counts and not isinstance(label, bool) else _match(texts, label) for label in labels
    )
    absent = ordered(positive - set(counts))
    if absent:
        listing = ", ".join(shown(label) for label in absent)
        raise DataError(
            f"{name}: the positive label {listing} does not occur{where}; the data have {in_words(counts)}."
        )
    if not positive or positive == set(counts):
        which = "all" if positive else "none"
        raise DataError(
            f"{name}: expected two classes, but {which} of the labels is positive ({in_words(counts)})."
        )
    return positive


def _match(texts: Mapping[str, Label], declared: Any) -> Any:
    """The label of the data that matches a declared label: true may be True, TRUE or 1."""
    spellings = [str(declared).lower().strip("'")]
    with suppress(ValueError):
        spellings.append(shown(float(declared)))
    return next((texts[spelling] for spelling in spellings if spelling in texts), declared)


def signs(
    name: str, part: str, labels: Iterable[Label], training: Iterable[Label], positive: Iterable[Label]
) -> list[int]:
    """+1 or -1 for each label of a part; raises DataError for a label missing from the training part."""
    known = set(training)
    if known in _TWO_SIGNS:  # one file may use -1/+1 and the other 0/1
        known |= {-1.0, 0.0}
    unknown = ordered(label for label in labels if label not in known)
    if unknown:
        raise DataError(
            f"{name}: label {shown(unknown[0])} of the {part} part does not occur in the training part, "
            f"which has {', '.join(shown(label) for label in ordered(set(training)))}."
        )
    return [1 if label in positive else -1 for label in labels]
