"""``aucbench run``: train and measure, or show what would run."""

import contextlib
import sys
from collections.abc import Sequence

from aucbench import api
from aucbench.cli.console import Console
from aucbench.cli.dry_run import show_plan
from aucbench.cli.exit_status import BAD_INPUT, FAILED
from aucbench.config import compose
from aucbench.config.overrides import parse
from aucbench.studies.result import failures_by_word


def run(words: Sequence[str]) -> int:
    """Run what the words ask for; returns the exit status."""
    request = parse(words)
    if request.help:
        print(compose.run_help(api.catalog(), request), end="")
        return 0
    if request.cfg:
        print(compose.show(api.catalog(), request), end="")
        return 0
    if request.completion:
        compose.completion_script(request.overrides)
        return 0
    if request.dry_run:
        return show_plan(api.plan_study(words))
    with contextlib.closing(Console()) as console:
        result = api.run_study(words, console)
    if result.untracked:  # the results are shown, and the store has them
        print(f"aucbench: {result.untracked}", file=sys.stderr)
    if result.refused:
        return BAD_INPUT
    if failures_by_word(result.failures)["failed"]:
        return FAILED
    return BAD_INPUT if result.untracked else 0
