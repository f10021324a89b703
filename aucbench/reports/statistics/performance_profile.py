"""Performance profiles: how often a method is within a factor of the best."""

import numpy as np
import pandas as pd

from aucbench.reports.statistics.inputs import RefusedError, blocks, dataset_table


def auc_gaps(cells: pd.DataFrame) -> pd.DataFrame:
    """The mean over runs of 1 - AUC, with one row per data set and one column per method.

    It is inf where a run failed, diverged or met a limit, NaN where one is missing or finished without AUC.
    """
    found = blocks(cells, all_methods=True)
    rows = []
    for block in found:
        gaps = np.array([(1.0 - block.aucs[:, column]).mean() for column in range(len(block.methods))])
        gaps[(block.statuses != "finished").any(axis=0)] = np.inf
        gaps[(block.statuses == "missing").any(axis=0)] = np.nan
        rows.append(gaps)
    return dataset_table(found, rows)


def performance_profile(table: pd.DataFrame) -> pd.DataFrame:
    """The share of data sets on which a method pays at most tau times what the best method pays.

    With t_{p,s} the measure of method s on data set p and r_{p,s} = t_{p,s} / min over s of t_{p,s},

        rho_s(tau) = |{p : r_{p,s} <= tau}| / number of data sets.

    rho_s(1) is the share of data sets on which s is best (ties count for all); a failure has the ratio inf
    and is never within any factor. Where the best pays 0, it has the ratio 1 and every other inf.

    `table` has measures >= 0, the smaller the better, one row per data set, one column per method, and inf
    for a failure. Tables with gaps (NaN) are refused: a method that was not run neither failed nor succeeded.
    The profiles have one column per method; their index `tau` holds 1 and all factors at which a profile
    steps.

    E. Dolan, J. More: Benchmarking optimization software with performance profiles. Mathematical
    Programming 91 (2002) 201-213.
    """
    values = table.to_numpy(dtype=float)
    if np.isnan(values).any():
        raise RefusedError(
            "a performance profile needs every method on every data set; "
            f"{int(np.isnan(values).sum())} are missing. Leave out those methods or data sets, or run them."
        )
    best = values.min(axis=1, keepdims=True, initial=np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(np.isfinite(values), values / best, np.inf)
    ratios[(values == best) & np.isfinite(values)] = 1.0
    profile = shares_within(pd.DataFrame(ratios, columns=table.columns), 1.0)
    return profile.rename_axis("tau")


def shares_within(table: pd.DataFrame, first: float) -> pd.DataFrame:
    """For each column the share of its values that are at most as large as the index; NaN is left out.

    The index holds `first` and all finite values of the table.
    """
    values = table.to_numpy(dtype=float)
    steps = np.unique(np.append(values[np.isfinite(values)], first))
    known = (~np.isnan(values)).sum(axis=0)
    within = (values[None] <= steps[:, None, None]).sum(axis=1)
    shares = np.divide(within, known, out=np.full(within.shape, np.nan), where=known > 0)
    return pd.DataFrame(shares, index=pd.Index(steps), columns=table.columns)
