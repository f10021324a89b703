"""What the commands that read a store share: opening it, and finding its studies."""

from pathlib import Path

import click

from aucbench.errors import ParameterError
from aucbench.studies.default_settings import StoreSettings
from aucbench.studies.record import StudyPlan
from aucbench.studies.store import Store

HINT = "run aucbench first, or name one with --store"
store_option = click.option("--store", default=StoreSettings.path, show_default=True, help="Store folder.")


def opened(path: str, hint: str = HINT, writable: bool = False) -> Store:
    """The store in a folder that is there."""
    if not Path(path).is_dir():
        raise ParameterError(f"There is no store at {path}: {hint}.")
    return Store(path, writable)


def plans_of(store: Store, study: str | None) -> list[StudyPlan]:
    """The plans of one study, or of all; at least one."""
    plans = store.plans()
    wanted = [plan for plan in plans if study in (None, plan.study)]
    if not wanted:
        known = ", ".join(plan.study for plan in plans) or "none"
        what = "no study" if study is None else f"no study '{study}'"
        raise ParameterError(f"The store at {store.path} has {what}. Known: {known}.")
    return wanted
