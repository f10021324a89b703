"""Any classifier with scikit-learn's interface as a method, by its import path or from a list of ten.

    python -m aucbench algo=estimator algo.cls=catboost.CatBoostClassifier 'algo.params={iterations: 300}'
    python -m aucbench algo=sklearn algo.estimator=random_forest 'algo.params={n_estimators: 300}'

The single iteration fits the classifier to all rows. The classifier then ranks rows by its decision function
or by the probability of the positive class (`gaussian_nb` by its log odds). Trees, boosting, naive Bayes and
neural networks are not linear: they have no weights, as leaderboards show. `logistic_regression` and
`linear_svc` are linear, have weights, and leave their intercept out of the scores.

Unless `params` sets them, these parameters are set: the seed of the run (`random_state`,
`random_seed` or `seed`), one thread (`n_jobs`, `thread_count` or `nthread`), so that times are comparable,
and balanced classes, if the classifier can balance them (`class_weight`, `auto_class_weights` or
`scale_pos_weight`). All other parameters are the defaults of the classifier, which are not chosen for the
AUC. Row weights are passed on as `sample_weight`, with the classifier's own meaning; classes are balanced by
the sums of weights.

Importing a module runs its code. Therefore only your own command can import a path, and shared results with
an import path are run again only with `--trust MODULE`.

Cost: that of the classifier. Sparse rows stay sparse unless the classifier refuses them, as
`hist_gradient_boosting` and `gaussian_nb` do; these get dense rows, up to 2 GB.

Source: Pedregosa et al., Scikit-learn: machine learning in Python, JMLR 2011.
"""

import importlib
import inspect
import pickle
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from aucbench import Access, Batch, Claims, Method, ModelClass, ParameterError, Problem, check_fields
from aucbench_algorithms._linear_method import class_totals
from aucbench_algorithms._parameters import Parameters, distributions, is_installed

MOST_DENSE = 1 << 28  # entries of sparse rows that are written out for a fit
BLOCK = 1 << 22  # entries of sparse rows written out at a time for scores
SEEDS = ("random_state", "random_seed", "seed")
THREADS = ("n_jobs", "thread_count", "nthread", "num_threads")
RESERVED = dict.fromkeys(SEEDS, "the seed of the run") | dict.fromkeys(THREADS, "1, so that times compare")
BALANCE = ("class_weight", "auto_class_weights", "scale_pos_weight")  # the first that exists is set
WEIGHTING = (*BALANCE, "class_weights", "is_unbalance")  # any of these in `params` replaces the balancing
SCORES = ("decision_function", "predict_joint_log_proba", "predict_proba")


class Estimator(StrEnum):
    """The classifiers of `sklearn` by name."""

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


PATHS = {
    Estimator.hist_gradient_boosting: "sklearn.ensemble.HistGradientBoostingClassifier",
    Estimator.random_forest: "sklearn.ensemble.RandomForestClassifier",
    Estimator.extra_trees: "sklearn.ensemble.ExtraTreesClassifier",
    Estimator.decision_tree: "sklearn.tree.DecisionTreeClassifier",
    Estimator.logistic_regression: "sklearn.linear_model.LogisticRegression",
    Estimator.linear_svc: "sklearn.svm.LinearSVC",
    Estimator.gaussian_nb: "sklearn.naive_bayes.GaussianNB",
    Estimator.mlp: "sklearn.neural_network.MLPClassifier",
    Estimator.lightgbm: "lightgbm.LGBMClassifier",
    Estimator.xgboost: "xgboost.XGBClassifier",
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {  # set unless `params` does
    PATHS[Estimator.logistic_regression]: {"max_iter": 1000},
    PATHS[Estimator.lightgbm]: {"verbosity": -1},
    "catboost.CatBoostClassifier": {"verbose": False, "allow_writing_files": False},
}
# Beginnings of import paths of classifiers with one vector of coefficients.
LINEAR = (
    "sklearn.linear_model.",
    "sklearn.svm.LinearSVC",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
)
CLASSES = dict.fromkeys(LINEAR, ModelClass.linear) | {  # class of a model by the beginning of its import path
    "sklearn.ensemble.VotingClassifier": ModelClass.other,
    "sklearn.ensemble.StackingClassifier": ModelClass.other,
    "sklearn.ensemble.": ModelClass.trees,
    "sklearn.tree.": ModelClass.trees,
    "lightgbm.": ModelClass.trees,
    "xgboost.": ModelClass.trees,
    "catboost.": ModelClass.trees,
    "sklearn.neural_network.": ModelClass.network,
    "sklearn.svm.": ModelClass.kernel,
    "sklearn.gaussian_process.": ModelClass.kernel,
}
LINEAR_PARAMS = {"kernel": "linear", "booster": "gblinear"}  # parameters that make SVC and XGBoost linear


class Fitted:
    """A classifier, hidden from the search for NaN: trees have thresholds at infinity."""

    __slots__ = ("model", "writes_out")

    def __init__(self, model: Any, writes_out: bool = False):
        self.model = model
        self.writes_out = writes_out  # the model needs dense rows

    def __reduce__(self) -> Any:
        return type(self), (self.model, self.writes_out)


class State(NamedTuple):
    """The classifier, before and after its fit."""

    seed: int
    features: int
    fitted: Fitted | None  # None before the fit
    w: np.ndarray | None = None  # (d,) of a linear classifier


class EstimatorMethod(Method):
    """A classifier with scikit-learn's interface, at an import path, with parameters."""

    access = Access.full
    weighted = True
    claims = Claims(rate="none", cost="one fit of the classifier")
    citation = "pedregosa2011scikit"
    exempt = {
        "auc": "most classifiers are not linear, and the small problem of this check is",
        "cost": "its cost is that of the classifier",
        "weighted": "weights mean what the classifier makes of them: leaves of trees count rows",
    }
    deviations = (
        "Classes are balanced where the classifier can balance them, and all of it runs in one thread.",
    )

    params: Mapping[str, Any] | None

    @property
    def _path(self) -> str:
        """The import path of the class."""
        raise NotImplementedError

    @property
    def _label(self) -> str:
        """The choice of the class in messages."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        check_fields(self)
        Parameters.coerce(self, "params")
        path = self._path
        package = path.partition(".")[0]
        if not all(part.isidentifier() for part in path.split(".")):
            raise ParameterError(f"{self.name}: cls must be the import path of a class, got {path!r}.")
        if not is_installed(package):
            # An unknown name may be a local module, and must not be looked up at PyPI.
            is_listed = path in PATHS.values()
            way_out = f"pip install {package}" if is_listed else "install it, or put its folder on PYTHONPATH"
            raise ParameterError(
                f"{self.name}: {self._label} needs the package {package}, which is not found: {way_out}."
            )
        model_class = next((kind for key, kind in CLASSES.items() if path.startswith(key)), ModelClass.other)
        if any((self.params or {}).get(name) == value for name, value in LINEAR_PARAMS.items()):
            model_class = ModelClass.linear
        object.__setattr__(self, "class_of_model", model_class)
        object.__setattr__(self, "packages", () if package == "sklearn" else distributions(package))
        if self.params or path not in PATHS.values():
            self._check()

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Draw the seed of the fit; a ParameterError if the classifier takes no weights."""
        if problem.weights is not None:
            params = inspect.signature(imported(self._path).fit).parameters
            if "sample_weight" not in params and not _takes_any(params):
                raise ParameterError(f"{self.name}: {self._label} takes no sample_weight.")
        return State(int(rng.integers(2**31 - 1)), problem.n_features, None)

    def step(self, state: State, batch: Batch) -> State:
        if len(batch.rows) == 0 or state.fitted is not None:
            return state
        labels = (batch.y == 1).astype(np.int64)
        if labels.min() == labels.max():  # one class only: all rows score the same
            w = np.zeros(state.features) if self._is_linear else None
            return state._replace(fitted=Fitted(None), w=w)
        fitted = self._fitted(state.seed, batch, labels)
        w = np.array(fitted.model.coef_, np.float64).ravel() if self._is_linear else None
        return state._replace(fitted=fitted, w=w)

    def done(self, state: State) -> bool:
        return state.fitted is not None

    @property
    def weights(self) -> Callable[[State], np.ndarray]:
        """A function from a state to its (d,) coefficients; only linear classifiers have it."""
        if not self._is_linear:
            raise AttributeError(f"{self._path} is not a linear model.")
        return lambda state: np.zeros(state.features) if state.w is None else state.w.copy()

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values, log odds or probabilities of the positive class."""
        if state.w is not None:
            return np.asarray(X @ state.w, np.float64)
        if state.fitted is None or state.fitted.model is None:
            return np.zeros(X.shape[0])
        with _quiet():
            if not (sparse.issparse(X) and state.fitted.writes_out):
                return self._scores(state.fitted.model, X)
            size = max(1, BLOCK // max(1, X.shape[1]))
            blocks = [X[start : start + size].toarray() for start in range(0, X.shape[0], size)]
            return np.concatenate([self._scores(state.fitted.model, block) for block in blocks])

    def state_bytes(self, state: State) -> int:
        """Bytes of the pickled classifier, without attributes that cannot be pickled, such as functions."""
        if state.fitted is None:
            return 0
        with suppress(Exception):
            return len(pickle.dumps(state.fitted.model))
        size = 0
        for value in vars(state.fitted.model).values():
            with suppress(Exception):
                size += len(pickle.dumps(value))
        return size

    @property
    def _is_linear(self) -> bool:
        return self._path.startswith(LINEAR)

    def _fitted(self, seed: int, batch: Batch, labels: np.ndarray) -> Fitted:
        """The fitted classifier; sparse rows are written out only if the classifier refuses them."""
        fit_params = {} if batch.weights is None else {"sample_weight": batch.weights}
        with _quiet():
            try:
                model = self._unfitted(seed, batch)
                model.fit(_float64_rows(batch.X), labels, **fit_params)
                return Fitted(model)
            except (TypeError, ValueError):
                if not sparse.issparse(batch.X):
                    raise
            n, d = batch.X.shape
            if n * d > MOST_DENSE:
                raise ParameterError(
                    f"{self.name}: {self._label} takes dense rows only, and {n:,} sparse rows of {d:,} "
                    f"features are too many to be written out: use another estimator, such as extra_trees, "
                    f"or features=projection."
                )
            model = self._unfitted(seed, batch)
            model.fit(_float64_rows(batch.X.toarray()), labels, **fit_params)
            return Fitted(model, writes_out=True)

    def _scores(self, model: Any, X: Any) -> np.ndarray:
        """(n,) scores of the rows; a ParameterError for an output that ranks no rows."""
        name = next(name for name in SCORES if hasattr(model, name))
        scores = np.asarray(getattr(model, name)(_float64_rows(X)))
        if np.iscomplexobj(scores):
            raise ParameterError(f"{self.name}: {self._label} gives complex numbers, which rank no rows.")
        n = X.shape[0]
        if scores.shape == (n,) or (name == "decision_function" and scores.shape == (n, 1)):
            return scores.reshape(n).astype(np.float64)
        if scores.shape != (n, 2):
            raise ParameterError(
                f"{self.name}: {name} of {self._label} must give two columns, one for each class, "
                f"got an array of shape {scores.shape} for {n} rows."
            )
        scores = scores.astype(np.float64)
        # Probabilities from these logarithms would round to 0 and 1.
        return scores[:, 1] - scores[:, 0] if name == "predict_joint_log_proba" else scores[:, 1]

    def _unfitted(self, seed: int, batch: Batch) -> Any:
        """The classifier before its fit."""
        cls, overrides, (n_pos, n_neg) = imported(self._path), dict(self.params or {}), class_totals(batch)
        names = _parameters(cls)
        chosen = dict(DEFAULTS.get(self._path, {}))
        for aliases, value in ((SEEDS, seed), (THREADS, 1)):
            chosen |= dict.fromkeys(_first(aliases, names), value)
        if not overrides.keys() & set(WEIGHTING):
            n = n_pos + n_neg
            weighted = {0: n / (2.0 * n_neg), 1: n / (2.0 * n_pos)}
            values = {
                # Not all versions of the classifiers count weights where they balance.
                "class_weight": "balanced" if batch.weights is None else weighted,
                "auto_class_weights": "Balanced",
                "scale_pos_weight": n_neg / n_pos,
            }
            chosen |= {name: values[name] for name in _first(BALANCE, names)}
        return cls(**chosen | overrides)

    def _check(self) -> None:
        """Refuse objects that are no classifiers, and parameters that are unknown, refused or reserved."""
        cls, overrides = imported(self._path), dict(self.params or {})
        if not isinstance(cls, type) or not hasattr(cls, "fit"):
            raise ParameterError(f"{self.name}: {self._label} is no class with a method `fit`.")
        if not any(hasattr(cls, name) for name in SCORES):
            raise ParameterError(
                f"{self.name}: {self._label} gives no scores: it has neither decision_function nor "
                f"predict_proba."
            )
        names = _parameters(cls)
        for key, value in overrides.items():
            prefix = f"{self.name}: params.{key} of {self._label}"
            if key in RESERVED:
                raise ParameterError(f"{prefix} cannot be set: it is {RESERVED[key]}.")
            if key not in names and not _takes_any(inspect.signature(cls).parameters):
                matches = get_close_matches(key, names, n=1)
                hint = f"Did you mean '{matches[0]}'?" if matches else f"Known: {', '.join(sorted(names))}."
                raise ParameterError(f"{prefix}: there is no such parameter, got {value!r}. {hint}")
        # Parameters that the run sets may have no default.
        params = inspect.signature(cls).parameters
        needed = [arg for arg in RESERVED if arg in params and params[arg].default is inspect.Parameter.empty]
        try:
            model = cls(**dict.fromkeys(needed, 1), **overrides)
            if hasattr(model, "_parameter_constraints"):  # scikit-learn checks the names itself
                model._validate_params()
        except Exception as error:  # any class may raise anything
            cause = " ".join(str(error).split())
            raise ParameterError(f"{self.name}: {self._label} refuses params={overrides}: {cause}") from None


@dataclass(frozen=True)
class ImportedEstimator(EstimatorMethod):
    """Any class with scikit-learn's `fit` and `decision_function` or `predict_proba`, by its import path.

    Parameters
    ----------
    cls : str
        Import path of the class, such as ``catboost.CatBoostClassifier``.
    params : mapping or None
        Parameters of the classifier that replace its defaults: numbers, texts, true, false, null, and lists
        or mappings of these.
    """

    name = "estimator"
    class_of_model = ModelClass.other
    imports = ("cls",)

    cls: str = PATHS[Estimator.logistic_regression]
    params: Mapping[str, Any] | None = None

    @property
    def _path(self) -> str:
        return self.cls

    @property
    def _label(self) -> str:
        return f"cls={self.cls}"


@dataclass(frozen=True)
class SklearnClassifier(EstimatorMethod):
    """A classifier of scikit-learn, LightGBM or XGBoost, as a reference line: most are not linear models.

    Parameters
    ----------
    estimator : Estimator
        hist_gradient_boosting, random_forest, extra_trees, decision_tree, logistic_regression, linear_svc,
        gaussian_nb, mlp, lightgbm or xgboost.
    params : mapping or None
        Parameters of the classifier that replace its defaults: numbers, texts, true, false, null, and lists
        or mappings of these.
    """

    name = "sklearn"
    class_of_model = ModelClass.trees  # class of the default model

    estimator: Estimator = Estimator.hist_gradient_boosting
    params: Mapping[str, Any] | None = None

    @property
    def _path(self) -> str:
        return PATHS[self.estimator]

    @property
    def _label(self) -> str:
        return f"estimator={self.estimator}"


@cache
def imported(path: str) -> Any:
    """The object at an import path; a ParameterError if there is none."""
    module, _, name = path.rpartition(".")
    try:
        parent = importlib.import_module(module or path)
    except Exception as error:  # an import runs code that may raise anything
        cause = " ".join(str(error).split())
        raise ParameterError(f"estimator: {module or path} cannot be imported: {cause}.") from None
    if not module or not hasattr(parent, name):
        matches = get_close_matches(name, [key for key in dir(parent) if not key.startswith("_")], n=1)
        hint = f" Did you mean {module}.{matches[0]}?" if module and matches else ""
        raise ParameterError(
            f"estimator: cls must be the import path of a class, such as catboost.CatBoostClassifier, "
            f"and there is none at {path}.{hint}"
        )
    return getattr(parent, name)


@cache
def _parameters(cls: Any) -> frozenset[str]:
    """The names of the parameters of a class."""
    names = set(inspect.signature(cls).parameters)
    with suppress(Exception):  # some classes lack the method or defaults
        names |= set(cls().get_params(deep=False))
    return frozenset(names)


def _first(aliases: Sequence[str], names: Collection[str]) -> list[str]:
    """The first alias among the names, or an empty list."""
    return [name for name in aliases if name in names][:1]


def _takes_any(parameters: Mapping[str, inspect.Parameter]) -> bool:
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())


@contextmanager
def _quiet() -> Iterator[None]:
    """One thread of BLAS, and no warnings."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _float64_rows(X: Any) -> Any:
    """Rows as scikit-learn takes them."""
    if not sparse.issparse(X):
        return np.asarray(X, np.float64)
    X = X.tocsr()
    parts = (X.data.astype(np.float64), X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csr_matrix(parts, shape=X.shape)
