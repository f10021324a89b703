"""Tables as numeric rows, in blocks of constant memory, by a schema learned from the training part.

A column is numeric when all its training values are numbers (or missing), else its texts are categories and
become one column of zeros and ones each, in alphabetic order. A category that only the test part has is zero
in all of them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import File, Table
from aucbench.data.labels import Label
from aucbench.data.readers.blocks import MOST_VALUES, Block, Coded
from aucbench.data.readers.table_files import Columns, arrow_errors, open_columns
from aucbench.errors import DataError

GAPS = ("", "?")  # what is missing in any column, and the only such in a column of declared categories
LABEL_GAPS = (*GAPS, "NA", "N/A", "NaN", "nan", "null", "NULL")  # a class may well be called none
_WORDS = ("NA", "N/A", "NaN", "null", "None", "<NA>", "#N/A", "#NA", "-")
MISSING = (
    *GAPS,
    *sorted({way for word in _WORDS for way in (word, word.lower(), word.upper(), word.title())}),
)
STRAY_SHARE = 0.01  # texts among numbers up to this share are taken for errors, more for categories
_WITH_COMMA = re.compile(r"[+-]?[0-9]+(,[0-9]+)+")
MAX_CATEGORIES = 1 << 16
MEDIAN_BYTES = 1 << 28  # of values held at a time to find medians


@dataclass
class Feature:
    """A column of features: where it is, and what was learned about it from the training part."""

    name: str
    place: int
    numeric: bool = True
    nominal: bool = False  # the file declares categories
    counts: Counter[str] = field(default_factory=Counter)  # of texts, without numbers once there are many
    numbers: int = 0  # cells that `counts` left out
    missing: int = 0
    infinite: int = 0
    median: float = float("nan")

    @cached_property
    def categories(self) -> list[str]:
        """Texts in alphabetic order."""
        return sorted(self.counts)


@dataclass(frozen=True)
class Schema:
    """The columns of the training part."""

    names: list[str]
    target: int
    features: list[Feature]
    table: Table

    @cached_property
    def width(self) -> int:
        """Number of columns of the encoded rows."""
        return sum(1 if feature.numeric else len(feature.categories) for feature in self.features)


def fit(files: Sequence[tuple[File, Path]]) -> Schema:
    """Learn types, categories and, where they are asked for, medians from the files of the training part."""
    file, path = files[0]
    opened = [open_columns(*each) for each in files]
    names, table = opened[0].names, file.table
    opened = [columns.arranged(names) for columns in opened]
    target = _number_of(path, names, table.target, "target")
    dropped = {_number_of(path, names, column, "drop") for column in table.drop}
    if target in dropped:
        raise DataError(f"{path}: column {names[target]!r} is the label, it cannot be in dataset.drop too.")
    features = [Feature(name, i) for i, name in enumerate(names) if i != target and i not in dropped]
    if not features:
        raise DataError(f"{path}: there are no columns but the label, expected features.")
    for feature in features:
        feature.nominal = any(feature.name in columns.nominal for columns in opened)
        feature.numeric = not feature.nominal
    for learn, numeric in ((_learn_numbers, True), (_learn_texts, False)):
        some = [feature for feature in features if feature.numeric is numeric]
        for each, batch in _batches(opened) if some else ():
            for feature in some:
                learn(each, feature, batch[feature.place])
    for feature in features:
        if not feature.numeric and not feature.nominal:
            _refuse_strays(feature, opened)
    _check(path, features, table)
    if table.missing == "median":
        _find_medians([feature for feature in features if feature.numeric], opened)
    return Schema(names, target, features, table)


def encode(schema: Schema, file: File, path: Path) -> Iterator[Block]:
    """The rows of a file, block by block."""
    columns = open_columns(file, path).arranged(schema.names)
    at_once = max(1, MOST_VALUES // max(1, schema.width))
    row = 0
    for batch in columns.batches():
        read: list[NDArray[Any]] = []
        with arrow_errors(path):
            for feature in schema.features:
                array = batch[feature.place]
                if feature.numeric:
                    read.append(_values(path, feature, array, schema.table, row))
                else:
                    read.append(_codes(path, feature, array, schema.table))
            labels = _labels(path, schema, batch[schema.target], row)
        row += len(labels.codes)
        for start in range(0, len(labels.codes), at_once):
            part = slice(start, start + at_once)
            yield _block(schema, read, part, Coded(labels.distinct, labels.codes[part]))


def _number_of(path: Path, names: list[str], column: str | int, field_name: str) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise DataError(f"{path} has no column {column!r} (dataset.{field_name}); its columns are {shown}.")


def _learn_numbers(path: Path, feature: Feature, array: Any) -> None:
    if not feature.numeric:
        return
    values = _numbers_or_missing(array)
    if values is None:
        feature.numeric, feature.missing = False, 0
    else:
        feature.missing += int(np.count_nonzero(np.isnan(values)))
        feature.infinite += int(np.count_nonzero(np.isinf(values)))


def _learn_texts(path: Path, feature: Feature, array: Any) -> None:
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.types as types

    try:
        if types.is_temporal(array.type) or types.is_nested(array.type):
            raise pyarrow.ArrowNotImplementedError("no category")
        texts = _plain(array, GAPS if feature.nominal else MISSING).cast(pyarrow.string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        raise DataError(
            f"{path}: column {feature.name!r} is of type {array.type}, expected numbers or "
            f"texts; leave it out with dataset.drop=[{feature.name}]."
        ) from None
    feature.missing += texts.null_count
    found = pc.value_counts(texts.drop_null())
    feature.counts.update(dict(zip(*(part.to_pylist() for part in found.flatten()), strict=True)))
    if len(feature.counts) > MAX_CATEGORIES:  # perhaps numbers with some errors between: see to the errors
        for text in [text for text in feature.counts if _is_number(text)]:
            feature.numbers += feature.counts.pop(text)
    if len(feature.counts) > MAX_CATEGORIES:
        _refuse_many(path, feature)


def _refuse_many(path: Path, feature: Feature) -> NoReturn:
    raise DataError(
        f"{path}: column {feature.name!r} has more than {MAX_CATEGORIES} different texts, expected "
        f"categories; leave it out with dataset.drop=[{feature.name}]."
    )


def _refuse_strays(feature: Feature, opened: list[Columns]) -> None:
    """Refuse what looks like a column of numbers with some errors in it, or with commas in them."""
    strays = {text: count for text, count in feature.counts.items() if not _is_number(text)}
    texts, cells = sum(strays.values()), feature.counts.total() + feature.numbers
    commas = bool(strays) and all(_WITH_COMMA.fullmatch(text) for text in strays)
    few = texts < cells and (texts == 1 < cells - 10 or texts < STRAY_SHARE * cells)
    if not strays or not (commas or few):
        if feature.numbers:
            _refuse_many(opened[0].path, feature)
        return
    path, row, text = _first_of(strays, feature, opened)
    if commas:
        raise DataError(
            f"{path}: column {feature.name!r} has numbers with commas ({text!r} in row {row}), expected a "
            "decimal point and nothing between thousands."
        )
    raise DataError(
        f"{path}: column {feature.name!r} has numbers but for {texts} of {cells} values, the first being "
        f"{text!r} in row {row}; correct or empty such cells, or set dataset.drop=[{feature.name}]."
    )


def _first_of(strays: dict[str, int], feature: Feature, opened: list[Columns]) -> tuple[Path, int, str]:
    for columns in opened:
        texts = (text for batch in columns.batches() for text in _plain(batch[feature.place]).to_pylist())
        for row, text in enumerate(texts, 1):
            if text in strays:
                return columns.path, row, text
    raise RuntimeError(f"Column {feature.name!r} changed while it was read.")


def _check(path: Path, features: list[Feature], table: Table) -> None:
    for what in ("missing", "infinite"):
        bad = {f.name: getattr(f, what) for f in features if getattr(f, what)}
        if bad and not (what == "missing" and table.missing == "median"):
            shown = ", ".join(f"{name!r} ({count})" for name, count in list(bad.items())[:5])
            more = f" and {len(bad) - 5} more columns" if len(bad) > 5 else ""
            out = "; dataset.missing=median fills them in" if what == "missing" else ""
            raise DataError(f"{path}: {sum(bad.values())} values are {what}, in column {shown}{more}{out}.")


def _find_medians(features: list[Feature], opened: list[Columns]) -> None:
    """Medians of all columns of numbers: what has no gap here may have one in the test part."""
    rows = sum(len(batch[0]) for _, batch in _batches(opened))
    at_once = max(1, MEDIAN_BYTES // (8 * max(1, rows)))
    for start in range(0, len(features), at_once):
        some = features[start : start + at_once]
        parts: list[list[Any]] = [[] for _ in some]
        for _, batch in _batches(opened):
            for feature, kept in zip(some, parts, strict=True):
                kept.append(_numbers_or_missing(batch[feature.place]))
        for feature, kept in zip(some, parts, strict=True):
            values = np.concatenate(kept)
            # A column without any value tells nothing, whatever it is filled with.
            feature.median = 0.0 if np.isnan(values).all() else float(np.nanmedian(values))


def _batches(opened: list[Columns]) -> Iterator[tuple[Path, list[Any]]]:
    for columns in opened:
        for batch in columns.batches():
            yield columns.path, batch


def _block(schema: Schema, read: list[NDArray[Any]], part: slice, labels: Coded) -> Block:
    n = len(labels.codes)
    dense = np.zeros((n, schema.width))
    column = 0
    for feature, values in zip(schema.features, read, strict=True):
        if feature.numeric:
            dense[:, column] = values[part]
            column += 1
        else:
            codes = values[part]
            known = np.flatnonzero(codes >= 0)
            dense[known, column + codes[known]] = 1.0
            column += len(feature.categories)
    filled, indices = np.nonzero(dense)
    lengths = np.bincount(filled, minlength=n)
    return Block(labels, lengths, indices.astype(np.int32), dense[filled, indices], schema.width)


def _values(path: Path, feature: Feature, array: Any, table: Table, row: int) -> NDArray[np.float64]:
    values = _numbers_or_missing(array)
    if values is None:
        texts = _plain(array).to_pylist()
        text = next((v for v in texts if v is not None and not _is_number(v)), texts[0])
        raise DataError(
            f"{path}: column {feature.name!r} has {text!r}, expected numbers as in the training part."
        )
    bad = ~np.isfinite(values)
    if bad.any():
        if table.missing != "median" or np.isinf(values).any():
            where = row + int(np.argmax(bad)) + 1
            what = "missing" if np.isnan(values[bad]).any() else "infinite"
            count = int(np.count_nonzero(bad))
            raise DataError(f"{path}: {count} values of column {feature.name!r} are {what} (row {where}).")
        values = np.where(bad, feature.median, values)
    return values


def _codes(path: Path, feature: Feature, array: Any, table: Table) -> NDArray[np.int64]:
    import pyarrow
    import pyarrow.compute as pc

    array = _plain(array, GAPS if feature.nominal else MISSING).cast(pyarrow.string())
    if array.null_count and table.missing != "median":
        raise DataError(f"{path}: {array.null_count} values of column {feature.name!r} are missing.")
    known = pyarrow.array(feature.categories, pyarrow.string())
    return pc.fill_null(pc.index_in(array, known), -1).to_numpy(zero_copy_only=False).astype(np.int64)


def _labels(path: Path, schema: Schema, array: Any, row: int) -> Coded:
    import pyarrow.compute as pc

    name = schema.names[schema.target]
    array = _plain(array, LABEL_GAPS)
    if array.null_count:
        where = row + array.is_null().to_pylist().index(True) + 1
        raise DataError(f"{path}: {array.null_count} labels are missing in column {name!r} (row {where}).")
    coded = pc.dictionary_encode(array)
    distinct = [_label(value) for value in coded.dictionary.to_pylist()]
    bad = [label for label in distinct if isinstance(label, float) and not np.isfinite(label)]
    if bad:
        raise DataError(f"{path}: a label in column {name!r} is {bad[0]}, expected finite numbers or text.")
    return Coded(distinct, coded.indices.to_numpy(zero_copy_only=False).astype(np.int64))


def _label(value: Any) -> Label:
    """A number where the label is one, however it is written: 1, 1.0 and True are the same label."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _numbers_or_missing(array: Any) -> NDArray[np.float64] | None:
    """The values of a column, NaN where they are missing; None when some are no numbers."""
    import pyarrow

    values = None if array.null_count and _is_text(array) else _numbers(array)
    if values is None or np.isnan(values).any():  # the long way, which knows blanks and words for missing
        try:
            values = _numbers(_plain(array))
        except pyarrow.ArrowInvalid:  # bytes that are no text
            return None
    return values


def _numbers(array: Any) -> NDArray[np.float64] | None:
    import pyarrow
    import pyarrow.types as types

    if types.is_boolean(array.type):
        array = array.cast(pyarrow.int8())
    if types.is_temporal(array.type):
        return None
    try:
        # Whole numbers beyond 2^53 are rounded, as they are in text.
        array = array.cast(pyarrow.float64(), safe=not types.is_integer(array.type))
        return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        return None


def _plain(array: Any, missing: Sequence[str] = MISSING) -> Any:
    """Dictionaries and views of text as plain text, missing texts as null."""
    import pyarrow
    import pyarrow.compute as pc
    import pyarrow.types as types

    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (_is_text(array) or types.is_binary(array.type)):
        return array
    array = pc.utf8_trim_whitespace(array.cast(pyarrow.string()))
    return pc.if_else(pc.is_in(array, pyarrow.array(missing)), None, array)


def _is_text(array: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(array.type) or types.is_large_string(array.type))


def _is_number(text: Any) -> bool:
    """Whether a text is read as a number: as Python does, but without 1_000 and digits of other scripts."""
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    return str(text).isascii() and "_" not in str(text)
