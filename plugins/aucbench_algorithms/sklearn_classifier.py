"""Any of a list of scikit-learn's classifiers as an entrant: a reference line beside the linear methods.

    python -m aucbench algo=sklearn algo.estimator=random_forest 'algo.params={n_estimators:300}'

The classifier is fitted to all rows in the one iteration that there is, and ranks rows by its decision
function or by the probability of the positive class (`gaussian_nb` by its logarithmic odds). Trees, boosting,
naive Bayes and neural networks are not linear: they have no weights, and leaderboards say so.
`logistic_regression` and `linear_svc` are linear, have weights, and leave their intercept out of the scores.

Classes are balanced where a classifier can balance them, by `class_weight` (for `xgboost` by
`scale_pos_weight`); `gaussian_nb` and `mlp` cannot. All other parameters are the defaults of the classifier,
which are meant for its own purposes, not for the AUC. Seeds come from the run, and everything runs in one
thread, so that times compare. Weights of the rows are the classifier's `sample_weight`, with the meaning
that it gives them, and classes are balanced by the sums of weights.

Cost: that of the classifier. `hist_gradient_boosting` and `gaussian_nb` take dense rows only, so that sparse
rows are written out for them, up to 2 GB.

Source: Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011; `lightgbm` and `xgboost` are
packages of their own.
"""

import importlib
import importlib.util
import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench import Access, Batch, Claims, Method, ModelClass, ParameterError, Problem, check_fields
from aucbench_algorithms._linear_method import class_totals

MOST_DENSE = 1 << 28  # entries of sparse rows that are written out for a fit
BLOCK = 1 << 22  # the same, at a time, for scores
RESERVED = {"random_state": "the seed of the run", "n_jobs": "1, so that times compare"}
BALANCED = {"class_weight": "balanced"}


class Known(NamedTuple):
    """Where a classifier is found, and what is set unless a user does."""

    module: str
    cls: str
    defaults: Mapping[str, Any]
    dense: bool = False  # takes dense rows only


class Estimator(StrEnum):
    """The classifiers by name."""

    hist_gradient_boosting = "hist_gradient_boosting"
    random_forest = "random_forest"
    extra_trees = "extra_trees"
    decision_tree = "decision_tree"
    logistic_regression = "logistic_regression"
    linear_svc = "linear_svc"
    gaussian_nb = "gaussian_nb"
    mlp = "mlp"
    lightgbm = "lightgbm"
    xgboost = "xgboost"


KNOWN = {
    Estimator.hist_gradient_boosting: Known(
        "sklearn.ensemble", "HistGradientBoostingClassifier", BALANCED, dense=True
    ),
    Estimator.random_forest: Known("sklearn.ensemble", "RandomForestClassifier", BALANCED),
    Estimator.extra_trees: Known("sklearn.ensemble", "ExtraTreesClassifier", BALANCED),
    Estimator.decision_tree: Known("sklearn.tree", "DecisionTreeClassifier", BALANCED),
    Estimator.logistic_regression: Known(
        "sklearn.linear_model", "LogisticRegression", {**BALANCED, "max_iter": 1000}
    ),
    Estimator.linear_svc: Known("sklearn.svm", "LinearSVC", BALANCED),
    Estimator.gaussian_nb: Known("sklearn.naive_bayes", "GaussianNB", {}, dense=True),
    Estimator.mlp: Known("sklearn.neural_network", "MLPClassifier", {}),
    Estimator.lightgbm: Known("lightgbm", "LGBMClassifier", {**BALANCED, "verbosity": -1}),
    Estimator.xgboost: Known("xgboost", "XGBClassifier", {}),
}
LINEAR = (Estimator.logistic_regression, Estimator.linear_svc)
MODELS = {  # classes of model
    **dict.fromkeys(LINEAR, ModelClass.linear),
    Estimator.gaussian_nb: ModelClass.other,
    Estimator.mlp: ModelClass.network,
}


class Params(dict[str, Any]):
    """Parameters of a classifier; hashable, so that a tuning tells settings apart."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(sorted(self.items(), key=lambda item: item[0])))


class Fitted:
    """A classifier, into which the search for NaN does not look: trees have thresholds at infinity."""

    __slots__ = ("model",)

    def __init__(self, model: Any):
        self.model = model

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.model = state["model"]


class State(NamedTuple):
    """The classifier, before and after its fit."""

    seed: int
    features: int
    fitted: Fitted | None  # None before the fit
    w: np.ndarray | None = None  # (d,) of a linear classifier


@dataclass(frozen=True)
class SklearnClassifier(Method):
    """A classifier of scikit-learn, LightGBM or XGBoost, as a reference line: most are not linear models.

    Parameters
    ----------
    estimator : Estimator
        hist_gradient_boosting, random_forest, extra_trees, decision_tree, logistic_regression, linear_svc,
        gaussian_nb, mlp, lightgbm or xgboost.
    params : mapping or None
        Parameters of the classifier that replace its defaults: numbers, texts, true, false or null.
    """

    name = "sklearn"
    access = Access.full
    weighted = True
    class_of_model = ModelClass.trees  # of the default
    claims = Claims(rate="none", cost="one fit of the classifier")
    citation = "pedregosa2011scikit"
    exempt = {
        "auc": "most of its classifiers are not linear, and the small problem of this check is",
        "cost": "its cost is that of the classifier",
        "weighted": "weights mean what the classifier makes of them: leaves of trees count rows",
    }
    deviations = (
        "Classes are balanced where the classifier can balance them, and all of it runs in one thread.",
    )

    estimator: Estimator = Estimator.hist_gradient_boosting
    params: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "class_of_model", MODELS.get(self.estimator, ModelClass.trees))
        if not isinstance(self.params, Mapping | None):
            raise ParameterError(f"sklearn: params must be a mapping of parameters, got {self.params!r}.")
        object.__setattr__(self, "params", Params(self.params) if self.params else None)
        package = KNOWN[self.estimator].module.partition(".")[0]
        if importlib.util.find_spec(package) is None:
            raise ParameterError(
                f"sklearn: estimator={self.estimator} needs the package {package}, which is not installed: "
                f"pip install {package}."
            )
        if self.params:
            self._check_params(self.params)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Nothing but the seed of the fit; a ParameterError where the classifier takes no weights."""
        fit = inspect.signature(_cls(self.estimator).fit)
        if problem.weights is not None and "sample_weight" not in fit.parameters:
            raise ParameterError(f"sklearn: estimator={self.estimator} takes no sample_weight.")
        return State(int(rng.integers(2**31 - 1)), problem.n_features, None)

    def step(self, state: State, batch: Batch) -> State:
        """Fit, unless it is done already."""
        if len(batch.rows) == 0 or state.fitted is not None:
            return state
        labels = (batch.y == 1).astype(np.int64)
        if labels.min() == labels.max():  # nothing to tell apart: all rows score the same
            w = np.zeros(state.features) if self.estimator in LINEAR else None
            return state._replace(fitted=Fitted(None), w=w)
        X, model = self._rows(batch.X), self._make(state.seed, batch)
        own = {} if batch.weights is None else {"sample_weight": batch.weights}
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, labels, **own)
        w = np.array(model.coef_[0], np.float64) if self.estimator in LINEAR else None
        return state._replace(fitted=Fitted(model), w=w)

    def done(self, state: State) -> bool:
        """Whether the classifier is fitted."""
        return state.fitted is not None

    @property
    def weights(self) -> Callable[[State], np.ndarray]:
        """Of a state, (d,) the coefficients; only linear classifiers have this."""
        if self.estimator not in LINEAR:
            raise AttributeError(f"{self.estimator} is not a linear model.")
        return lambda state: np.zeros(state.features) if state.w is None else state.w.copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values, log odds or probabilities of the positive class."""
        if state.w is not None:
            return np.asarray(X @ state.w, np.float64)
        if state.fitted is None or state.fitted.model is None:
            return np.zeros(X.shape[0])
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not (sparse.issparse(X) and KNOWN[self.estimator].dense):
                return _scores(state.fitted.model, _float64_rows(X))
            size = max(1, BLOCK // max(1, X.shape[1]))
            blocks = [X[start : start + size].toarray() for start in range(0, X.shape[0], size)]
            return np.concatenate([_scores(state.fitted.model, _float64_rows(block)) for block in blocks])

    def _rows(self, X: Any) -> Any:
        """The training rows as the classifier takes them."""
        if not (sparse.issparse(X) and KNOWN[self.estimator].dense):
            return _float64_rows(X)
        if X.shape[0] * X.shape[1] > MOST_DENSE:
            raise ParameterError(
                f"sklearn: {self.estimator} takes dense rows only, and {X.shape[0]:,} sparse rows of "
                f"{X.shape[1]:,} features are too many to be written out: use another estimator, such as "
                f"extra_trees, or features=projection."
            )
        return _float64_rows(X.toarray())

    def _make(self, seed: int, batch: Batch) -> Any:
        """The classifier before its fit."""
        model, (n_pos, n_neg) = _cls(self.estimator)(), class_totals(batch)
        chosen = dict(KNOWN[self.estimator].defaults) | {"random_state": seed, "n_jobs": 1}
        if self.estimator is Estimator.xgboost:
            chosen["scale_pos_weight"] = n_neg / n_pos
        own = model.get_params(deep=False)
        chosen = {key: value for key, value in chosen.items() if key in own} | dict(self.params or {})
        if batch.weights is not None and chosen.get("class_weight") == "balanced":
            # Not all versions of the classifiers count weights where they balance.
            n = n_pos + n_neg
            chosen["class_weight"] = {0: n / (2.0 * n_neg), 1: n / (2.0 * n_pos)}
        return model.set_params(**chosen)

    def _check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse a parameter that the classifier lacks or the run sets, and a value that it refuses."""
        model = _cls(self.estimator)()
        known = model.get_params(deep=False)
        for key, value in params.items():
            what = f"sklearn: params.{key} of {self.estimator}"
            if key in RESERVED:
                raise ParameterError(f"{what} cannot be set: it is {RESERVED[key]}.")
            if key not in known:
                near = get_close_matches(key, known, n=1)
                meant = f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(sorted(known))}."
                raise ParameterError(
                    f"{what}: {self.estimator} has no such parameter, got {value!r}. {meant}"
                )
            if not isinstance(value, int | float | str | None):
                raise ParameterError(f"{what} must be a number, text, true, false or null, got {value!r}.")
        model.set_params(**params)
        try:
            getattr(model, "_validate_params", lambda: None)()  # of scikit-learn's own, from 1.2 on
        except ValueError as error:
            raise ParameterError(f"sklearn: params of {self.estimator}: {error}") from None


def _cls(estimator: Estimator) -> Any:
    known = KNOWN[estimator]
    return getattr(importlib.import_module(known.module), known.cls)


def _scores(model: Any, X: Any) -> np.ndarray:
    """(n,) what ranks the rows."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), np.float64)
    if hasattr(model, "predict_joint_log_proba"):  # its probabilities round to 0 and 1
        both = model.predict_joint_log_proba(X)
        return np.asarray(both[:, 1] - both[:, 0], np.float64)
    return np.asarray(model.predict_proba(X)[:, 1], np.float64)


def _float64_rows(X: Any) -> Any:
    """Rows as scikit-learn takes them."""
    if not sparse.issparse(X):
        return np.asarray(X, np.float64)
    X = X.tocsr()
    parts = (X.data.astype(np.float64), X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=X.shape)
