"""Cells and curves as the statistics take them: checked, and laid out as one matrix per data set.

``cells``, the first argument of most functions of this folder, is a data frame with one row per cell and the
columns

- `board`, `dataset`, `method` and `run`: the key of the cell, of any hashable values,
- `status`: one of `aucbench.studies.record.CellStatus`,
- `auc`: in [0, 1]; it counts only if the status is `finished`.

``curves`` is a mapping from such a key to the arrays `samples`, `train_seconds` and `auc`, which have one
value per checkpoint; ``cost`` names the first or the second of them. ``confidence`` in (0, 1) is that of
intervals, and one minus the level of tests.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from aucbench.errors import AucbenchError, DataError, ParameterError
from aucbench.studies.record import CellStatus

KEY = ("board", "dataset", "method", "run")
CURVE_COSTS = ("samples", "train_seconds")
TOLERANCE = 1e-12  # AUCs, and differences of AUCs, that are closer are equal: rounding, not evidence

Floats = NDArray[np.float64]
Key = tuple[Hashable, Hashable, Hashable, Hashable]
Curves = Mapping[Key, Mapping[str, ArrayLike]]


class RefusedError(AucbenchError, ValueError):
    """A statistic would be misleading for these cells; the message, which boards show, says why."""


class Block(NamedTuple):
    """The cells of one data set on one board."""

    board: Hashable
    dataset: Hashable
    methods: tuple[Hashable, ...]  # (k,) sorted
    runs: tuple[Hashable, ...]  # (r,) all that any of the methods has, sorted
    aucs: Floats  # (r, k), NaN unless the cell finished
    statuses: NDArray[Any]  # (r, k) str, `missing` where there is no row

    @property
    def complete(self) -> NDArray[np.bool_]:
        """(k,) whether all runs of a method finished."""
        return np.asarray(np.isfinite(self.aucs).all(axis=0))

    @property
    def means(self) -> Floats:
        """(k,) mean AUC over the runs, NaN for a method that is not complete."""
        return np.asarray(np.where(self.complete, self.aucs.mean(axis=0), np.nan))


class Curve(NamedTuple):
    """The checkpoints of a cell that have an AUC."""

    cost: Floats  # (c,) not decreasing, >= 0
    auc: Floats  # (c,)


class Run(NamedTuple):
    """A cell with its curve."""

    key: Key
    status: str
    curve: Curve | None  # None unless the cell finished


def blocks(cells: pd.DataFrame, all_methods: bool = False) -> list[Block]:
    """The cells of each board and data set, sorted whatever the order of the rows.

    With `all_methods` every block has the methods of the whole frame; otherwise those that have a row on its
    board and data set.

    Raises
    ------
    DataError
        A column is missing, a key is empty or occurs twice, a status is unknown, an AUC is outside [0, 1].
    """
    _check(cells)
    found: dict[tuple[Hashable, Hashable], dict[tuple[Hashable, Hashable], tuple[float, str]]] = {}
    aucs = cells["auc"].to_numpy(dtype=float, na_value=np.nan)
    keys = (cells[name].to_numpy(dtype=object) for name in (*KEY, "status"))
    for board, dataset, method, run, status, auc in zip(*keys, aucs, strict=True):
        own = found.setdefault((board, dataset), {})
        own[run, method] = (auc if status == "finished" else np.nan, status)
    result = []
    for board, dataset in _ordered(found):
        own = found[board, dataset]
        methods = _ordered(cells["method"] if all_methods else (method for _, method in own))
        runs = _ordered(run for run, _ in own)
        table = [own.get((run, method), (np.nan, "missing")) for run in runs for method in methods]
        values = np.array([auc for auc, _ in table]).reshape(len(runs), len(methods))
        statuses = np.array([status for _, status in table], dtype=object).reshape(values.shape)
        result.append(Block(board, dataset, tuple(methods), tuple(runs), values, statuses))
    return result


def over_datasets(cells: pd.DataFrame) -> list[Block]:
    """One block per data set, all with all methods, as statistics over data sets need them.

    Raises
    ------
    RefusedError
        A data set is on several boards: it would be counted twice, and results of boards cannot be pooled.
    """
    found = blocks(cells, all_methods=True)
    seen: set[Hashable] = set()
    for block in found:
        if block.dataset in seen:
            raise RefusedError(
                f"data set {block.dataset} is on more than one board, and statistics over data sets "
                "count each once: choose one board for each data set."
            )
        seen.add(block.dataset)
    return found


def dataset_means(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean AUC, with one row per data set and one column per method; NaN where not all runs finished.

    The runs that finished are not a sample of all runs: a mean over them alone would flatter.
    """
    found = over_datasets(cells)
    return dataset_table(found, [block.means for block in found])


def dataset_table(found: Sequence[Block], rows: Sequence[Any]) -> pd.DataFrame:
    """A frame with one row per block and one column per method; keys that are tuples stay tuples."""
    methods = found[0].methods if found else ()
    datasets = [block.dataset for block in found]
    index, columns = (pd.Index(list(keys), tupleize_cols=False, dtype=object) for keys in (datasets, methods))
    return pd.DataFrame(np.array(rows).reshape(len(index), len(columns)), index=index, columns=columns)


def missing_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """One row per cell without AUC, with `board`, `dataset`, `method`, `run` and `status`.

    Every method of the frame is expected in every run that some method has on a board and data set. A cell
    that has no row is `missing`; one that finished without an AUC keeps its status.
    """
    rows = [
        (block.board, block.dataset, block.methods[column], block.runs[line], block.statuses[line, column])
        for block in blocks(cells, all_methods=True)
        for column, line in np.argwhere(np.isnan(block.aucs).T)
    ]
    return pd.DataFrame(rows, columns=[*KEY, "status"])


def read_curve(arrays: Mapping[str, ArrayLike], cost: str, key: Any = "curve") -> Curve:
    """The checkpoints of one cell against `samples` or `train_seconds`, those without AUC left out.

    Raises
    ------
    DataError
        Arrays are missing or differ in length, costs decrease or are negative, or no checkpoint has an AUC.
    """
    lacking = [name for name in (cost, "auc") if name not in arrays]
    if lacking:
        raise DataError(f"{key}: the curve lacks {', '.join(lacking)}.")
    x, y = np.asarray(arrays[cost], dtype=float), np.asarray(arrays["auc"], dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise DataError(f"{key}: {cost} and auc must be vectors of one length, got {x.shape} and {y.shape}.")
    known = ~np.isnan(y)
    x, y = x[known], y[known]
    if not len(x):
        raise DataError(f"{key}: no checkpoint has an AUC.")
    if not np.isfinite(x).all() or x[0] < 0 or (np.diff(x) < 0).any():
        raise DataError(f"{key}: {cost} must be finite, not negative and never decrease.")
    return Curve(x, y)


def runs_with_curves(cells: pd.DataFrame, curves: Curves, cost: str) -> list[Run]:
    """Every cell, block by block, with its curve.

    Only a cell that finished with an AUC needs a curve: what a run had reached before it diverged or was
    stopped is not a result of the method.

    Raises
    ------
    DataError
        A finished cell has no curve, or a curve is unusable; see `read_curve`.
    """
    if cost not in CURVE_COSTS:
        raise ParameterError(f"cost must be one of {', '.join(CURVE_COSTS)}, got {cost!r}.")
    found: list[Run] = []
    for block in blocks(cells):
        for column, method in enumerate(block.methods):
            for line, run in enumerate(block.runs):
                key = (block.board, block.dataset, method, run)
                curve = None
                if np.isfinite(block.aucs[line, column]):
                    if key not in curves:
                        raise DataError(f"{dict(zip(KEY, key, strict=True))} finished and has no curve.")
                    curve = read_curve(curves[key], cost, key)
                found.append(Run(key, str(block.statuses[line, column]), curve))
    return found


def level_of(confidence: float) -> float:
    """The level of a test whose confidence is given: 0.05 for 0.95, without the rounding of 1 - 0.95."""
    check_confidence(confidence)
    return round(1.0 - confidence, 12)


def check_confidence(confidence: float) -> None:
    """Raise ParameterError for a confidence outside (0, 1)."""
    if not 0.0 < confidence < 1.0:
        raise ParameterError(f"confidence must lie between 0 and 1, got {confidence}.")


def _check(cells: pd.DataFrame) -> None:
    lacking = [name for name in (*KEY, "auc", "status") if name not in cells.columns]
    if lacking:
        raise DataError(f"cells: the columns {', '.join(lacking)} are missing; got {list(cells.columns)}.")
    if cells[list(KEY)].isna().to_numpy().any():
        raise DataError(f"cells: {', '.join(KEY)} must be given in every row.")
    keys = list(zip(*(cells[name].to_numpy(dtype=object) for name in KEY), strict=True))
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"cells: {dict(zip(KEY, twice, strict=True))} occurs more than once.")
    if unknown := sorted(map(str, set(cells["status"]) - set(CellStatus))):
        raise DataError(f"cells: status must be one of {', '.join(CellStatus)}, got {unknown}.")
    aucs = cells["auc"].to_numpy(dtype=float, na_value=np.nan)
    outside = aucs[~np.isnan(aucs) & ~((aucs >= 0.0) & (aucs <= 1.0))]
    if len(outside):
        raise DataError(f"cells: an AUC lies between 0 and 1, got {outside[0]}.")


def _ordered(keys: Iterable[Any]) -> list[Any]:
    """Different keys, in an order that does not depend on that of the rows."""
    different = set(keys)
    try:
        return sorted(different)
    except TypeError:
        return sorted(different, key=repr)
