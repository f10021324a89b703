"""Checks of feature maps."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import Family
from aucbench.testing.examine import Subject
from aucbench.testing.findings import Broken
from aucbench.testing.problems import Toy
from aucbench.testing.trainee import require_close


class FeatureSubject(Subject):
    """A feature map; fitting takes the place of training, features that of scores."""

    family = Family.features
    companions = 1e-9, 1e-9

    def rows(self, toy: Toy) -> NDArray[np.int64]:
        """No row numbers, because a map is fitted to all rows."""
        return np.zeros(0, np.int64)

    def final(self, fitted: Any) -> Any:
        """The fitted map itself."""
        return fitted

    def train(self, toy: Toy) -> Any:
        """The fitted map."""
        fitted = self.plugin.fit(toy.X, np.random.default_rng(0))
        if not callable(getattr(fitted, "transform", None)):
            advice = "end it with `return` and an object that has transform(X), such as self."
            raise self.broken("fit", f"returned {fitted!r:.40}: {advice}")
        return fitted

    def score(self, fitted: Any, X: Any) -> NDArray[Any]:
        """(n, d) features as a dense array."""
        Z = fitted.transform(X)
        return Z.toarray() if sparse.issparse(Z) else np.asarray(Z)

    read = score

    def uses(self, toy: Toy, rows: NDArray[np.int64]) -> Iterator[str]:
        """Fit and transform; yields the function that was called."""
        fitted = self.train(toy)
        yield "fit"
        self.score(fitted, toy.X)
        yield "transform"


def mapped(features: FeatureSubject, toy: Toy) -> None:
    """Every row becomes a row of finite features, in a C-ordered ndarray or in CSR."""
    fitted, width = features.train(toy), 0
    for X in (toy.X, toy.X[:1]):
        Z, n = fitted.transform(X), X.shape[0]
        is_csr = sparse.issparse(Z) and Z.format == "csr"
        fits = is_csr or (isinstance(Z, np.ndarray) and Z.ndim == 2 and Z.flags.c_contiguous)
        if not fits or Z.shape != (n, width or Z.shape[1]):
            kind = "None" if Z is None else f"{type(Z).__name__} of shape {getattr(Z, 'shape', None)}"
            csr = " These rows are CSR (scipy.sparse): NumPy's own functions cannot take them."
            raise Broken(
                f"`transform` of {n} rows must return a C-contiguous matrix or CSR of {n} rows, got {kind}."
                f"{csr if sparse.issparse(X) else ''}",
                place_of(type(fitted).transform),
            )
        width = Z.shape[1]
        if not np.isfinite(Z.data if is_csr else Z).all():
            raise Broken("Some features are not finite.")


def dtype(features: FeatureSubject) -> None:
    """Features have the type of the rows, float64 or float32."""
    for layout in features.layouts:
        for expected in (np.float64, np.float32):
            actual = features.outcome(features.problem(layout, expected)).dtype
            if actual != expected:
                raise Broken(f"Rows of {np.dtype(expected)} become features of {actual}.")


def pickling(features: FeatureSubject, toy: Toy) -> None:
    """Pickling a fitted map does not change its features."""
    fitted = features.train(toy)
    output = features.score(pickle.loads(pickle.dumps(fitted)), toy.X)
    require_close(output, features.score(fitted, toy.X), "After pickling it maps elsewhere")
