"""Parsing of the words of a run into flags and overrides, and expansion into the jobs of a sweep.

Words that Hydra would reject with an internal error or silently ignore are refused with a clear message.
"""

import argparse
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import NoReturn

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from aucbench.config.structured_configs import CHOICES, GROUPS
from aucbench.errors import ParameterError
from aucbench.studies.default_settings import Ruleset
from aucbench.studies.study import MOST_CELLS, check_size

RENAMED = {"baseline": "reference"}  # as commands in plans of earlier versions have it
PLAIN_TEXT = ("dataset.path", "dataset.test_path", "dataset.target", "dataset.positive", "store.path")
ADDED = ("experiment", "suite")  # groups without a default, chosen by +GROUP=NAME
BY_NAME = (*CHOICES, Ruleset.name, *ADDED, "hydra/launcher", "hydra/sweeper")
LONGEST = 100_000  # characters of an override
NO_NAME = re.compile(r"null|true|false|[-+.\d]+", re.IGNORECASE)  # Hydra reads these as values
OF_HYDRA = ("hydra/launcher", "hydra/sweeper", "hydra.launcher.parallel", "hydra.mode", "hydra.searchpath")


@dataclass(frozen=True)
class Request:
    """The parsed words of a run: overrides, and the flags of `flag_parser`.

    Invalid overrides are refused; paths and labels are quoted for Hydra.
    """

    overrides: tuple[str, ...] = ()
    multirun: bool = False
    dry_run: bool = False
    only_failed: bool = False
    yes: bool = False
    config_dir: str | None = None
    config_name: str = "config"
    cfg: str | None = None
    help: bool = False
    completion: bool = False

    def __post_init__(self) -> None:
        if long := next((word for word in self.overrides if len(str(word)) > LONGEST), None):
            raise ParameterError(f"The override '{long[:40]}...' has {len(long):,} characters.")
        object.__setattr__(self, "overrides", tuple(quoted(renamed(word)) for word in self.overrides))
        if not self.completion:
            check_overrides(self.overrides)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ParameterError(f"{message}; see aucbench run --help.")


def flag_parser() -> argparse.ArgumentParser:
    """The parser of the flags of ``aucbench run``."""
    parser = _Parser("aucbench run", add_help=False)
    flag = parser.add_argument
    flag("overrides", nargs="*", help="choices and fields, NAME=VALUE")
    flag("--help", "-h", action="store_true", help="this page")
    flag("--multirun", "-m", action="store_true", help="run every combination of comma-separated values")
    flag("--run", "-r", action="store_true", help="run (the default)")
    flag("--dry-run", action="store_true", help="show what would run, and what that will take")
    flag("--only-failed", action="store_true", help="run only the cells that failed before")
    flag("--yes", action="store_true", help=f"run a study of more than {MOST_CELLS:,} cells")
    flag("--cfg", "-c", choices=["job", "hydra", "all"], help="show the configuration in place of running it")
    flag("--config-dir", "-cd", help="a folder of configurations of your own")
    flag("--config-name", "-cn", default="config", help="the configuration to begin with")
    flag("--shell-completion", "-sc", dest="completion", action="store_true",
         help="install=SHELL or uninstall=SHELL: print the completion script")  # fmt: skip
    return parser


def parse(words: Sequence[str]) -> Request:
    """Parse the words of a run; refuse unknown flags and invalid overrides."""
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise ParameterError(f"Expected a list of words, such as ['algo=psam', 'runs=2'], got {words!r}.")
    known = vars(flag_parser().parse_intermixed_args(list(words)))
    del known["run"]
    return Request(**known)


def renamed(word: str) -> str:
    """The word with the present name of a setting that earlier versions called otherwise."""
    name, sign, value = word.partition("=")
    return f"{RENAMED[name]}{sign}{value}" if name in RENAMED else word


def quoted(word: str) -> str:
    """Quote the value of an override of a text field, if Hydra needs quotes.

    Examples are the file ``data (1).csv`` and the label ``>50K``. Comma-separated values are not quoted.
    """
    name, _, value = word.partition("=")
    if name.lstrip("+") not in PLAIN_TEXT or not value or value[0] in "[{'\"" or "," in value:
        return word
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        text = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"{name}='{text}'"
    return word


def check_overrides(words: Iterable[str]) -> None:
    """Refuse words other than NAME=VALUE, deletions, lists of names, and words without effect."""
    given: dict[str, list[str]] = {}
    for word in words:
        if not isinstance(word, str):
            raise ParameterError(f"An override is text, NAME=VALUE, got {word!r}.")
        name, sign, value = word.partition("=")
        if word.startswith("~"):
            raise ParameterError(f"'{word}': a setting cannot be deleted; give it another value.")
        if not sign or not name.strip("+"):
            raise ParameterError(f"The override '{word}' cannot be read; expected NAME=VALUE.")
        if name in GROUPS and value.startswith(("[", "{")):
            raise ParameterError(
                f"{name} is one name, got {value}; several are swept by --multirun {name}=ONE,OTHER."
            )
        own = name.lstrip("+")
        if own in BY_NAME and any(NO_NAME.fullmatch(each) for each in value.split(",")):
            raise ParameterError(
                f"{own} is chosen by name, got {value}; leave the override out for the default, which "
                "aucbench run --help shows."
            )
        if own.startswith("ruleset."):
            raise ParameterError(f"'{word}': a ruleset is chosen whole, ruleset=defaults or ruleset=trials.")
        if own.startswith(("hydra.", "hydra/")) and not own.startswith((*OF_HYDRA, "hydra.sweeper.params")):
            raise ParameterError(
                f"'{word}' has no effect; of Hydra's settings these have: {', '.join(OF_HYDRA)}."
            )
        if name in ADDED:
            raise ParameterError(f"'{word}' needs a plus sign: +{word}.")
        given.setdefault(own, []).append(word)
    for suite in given.get("suite", []):
        if len(given["suite"]) > 1 or "," in suite:
            raise ParameterError(f"A suite is one name, got {' '.join(given['suite'])}.")
        if "dataset" in given:
            raise ParameterError(
                f"{suite} names the data sets: leave out {given['dataset'][0]}, or the suite."
            )


def expand(overrides: Iterable[Override], yes: bool = True) -> list[list[str]]:
    """The words of every job of a sweep; the last override varies fastest, and the last repetition wins.

    Without `yes`, more jobs than a study may have cells are refused.
    """
    values: dict[str, list[str]] = {}
    for override in overrides:
        name = override.get_key_element()
        if not override.is_sweep_override():
            values[name] = [f"{name}={override.get_value_element_as_str()}"]
            continue
        if not override.is_discrete_sweep():
            raise ParameterError(
                f"'{override.input_line}' has no finite number of values; name them, or let tuning=random or "
                "tuning=optuna search a range."
            )
        most = None if yes else MOST_CELLS + 1
        values[name] = [f"{name}={value}" for value in islice(override.sweep_string_iterator(), most)]
        if not values[name]:
            raise ParameterError(f"'{override.input_line}' matches nothing.")
    if not yes:
        check_size(math.prod(map(len, values.values())))
    return [list(job) for job in product(*values.values())]
