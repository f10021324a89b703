"""``aucbench run``: Hydra composes the run or the sweep, which becomes a study."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra._internal.utils import get_args_parser
from omegaconf import DictConfig

from aucbench.cli.failing import guarded
from aucbench.cli.studying import Request, conduct_study
from aucbench.config import binding, composing, sweeping, twins
from aucbench.config.words import check_overrides, for_each_run
from aucbench.errors import AucbenchError, ParameterError
from aucbench.processes import start_fork_server
from aucbench.registry import catalog
from aucbench.studies.entry import Entry
from aucbench.studies.result import Refused
from aucbench.studies.running import Study

DRY_RUN, ONLY_FAILED = "--dry-run", "--only-failed"
MANY = re.compile(r"parallel=([2-9]|[1-9]\d+)")


@dataclass(frozen=True)
class _Flags:
    dry_run: bool
    only_failed: bool


def run(words: list[str], traceback: bool = False) -> int:
    """Run Hydra's application with the given words; returns the exit status.

    Bad input of one job of a sweep gets its sentence at once, and the other jobs go on.
    """
    flags = _Flags(DRY_RUN in words, ONLY_FAILED in words)
    words = [word for word in words if word not in (DRY_RUN, ONLY_FAILED)]
    _check_words(words)
    if any(word in ("hydra/launcher=dask", "parallel=0") or MANY.fullmatch(word) for word in words):
        start_fork_server()
    twins.register(catalog())
    statuses: list[int] = []

    def job(cfg: DictConfig) -> float:
        aucs = _guarded(lambda: _single(cfg, words, flags), statuses, traceback)
        return aucs[0] if aucs else float("nan")

    def sweep(jobs: list[list[str]], parallel: int | None) -> list[float]:
        nothing = [float("nan")] * len(jobs)
        return _guarded(lambda: _sweep(jobs, parallel, words, flags), statuses, traceback) or nothing

    job.sweep = sweep  # type: ignore[attr-defined]  # where the launcher finds it
    before = os.environ.get("HYDRA_FULL_ERROR")
    # Hydra then raises in place of printing advice of its own; the guard makes a sentence of it.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    saved = sys.argv
    sys.argv = [saved[0], *for_each_run(words)]
    try:
        hydra.main(composing.config_folder(), composing.CONFIG_NAME, composing.VERSION_BASE)(job)()
    finally:
        sys.argv = saved
        if before is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = before
    return max(statuses, default=0)


def _guarded(
    action: Callable[[], tuple[int, list[float]]], statuses: list[int], traceback: bool
) -> list[float]:
    """The action's AUCs; its exit status is noted, also where it ends with a sentence."""
    aucs: list[float] = []

    def act() -> int:
        status, found = action()
        aucs.extend(found)
        return status

    statuses.append(guarded(act, traceback))
    return aucs


def _single(cfg: DictConfig, words: Sequence[str], flags: _Flags) -> tuple[int, list[float]]:
    entry = binding.bind(catalog(), cfg)
    study = _study([entry], cfg, words, flags)
    return conduct_study(_request(study, cfg, flags), single=True)


def _sweep(
    jobs: list[list[str]], parallel: int | None, words: Sequence[str], flags: _Flags
) -> tuple[int, list[float]]:
    """Bind every job; a job that cannot be bound is refused, and the others run."""
    entries: dict[int, Entry] = {}  # by number of the job
    refused: list[Refused] = []
    first: DictConfig | None = None
    for number, cfg in enumerate(sweeping.runs(catalog(), jobs)):
        if cfg is None:
            continue
        first = cfg if first is None else first
        try:
            entries[number] = binding.bind(catalog(), cfg)
        except AucbenchError as error:
            refused.append(Refused(" ".join(_own_words(jobs[number])), error))
    if first is None:
        raise ParameterError("The study's matrix skips every run that was asked for.")
    study = _study(list(entries.values()), first, words, flags, refused)
    if parallel is not None and study.running.parallel == 1:
        study = replace(study, running=replace(study.running, parallel=parallel))
    status, aucs = conduct_study(_request(study, first, flags), single=False)
    found = dict(zip(entries, aucs, strict=True))
    return status, [found.get(number, float("nan")) for number in range(len(jobs))]


def _study(
    entries: list[Entry],
    cfg: DictConfig,
    words: Sequence[str],
    flags: _Flags,
    refused: Sequence[Refused] = (),
) -> Study:
    return Study(
        entries=entries,
        running=binding.running(cfg),
        name=cfg.study,
        command=shlex.join(["aucbench", *words]),
        skip_missing_data=binding.matrix(cfg).skip_missing_data,
        only_failed=flags.only_failed,
        refused=refused,
    )


def _request(study: Study, cfg: DictConfig, flags: _Flags) -> Request:
    return Request(study, binding.store_path(cfg), binding.tracking_uri(cfg), flags.dry_run)


def _own_words(job: Sequence[str]) -> list[str]:
    return [word for word in job if not word.startswith("hydra.")]


def _check_words(words: list[str]) -> None:
    """Refuse what Hydra would answer with a page of usage or an inner error."""
    parser: Any = get_args_parser()

    def refuse(message: str) -> NoReturn:
        raise ParameterError(f"{message}; see aucbench run --help.")

    parser.error = refuse
    known = parser.parse_args(words)
    if known.experimental_rerun and not Path(known.experimental_rerun).is_file():
        raise ParameterError(f"--experimental-rerun: there is no file {known.experimental_rerun}.")
    check_overrides(known.overrides)
