"""From rows as users have them to rows as methods take them: scaling and feature map, fitted once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.data.preprocess import Rescaling, check_magnitude
from aucbench.data.scaler import Scaler, Scaling, fit_scaling, gather


class Representation:
    """A fitted scaling and a fitted feature map; made by `represented`.

    Parameters
    ----------
    scaler : Scaler
        The scaling.
    features : object
        What the feature map's `fit` gave.
    mapped : bool
        Whether the features of the method are others than the scaled ones.
    rescaling : Rescaling or None
        What is done to the features at the end.
    """

    def __init__(self, scaler: Scaler, features: Any, mapped: bool, rescaling: Rescaling | None):
        self._scaler, self._fitted, self._mapped, self._rescaling = scaler, features, mapped, rescaling

    def transform(self, X: Any) -> Any:
        """The rows as methods take them, in new arrays of the same type."""
        X = canonical(X)
        scaled = gather(X, None, self._scaler, X.dtype)
        Z = self._fitted.transform(scaled)
        if self._rescaling is None:
            return Z
        return self._rescaling.apply(Z, in_place=Z is scaled and scaled is not X)

    @property
    def why_not_affine(self) -> str | None:
        """What keeps a linear model from being linear in the raw features; None if nothing does."""
        if self._mapped:
            return "the model is linear in the mapped features only"
        if self._scaler.scaling in (Scaling.none, Scaling.maxabs, Scaling.minmax, Scaling.standard):
            return None
        return f"scaling={self._scaler.scaling} divides each row by its own norm"

    def raw(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Weights and offset that give the raw rows the scores w.x of those the method takes; if affine."""
        w, constant = (w.copy(), 0.0) if self._rescaling is None else self._rescaling.raw(w)
        scaling, offset, divisor = self._scaler.scaling, self._scaler.offset, self._scaler.divisor
        if scaling is Scaling.none:
            return w, constant
        if scaling is Scaling.maxabs:
            return w / divisor, constant
        varies = divisor > 0.0  # a constant column is 0 whatever its value
        coef = np.where(varies, w / np.where(varies, divisor, 1.0), 0.0)
        if scaling is Scaling.standard:
            return coef, constant - float(coef @ offset)
        return 2.0 * coef, constant - 2.0 * float(coef @ offset) - float(w[varies].sum())


def represented(scaling: str, features: Any, rescale: bool, X: Any, seed: int) -> tuple[Representation, Any]:
    """Fit scaling, feature map and rescaling to training rows, as in a run, and represent these.

    Parameters
    ----------
    scaling : str
        Name of a scaling.
    features : FeatureMap
        An instance.
    rescale : bool
        Whether rows are rescaled.
    X : (n, d) ndarray or scipy CSR
        Training rows; left as they are.
    seed : int
        Of the feature map's generator.

    Returns
    -------
    Representation, and the rows as methods take them

    Raises
    ------
    ParameterError, DataError
        An unknown scaling; values that it or the memory cannot hold.
    """
    X = canonical(X)
    scaler = fit_scaling(scaling, X)
    scaled = gather(X, None, scaler, X.dtype)
    if scaler.scaling is Scaling.none:  # every other scaling bounds the values
        check_magnitude(scaled)
    fitted = features.fit(scaled, generator(seed, RandomStream.features))
    Z = fitted.transform(scaled)
    mapped, rescaling = Z is not scaled, Rescaling.fit(Z) if rescale else None
    if rescaling is not None:
        Z = rescaling.apply(Z, in_place=not mapped and scaled is not X)
    return Representation(scaler, fitted, mapped, rescaling), Z


def canonical(X: Any) -> Any:
    """Sparse rows with ascending columns that do not repeat; a copy where they have not."""
    if sparse.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X
