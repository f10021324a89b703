"""Cells and curves as the statistics take them, laid out as one matrix per data set.

``cells``, the first argument of most functions of this folder, is a data frame with one row per cell and the
columns

- `board`, `dataset`, `method` and `run`: the key of the cell, of hashable values that can be sorted;
  statistics over data sets need each data set on one board only,
- `status`: one of `aucbench.studies.record.CellStatus`,
- `auc`: in [0, 1]; it counts only if the status is `finished`.

``curves`` is a mapping from such a key to the arrays `samples`, `train_seconds` and `auc`, which have one
value per checkpoint; ``cost`` names the first or the second of them. ``confidence`` in (0, 1) is that of
intervals, and one minus the level of tests.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from aucbench.errors import AucbenchError, DataError

KEY = ("board", "dataset", "method", "run")
CHANCE = 0.5  # the AUC of a model that has seen nothing
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
    """
    found: dict[tuple[Any, Any], dict[tuple[Any, Any], tuple[float, str]]] = {}
    rows = cells[[*KEY, "status", "auc"]].itertuples(index=False, name=None)
    for board, dataset, method, run, status, auc in rows:
        own = found.setdefault((board, dataset), {})
        own[run, method] = (auc if status == "finished" else np.nan, status)
    result, everywhere = [], sorted(set(cells["method"]))
    for (board, dataset), own in sorted(found.items()):
        methods = everywhere if all_methods else sorted({method for _, method in own})
        runs = sorted({run for run, _ in own})
        table = [own.get((run, method), (np.nan, "missing")) for run in runs for method in methods]
        values = np.array([auc for auc, _ in table]).reshape(len(runs), len(methods))
        statuses = np.array([status for _, status in table], dtype=object).reshape(values.shape)
        result.append(Block(board, dataset, tuple(methods), tuple(runs), values, statuses))
    return result


def dataset_means(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean AUC, with one row per data set and one column per method; NaN where not all runs finished.

    The runs that finished are not a sample of all runs: a mean over them alone would flatter.
    """
    found = blocks(cells, all_methods=True)
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


def read_curve(arrays: Mapping[str, ArrayLike], cost: str) -> Curve:
    """The checkpoints of one cell against `samples` or `train_seconds`, those without AUC left out."""
    x, y = np.asarray(arrays[cost], dtype=float), np.asarray(arrays["auc"], dtype=float)
    known = ~np.isnan(y)
    return Curve(x[known], y[known])


def runs_with_curves(cells: pd.DataFrame, curves: Curves, cost: str) -> list[Run]:
    """Every cell, block by block, with its curve.

    Only a cell that finished with an AUC needs a curve: what a run had reached before it diverged or was
    stopped is not a result of the method. DataError, where a curve that is needed is empty.
    """
    found: list[Run] = []
    for block in blocks(cells):
        for column, method in enumerate(block.methods):
            for line, run in enumerate(block.runs):
                key = (block.board, block.dataset, method, run)
                measured = np.isfinite(block.aucs[line, column])
                curve = read_curve(curves[key], cost) if measured else None
                if curve is not None and not len(curve.auc):
                    raise DataError(f"{dict(zip(KEY, key, strict=True))} finished and has no curve.")
                found.append(Run(key, str(block.statuses[line, column]), curve))
    return found


def level_of(confidence: float) -> float:
    """The level of a test whose confidence is given: 0.05 for 0.95, without the rounding of 1 - 0.95."""
    return round(1.0 - confidence, 12)
