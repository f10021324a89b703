"""The command line of a run: flags, and overrides NAME=VALUE in Hydra's grammar."""

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from typing import Any, NoReturn

from hydra._internal.core_plugins.bash_completion import BashCompletion
from hydra._internal.core_plugins.fish_completion import FishCompletion
from hydra._internal.core_plugins.zsh_completion import ZshCompletion
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from aucbench.errors import ParameterError
from aucbench.studies.study import MOST_CELLS, check_size

SHELLS: dict[str, Any] = {"bash": BashCompletion, "fish": FishCompletion, "zsh": ZshCompletion}
LONGEST = 100_000  # characters of an override
OF_HYDRA = (
    "hydra/launcher",
    "hydra.launcher.parallel",
    "hydra.mode",
    "hydra.searchpath",
    "hydra.sweeper.params",
)


@dataclass(frozen=True)
class Request:
    """The overrides of a run, and the flags of `flag_parser`; invalid overrides are refused."""

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
        check_overrides(self.overrides)
        object.__setattr__(self, "overrides", tuple(text.lstrip("+") for text in self.overrides))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ParameterError(f"{message}; see aucbench run --help.")


def flag_parser() -> argparse.ArgumentParser:
    """The parser of the flags of ``aucbench run``."""
    parser = _Parser("aucbench run", add_help=False)
    flag = parser.add_argument
    flag("overrides", nargs="*", help="choices and fields, NAME=VALUE")
    flag("--help", "-h", action="store_true", help="show this page")
    flag("--multirun", "-m", action="store_true", help="run every combination of comma-separated values")
    flag("--dry-run", action="store_true", help="show what would run, and how long it will take")
    flag("--only-failed", action="store_true", help="run only the cells that failed before")
    flag("--yes", action="store_true", help=f"run a study of more than {MOST_CELLS:,} cells")
    flag("--cfg", "-c", choices=["job"], help="show the configuration instead of running it")
    flag("--config-dir", "-cd", help="a folder of configurations of your own")
    flag("--config-name", "-cn", default="config", help="the configuration to begin with")
    flag("--shell-completion", "-sc", dest="completion", action="store_true",
         help="install=SHELL or uninstall=SHELL: print the completion script")  # fmt: skip
    return parser


def parse(words: Sequence[str]) -> Request:
    """Parse the command line of a run; refuse unknown flags and invalid overrides."""
    if isinstance(words, str) or not all(isinstance(argument, str) for argument in words):
        raise ParameterError(f"Expected a list of words, such as ['algo=psam', 'runs=2'], got {words!r}.")
    return Request(**vars(flag_parser().parse_intermixed_args(list(words))))


def check_overrides(words: Iterable[str]) -> None:
    """Refuse overrides that are not NAME=VALUE, deletions, and overrides without effect."""
    for text in words:
        if not isinstance(text, str):
            raise ParameterError(f"An override is text, NAME=VALUE, got {text!r}.")
        if len(text) > LONGEST:
            raise ParameterError(f"The override '{text[:40]}...' has {len(text):,} characters.")
        name, sign, _ = text.lstrip("+").partition("=")
        if not sign or not name or text.startswith("~"):  # "~" deletes in Hydra's grammar
            raise ParameterError(f"The override '{text}' cannot be read; expected NAME=VALUE.")
        if name.startswith("ruleset."):
            raise ParameterError(f"'{text}': a ruleset is chosen whole, ruleset=defaults or ruleset=trials.")
        if name.startswith(("hydra.", "hydra/")) and not name.startswith(OF_HYDRA):
            raise ParameterError(
                f"'{text}' has no effect; of Hydra's settings these have: {', '.join(OF_HYDRA)}."
            )


class Grammar:
    """Hydra's grammar of values; a value outside the grammar, such as ``data (1).csv``, is a text."""

    def __init__(self, loader: Any = None):
        self._parser = OverridesParser.create(config_loader=loader)
        self._override = cache(self._read)

    def value(self, word: str) -> Any:
        """The value of an override."""
        override = self._override(word)
        return word.partition("=")[2] if override is None else override.value()

    def is_sweep(self, word: str) -> bool:
        """Whether an override has several values."""
        override = self._override(word)
        return override is not None and override.is_sweep_override()

    def expand(self, words: Iterable[str], yes: bool = True) -> list[list[str]]:
        """The overrides of every job of a sweep; the last name varies fastest, its last override wins.

        Without `yes`, more than `MOST_CELLS` jobs are refused.
        """
        values: dict[str, list[str]] = {}
        for text in words:
            name, override = text.partition("=")[0], self._override(text)
            if override is None or not override.is_sweep_override():
                values[name] = [text]
                continue
            if not override.is_discrete_sweep():
                raise ParameterError(
                    f"'{text}' has no finite number of values; name them, or let tuning=random or "
                    "tuning=optuna search a range."
                )
            limit = None if yes else MOST_CELLS + 1
            values[name] = [f"{name}={value}" for value in islice(override.sweep_string_iterator(), limit)]
            if not values[name]:
                raise ParameterError(f"'{text}' matches nothing.")
        if not yes:
            check_size(math.prod(map(len, values.values())))
        return [list(job) for job in product(*values.values())]

    def _read(self, text: str) -> Override | None:
        try:
            return self._parser.parse_overrides([text])[0]
        except HydraException:
            return None


def completion_script(word: str) -> None:
    """Print a shell's completion script, for ``install=SHELL`` or ``uninstall=SHELL``."""
    action, _, name = word.partition("=")
    if action not in ("install", "uninstall") or name not in SHELLS:
        raise ParameterError(
            f"-sc {word}: expected install=SHELL or uninstall=SHELL, of {', '.join(SHELLS)}."
        )
    getattr(SHELLS[name](None), action)()  # scripts need no loader
