"""Performance profiles: how often a method is within a factor of the best."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aucbench.boards.statistics.cells import COSTS, RefusedError, index_of, over_datasets
from aucbench.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("auc_gap", *COSTS)


def measure_table(cells: "pd.DataFrame", measure: str = "auc_gap") -> "pd.DataFrame":
    """What each method pays on each data set, the mean over runs: the smaller the better.

    Parameters
    ----------
    cells : DataFrame
        See `blocks`; with the column of the measure.
    measure : str
        `auc_gap` (1 - AUC) or one of `COSTS`.

    Returns
    -------
    DataFrame
        One row a data set, one column a method; inf where a run failed, diverged or met a limit, NaN where
        one is missing, or finished without the measure.
    """
    import pandas as pd

    if measure not in MEASURES:
        raise ParameterError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}.")
    found = over_datasets(cells)
    if measure != "auc_gap" and measure not in cells.columns:
        raise DataError(f"cells: the column {measure} is lacking.")
    paid = cells["auc"] if measure == "auc_gap" else cells[measure]
    value = paid.to_numpy(dtype=float, na_value=np.nan)
    value = 1.0 - value if measure == "auc_gap" else value
    keys = zip(*(cells[name].to_numpy(dtype=object) for name in ("dataset", "method", "run")), strict=True)
    at = dict(zip(keys, value, strict=True))
    methods = found[0].methods if found else ()
    table = np.full((len(found), len(methods)), np.nan)
    for row, block in enumerate(found):
        for column, method in enumerate(methods):
            statuses = set(block.statuses[:, column])
            if "missing" not in statuses:
                own = np.mean([at[block.dataset, method, run] for run in block.runs])
                table[row, column] = own if statuses == {"finished"} else np.inf
    return pd.DataFrame(table, index=index_of([block.dataset for block in found]), columns=index_of(methods))


def performance_profile(table: "pd.DataFrame", taus: Sequence[float] | None = None) -> "pd.DataFrame":
    """The share of data sets on which a method pays at most tau times what the best method pays.

    With t_{p,s} the measure of method s on data set p and r_{p,s} = t_{p,s} / min over s of t_{p,s},

        rho_s(tau) = |{p : r_{p,s} <= tau}| / number of data sets.

    rho_s(1) is the share of data sets on which s is best (ties count for all); a failure has the ratio inf
    and is never within any factor. Where the best pays 0, it has the ratio 1 and every other inf.

    Parameters
    ----------
    table : DataFrame
        Measures >= 0, the smaller the better, one row a data set, one column a method; inf is a failure.
    taus : sequence of float, optional
        Factors >= 1; by default all at which a profile steps, and 1.

    Returns
    -------
    DataFrame
        Index `tau`, one column a method.

    Raises
    ------
    RefusedError
        There are gaps (NaN): a method that was not run neither failed nor succeeded.

    References
    ----------
    E. Dolan, J. More: Benchmarking optimization software with performance profiles. Mathematical
    Programming 91 (2002) 201-213.
    """
    import pandas as pd

    values = table.to_numpy(dtype=float)
    if np.isnan(values).any():
        raise RefusedError(
            "a performance profile needs every method on every data set; "
            f"{int(np.isnan(values).sum())} are missing. Leave out those methods or data sets, or run them."
        )
    if (values < 0).any():
        raise DataError(f"measures of a performance profile are never negative, got {values.min()}.")
    best = values.min(axis=1, keepdims=True, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(np.isfinite(values), values / best, np.inf)
    ratios[(values == best) & np.isfinite(values)] = 1.0
    if taus is None:
        steps = np.unique(np.append(ratios[np.isfinite(ratios)], 1.0))
    else:
        steps = np.asarray(taus, dtype=float)
        if not (steps >= 1.0).all():
            raise ParameterError(f"factors of a performance profile are at least 1, got {list(taus)}.")
    within = (ratios[None] <= steps[:, None, None]).sum(axis=1)
    shares = within / len(values) if len(values) else np.full(within.shape, np.nan)
    return pd.DataFrame(shares, index=pd.Index(steps, name="tau"), columns=table.columns)
