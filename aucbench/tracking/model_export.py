"""Export of the final weights of a linear method as a model of raw features for ``mlflow.pyfunc``.

A cell does not store the scaling, which depends on the split alone and would make cells up to three times as
large. The export fits it again on the training rows; the digest of the data shows whether they have changed.
"""

import json
import shlex
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench import data
from aucbench.data.loader import Loaded, Part
from aucbench.data.readers.blocks import ColumnRecord
from aucbench.data.readers.cells import MISSING_NUMBERS
from aucbench.data.scaler import Scaler, Scaling, fit_scaling
from aucbench.data.splits.inner import limited
from aucbench.data.splits.protocols import recorded
from aucbench.errors import DataError, ParameterError
from aucbench.studies.codec import canonical, subset, to_dict
from aucbench.studies.record import DESCRIPTION, CellRecord
from aucbench.studies.rerun_command import words
from aucbench.studies.result import CellResult
from aucbench.studies.store import Store
from aucbench.tracking import linear_model

LOADER = "aucbench_linear_model"  # name of the module beside the model
KINDS = ("number", "categories", "date")  # types of columns that an exported model can read
NORMS = {"unit": "unit", "maxabs_unit": "unit", "centred_unit": "centred"}  # norm of the rows by scaling
REQUIRED = ("mlflow", "numpy", "pandas", "scipy")  # packages that an exported model needs
DECIDING = (*DESCRIPTION, "source")  # fields of a record that distinguish settings


def from_store(store: Store, algorithm: str, dataset: str, seed: int | None, key: str | None) -> CellResult:
    """The only cell of a method on a data set, or the cell with the smallest seed; `key` may be a prefix.

    Raises ParameterError if there is no such cell, or if several cells differ in more than the seed.
    """
    cells = [
        cell
        for cell in store
        if cell.record.algorithm.name == algorithm
        and dataset in (cell.record.dataset.title, cell.record.dataset.name)
        and (seed is None or cell.record.seed == seed)
        and (key is None or cell.record.key.startswith(key))
    ]
    if not cells:
        more = f" with seed {seed}" * (seed is not None) + f" whose key begins with {key}" * (key is not None)
        raise ParameterError(
            f"The store at {store.path} has no finished cell of {algorithm} on {dataset}{more}."
        )
    settings = {canonical(subset(cell.record, DECIDING)): cell.record for cell in cells}
    if len(settings) > 1:
        texts = [
            f"{record.key[:12]} ({shlex.join(words(record, [record.seeds]))})" for record in settings.values()
        ]
        raise ParameterError(f"Several settings fit; name one with --key: {', '.join(texts)}.")
    return min(cells, key=lambda cell: (cell.record.seed, cell.record.split_seed, cell.record.fold))


def export_model(cell: CellResult, folder: str | Path) -> Path:
    """Write a model that ``mlflow.pyfunc.load_model(folder)`` reads; the folder must be new or empty.

    Its ``predict`` takes rows of raw features and returns the decision values of the cell's final weights:
    higher values mean more resemblance to rows of the labels listed as ``positive`` in the model's metadata.
    Raises ParameterError for a cell without a linear model of its data set's features, and DataError if the
    data differ from the training data or the folder is not empty.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder} exists already: name a new folder with --out.")
    record, weights = cell.record, _weights(cell)
    scaler, positive, columns = _trained_on(record)
    norm = NORMS.get(record.scaling, "")
    factors, shift = _affine(scaler, len(weights))
    # From weights of rescaled rows to weights of scaled rows.
    weights = weights * record.data.row_factor
    constant = (record.result.score_at_zero or 0.0) - float(shift @ weights)
    if not norm:
        weights, factors = weights * factors, np.ones(0)
    inputs = [to_dict(column) for column in columns if column.is_feature]
    if refused := [column for column in inputs if column["kind"] not in KINDS]:
        raise ParameterError(
            f"Column {refused[0]['name']!r} is read as {refused[0]['kind']}, which exported models cannot do."
        )
    facts = {
        "norm": norm,
        "constant": constant,
        "columns": inputs,
        "missing_words": [*MISSING_NUMBERS, *record.dataset.parameters.get("missing_words", ())],
    }
    from importlib.metadata import version

    import mlflow.pyfunc

    with tempfile.TemporaryDirectory() as name:
        aside = Path(name)
        code, content = aside / f"{LOADER}.py", aside / "model.npz"
        shutil.copyfile(linear_model.__file__, code)
        as_arrays: dict[str, Any] = {
            name: np.frombuffer(json.dumps(value).encode(), np.uint8)
            for name, value in (("facts", facts), ("record", to_dict(record)))
        }
        np.savez(content, weights=weights, factors=factors, **as_arrays)
        mlflow.pyfunc.save_model(
            str(folder),
            loader_module=LOADER,
            data_path=str(content),
            code_paths=[str(code)],
            pip_requirements=[f"{name}=={version(name)}" for name in REQUIRED],
            metadata={
                "algo": record.algorithm.name,
                "dataset": record.dataset.name,
                "positive": list(positive),
                **({"columns": [column["name"] for column in inputs]} if inputs else {}),
            },
        )
    return folder


def _affine(scaler: Scaler, features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(d,) factors and shifts of the columns: the scaled column is factor x - shift."""
    if not scaler.divisor.size:
        return np.ones(features), np.zeros(features)
    varies = scaler.divisor > 0.0  # the other columns become constant
    factors = np.where(varies, 1.0 / np.where(varies, scaler.divisor, 1.0), 0.0)
    shift = scaler.offset * factors
    return (2.0 * factors, 2.0 * shift + varies) if scaler.scaling is Scaling.minmax else (factors, shift)


def _weights(cell: CellResult) -> NDArray[np.float64]:
    record = cell.record
    name, features = record.algorithm.name, record.features.name
    if features != "identity":
        raise ParameterError(
            f"The cell was trained on features={features}, which is not kept with its weights; "
            f"only models of features=identity can be exported."
        )
    if cell.weights is None:
        raise ParameterError(f"{name} is not a linear method: it has no weights to export.")
    if not np.isfinite(cell.weights).all() or cell.diverged:
        raise ParameterError(f"{name} diverged in this cell: there is no model to export.")
    return cell.weights


def _trained_on(record: CellRecord) -> tuple[Scaler, tuple[Any, ...], list[ColumnRecord]]:
    """The scaling fitted on the training rows of the split, the positive labels, the columns of a table."""
    from aucbench.registry import catalog

    described = record.dataset
    parameters = {k: tuple(v) if isinstance(v, list) else v for k, v in described.parameters.items()}
    dataset = catalog().dataset(described.name)(**parameters)

    protocol = recorded(record.protocol.name, record.protocol.parameters)

    @cache
    def load(part: Part) -> Loaded:
        return data.load(dataset, part, protocol.columns)

    part = Part(described.part)
    if list(protocol.digests(load, part)) != list(record.data.sha256):
        raise DataError(f"{described.title}: the data here are not those that the model was trained on.")
    split = limited(
        protocol.split(load, part, record.split_seed, record.fold), record.max_train_rows, record.split_seed
    )
    scaler = fit_scaling(record.scaling, split.train.X, split.train.rows)
    return scaler, load(part).positive, data.columns_of(dataset, protocol.columns)
