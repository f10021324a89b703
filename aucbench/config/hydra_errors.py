"""Translation of Hydra's and OmegaConf's errors into one sentence: found value, expected value, advice."""

import contextlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, get_args

from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
    ValidationError,
)

from aucbench.config.structured_configs import GROUPS, TOP_LEVEL
from aucbench.errors import AucbenchError, ParameterError
from aucbench.suggestions import suggest

MOST_KIN = 4  # plugins whose summary has a word that is not a name


@contextlib.contextmanager
def as_sentences() -> Iterator[None]:
    """Turn errors of Hydra and OmegaConf in the block into a `ParameterError` of one sentence."""
    try:
        yield
    except AucbenchError:
        raise
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None:
            raise
        raise ParameterError(sentence) from error


def _sentence(error: BaseException) -> str | None:
    """The sentence for an error of Hydra or OmegaConf; None for any other error."""
    if isinstance(error, RecursionError):
        return "A configuration includes itself by its defaults; leave it out there."
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        return _unknown_choice(error)
    if isinstance(error, OverrideParseException):
        detail = _first_line(error)
        detail = "" if "Exception" in detail else f" ({detail})"  # internal names do not help users
        name, sign, value = str(error.override).partition("=")
        quotes = f"; signs in a value need quotes, as in \"{name}='{value}'\"" if sign and value else ""
        return f"The override '{error.override}' cannot be read; expected NAME=VALUE{detail}{quotes}."
    cause = error.__cause__ if isinstance(error, HydraException) and error.__cause__ else error
    if isinstance(cause, OmegaConfBaseException):
        return _field(cause)
    if not isinstance(error, HydraException):
        return None
    text = " ".join(str(error).split())
    if text.startswith("In 'ruleset/"):
        name = text.split("'")[1].partition("/")[2]
        return f"ruleset={name} does not go with the tuning that is chosen beside it: leave one of them out."
    if text.startswith(("Could not override", "Could not append")):
        key = text.split("'")[1] if text.count("'") >= 2 else text
        return _unknown_setting(key.split("=")[0].lstrip("+~"))
    return text if text.endswith(".") else f"{text}."


def _unknown_choice(error: MissingConfigException) -> str:
    # A name may have slashes, as a path does; groups are known.
    group, _, name = str(error.missing_cfg_file).partition("/")
    if group not in GROUPS:
        group, _, name = str(error.missing_cfg_file).rpartition("/")
    options = error.options or (ConfigStore.instance().list(group) if group else [])
    known = sorted(option.removesuffix(".yaml") for option in options)
    what = GROUPS[group].singular if group in GROUPS else group
    advice = suggest(name, known)
    if group in GROUPS and advice.startswith("Known"):  # no name is like it: look into what the plugins are
        about = [each for each in known if name.lower() in _summary(group, each).lower()]
        kin = [
            each for each in GROUPS if each != group and f"{name}.yaml" in ConfigStore.instance().list(each)
        ]
        found = [*about[:MOST_KIN], *(f"{each}={name}" for each in kin)]
        advice = f"Did you mean {' or '.join(found)}?" if found else advice
    return f"Unknown {what or 'config'} '{name}'. {advice}"


def _summary(group: str, name: str) -> str:
    """First line of the docstring of a plugin."""
    kind = OmegaConf.get_type(ConfigStore.instance().load(f"{group}/{name}.yaml").node)
    return (getattr(getattr(kind, "source", None), "__doc__", None) or "").strip().partition("\n")[0]


def _field(error: OmegaConfBaseException) -> str:
    full_key = str(error.full_key or error.key or "")
    section, _, key = full_key.rpartition(".")
    kind: Any = error.object_type
    if isinstance(error, ConfigAttributeError | ConfigKeyError):
        if not section:
            return _unknown_setting(key)
        if section == "loss" and kind is dict:
            return _field_of_unnamed_loss(key)
        known = [field.name for field in fields(kind)] if is_dataclass(kind) else []
        who = section if kind in (None, dict) else kind.__name__
        known = known or [str(name) for name in (error.parent_node or {})]
        return f"{full_key}: {who} has no field '{key}'. {suggest(key, known)}"
    if isinstance(error, MissingMandatoryValue):
        return f"{full_key} must be set: {full_key}=VALUE."
    expected = _expected(kind, key) if isinstance(error, ValidationError) else ""
    if "is not Optional" in _first_line(error):
        return f"{full_key}: {expected.strip(' ()') or 'expected a value'}, got null."
    return f"{full_key}: {_first_line(error)}{expected}.".removeprefix(": ")


def _field_of_unnamed_loss(key: str) -> str:
    """The sentence for a field of the default loss: only a loss chosen by name has fields to set."""
    store = ConfigStore.instance()
    names = sorted(name.removesuffix(".yaml") for name in store.list("loss"))
    having = [name for name in names if key in (store.load(f"loss/{name}.yaml").node or ())]
    if not having:
        return f"loss.{key}: no loss has a field '{key}'."
    return (
        f"loss.{key}: name the loss whose field this is, as in loss={having[0]} loss.{key}=VALUE; "
        f"losses with such a field: {', '.join(having)}."
    )


def _expected(kind: Any, key: str) -> str:
    hint = getattr(kind, "__annotations__", {}).get(key)
    plain = {float: "a number", int: "a whole number", str: "text", NoneType: "null"}
    words = [plain.get(each, "") for each in get_args(hint) or (hint,)]
    return f" (expected {' or '.join(words)})" if all(words) else ""


def _unknown_setting(key: str) -> str:
    return f"Unknown setting '{key}'. {suggest(key, TOP_LEVEL)}"


def _first_line(error: BaseException) -> str:
    message = getattr(error, "msg", None) or str(error)
    return str(message).strip().split("\n")[0].rstrip(".")
