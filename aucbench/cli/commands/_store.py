"""Opening stores and archives, and finding their studies, for the commands that read them."""

from collections.abc import Sequence
from pathlib import Path

import click

from aucbench.errors import ParameterError
from aucbench.studies.archives.archive import Archive
from aucbench.studies.default_settings import StoreSettings
from aucbench.studies.record import StudyPlan
from aucbench.studies.store import Store

HINT = "run aucbench first, or name one with --store"
store_option = click.option("--store", default=StoreSettings.path, show_default=True, help="Store folder.")
with_option = click.option(
    "--with", "archives", multiple=True, metavar="FILE",
    help="Archive of results to show beside the results of the store; repeatable.",
)  # fmt: skip
trust_option = click.option(
    "--trust", multiple=True, metavar="MODULE",
    help="Module from which recorded settings may import; repeatable.",
)  # fmt: skip


def opened(path: str, hint: str = HINT, writable: bool = False) -> Store:
    """The store in an existing folder."""
    if not Path(path).is_dir():
        raise ParameterError(f"There is no store at {path}: {hint}.")
    return Store(path, writable)


def plans_of(store: Store, study: str | None) -> list[StudyPlan]:
    """The plans of one study, or of all studies; at least one plan."""
    if not (plans := store.plans(study)):
        raise ParameterError(f"The store at {store.path} has no study.")
    return plans


def sources_of(store: str, archives: Sequence[str], hint: str = HINT) -> list[Store | Archive]:
    """The store, if it exists or there are no archives, and the archives, each of them checked."""
    from aucbench.studies.archives.archive_file import read

    sources: list[Store | Archive] = []
    if Path(store).is_dir() or not archives:
        sources.append(opened(store, hint))
    return [*sources, *(read(file)[1] for file in archives)]
