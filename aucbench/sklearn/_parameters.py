"""Estimator parameters that name plugins, and nested plugin parameters such as ``algo__radius``."""

from dataclasses import fields
from functools import partial
from inspect import signature
from typing import Any, Self

from sklearn.base import BaseEstimator

from aucbench.errors import AucbenchError, ParameterError
from aucbench.studies.adapted_plugins import FAMILIES, built, built_loss, mapping

NO_CLASS_WEIGHT = (
    "There is no class_weight: every pair has one row of each class, so that weights of classes multiply the "
    "loss by a constant. Leave class_weight out; sample_weight of fit weights rows."
)


class PluginParameters(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Base estimator with the parameters algo, loss and features, and a mapping ``..._params`` for each."""

    algo: Any
    algo_params: dict[str, Any] | None
    loss: Any
    loss_params: dict[str, Any] | None
    features: Any
    features_params: dict[str, Any] | None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # The signature that `help` shows; otherwise it would be the signature of `__new__`.
        cls.__signature__ = signature(partial(cls.__init__, None))

    def __new__(cls, *_: Any, **params: Any) -> Self:
        """Refuse class weights with the reason; scikit-learn lets `__init__` have parameters only."""
        if "class_weight" in params:
            raise ParameterError(NO_CLASS_WEIGHT)
        return super().__new__(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also the parameters of valid plugins."""
        params: dict[str, Any] = super().get_params(deep=deep)
        for group, build in (("algo", self._algorithm), ("loss", self._loss), ("features", self._map)):
            try:
                plugin = build() if deep else None
            except AucbenchError:  # `fit` raises the error
                continue
            if plugin is not None:
                params |= {f"{group}__{field.name}": getattr(plugin, field.name) for field in fields(plugin)}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested parameter such as ``algo__radius`` goes into a copy of `algo_params`.

        An unknown parameter raises ValueError; an unknown nested parameter does so in `fit`.
        """
        nested = tuple(f"{group}__" for group in FAMILIES)
        inner = {key: key.split("__", 1) for key in params if key.startswith(nested)}
        super().set_params(**{key: value for key, value in params.items() if key not in inner})
        for key, (group, name) in inner.items():
            before = mapping(group, getattr(self, f"{group}_params"))
            setattr(self, f"{group}_params", before | {name: params[key]})
        return self

    def _algorithm(self) -> Any:
        return built("algo", self.algo, self.algo_params)

    def _loss(self) -> Any:
        return built_loss(self._algorithm(), self.loss, self.loss_params)

    def _map(self) -> Any:
        return built("features", self.features, self.features_params)
