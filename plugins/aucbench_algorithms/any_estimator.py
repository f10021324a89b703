"""Any class with scikit-learn's `fit` and scores, by its import path.

    python -m aucbench algo=estimator algo.cls=catboost.CatBoostClassifier 'algo.params={iterations: 300}'

Everything is as for the ten classes of `sklearn`, which are presets of this method. The scores of two rows
are looked at after the fit: complex numbers, and other than two classes, rank nothing and are refused.

An import runs the code of a module, so that a path is imported from your own command alone. Results of others
that name one are run again with `--trust MODULE` only.

Source: Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011.
"""

import inspect
import pickle
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from aucbench import Batch, ParameterError
from aucbench_algorithms.estimator import (
    RESERVED,
    SCORES,
    Fitted,
    ImportedEstimator,
    State,
    _float64_rows,
    _quiet,
    imported,
)


@dataclass(frozen=True)
class AnyEstimator(ImportedEstimator):
    """Any class with scikit-learn's `fit` and `decision_function` or `predict_proba`, by its import path.

    Parameters
    ----------
    cls : str
        Import path of the class, such as ``catboost.CatBoostClassifier``.
    params : mapping or None
        Parameters of the classifier that replace its defaults: numbers, texts, true, false, null, and lists
        or mappings of these.
    """

    def state_bytes(self, state: State) -> int:
        try:
            return super().state_bytes(state)
        except Exception:  # an attribute that cannot be pickled, such as a lambda
            size = 0
            for value in vars(state.fitted.model).values() if state.fitted else ():
                with suppress(Exception):
                    size += len(pickle.dumps(value))
            return size

    def _check(self) -> None:
        try:
            super()._check()
        except ParameterError:
            if not self._lacks_what_the_run_sets():
                raise

    def _lacks_what_the_run_sets(self) -> bool:
        """Whether parameters that the run sets, such as n_jobs, have no default and are all that lacks."""
        cls, given = imported(self.cls), dict(self.params or {})
        if not isinstance(cls, type) or given.keys() & RESERVED.keys():
            return False
        known = inspect.signature(cls).parameters
        needed = [
            name for name in RESERVED if name in known and known[name].default is inspect.Parameter.empty
        ]
        with suppress(Exception):
            cls(**given, **dict.fromkeys(needed, 1))
            return bool(needed)
        return False

    def _fitted(self, seed: int, batch: Batch, labels: np.ndarray) -> Fitted:
        fitted = super()._fitted(seed, batch, labels)
        rows = batch.X[:2]
        if fitted.writes_out and sparse.issparse(rows):
            rows = rows.toarray()
        name = next(name for name in SCORES if hasattr(fitted.model, name))
        with _quiet():
            found = np.asarray(getattr(fitted.model, name)(_float64_rows(rows)))
        if np.iscomplexobj(found):
            raise ParameterError(f"estimator: {self._label} gives complex numbers, which rank no rows.")
        n = rows.shape[0]
        one_column = name == "decision_function" and found.shape == (n, 1)
        if found.shape not in ((n,), (n, 2)) and not one_column:
            raise ParameterError(
                f"estimator: {name} of {self._label} must give two columns, one for each class, "
                f"got an array of shape {found.shape} for {n} rows."
            )
        return fitted
