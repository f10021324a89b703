"""The help of ``aucbench run``: flags, choices of groups, and fields with their values and meanings."""

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from aucbench.config.compose import compose, session
from aucbench.config.overrides import Request, flag_parser
from aucbench.registry import Catalog
from aucbench.studies.default_settings import Running, Settings

MOST_CHOICES = 80  # of a group that are listed
LONGEST_VALUE = 24  # characters of a value that leave room for the meaning beside it


def run_help(catalog: Catalog, request: Request) -> str:
    """Every flag, group, choice and field of a run, with the values after the overrides."""
    with session(catalog, request):
        cfg = compose(request.overrides, request.config_name)
        loader = GlobalHydra.instance().config_loader()
        groups = sorted({*loader.list_groups(""), "hydra/launcher"} - {"hydra"})
        choices = [f"{group}: {_choices(group, sorted(loader.get_group_options(group)))}" for group in groups]
    width = min(max(shutil.get_terminal_size().columns, 60), 120)
    wrapped = [textwrap.fill(each, width, subsequent_indent="  ", break_on_hyphens=False) for each in choices]
    return (
        f"{flag_parser().format_help()}\n"
        "Groups and their choices, GROUP=NAME (+experiment=NAME, +suite=NAME):\n\n"
        + "\n".join(wrapped)
        + "\n\nFields, their values and meanings (NAME=VALUE or GROUP.FIELD=VALUE);\n"
        "those of other choices: aucbench run --help algo=solam tuning=random.\n"
        + "\n".join(_fields(cfg, width))
        + "\n"
    )


def _choices(group: str, names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_CHOICES else f"{len(names)} choices: aucbench list {group}s"


def _fields(cfg: DictConfig, width: int) -> Iterator[str]:
    parts = {str(name): node for name, node in cfg.items() if isinstance(node, DictConfig)}
    top = {str(name): node for name, node in cfg.items() if str(name) not in parts}
    yield from field_lines("", top, (Settings, Running), width)
    for name, node in parts.items():
        cls = OmegaConf.get_type(node)
        source: Any = getattr(cls, "source", None)
        title = getattr(source, "name", name)
        if node:
            yield f"\n{name}{f'={title}' if title != name else ''}"
            yield from field_lines(f"{name}.", dict(node.items()), (source,) if source else (), width)


def field_lines(prefix: str, values: Mapping[Any, Any], classes: Sequence[type], width: int) -> Iterator[str]:
    """A line for each field of some classes: its name, its value, and its meaning, wrapped beside them."""
    meaning = {name: text for cls in classes for name, text in meanings(cls).items()}
    shown = {f"{prefix}{name}={_value(value)}": meaning.get(str(name), "") for name, value in values.items()}
    room = min(max(map(len, shown), default=0), width // 2)
    for name, text in shown.items():
        lines = textwrap.wrap(text, width - room - 4, break_on_hyphens=False) or [""]
        if len(name) > room:
            yield f"  {name}"
            name = ""
        for line in lines:
            yield f"  {name:<{room}}  {line}".rstrip()
            name = ""


def _value(value: Any) -> str:
    if value is MISSING:
        return "?"
    if OmegaConf.is_config(value):
        value = OmegaConf.to_container(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = str(getattr(value, "value", value)).replace("'", "")
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def meanings(cls: type) -> dict[str, str]:
    """The first sentence of the description of each parameter in a docstring of numpydoc's form."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(base.__doc__ or "")
        _, _, rest = text.partition("Parameters\n----------\n")
        section = re.split(r"^\S.*\n---", rest, maxsplit=1, flags=re.MULTILINE)[0]
        for names, body in re.findall(
            r"^(\S[^:\n]*?) :[^\n]*\n((?:(?:[ ]+[^\n]*)?(?:\n|$))+)", section, re.MULTILINE
        ):
            sentence = re.split(r"(?<=[.;])\s", " ".join(body.split()).replace("``", ""), maxsplit=1)[0]
            if sentence and not sentence.startswith("As for"):  # its base says it
                found |= dict.fromkeys(names.split(", "), sentence.rstrip(".;"))
    return found
