"""Rendering the templates of a kind of plugin, and writing them as a package."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.registry import suggest
from aucbench.scaffolding.naming import Names

TEMPLATES = "templates"
SUFFIX = ".template"  # so that no tool takes what is not rendered for Python


class Kind(NamedTuple):
    """What can be made, and how its package speaks of it."""

    family: Family
    noun: str
    checks: str  # of aucbench.testing
    use: str  # a command that uses it
    change: str  # what its author replaces


KINDS: Mapping[str, Kind] = {
    "algorithm": Kind(
        Family.algorithms,
        "method",
        "ALGORITHM_CHECKS",
        "aucbench try $name",
        "the steps, and the fields they use",
    ),
    "dataset": Kind(
        Family.datasets,
        "data set",
        "DATASET_CHECKS",
        "aucbench -m dataset=$name algo=psam,solam,ls_svm tracking=none",
        "`load`, and the facts above it",
    ),
    "loss": Kind(
        Family.losses,
        "loss",
        "LOSS_CHECKS",
        "aucbench -m algo=asam loss=$name,hinge tracking=none",
        "`value` and `derivative`, and the facts about them",
    ),
    "features": Kind(
        Family.features,
        "feature map",
        "FEATURE_CHECKS",
        "aucbench -m algo=psam features=$name,identity tracking=none",
        "`fit` and `transform`",
    ),
}


def find_kind(kind: str) -> Kind:
    """The kind of that name.

    Raises
    ------
    ParameterError
        There is none; the sentence suggests the nearest.
    """
    if kind not in KINDS:
        raise ParameterError(f"Unknown kind '{kind}'. {suggest(kind, list(KINDS))}")
    return KINDS[kind]


def render(kind: str, names: Names) -> dict[str, str]:
    """The files of a package by their path in it."""
    details = find_kind(kind)
    words = {
        "name": names.name,
        "cls": names.cls,
        "distribution": names.distribution,
        "noun": details.noun,
        "checks": details.checks,
        "change": details.change,
        "use": Template(details.use).substitute(name=names.name),
    }
    sources = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"{names.name}.py": f"{kind}.py",
        f"tests/test_{names.name}.py": f"test_{kind}.py",
    }
    folder = files("aucbench.scaffolding") / TEMPLATES
    texts = {path: (folder / (source + SUFFIX)).read_text("utf-8") for path, source in sources.items()}
    return {path: Template(text).substitute(words) for path, text in texts.items()}


def write(kind: str, names: Names, into: Path) -> Path:
    """Write the package as a new folder in `into`, which is made where it is missing; returns the folder.

    Raises
    ------
    ParameterError
        The folder is there already.
    """
    folder = into / names.distribution
    texts = render(kind, names)
    if folder.exists() or folder.is_symlink():
        raise ParameterError(f"{folder} is there already; choose another name, or another folder by --into.")
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return folder
