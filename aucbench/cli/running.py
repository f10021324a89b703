"""``aucbench run``: Hydra composes the run or the sweep, each job executes one entry."""

import os
import sys
from pathlib import Path
from typing import NoReturn

import hydra
from hydra._internal.utils import get_args_parser
from omegaconf import DictConfig

from aucbench import tracking
from aucbench.api import catalog
from aucbench.cli.failing import guarded
from aucbench.cli.reporting import Console
from aucbench.config import binding, composing, twins
from aucbench.config.words import check_overrides
from aucbench.errors import ParameterError, TrackingError
from aucbench.execution import execute
from aucbench.store import Store


def run(overrides: list[str], traceback: bool = False) -> int:
    """Run Hydra's application with the given words; returns the exit status.

    Bad input of one job of a sweep gets its sentence at once, and the other jobs go on.
    """
    _check_words(overrides)
    twins.register(catalog())
    statuses: list[int] = []

    def job(cfg: DictConfig) -> float:
        result = float("nan")

        def act() -> int:
            nonlocal result
            result = execute_job(cfg)
            return 0

        statuses.append(guarded(act, traceback))
        return result

    before = os.environ.get("HYDRA_FULL_ERROR")
    # Hydra then raises in place of printing advice of its own; the guard makes a sentence of it.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    saved = sys.argv
    sys.argv = [saved[0], *overrides]
    try:
        hydra.main(composing.config_folder(), composing.CONFIG_NAME, composing.VERSION_BASE)(job)()
    finally:
        sys.argv = saved
        if before is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = before
    return max(statuses, default=0)


def _check_words(words: list[str]) -> None:
    """Refuse what Hydra would answer with a page of usage or an inner error."""
    parser = get_args_parser()

    def refuse(message: str) -> NoReturn:
        raise ParameterError(f"{message}; see aucbench run --help.")

    parser.error = refuse  # type: ignore[method-assign]
    known = parser.parse_args(words)
    if known.experimental_rerun and not Path(known.experimental_rerun).is_file():
        raise ParameterError(f"--experimental-rerun: there is no file {known.experimental_rerun}.")
    check_overrides(known.overrides)


def execute_job(cfg: DictConfig) -> float:
    """Execute and log one entry, print its summary, return its mean test AUC."""
    entry = binding.bind(catalog(), cfg)
    path, uri = binding.store_path(cfg), binding.tracking_uri(cfg)
    store = Store(path) if path else None
    if uri:
        tracking.check_address(uri)
    console = Console(entry)
    executed = execute(entry, store, console)
    run_id, trouble = None, None
    if uri:
        console.stage("logging to MLflow")
        try:
            run_id = tracking.log_entry(executed, uri, store)
        except TrackingError as error:
            trouble = error
    auc = console.summary(executed, path, uri, run_id)
    if trouble:  # after the summary: the result is there, and the store has it
        raise trouble
    return auc
