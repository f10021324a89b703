"""Plugins for the adapters to other libraries, built from a name or an instance with hyperparameters."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from aucbench.contracts import Access, MethodFacts, check_fields
from aucbench.contracts.validation import Family, reason_against
from aucbench.errors import ParameterError, PluginError
from aucbench.registry import accepted_loss, catalog
from aucbench.runner.task import validation_share
from aucbench.suggestions import suggest

FAMILIES = {"algo": Family.algorithms, "loss": Family.losses, "features": Family.features}
ALL_ROWS = {
    Access.pairs: "draws its pairs from all rows",
    Access.minibatch: "draws its minibatches from all rows",
    Access.balanced: "draws its batches from all rows",
    Access.full: "takes all rows in every iteration",
}


def built(group: str, choice: Any, parameters: Any) -> Any:
    """Build the named plugin, or copy the instance, with these parameters."""
    parameters, cls = mapping(group, parameters), plugin_class(group, choice)
    names = [field.name for field in fields(cls) if field.init]
    for name in parameters:
        if name not in names:
            raise ParameterError(f"{group}={cls.name} has no parameter '{name}'. {suggest(name, names)}")
    return cls(**parameters) if isinstance(choice, str) else replace(choice, **parameters)


def built_loss(algorithm: Any, choice: Any, parameters: Any) -> Any:
    """Build the loss of a method; None if the method takes no loss."""
    name = choice if choice is None or isinstance(choice, str) else plugin_class("loss", choice).name
    name = accepted_loss(catalog(), algorithm, name)
    if name is None and mapping("loss", parameters):
        raise ParameterError(f"{algorithm.name} takes no loss, got loss_params={parameters!r}.")
    return None if name is None else built("loss", name if choice is None else choice, parameters)


def plugin_class(group: str, choice: Any) -> Any:
    """The class of the named plugin, or of the instance."""
    family = FAMILIES[group]
    if isinstance(choice, str):
        try:
            return catalog().find(family, choice).imported
        except PluginError as error:  # scikit-learn expects a ValueError
            raise ParameterError(str(error)) from None
    if isinstance(choice, type) or not is_dataclass(choice) or not hasattr(choice, "name"):
        raise ParameterError(
            f"{group} must be the name of a registered {family.singular}, or an instance of one, "
            f"got {choice!r}."
        )
    return type(accepted(family, choice))


def accepted(family: Family, plugin: Any) -> Any:
    """Return a plugin instance; raise ParameterError if its class or a field is invalid."""
    if is_dataclass(plugin):
        if (reason := reason_against(family, type(plugin))) is not None:
            raise ParameterError(f"{reason}.")
        check_fields(plugin)
    return plugin


def mapping(group: str, parameters: Any) -> dict[str, Any]:
    """A copy of a plugin's parameters; empty for None."""
    values = {} if parameters is None else parameters
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise ParameterError(f"{group}_params must be a mapping of names to values, got {parameters!r}.")
    return dict(values)


def why_not_on(algorithm: Any, planned: int | None, call: str, instead: str = "") -> str | None:
    """The reason why a method cannot continue training on other rows; None if it can.

    `call` names the function that passes these rows, `instead` an alternative to it.
    """
    name, access = algorithm.name, Access(algorithm.access)
    if access is not Access.stream:
        return f"{name} {ALL_ROWS[access]}, which {call} never sees: use {instead}a method of access stream."
    if not MethodFacts(algorithm).resumable:
        return (
            f"{name} does not declare `resumable = True`, so that its state may belong to the rows it has "
            f"seen: use {instead}another method."
        )
    if validation_share(algorithm):
        return f"{name} holds out validation rows, which {call} cannot: set its validation to 0."
    if MethodFacts(algorithm).plans and planned is None:
        return (
            f"{name} must know the number of iterations beforehand: "
            f"set iterations to the number of rows of all calls of {call}."
        )
    return None


def check_plan(algorithm: Any, planned: int, done: int, rows: int, whole: str) -> None:
    """Refuse more rows than a method planned; `whole` describes the rows that the plan counts."""
    if done + rows > planned:
        raise ParameterError(
            f"{algorithm.name} planned {planned} iterations, has done {done} and got {rows} more rows: "
            f"set iterations to the number of rows {whole}."
        )


def divergence(algorithm: Any, where: str, prefix: str = "") -> str:
    """Message for a model that is not finite; `prefix` begins the names of hyperparameters."""
    step = MethodFacts(algorithm).step_size
    advice = f"lower {prefix}{step}, now {getattr(algorithm, step)}" if step else "set other hyperparameters"
    return f"{algorithm.name} diverged {where}: its weights are NaN or infinite; {advice}"
