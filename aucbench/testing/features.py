"""Checks of feature maps."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from aucbench.contracts.source_location import place_of
from aucbench.testing import problems, shrinking
from aucbench.testing.findings import Broken, instance_of
from aucbench.testing.patience import Patience
from aucbench.testing.problems import STANDARD, Size, Toy
from aucbench.testing.training import first_difference, scale_of

COMPANIONS = 1e-9  # relative to the largest feature


class FeatureSubject:
    """A feature map and the size of the problems it is tried on."""

    def __init__(self, plugin: Any, size: Size = STANDARD, patience: Patience | None = None):
        self.plugin = instance_of(plugin)
        self.patience = patience or Patience()
        self.size = size._replace(epochs=1)
        self.begin()

    def begin(self) -> None:
        """Forget the last input."""
        self.where = self.shown = ""

    def smaller(self) -> Iterator["FeatureSubject"]:
        """The same map on smaller problems; none where there was no problem yet."""
        sizes = shrinking.smaller_sizes(self.size) if self.where else ()
        return (FeatureSubject(self.plugin, size, self.patience) for size in sizes)

    def line(self, check: str) -> str:
        """Python that tries a check on the same input."""
        return shrinking.line_for(check, self.plugin, self.size if self.where else None)

    @property
    def layouts(self) -> tuple[str, ...]:
        """The kinds of rows it takes."""
        reasons = getattr(self.plugin, "requires", {})
        if "dense" in reasons and not str(reasons["dense"]).strip():
            raise Broken("`requires` names 'dense' without a reason.")
        return ("dense",) if "dense" in reasons else ("dense", "csr", "wide")

    def problem(self, layout: str = "dense", dtype: Any = np.float64, seed: int = 0) -> Toy:
        """A small problem, remembered in `where`."""
        toy = problems.small(self.size, layout, dtype, seed)
        self.where, self.shown = toy.words, shrinking.shown(toy)
        return toy

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


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _difference(left: Any, right: Any, allowed: float = 0.0) -> str | None:
    left, right = _dense(left), _dense(right)
    if left.shape != right.shape:
        return f"shape {left.shape} against {right.shape}"
    return first_difference(left.ravel(), right.ravel(), allowed)


def mapped(features: FeatureSubject) -> None:
    """Every row becomes a row of finite features, an ndarray in C order or CSR."""
    for layout in features.layouts:
        toy = features.problem(layout)
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


def same_seed(features: FeatureSubject) -> None:
    """Two fits of one seed give the same bytes."""
    for layout in features.layouts:
        toy = features.problem(layout)
        one, two = features.fit(toy.X).transform(toy.X), features.fit(toy.X).transform(toy.X)
        difference = _difference(one, two)
        if difference:
            raise Broken(
                f"Two fits of seed 0 differ (draw only from the generator `fit` gets): {difference}."
            )


def companions(features: FeatureSubject) -> None:
    """The features of a row do not depend on the rows transformed with it (to 1e-9 of the largest)."""
    for layout in features.layouts:
        toy = features.problem(layout)
        fitted = features.fit(toy.X)
        together = _dense(fitted.transform(toy.X))
        few = range(min(10, len(toy.y)))
        alone = np.concatenate([_dense(fitted.transform(toy.X[i : i + 1])) for i in few])
        difference = _difference(alone, together[: len(alone)], COMPANIONS * scale_of(together))
        if difference:
            raise Broken(f"Rows transformed one by one differ from all together: {difference}.")


def inputs_untouched(features: FeatureSubject) -> None:
    """Fitting and transforming leave the rows as they are."""
    for layout in features.layouts:
        toy = features.problem(layout)
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
        before = _dense(fitted.transform(toy.X)).copy()
        fitted.transform(other.X)
        difference = _difference(fitted.transform(toy.X), before)
        if difference:
            raise Broken(f"After other rows were transformed the same rows map elsewhere: {difference}.")


def pickling(features: FeatureSubject) -> None:
    """A fitted map that is pickled maps as before."""
    for layout in features.layouts:
        toy = features.problem(layout)
        fitted = features.fit(toy.X)
        again = pickle.loads(pickle.dumps(fitted))
        difference = _difference(again.transform(toy.X), fitted.transform(toy.X))
        if difference:
            raise Broken(f"After pickling it maps elsewhere: {difference}.")
