"""Hydra's multirun as a study: the whole sweep goes to the engine at once, which plans it before it runs.

Hydra looks for launchers and sweepers in the namespace package `hydra_plugins` of every application it
starts, so that this file imports nothing but Hydra.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_store import ConfigStore
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class StudyLauncher(Launcher):
    """Hands all jobs of a sweep to aucbench's engine.

    Parameters
    ----------
    parallel : int or None
        Stands for the run's `parallel` where that is left at 1.
    """

    def __init__(self, parallel: int | None = None) -> None:
        self._parallel = parallel

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Remember whose jobs they are."""
        self._task_function = task_function

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run the study of these jobs; the return value of each is its mean test AUC."""
        sweep: Any = getattr(self._task_function, "sweep", None)
        if sweep is None:
            raise RuntimeError("The launchers aucbench and dask run aucbench's own sweeps only.")
        aucs = sweep([list(words) for words in job_overrides], self._parallel)
        returns = []
        for words, auc in zip(job_overrides, aucs, strict=True):
            returned = JobReturn(overrides=list(words), status=JobStatus.COMPLETED)
            returned.return_value = auc
            returns.append(returned)
        return returns


class StudySweeper(BasicSweeper):
    """Hydra's own sweeper without its trial composition of every job: the study composes all jobs first."""

    def validate_batch_is_legal(self, batch: Sequence[Sequence[str]]) -> None:
        """Leave it to the study."""


@dataclass
class StudyLauncherConf:
    """In this process, or on as many workers as `parallel` says."""

    _target_: str = "hydra_plugins.aucbench_study.StudyLauncher"
    parallel: int | None = None


@dataclass
class DaskLauncherConf(StudyLauncherConf):
    """On one worker for each physical core, unless `parallel` says how many."""

    parallel: int | None = 0


@dataclass
class StudySweeperConf:
    """Fields as of Hydra's basic sweeper."""

    _target_: str = "hydra_plugins.aucbench_study.StudySweeper"
    max_batch_size: int | None = None
    params: dict[str, str] | None = None


_store = ConfigStore.instance()
_store.store(group="hydra/launcher", name="aucbench", node=StudyLauncherConf, provider="aucbench")
_store.store(group="hydra/launcher", name="dask", node=DaskLauncherConf, provider="aucbench")
_store.store(group="hydra/sweeper", name="aucbench", node=StudySweeperConf, provider="aucbench")
