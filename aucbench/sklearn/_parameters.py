"""Parameters of an estimator that name plugins, and the plugins' own as nested ones: ``algo__radius``."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self

from sklearn.base import BaseEstimator

from aucbench.contracts.validation import Family
from aucbench.errors import AucbenchError, ParameterError, PluginError
from aucbench.registry import accepted_loss, catalog
from aucbench.suggestions import suggest

FAMILIES = {"algo": Family.algorithms, "loss": Family.losses, "features": Family.features}


class PluginParameters(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """An estimator with the parameters algo, loss and features, and a mapping ``..._params`` for each."""

    algo: Any
    algo_params: dict[str, Any] | None
    loss: Any
    loss_params: dict[str, Any] | None
    features: Any
    features_params: dict[str, Any] | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of valid plugins."""
        found: dict[str, Any] = super().get_params(deep=deep)
        for group, build in (("algo", self._algorithm), ("loss", self._loss), ("features", self._map)):
            try:
                plugin = build() if deep else None
            except AucbenchError:  # it is refused by `fit`
                continue
            if plugin is not None:
                found |= {f"{group}__{field.name}": getattr(plugin, field.name) for field in fields(plugin)}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested one, such as ``algo__radius``, is put into a copy of `algo_params`.

        Method, loss and feature map are set before what is nested in them. Raises ValueError for an unknown
        parameter.
        """
        inner = [key for key in params if "__" in key and key.partition("__")[0] in FAMILIES]
        super().set_params(**{key: value for key, value in params.items() if key not in inner})
        for key in inner:
            group, _, name = key.partition("__")
            try:
                choice = getattr(self, group)
                if group == "loss" and choice is None:
                    choice = _built_loss(self._algorithm(), None, None)
                cls = _class(group, choice)
            except AucbenchError:  # it is refused by `fit`
                cls = None
            if cls is not None:
                _check_field(group, cls, name)
            given = _mapping(group, getattr(self, f"{group}_params"))
            setattr(self, f"{group}_params", given | {name: params[key]})
        return self

    def _algorithm(self) -> Any:
        return _built("algo", self.algo, self.algo_params)

    def _loss(self) -> Any:
        return _built_loss(self._algorithm(), self.loss, self.loss_params)

    def _map(self) -> Any:
        return _built("features", self.features, self.features_params)


def _built(group: str, choice: Any, parameters: Any) -> Any:
    """The plugin of that name, or the instance given, with these parameters."""
    parameters, cls = _mapping(group, parameters), _class(group, choice)
    for name in parameters:
        _check_field(group, cls, name)
    return cls(**parameters) if isinstance(choice, str) else replace(choice, **parameters)


def _built_loss(algorithm: Any, choice: Any, parameters: Any) -> Any:
    """The loss that a method trains with; None for a method that takes none."""
    if choice is not None and not isinstance(choice, str):
        loss = _built("loss", choice, parameters)
        accepted_loss(catalog(), algorithm, loss.name)
        return loss
    name = accepted_loss(catalog(), algorithm, choice)
    if name is not None:
        return _built("loss", name, parameters)
    if _mapping("loss", parameters):
        raise ParameterError(f"{algorithm.name} takes no loss, got loss_params={parameters!r}.")
    return None


def _class(group: str, choice: Any) -> Any:
    family = FAMILIES[group]
    if isinstance(choice, str):
        try:
            return catalog().find(family, choice).cls
        except PluginError as error:  # scikit-learn expects a ValueError
            raise ParameterError(str(error)) from None
    if isinstance(choice, type) or not is_dataclass(choice) or not hasattr(choice, "name"):
        raise ParameterError(
            f"{group} must be the name of a registered {family.singular}, or an instance of one, "
            f"got {choice!r}."
        )
    return type(choice)


def _check_field(group: str, cls: Any, name: str) -> None:
    known = [field.name for field in fields(cls) if field.init]
    if name not in known:
        raise ParameterError(f"{group}={cls.name} has no parameter '{name}'. {suggest(name, known)}")


def _mapping(group: str, parameters: Any) -> dict[str, Any]:
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ParameterError(f"{group}_params must be a mapping of names to values, got {parameters!r}.")
    for name in parameters or ():
        if not isinstance(name, str):
            raise ParameterError(f"{group}_params must map names to values, got the name {name!r}.")
    return {} if parameters is None else dict(parameters)
