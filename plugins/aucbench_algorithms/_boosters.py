"""Boosted trees of LightGBM and of XGBoost, grown round by round behind one interface.

Both libraries train in one thread and from the seed of the run, so equal rows give equal trees. A pickled
booster keeps its trees but not the training rows.
"""

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucbench.objectives import lightgbm_objective, xgboost_objective

# From scores and the library's rows (with labels and weights) to gradient and curvature by score.
Objective = Callable[[Any, Any], tuple[np.ndarray, np.ndarray]]


class Rows(NamedTuple):
    """The training rows of a booster."""

    X: Any  # (n, d) ndarray or CSR
    y: np.ndarray  # (n,) 0 or 1
    weights: np.ndarray | None = None  # (n,)
    groups: list[int] | None = None  # sizes of the groups of consecutive rows within which rows are ranked


class LightGbm:
    """A booster of LightGBM."""

    names: Mapping[str, str] = {  # library's parameter by field of the method
        "learning_rate": "learning_rate",
        "max_depth": "max_depth",
        "num_leaves": "num_leaves",
        "min_child_weight": "min_sum_hessian_in_leaf",
        "reg_lambda": "lambda_l2",
        "subsample": "bagging_fraction",
        "colsample_bytree": "feature_fraction",
    }
    pair_objective = staticmethod(lightgbm_objective)
    objectives: Mapping[str, str] = {"pairs": "none", "log_loss": "binary", "ranking": "lambdarank"}
    largest_group = 500  # LightGBM visits every pair of a group, and takes 10,000 rows at most

    def __init__(self, settings: Mapping[str, Any], seed: int, rows: Rows):
        import lightgbm

        fixed: dict[str, Any] = {
            "seed": seed,
            "num_threads": 1,
            "deterministic": True,
            "force_col_wise": True,
            "verbosity": -1,
            "feature_pre_filter": False,  # would drop every feature of a small data set
            "bagging_freq": int("bagging_fraction" in settings),
        }
        if rows.groups:
            fixed["lambdarank_truncation_level"] = max(rows.groups)
        settings = fixed | dict(settings)
        data = lightgbm.Dataset(
            as_csr_matrix(rows.X), rows.y, weight=rows.weights, group=rows.groups, params=settings
        )
        self._booster = lightgbm.Booster(settings, data)

    def grow(self, objective: Objective | None) -> None:
        """Add one round; None uses the objective of the library."""
        self._booster.update(fobj=objective)

    def scores(self, X: Any, start: int, stop: int) -> np.ndarray:
        """(n,) sums of the trees over a range of rounds."""
        stop = min(stop, self._booster.current_iteration())  # no tree is added once none has a split
        if start >= stop:
            return np.zeros(X.shape[0])
        margins = self._booster.predict(
            as_csr_matrix(X), start_iteration=start, num_iteration=stop - start, raw_score=True, num_threads=1
        )
        return np.asarray(margins)

    def saved(self, rounds: int) -> bytes:
        """The first rounds in LightGBM's text format."""
        return str(self._booster.model_to_string(num_iteration=rounds)).encode()

    def __getstate__(self) -> bytes:
        return self.saved(-1)

    def __setstate__(self, saved: bytes) -> None:
        import lightgbm

        self._booster = lightgbm.Booster(model_str=saved.decode())

    @classmethod
    def unknown(cls, params: Mapping[str, Any]) -> list[str]:
        """Names in `params` that LightGBM does not know."""
        from lightgbm.basic import _ConfigAliases

        known = _ConfigAliases.get(*_ConfigAliases._get_all_param_aliases())
        return [name for name in params if name not in known]


class XgBoost:
    """A booster of XGBoost, which treats 0 as a missing value in dense rows, as in sparse rows."""

    names: Mapping[str, str] = {  # library's parameter by field of the method
        "learning_rate": "learning_rate",
        "max_depth": "max_depth",
        "num_leaves": "max_leaves",
        "min_child_weight": "min_child_weight",
        "reg_lambda": "reg_lambda",
        "subsample": "subsample",
        "colsample_bytree": "colsample_bytree",
    }
    pair_objective = staticmethod(xgboost_objective)
    objectives: Mapping[str, str] = {
        "pairs": "reg:squarederror",  # a placeholder: `grow` gets the objective
        "log_loss": "binary:logistic",
        "ranking": "rank:pairwise",
    }
    largest_group = None  # XGBoost draws some pairs of a group

    def __init__(self, settings: Mapping[str, Any], seed: int, rows: Rows):
        import xgboost

        fixed: dict[str, Any] = {"seed": seed, "nthread": 1, "verbosity": 0}
        if "max_leaves" in settings:
            fixed |= {"grow_policy": "lossguide"}
        if rows.groups:
            fixed["lambdarank_pair_method"] = "mean"
        more = {"label": rows.y, "weight": rows.weights, "group": rows.groups}
        self._data, self._rounds = self._matrix(rows.X, **more), 0
        self._booster = xgboost.Booster(fixed | dict(settings), [self._data])

    def grow(self, objective: Objective | None) -> None:
        """Add one round; None uses the objective of the library."""
        self._booster.update(self._data, self._rounds, objective)
        self._rounds += 1

    def scores(self, X: Any, start: int, stop: int) -> np.ndarray:
        """(n,) sums of the trees over a range of rounds, plus a constant."""
        if start >= stop:
            return np.zeros(X.shape[0])
        margins = self._booster.predict(self._matrix(X), output_margin=True, iteration_range=(start, stop))
        return margins.astype(np.float64)

    def saved(self, rounds: int) -> bytes:
        """The first rounds in XGBoost's binary JSON."""
        return bytes((self._booster[:rounds] if rounds else self._booster).save_raw("ubj"))

    def __getstate__(self) -> tuple[bytes, int]:
        return self.saved(0), self._rounds

    def __setstate__(self, state: tuple[bytes, int]) -> None:
        import xgboost

        saved, self._rounds = state
        self._booster = xgboost.Booster({"nthread": 1, "verbosity": 0}, model_file=bytearray(saved))

    @staticmethod
    def _matrix(X: Any, **more: Any) -> Any:
        import xgboost

        return xgboost.DMatrix(as_csr_matrix(X), missing=0.0, nthread=1, **more)

    @classmethod
    def unknown(cls, params: Mapping[str, Any]) -> list[str]:
        """Names in `params` that neither the objective nor the tree booster knows."""
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            booster = cls(
                {**params, "verbosity": 1, "validate_parameters": True}, 0, Rows(np.eye(2), np.arange(2))
            )
            booster.grow(None)
        return [name for item in log for name in re.findall(r'"(\w+)"', str(item.message)) if name in params]


def as_csr_matrix(X: Any) -> Any:
    """Rows in the one sparse type that all versions of the libraries take."""
    if not sparse.issparse(X):
        return np.asarray(X)
    return X if isinstance(X, sparse.csr_matrix) else sparse.csr_matrix(X)
