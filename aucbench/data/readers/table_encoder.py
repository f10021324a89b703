"""Tables as numeric rows, in blocks of constant memory, by the schema of the training part."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import File, Table
from aucbench.data.labels import Label
from aucbench.data.readers.blocks import MOST_VALUES, Block, Coded
from aucbench.data.readers.table_files import arrow_errors, open_columns
from aucbench.data.readers.table_schema import (
    GAPS,
    LABEL_GAPS,
    MISSING,
    Feature,
    Schema,
    is_number,
    numbers_or_missing,
    plain,
)
from aucbench.errors import DataError


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
    values = numbers_or_missing(array)
    if values is None:
        texts = plain(array).to_pylist()
        text = next((v for v in texts if v is not None and not is_number(v)), texts[0])
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

    array = plain(array, GAPS if feature.nominal else MISSING).cast(pyarrow.string())
    if array.null_count and table.missing != "median":
        raise DataError(f"{path}: {array.null_count} values of column {feature.name!r} are missing.")
    known = pyarrow.array(feature.categories, pyarrow.string())
    return pc.fill_null(pc.index_in(array, known), -1).to_numpy(zero_copy_only=False).astype(np.int64)


def _labels(path: Path, schema: Schema, array: Any, row: int) -> Coded:
    import pyarrow.compute as pc

    name = schema.names[schema.target]
    array = plain(array, LABEL_GAPS)
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
