"""From the names and mappings that an estimator holds to instances of plugins, and their nested names."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from aucbench.api import catalog
from aucbench.errors import AucbenchError, ParameterError, PluginError
from aucbench.registry import Family, suggest

FAMILIES = {"algo": Family.algorithms, "loss": Family.losses, "features": Family.features}


def built(group: str, choice: Any, parameters: Any) -> Any:
    """An instance of a plugin with the given parameters.

    Parameters
    ----------
    group : str
        ``algo``, ``loss`` or ``features``.
    choice : str or object
        The name of a registered plugin, or an instance, registered or not, some of whose parameters change.
    parameters : mapping or None
        Field name to value; the plugin's own defaults stand for the rest.

    Raises
    ------
    ParameterError
        There is no such plugin or field, or a value is out of range.
    """
    parameters = _mapping(group, parameters)
    cls = _class(group, choice)
    for name in parameters:
        _check_field(group, cls, name)
    return cls(**parameters) if isinstance(choice, str) else replace(choice, **parameters)


def built_loss(algorithm: Any, choice: Any, parameters: Any) -> Any:
    """The loss that a method trains with; None for a method that takes none.

    Raises
    ------
    ParameterError
        As `built`; also when the method does not accept the loss.
    """
    from aucbench.registry import accepted_loss  # imports what composes runs

    if choice is not None and not isinstance(choice, str):
        loss = built("loss", choice, parameters)
        accepted_loss(catalog(), algorithm, loss.name)
        return loss
    name = accepted_loss(catalog(), algorithm, choice)
    if name is not None:
        return built("loss", name, parameters)
    if _mapping("loss", parameters):
        raise ParameterError(f"{algorithm.name} takes no loss, got loss_params={parameters!r}.")
    return None


def nested(group: str, instance: Any) -> dict[str, Any]:
    """The parameters of an instance under their nested names, such as ``algo__radius``."""
    return {f"{group}__{field.name}": getattr(instance, field.name) for field in fields(instance)}


def merged(group: str, choice: Any, parameters: Any, name: str, value: Any) -> dict[str, Any]:
    """`parameters` with one more, in a new mapping.

    Raises
    ------
    ParameterError
        The plugin has no such field; a choice that does not exist is refused when it is used.
    """
    try:
        cls = _class(group, choice)
    except AucbenchError:
        cls = None
    if cls is not None:
        _check_field(group, cls, name)
    return _mapping(group, parameters) | {name: value}


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
