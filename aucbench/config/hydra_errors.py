"""Translation of Hydra's and OmegaConf's errors into one sentence: found value, expected value, advice."""

import contextlib
from collections.abc import Iterator

from hydra.core.config_store import ConfigStore
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
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
        return (
            f"The override '{error.override}' cannot be read; expected NAME=VALUE, with quotes around a "
            "value that has signs, as in \"NAME='VALUE'\"."
        )
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
    file, store = str(error.missing_cfg_file), ConfigStore.instance()
    group = file.partition("/")[0]
    group = group if group in GROUPS else file.rpartition("/")[0]
    name = file.removeprefix(f"{group}/")
    known = sorted(
        each.removesuffix(".yaml") for each in error.options or (store.list(group) if group else ())
    )
    what = GROUPS[group].singular if group in GROUPS else group
    advice = suggest(name, known)
    if group in GROUPS and advice.startswith("Known"):  # no name is like it: look into what the plugins are
        installed = [each for each in known if f"{each}.yaml" in store.list(group)]
        about = [each for each in installed if name.lower() in _summary(f"{group}/{each}.yaml")]
        kin = [f"{each}={name}" for each in GROUPS if each != group and f"{name}.yaml" in store.list(each)]
        if found := [*about[:MOST_KIN], *kin]:
            advice = f"Did you mean {' or '.join(found)}?"
    return f"Unknown {what or 'config'} '{name}'. {advice}"


def _summary(config: str) -> str:
    """First line of the docstring of a plugin."""
    source = getattr(OmegaConf.get_type(ConfigStore.instance().load(config).node), "source", "")
    return (source.__doc__ or "").strip().partition("\n")[0].lower()


def _field(error: OmegaConfBaseException) -> str:
    full_key = str(error.full_key or error.key or "")
    section, _, key = full_key.rpartition(".")
    if isinstance(error, ConfigAttributeError | ConfigKeyError):
        if not section:
            return _unknown_setting(key)
        if section == "loss" and error.object_type is dict:
            return f"loss.{key}: name the loss whose field this is, as in loss=hinge loss.margin=VALUE."
        who = section if error.object_type in (None, dict) else error.object_type.__name__
        known = [str(name) for name in error.parent_node or {}]
        return f"{full_key}: {who} has no field '{key}'. {suggest(key, known)}"
    if isinstance(error, MissingMandatoryValue):
        return f"{full_key} must be set: {full_key}=VALUE."
    if "is not Optional" in str(error):
        return f"{full_key}: expected a value, got null."
    return f"{full_key}: {_first_line(error)}.".removeprefix(": ")


def _unknown_setting(key: str) -> str:
    return f"Unknown setting '{key}'. {suggest(key, TOP_LEVEL)}"


def _first_line(error: BaseException) -> str:
    message = getattr(error, "msg", None) or str(error)
    return str(message).strip().split("\n")[0].rstrip(".")
