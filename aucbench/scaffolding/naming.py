"""Which names a new plugin may have, and what follows from them."""

import keyword
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec

from aucbench.errors import ParameterError, PluginError
from aucbench.registry import Catalog

PATTERN = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# What the templates import or define; a class of that name would hide it.
TAKEN_CLASSES = frozenset(
    {
        "Access", "Any", "Batch", "Check", "Claims", "Count", "Fitted", "Index", "Interval", "Mapping",
        "Positive", "Problem", "Samples", "State",
    }
)  # fmt: skip


# Hydra reads these as values, and the generated tests need their module.
VALUES = frozenset({"null", "true", "false", "nan", "inf", "pytest"})


@dataclass(frozen=True)
class Names:
    """A plugin's name and those that follow from it.

    Parameters
    ----------
    name : str
        Of the plugin and of its module, ``my_method``.
    """

    name: str

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
    """The names of a new plugin.

    Raises
    ------
    ParameterError
        The name is no identifier of small letters, is taken by Python or Hydra, or hides an installed module
        or package.
    PluginError
        A registered plugin has it.
    """
    if keyword.iskeyword(name) or name in VALUES or len(name) == 1:
        what = "one letter" if len(name) == 1 else "a word of Python" if keyword.iskeyword(name) else "taken"
        raise ParameterError(f"'{name}' cannot name a plugin: it is {what}; choose a longer name.")
    if not PATTERN.fullmatch(name):
        near = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        hint = f" Did you mean {near}?" if PATTERN.fullmatch(near) and not keyword.iskeyword(near) else ""
        raise ParameterError(
            f"'{name}' cannot name a plugin: expected an identifier of small letters, digits and single "
            f"underscores.{hint}"
        )
    for plugin in catalog:
        if plugin.name == name:
            raise PluginError(
                f"There is already a plugin '{name}': the {plugin.family.singular} of {plugin.distribution} "
                f"{plugin.version} ({plugin.source}); choose another name."
            )
    names = Names(name)
    if _is_importable(name):
        raise ParameterError(f"There is already a Python module '{name}', which a plugin would hide.")
    if _is_installed(names.distribution):
        raise ParameterError(f"There is already an installed package '{names.distribution}'.")
    return names


def _is_importable(name: str) -> bool:
    """Whether there is a module of that name; a folder without code is none."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return True
    return spec is not None and spec.origin is not None


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
