"""A registered method as a scikit-learn classifier."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from aucbench.errors import DataError, ParameterError
from aucbench.sklearn._parameters import PluginParameters
from aucbench.sklearn._threshold import calibrator
from aucbench.sklearn._trained_model import PARTIAL_FIT, Fitted, Ingredients
from aucbench.sklearn._training_rows import group_numbers, shown, signs_of, two_classes, weighted_rows
from aucbench.studies.adapted_plugins import why_not_on

ROWS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}  # accepted inputs


class AUCClassifier(ClassifierMixin, PluginParameters):  # type: ignore[misc]  # as PluginParameters
    """A binary classifier trained to rank, by any registered method for maximising the AUC.

    Rows are scaled, mapped and visited by the code of `aucbench.run`, so the same rows, settings and seed
    give the same model. Use ``scoring="roc_auc"`` in `GridSearchCV` and `cross_val_score`, because `score` is
    the accuracy, by scikit-learn's convention.

    Parameters
    ----------
    algo : str or object, default="auto"
        Name of a registered method (``aucbench list algorithms`` shows them), or an instance of one,
        registered or not. ``"auto"`` is balanced logistic regression, averaged over regularisations by their
        AUC in cross-validation.
    algo_params : dict, default=None
        Hyperparameters of the method, such as ``{"radius": 1.0}``; the others keep their defaults. Each is
        also a nested parameter, ``algo__radius``, in `set_params` and in the grid of `GridSearchCV`.
    loss : str or object, default=None
        The surrogate loss, if the method accepts several; None means the first one.
    loss_params : dict, default=None
        Parameters of the loss, nested as ``loss__...``.
    features : str or object, default="identity"
        A feature map; ``"nystroem"`` makes any linear method a kernel method.
    features_params : dict, default=None
        Parameters of the feature map, nested as ``features__...``.
    scaling : str or None, default="auto"
        Scaling of the features, fitted on the training rows: ``"auto"``, ``"none"``, ``"minmax"``,
        ``"maxabs"``, ``"standard"``, ``"unit"``, ``"centred_unit"`` or ``"maxabs_unit"``; None means
        ``"none"``. ``"minmax"`` and ``"centred_unit"`` make sparse rows dense; ``"standard"`` divides sparse
        rows by the standard deviation without centring them, so a dense array of the same rows gives another
        model. ``"auto"`` is ``"standard"`` for dense rows and for dense columns of sparse rows; it divides
        other columns of sparse rows by the standard deviation only where this is above 1.
    rescale : bool, default=True
        Whether dense rows are centred after scaling, and all rows multiplied by one factor that makes the
        mean of |x|^2 over the training rows 1. Step sizes and radii then mean the same on any data. If False,
        they refer to the scaled rows. Regularisation refers to the scaled columns in both cases.
    epochs : float, default=None
        Number of passes over the training rows. A method that takes all rows at once may converge earlier; if
        it does not converge, a `ConvergenceWarning` is issued. None means max(10 n, min(20,000, 200 n))
        visits of n rows, or training until convergence for a method that takes all rows at once.
        `partial_fit` takes each row once.
    iterations : int, default=None
        Number of iterations, instead of `epochs`.
    order : {"shuffled", "stored", "blocks"}, default="shuffled"
        Order of the rows: reshuffled each epoch, as stored, or in shuffled blocks.
    calibrate : bool, default=False
        Whether to provide `predict_proba` by Platt's sigmoid, fitted on the scores of five-fold
        cross-validation; `fit` then trains six times. The sigmoid keeps the order of the scores.
    random_state : int, RandomState instance or None, default=None
        Seed of the order, of the method and of the feature map. An int gives the same model each time, like
        `seed` of a run.

    Attributes
    ----------
    classes_ : (2,) array
        The two classes, sorted; the second is the positive one.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : (n_features_in_,) array
        Names of the features, if X is a data frame with text column names only.
    coef_ : (1, n_features_in_) array
        Weights of a linear method for the raw features. Not available with a feature map, or with a scaling
        by the norm of each row (``"unit"``, ``"centred_unit"``, ``"maxabs_unit"``).
    intercept_ : (1,) array
        Constant added to the weighted sum, so that a positive sum means the second class. Available together
        with `coef_`.
    n_iter_ : int
        Number of iterations; the examples per iteration depend on the method.

    See Also
    --------
    aucbench.run : A run with curves, costs and tracking.

    Notes
    -----
    `predict` uses the score threshold with the best balanced accuracy (the mean recall of both classes) on
    the training rows. The threshold is subtracted from the scores, so `decision_function` is positive if
    `predict` returns the second class; the AUC stays the same. With ``calibrate=True`` the threshold is the
    same, so `predict` may contradict a probability above one half, especially on imbalanced data
    (scikit-learn's ``check_classifiers_train`` requires this threshold).

    A row with `sample_weight` k counts as k rows, a row of weight 0 is dropped, and the weight of a pair is
    the product of both weights. Methods that declare ``weighted = True`` accept weights (``aucbench list``
    marks these methods); for other methods whole weights become copies of the rows, and fractional weights
    are refused. Means and deviations of the scaling, `rescale` and the threshold of `predict` are weighted; a
    feature map is fitted to all rows of positive weight alike. There is no `class_weight`: every pair has a
    row of each class, so class weights multiply the loss by a constant.

    `partial_fit` is available for methods of access ``stream`` that declare ``resumable = True``, such as
    ``"solam"``: their training can go on with other rows. It is not available for methods that draw pairs
    or minibatches, need all rows (the default, ``"auto"``), or remember rows by number; the error gives the
    reason. The first call fixes all settings, and its rows alone determine scaling, feature map, row factor,
    largest row norm and number of rows per class. Therefore start with a large call of both classes; a small
    call warns. Each call takes its rows once, whatever `epochs`. A method that plans its stages (``"fsauc"``)
    needs `iterations`, the number of rows of all calls together, and refuses more rows; its `fit` uses up the
    plan. The threshold is the best threshold for the latest 1,000 rows of each class. After `fit`,
    `partial_fit` goes on from the fitted model; `fit` always begins anew.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> from aucbench.sklearn import AUCClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AUCClassifier("solam", {"radius": 10.0}, random_state=0)
    >>> bool(cross_val_score(model, X, y, scoring="roc_auc").mean() > 0.97)
    True
    >>> search = GridSearchCV(model, {"algo__radius": [0.1, 10.0]}, scoring="roc_auc").fit(X, y)
    >>> search.best_params_
    {'algo__radius': 10.0}
    >>> search.best_estimator_.coef_.shape
    (1, 30)
    """

    classes_: NDArray[Any]
    _fitted: Fitted
    _calibrator: Any  # None without calibrate=True

    def __init__(
        self,
        algo: Any = "auto",
        algo_params: dict[str, Any] | None = None,
        *,
        loss: Any = None,
        loss_params: dict[str, Any] | None = None,
        features: Any = "identity",
        features_params: dict[str, Any] | None = None,
        scaling: str | None = "auto",
        rescale: bool = True,
        epochs: float | None = None,
        iterations: int | None = None,
        order: str = "shuffled",
        calibrate: bool = False,
        random_state: Any = None,
    ):
        self.algo = algo
        self.algo_params = algo_params
        self.loss = loss
        self.loss_params = loss_params
        self.features = features
        self.features_params = features_params
        self.scaling = scaling
        self.rescale = rescale
        self.epochs = epochs
        self.iterations = iterations
        self.order = order
        self.calibrate = calibrate
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Train, and return the classifier itself.

        Parameters
        ----------
        X : (n_samples, n_features) array, data frame or sparse matrix
            Training rows.
        y : (n_samples,) array
            Labels of two classes.
        sample_weight : (n_samples,) array, default=None
            Row weights >= 0; whole numbers for a method that is not `weighted`.
        groups : (n_samples,) array, default=None
            The group of each row, such as its patient; numbers or texts. Rows of a group are on one side of
            the cross-validation for calibration, and of the validation rows that a method holds out.

        Raises
        ------
        ValueError
            A setting or the data cannot be used, or the training diverged.
        """
        X, y = validate_data(self, X, y, **ROWS)
        check_classification_targets(y)
        numbers = None if groups is None else group_numbers(groups, y)
        X, y, numbers, weights = weighted_rows(X, y, sample_weight, self._algorithm(), numbers)
        classes, parts, seed = two_classes(y), self._ingredients(), self._seed()
        signs, sigmoid = signs_of(y, classes), None
        if self.calibrate:
            estimator = clone(self).set_params(calibrate=False, random_state=seed)
            sigmoid = calibrator(estimator, X, signs, seed, sample_weight=weights, groups=numbers)
            fitted = sigmoid.calibrated_classifiers_[0].estimator._fitted
        else:
            fitted = Fitted(parts, X).fit(X, signs, seed, self._budget().epochs, weights, numbers)
        self._fitted, self._calibrator, self.classes_ = fitted, sigmoid, classes
        return self

    def _can_go_on(self) -> bool:
        text = why_not_on(self._algorithm(), self.iterations, *PARTIAL_FIT)
        if self.calibrate:
            text = "calibrate=True needs all rows at once for its cross-validation, not partial_fit: use fit."
        if text is not None:
            raise AttributeError(text)
        return True

    @available_if(_can_go_on)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on training with other rows, once each; the notes list the settings that the first call fixes.

        Parameters
        ----------
        X, y : arrays
            As for `fit`, which has the same result.
        classes : (2,) array, default=None
            Both classes; required in the first call unless `y` has both.

        Raises
        ------
        ValueError
            As for `fit`, or a setting or the data differ from the first call.
        """
        first = not self.__sklearn_is_fitted__()
        X, y = validate_data(self, X, y, reset=first, **ROWS)
        check_classification_targets(y)
        labels = two_classes(y if classes is None else np.asarray(classes)) if first else self.classes_
        if classes is not None and not np.array_equal(np.unique(classes), labels):
            raise DataError(f"The classes of the first call were {shown(labels)}, got {classes!r}.")
        parts, signs = self._ingredients(), signs_of(y, labels)
        if first:
            self._fitted = Fitted(parts, X).begin(X, signs, self._seed())
        else:
            self._fitted.go_on(parts, X, signs)
        self._calibrator, self.classes_ = None, labels
        return self

    def forget_rows(self) -> Self:
        """Drop the training rows that `partial_fit` keeps, before the model is shared.

        The model keeps up to 1,000 rows of each class for the threshold of `predict`, and methods may keep
        rows for further training. Scores and classes stay the same; `partial_fit` is refused from then on. A
        kernel method's landmarks, and a method without weights that stores rows as its model, are part of the
        model and stay. Returns the classifier itself.
        """
        check_is_fitted(self)
        self._fitted.forget_rows()
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores (n_samples,) of rows X as for `fit`; positive if `predict` returns the second class."""
        check_is_fitted(self)
        return self._fitted.scores(validate_data(self, X, reset=False, **ROWS))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class (n_samples,) of each row of X, as for `fit`, by the threshold described in the notes."""
        positive = self.decision_function(X) > 0.0
        return self.classes_[positive.astype(np.intp)]

    def _is_calibrated(self) -> bool:
        if not self.calibrate:
            raise AttributeError("Probabilities need calibrate=True before fit.")
        return True

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Calibrated probabilities (n_samples, 2) of `classes_`, available only with ``calibrate=True``."""
        check_is_fitted(self)
        if self._calibrator is None:
            raise ParameterError("There are no probabilities: call fit after setting calibrate=True.")
        return self._calibrator.predict_proba(validate_data(self, X, reset=False, **ROWS))

    @available_if(_is_calibrated)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """(1, n_features_in_) weights for the raw features."""
        check_is_fitted(self)
        return self._fitted.affine()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """(1,) constant added to the weighted sum."""
        check_is_fitted(self)
        return self._fitted.affine()[1]

    @property
    def n_iter_(self) -> int:
        """Number of iterations so far."""
        check_is_fitted(self)
        return self._fitted.iterations

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def _ingredients(self) -> Ingredients:
        for name in ("rescale", "calibrate"):
            if not isinstance(value := getattr(self, name), bool | np.bool_):
                raise ParameterError(f"{name} must be True or False, got {value!r}.")
        plugins = self._algorithm(), self._loss(), self._map()
        scaling = "none" if self.scaling is None else self.scaling
        return Ingredients(*plugins, scaling, self.rescale, self.order, self._budget().iterations)

    def _budget(self) -> Any:
        """The validated budget; `iterations` overrides `epochs`."""
        from aucbench.studies.default_settings import Budget

        return Budget(None if self.iterations is not None else self.epochs, self.iterations)

    def _seed(self) -> int:
        state = self.random_state
        if isinstance(state, int | np.integer) and state >= 0:
            return int(state)
        return int(check_random_state(state).randint(np.iinfo(np.int32).max))
