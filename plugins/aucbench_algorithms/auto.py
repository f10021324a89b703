"""The default of the estimator: balanced logistic regression, averaged over regularisations and folds.

The candidates and parts are those of `log_reg_cv`, which fits the candidate with the largest mean AUC to all
rows. Here no model is fitted to all rows: the result is a mean of the models of the cross-validation,

    w = sum_k exp((AUC_k - max AUC) / 0.002) v_k / |X v_k|,   v_k the mean over the parts for candidate k,

so candidates with nearly the same mean AUC are averaged rather than picked by chance. On the KEEL and ADBench
data sets the gain over choosing a single candidate is less than its interval, but fewer data sets are far
behind. Repeated partitions, 10 folds, finer paths and the exact pairwise squared hinge gained nothing beyond
their intervals.

Cost: that of the cross-validation of `log_reg_cv`.

Source: Breiman, Bagging predictors, Machine Learning 1996, for averaging models of different rows.
"""

from dataclasses import dataclass

import numpy as np

from aucbench import Batch
from aucbench_algorithms.log_reg_cv import LogRegCV, State

SOFTNESS = 2e-3  # difference in mean AUC that divides the weight of a candidate by e


@dataclass(frozen=True)
class Auto(LogRegCV):
    """Balanced logistic regression, averaged over regularisations by their AUC in cross-validation."""

    name = "auto"
    citation = "breiman1996bagging"
    deviations = (
        "Rows are left out by cross-validation, where bagging draws them with replacement.",
        "Fits on parts of the rows end when the gradient is 2e-4 of that at zero.",
    )

    def _try(self, state: State, batch: Batch) -> State:
        tried = super()._try(state, batch)
        new, before = tried.aucs[-1], max(state.aucs, default=-np.inf)
        if not np.isfinite(new):  # the models have diverged
            return tried._replace(w=np.full_like(state.w, np.nan), solved=True)
        best = max(new, before)
        keep, share = np.exp((before - best) / SOFTNESS), np.exp((new - best) / SOFTNESS)
        scores = batch.X @ tried.w
        weighted = scores if batch.weights is None else scores * np.sqrt(batch.weights / batch.weights.mean())
        share /= float(np.linalg.norm(weighted)) or 1.0
        w, b = keep * state.w + share * tried.w, float(keep * state.b + share * tried.b)
        return tried._replace(w=w, b=b, solved=len(tried.aucs) == self.values)
