"""``aucbench new``: a package that holds one working plugin, to be changed."""

import keyword
import re
import tomllib
from dataclasses import dataclass
from importlib.metadata import distributions
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import NamedTuple

import click

from aucbench import api
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError, PluginError
from aucbench.registry import Catalog
from aucbench.suggestions import suggest

SUFFIX = ".template"  # so that no tool takes what is not rendered for Python
PATTERN = re.compile(r"(?!.$)[a-z][a-z0-9]*(_[a-z0-9]+)*")
# What the templates import or define; a class of that name would hide it.
TAKEN_CLASSES = {
    "Access", "Any", "Batch", "Callable", "Check", "Claims", "Count", "Fitted", "Index", "Interval",
    "Mapping", "ModelClass", "Positive", "Problem", "Samples", "State",
}  # fmt: skip
# Hydra reads these as values, and the generated tests need their module.
VALUES = frozenset({"null", "true", "false", "nan", "inf", "pytest"})


@click.command("new")
@click.argument("kind")
@click.argument("name")
@click.option(
    "--model", type=click.Choice(("linear", "jax")), default="linear", show_default=True,
    help="Model of an algorithm: a weight vector, or a neural network in JAX.",
)  # fmt: skip
@click.option("--into", default=".", show_default="this folder", help="Folder in which the package is made.")
def new(kind: str, name: str, model: str, into: str) -> None:
    """Write an installable package with a working KIND of plugin called NAME.

    KIND is algorithm, dataset, loss or features. The lines to be changed are marked in its module; its tests
    are the rules that every plugin obeys.
    """
    if kind not in KINDS:
        raise ParameterError(f"Unknown kind '{kind}'. {suggest(kind, list(KINDS))}")
    if model != "linear" and kind != "algorithm":
        raise ParameterError(
            f"--model {model} is for algorithms; a {KINDS[kind].family.singular} has no model."
        )
    template = kind if model == "linear" else f"{kind}_{model}"
    details = TEMPLATES[template]
    names = check_name(name, api.catalog())
    folder = write(template, names, Path(into))
    print(f"{'wrote':>10}  {folder}")
    print(f"{'change':>10}  {folder / name}.py: {details.change}")
    print(f"{'next':>10}  cd {folder} && pip install -e '.[test]' && pytest")
    print(f"{'':>10}  aucbench check {name}")
    print(f"{'':>10}  {details.use.replace('$name', name)}")


class Kind(NamedTuple):
    """A kind of plugin that can be made, and its names in the package."""

    family: Family
    use: str  # a command that uses it
    change: str  # what its author replaces
    requires: str = ""  # of its package beside aucbench, as TOML


_DECLARED = tomllib.loads((files("aucbench.cli") / "templates" / "kinds.toml").read_text("utf-8"))
TEMPLATES = {name: Kind(**own | {"family": Family(own["family"])}) for name, own in _DECLARED.items()}
KINDS = {name: kind for name, kind in TEMPLATES.items() if "_" not in name}


@dataclass(frozen=True)
class Names:
    """A plugin's name and those that follow from it."""

    name: str  # of the plugin and of its module, ``my_method``

    @property
    def distribution(self) -> str:
        """Of the package and its folder, ``my-method``."""
        return self.name.replace("_", "-")

    @property
    def cls(self) -> str:
        """Of the class, ``MyMethod``."""
        words = "".join(word.capitalize() for word in self.name.split("_"))
        return f"{words}Plugin" if words in TAKEN_CLASSES or keyword.iskeyword(words) else words


def check_name(name: str, catalog: Catalog) -> Names:
    """The names of a new plugin; refuses those that cannot be, that are taken, or that hide a module."""
    if not PATTERN.fullmatch(name):
        raise ParameterError(
            f"'{name}' cannot name a plugin: expected an identifier of two or more small letters, digits "
            "and single underscores."
        )
    if keyword.iskeyword(name) or name in VALUES:
        raise ParameterError(f"'{name}' cannot name a plugin: Python or Hydra reads it otherwise.")
    for plugin in catalog:
        if plugin.name == name:
            raise PluginError(
                f"There is already a plugin '{name}': the {plugin.family.singular} of {plugin.distribution} "
                f"{plugin.version} ({plugin.source}); choose another name."
            )
    names = Names(name)
    if _is_importable(name):
        raise ParameterError(f"There is already a Python module '{name}', which a plugin would hide.")
    if any(distributions(name=names.distribution)):
        raise ParameterError(f"There is already an installed package '{names.distribution}'.")
    return names


def _is_importable(name: str) -> bool:
    """Whether there is a module of that name; a folder without code is none."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return True
    return spec is not None and spec.origin is not None


def render(template: str, names: Names) -> dict[str, str]:
    """The files of a package by their path in it."""
    kind = TEMPLATES[template]
    words = {
        "name": names.name, "cls": names.cls, "distribution": names.distribution,
        "noun": kind.family.singular, "change": kind.change, "requires": kind.requires,
        "use": kind.use.replace("$name", names.name),
    }  # fmt: skip
    sources = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        "AGENTS.md": "AGENTS.md",
        f"{names.name}.py": f"{template}.py",
        f"tests/test_{names.name}.py": f"test_{template}.py",
    }
    folder = files("aucbench.cli") / "templates"
    texts = {path: (folder / (source + SUFFIX)).read_text("utf-8") for path, source in sources.items()}
    return {path: Template(text).substitute(words) for path, text in texts.items()}


def write(template: str, names: Names, into: Path) -> Path:
    """Write the package as a new folder in `into`, which is made where it is missing; returns the folder."""
    folder = into / names.distribution
    texts = render(template, names)
    if folder.exists() or folder.is_symlink():
        raise ParameterError(f"{folder} is there already; choose another name, or another folder by --into.")
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return folder
