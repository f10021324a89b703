"""Any class with scikit-learn's `fit` and scores, by its import path.

    python -m aucbench algo=estimator algo.cls=catboost.CatBoostClassifier 'algo.params={iterations: 300}'

Everything is as for the ten classes of `sklearn`, which are presets of this method. The scores of two rows
are looked at after the fit: complex numbers, and other than two classes, rank nothing and are refused.

An import runs the code of a module, so that a path is imported from your own command alone. Results of others
that name one are run again with `--trust MODULE` only.

Source: Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from aucbench import Batch, ParameterError
from aucbench_algorithms.estimator import SCORES, Fitted, ImportedEstimator, _float64_rows, _quiet


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
