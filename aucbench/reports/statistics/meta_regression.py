"""Meta-regression of the families' gains on properties of their data sets."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from aucbench.reports.report import FEWEST

Floats = NDArray[np.float64]

COVARIATES = ("imbalance", "rows", "columns")


def meta_regression(gains: pd.DataFrame, data_sets: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Slopes of every method's gain on the logarithms of imbalance, rows and columns.

    The gain and covariates of a family are means over the data sets on which the method has a gain, so that
    every family counts once. The covariates are log10 of the ratio (rows of the more frequent class) / (rows
    of the rarer class), of the rows and of the columns. A slope is therefore the change of the gain per
    decade, for example for classes ten times as unequal, with the other covariates fixed. The fit is by least
    squares with a constant; the covariance is robust to unequal error variances (HC3): with the matrix X, its
    rows x_i, the residuals e_i and the leverages h_i = x_i' (X'X)^-1 x_i,

        cov = (X'X)^-1 [sum_i x_i x_i' e_i^2 / (1 - h_i)^2] (X'X)^-1,

    and the interval is slope +- q SE with q of Student's t with n - 4 degrees of freedom, for n families. It
    assumes that families are independent. Intervals are not simultaneous, and a slope describes these
    families: the covariate need not be the cause.

    Parameters
    ----------
    gains : DataFrame
        `method`, `data_set`, `family` and `gain`, as for `compare_families`, and `reference` if there are
        gains over several references; NaN are left out.
    data_sets : DataFrame
        `data_set`, `positive_share` (of either class), `rows` and `features`. Data sets with a missing
        value are left out.
    confidence : float
        Confidence of each interval.

    Returns
    -------
    DataFrame
        Columns `reference` if in the gains, `method`, `covariate` (imbalance, rows, columns), `slope`,
        `low`, `high` and `families`, a line for each method and covariate. Slopes are NaN with fewer than ten
        families, and if the covariates of the families are collinear.

    J. MacKinnon, H. White: Some heteroskedasticity-consistent covariance matrix estimators with improved
    finite sample properties. Journal of Econometrics 29 (1985) 305-325.
    J. Long, L. Ervin: Using heteroscedasticity consistent standard errors in the linear regression model.
    American Statistician 54 (2000) 217-224.
    """
    keys = [name for name in ("reference", "method") if name in gains]
    share = data_sets["positive_share"].astype(float)
    rare = np.minimum(share, 1 - share)
    with np.errstate(divide="ignore"):
        facts = pd.DataFrame(
            {
                "imbalance": np.log10((1 - rare) / rare),
                "rows": np.log10(data_sets["rows"].astype(float)),
                "columns": np.log10(data_sets["features"].astype(float)),
            }
        )
    facts = facts.set_index(data_sets["data_set"]).replace([np.inf, -np.inf], np.nan).dropna()
    facts = facts[~facts.index.duplicated()]
    table = gains[[*keys, "family", "data_set", "gain"]].join(facts, on="data_set")
    means = table.dropna().groupby([*keys, "family"], sort=False)[["gain", *COVARIATES]].mean()
    groups = dict(list(means.groupby(keys)))
    lines: list[Any] = []
    for key in gains[keys].drop_duplicates().itertuples(index=False, name=None):
        families = groups.get(key, means.iloc[:0])
        slopes = _slopes(families[[*COVARIATES]].to_numpy(), families["gain"].to_numpy(), confidence)
        lines += [(*key, *row, len(families)) for row in zip(COVARIATES, *slopes, strict=True)]
    return pd.DataFrame(lines, columns=[*keys, "covariate", "low", "slope", "high", "families"])


def _slopes(covariates: Floats, gains: Floats, confidence: float) -> Floats:
    """(3, covariates) lower ends, slopes and upper ends."""
    n, columns = covariates.shape
    X = np.column_stack([np.ones(n), covariates - covariates.mean(axis=0) if n else covariates])
    if n < FEWEST or np.linalg.matrix_rank(X) < columns + 1:
        return np.full((3, columns), np.nan)
    inverse = np.linalg.pinv(X)
    coefficients = inverse @ gains
    leverages = np.einsum("ij,ji->i", X, inverse)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = (gains - X @ coefficients) / (1 - leverages)
    half = stats.t.ppf(0.5 + confidence / 2, n - columns - 1) * np.sqrt(inverse**2 @ errors**2)
    return np.stack([coefficients - half, coefficients, coefficients + half])[:, 1:]
