"""The cells that statistics are computed from: checked, and laid out as one matrix a data set."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.errors import AucbenchError, DataError, ParameterError
from aucbench.studies.record import CellStatus

if TYPE_CHECKING:
    import pandas as pd

KEY = ("board", "dataset", "method", "run")
COSTS = ("train_seconds", "ns_per_iteration", "state_bytes", "tuning_seconds", "tuning_passes")
TOLERANCE = 1e-12  # AUCs, and differences of AUCs, that are closer are equal: rounding, not evidence

Floats = NDArray[np.float64]


class RefusedError(AucbenchError, ValueError):
    """A statistic would say nothing honest about these cells; the message says why, in words to be shown."""


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


def blocks(cells: "pd.DataFrame", methods: Sequence[Hashable] | None = None) -> Iterator[Block]:
    """The cells, one matrix of runs and methods a board and data set, sorted whatever the order of rows.

    Parameters
    ----------
    cells : DataFrame
        One row a cell, with the columns `board`, `dataset`, `method`, `run`, `auc` and `status`. A cell has
        an AUC only if its status is `finished`, whatever stands in `auc` otherwise.
    methods : sequence, optional
        Columns of all matrices; by default, the methods that have a row on the board and data set.

    Raises
    ------
    DataError
        A column is lacking, a key is empty or occurs twice, a status is unknown, an AUC is outside [0, 1].
    """
    _check(cells)
    frame = {name: cells[name].to_numpy(dtype=object) for name in (*KEY, "status")}
    aucs = cells["auc"].to_numpy(dtype=float, na_value=np.nan)
    members: dict[tuple[Hashable, Hashable], list[int]] = {}
    for row, key in enumerate(zip(frame["board"], frame["dataset"], strict=True)):
        members.setdefault(key, []).append(row)
    for board, dataset in _ordered(members):
        rows = members[board, dataset]
        named = methods if methods is not None else _ordered(frame["method"][row] for row in rows)
        columns = {method: position for position, method in enumerate(named)}
        lines = {run: at for at, run in enumerate(_ordered(frame["run"][row] for row in rows))}
        values = np.full((len(lines), len(columns)), np.nan)
        statuses = np.full(values.shape, "missing", dtype=object)
        for row in rows:
            if frame["method"][row] not in columns:
                continue
            at = lines[frame["run"][row]], columns[frame["method"][row]]
            statuses[at] = frame["status"][row]
            values[at] = aucs[row] if frame["status"][row] == "finished" else np.nan
        yield Block(board, dataset, tuple(columns), tuple(lines), values, statuses)


def over_datasets(cells: "pd.DataFrame") -> list[Block]:
    """One block a data set, all with all methods: what statistics over data sets are computed from.

    Raises
    ------
    RefusedError
        A data set stands on several boards: it would be counted twice, and what boards say cannot be pooled.
    """
    _check(cells)
    found = list(blocks(cells, _ordered(cells["method"].to_numpy(dtype=object))))
    seen: set[Hashable] = set()
    for block in found:
        if block.dataset in seen:
            raise RefusedError(
                f"data set {block.dataset} stands on more than one board, and statistics over data sets "
                "count each once: choose one board a data set."
            )
        seen.add(block.dataset)
    return found


def dataset_means(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Mean AUC, one row a data set and one column a method; NaN where not all runs finished.

    The runs that finished are not a sample of all runs: a mean over them alone would flatter.
    """
    import pandas as pd

    found = over_datasets(cells)
    methods = found[0].methods if found else ()
    values = np.array([block.means for block in found]).reshape(len(found), len(methods))
    return pd.DataFrame(values, index=index_of([b.dataset for b in found]), columns=index_of(methods))


def missing_cells(cells: "pd.DataFrame") -> "pd.DataFrame":
    """The gaps: one row a cell without AUC, with `board`, `dataset`, `method`, `run` and `status`.

    Expected is every method of the frame in every run that some method has on a board and data set. A cell
    that has no row is `missing`; one that finished without an AUC keeps its status.
    """
    import pandas as pd

    _check(cells)
    found = blocks(cells, _ordered(cells["method"].to_numpy(dtype=object)))
    rows = [
        (block.board, block.dataset, block.methods[column], block.runs[line], block.statuses[line, column])
        for block in found
        for column, line in np.argwhere(np.isnan(block.aucs).T)
    ]
    return pd.DataFrame(rows, columns=[*KEY, "status"])


def level_of(confidence: float) -> float:
    """The level of a test whose confidence is given: 0.05 for 0.95, without the rounding of 1 - 0.95."""
    return round(1.0 - share("confidence", confidence), 12)


def share(name: str, value: float) -> float:
    """The value, which must lie strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise ParameterError(f"{name} must lie between 0 and 1, got {value}.")
    return float(value)


def _check(cells: "pd.DataFrame") -> None:
    lacking = [name for name in (*KEY, "auc", "status") if name not in cells.columns]
    if lacking:
        raise DataError(f"cells: the columns {', '.join(lacking)} are lacking; got {list(cells.columns)}.")
    if cells[list(KEY)].isna().to_numpy().any():
        raise DataError(f"cells: {', '.join(KEY)} must be given in every row.")
    keys = list(zip(*(cells[name].to_numpy(dtype=object) for name in KEY), strict=True))
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"cells: {dict(zip(KEY, twice, strict=True))} occurs more than once.")
    unknown = set(cells["status"]) - set(CellStatus)
    if unknown:
        raise DataError(
            f"cells: status must be one of {', '.join(CellStatus)}, got {sorted(map(str, unknown))}."
        )
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


def index_of(keys: Sequence[Hashable]) -> "pd.Index[Any]":
    """An index of keys as they are: tuples stay tuples."""
    import pandas as pd

    return pd.Index(list(keys), tupleize_cols=False, dtype=object)
