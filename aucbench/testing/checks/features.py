"""Checks of feature maps."""

import pickle
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import Family
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken
from aucbench.testing.problems import Toy
from aucbench.testing.trainee import require_equal, scale_of

COMPANIONS = 1e-9  # relative to the largest feature


class FeatureSubject(Subject):
    """A feature map."""

    family = Family.features

    def fit(self, X: Any, seed: int = 0) -> Any:
        """The fitted map."""
        fitted = self.plugin.fit(X, np.random.default_rng(seed))
        if not callable(getattr(fitted, "transform", None)):
            raise Broken(
                f"`fit` returned {fitted!r:.40}: end it with `return` and an object that has transform(X), "
                f"such as self.",
                place_of(type(self.plugin).fit),
            )
        return fitted


def _transformed(fitted: Any, X: Any) -> Any:
    """(n, d) features as a dense array."""
    Z = fitted.transform(X)
    return Z.toarray() if sparse.issparse(Z) else np.asarray(Z)


def mapped(features: FeatureSubject, toy: Toy) -> None:
    """Every row becomes a row of finite features, an ndarray in C order or CSR."""
    fitted = features.fit(toy.X)
    width = None
    for X in (toy.X, toy.X[:1]):
        Z = fitted.transform(X)
        if sparse.issparse(Z):
            fits = Z.format == "csr"
        else:
            fits = isinstance(Z, np.ndarray) and Z.ndim == 2 and Z.flags.c_contiguous
        if not fits or Z.shape[0] != X.shape[0] or Z.shape[1] != (width or Z.shape[1]):
            got = "None" if Z is None else f"{type(Z).__name__} of shape {getattr(Z, 'shape', None)}"
            csr = " These rows are CSR (scipy.sparse): NumPy's own functions cannot take them."
            raise Broken(
                f"`transform` of {X.shape[0]} rows must return a C-contiguous matrix or CSR of "
                f"{X.shape[0]} rows, got {got}.{csr if sparse.issparse(X) else ''}",
                place_of(getattr(type(fitted), "transform", type(fitted))),
            )
        width = Z.shape[1]
        if not np.isfinite(Z.data if sparse.issparse(Z) else Z).all():
            raise Broken("Some features are not finite.")


def dtype(features: FeatureSubject) -> None:
    """Features have the type of the rows, float64 or float32."""
    for layout in features.layouts:
        for wanted in (np.float64, np.float32):
            toy = features.problem(layout, wanted)
            found = features.fit(toy.X).transform(toy.X).dtype
            if found != wanted:
                raise Broken(f"Rows of {np.dtype(wanted)} become features of {found}.")


def same_seed(features: FeatureSubject, toy: Toy) -> None:
    """Two fits of one seed give the same bytes."""
    one, two = (_transformed(features.fit(toy.X), toy.X) for _ in range(2))
    require_equal(one, two, "Two fits of seed 0 differ (draw only from the generator `fit` gets)")


def companions(features: FeatureSubject, toy: Toy) -> None:
    """The features of a row do not depend on the rows transformed with it (to 1e-9 of the largest)."""
    fitted = features.fit(toy.X)
    together = _transformed(fitted, toy.X)
    few = range(min(10, len(toy.y)))
    alone = np.concatenate([_transformed(fitted, toy.X[i : i + 1]) for i in few])
    words = "Rows transformed one by one differ from all together"
    require_equal(alone, together[: len(alone)], words, COMPANIONS * scale_of(together))


def inputs_untouched(features: FeatureSubject, toy: Toy) -> None:
    """Fitting and transforming leave the rows as they are."""
    parts = [toy.X.data, toy.X.indices, toy.X.indptr] if sparse.issparse(toy.X) else [toy.X]
    before = [part.tobytes() for part in parts]
    fitted = features.fit(toy.X)
    if [part.tobytes() for part in parts] != before:
        raise Broken("`fit` changes the rows it is given; work on a copy.")
    fitted.transform(toy.X)
    if [part.tobytes() for part in parts] != before:
        raise Broken("`transform` changes the rows it is given; work on a copy.")


def transform_pure(features: FeatureSubject) -> None:
    """Transforming other rows, such as test rows, does not change the fitted map."""
    for layout in features.layouts:
        toy, other = features.problem(layout), features.problem(layout, seed=1)
        fitted = features.fit(toy.X)
        before = _transformed(fitted, toy.X).copy()
        fitted.transform(other.X)
        words = "After other rows were transformed the same rows map elsewhere"
        require_equal(_transformed(fitted, toy.X), before, words)


def pickling(features: FeatureSubject, toy: Toy) -> None:
    """A fitted map that is pickled maps as before."""
    fitted = features.fit(toy.X)
    again = pickle.loads(pickle.dumps(fitted))
    words = "After pickling it maps elsewhere"
    require_equal(_transformed(again, toy.X), _transformed(fitted, toy.X), words)
