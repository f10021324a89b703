"""``aucbench new``: generate a package with one working plugin as a starting point."""

import keyword
import re
import tomllib
from importlib.metadata import distributions
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from aucbench import api
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError, PluginError
from aucbench.suggestions import suggest

PATTERN = re.compile(r"(?!.$)[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Hydra reads these words as values; the generated tests need the module `pytest`.
VALUES = frozenset({"null", "true", "false", "nan", "inf", "pytest"})
FOLDER = files("aucbench.cli") / "templates"
KINDS = tomllib.loads((FOLDER / "kinds.toml").read_text("utf-8"))  # family, use, change and requirements


@click.command("new")
@click.argument("kind")
@click.argument("name")
@click.option(
    "--model", type=click.Choice(("linear", "jax")), default="linear", show_default=True,
    help="Model of an algorithm: a weight vector, or a neural network in JAX.",
)  # fmt: skip
@click.option(
    "--into", default=".", show_default="this folder", help="Folder in which the package is created."
)
def new(kind: str, name: str, model: str, into: str) -> None:
    """Write an installable package with a working plugin NAME of the given KIND.

    KIND is algorithm, dataset, loss or features. The module marks the lines to change. The tests check the
    rules that every plugin obeys.
    """
    kinds = [key for key in KINDS if "_" not in key]
    if kind not in kinds:
        raise ParameterError(f"Unknown kind '{kind}'. {suggest(kind, kinds)}")
    if model != "linear" and kind != "algorithm":
        raise ParameterError(f"--model {model} is for algorithms; a {kind} has no model.")
    _check_name(name)
    template = kind if model == "linear" else f"{kind}_{model}"
    folder = write(template, name, Path(into))
    print(f"{'wrote':>10}  {folder}")
    print(f"{'change':>10}  {folder / name}.py: {KINDS[template]['change']}")
    print(f"{'next':>10}  cd {folder} && pip install -e '.[test]' && pytest")
    print(f"{'':>10}  aucbench check {name}")
    print(f"{'':>10}  {KINDS[template]['use'].replace('$name', name)}")


def class_name(name: str, text: str) -> str:
    """The class of a plugin ``my_method``: ``MyMethod``, or ``MyMethodPlugin`` if the text has that word."""
    title = "".join(word.capitalize() for word in name.split("_"))
    return f"{title}Plugin" if keyword.iskeyword(title) or re.search(rf"\b{title}\b", text) else title


def _check_name(name: str) -> None:
    """Refuse a plugin name that is invalid, already taken, or hides a module."""
    if not PATTERN.fullmatch(name) or keyword.iskeyword(name) or name in VALUES:
        raise ParameterError(
            f"'{name}' cannot name a plugin: expected two or more small letters, digits and single "
            "underscores, and no word of Python or Hydra."
        )
    same = (plugin for plugin in api.catalog() if plugin.name == name)
    taken = [f"the {plugin.family.singular} of {plugin.distribution} {plugin.version}" for plugin in same]
    spec = find_spec(name)
    taken += ["a Python module"] * (spec is not None and spec.origin is not None)  # a folder has no origin
    taken += ["an installed package"] * any(distributions(name=name.replace("_", "-")))
    if taken:
        raise PluginError(f"There is already {taken[0]} called '{name}'; choose another name.")


def write(template: str, name: str, into: Path) -> Path:
    """Write the package as a new folder in `into`, which is created if it is missing; returns the folder."""
    kind, distribution = KINDS[template], name.replace("_", "-")
    folder = into / distribution
    if folder.exists() or folder.is_symlink():
        raise ParameterError(f"{folder} is there already; choose another name, or another folder by --into.")
    sources = {f"{name}.py": f"{template}.py", f"tests/test_{name}.py": f"test_{template}.py"}
    sources |= {file: file for file in ("pyproject.toml", "README.md", "AGENTS.md")}
    texts = {path: (FOLDER / f"{source}.template").read_text("utf-8") for path, source in sources.items()}
    values = {
        "name": name, "cls": class_name(name, "".join(texts[path] for path in texts if path.endswith(".py"))),
        "distribution": distribution,
        "noun": Family(kind["family"]).singular, "change": kind["change"],
        "requires": kind.get("requires", ""), "use": kind["use"].replace("$name", name),
    }  # fmt: skip
    for path, text in texts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(text).substitute(values), "utf-8")
    return folder
