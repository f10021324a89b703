"""Units with plugins of other distributions run in a fork of this process, which no other distribution uses.

What such a plugin does to its process (it replaces functions of NumPy, leaves threads or open files behind,
changes the folder, ends itself) then reaches the cells of its own distribution only.
"""

import contextlib
import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

from aucbench.contracts.hooks import PROJECT
from aucbench.errors import PluginError
from aucbench.execution.prepared_data import innermost_frames, sentence_of
from aucbench.execution.work_units import Report, Unit
from aucbench.execution.worker import Conditions, prepared_data, run_unit
from aucbench.processes import Fork
from aucbench.studies.record import CellStatus, Failure
from aucbench.studies.study import Observer

TELL_SECONDS = 0.05  # between two messages about progress


class ForkedWorker:
    """Runs units, those of other distributions in a fork, one for each set of distributions.

    A fork is kept as long as its units succeed, stopped while it has none, and ended with all processes that
    it has started.
    """

    def __init__(self) -> None:
        self._forks: dict[frozenset[str], Fork] = {}

    def run(self, unit: Unit, conditions: Conditions, observer: Observer | None = None) -> Report:
        """Run a unit as `run_unit` does, here or in a fork; one that ends too early is a lost worker."""
        wanted, observer = _distributions_of(unit), observer or Observer()
        prepared_data().isolates = conditions.isolated
        if not wanted or not conditions.isolated or not hasattr(os, "fork"):
            return run_unit(unit, conditions, observer)
        try:
            report = self._report(wanted, unit, conditions, observer)
        except (EOFError, OSError):
            report = Report(lost=True)
        except BaseException:  # a user's Ctrl-C
            self._end(wanted)
            raise
        if report.lost or report.failure is not None:
            self._end(wanted)
        else:
            self._forks[wanted].stop()  # a thread that was left behind would take time from others
        return report

    def close(self) -> None:
        """End the forks."""
        for distributions in list(self._forks):
            self._end(distributions)

    def _end(self, distributions: frozenset[str]) -> None:
        if (fork := self._forks.pop(distributions, None)) is not None:
            fork.end()

    def _report(
        self, distributions: frozenset[str], unit: Unit, conditions: Conditions, observer: Observer
    ) -> Report:
        fork = self._forks.get(distributions)
        if fork is not None and (content := _pickled(unit, conditions)):
            fork.go_on()
            fork.send(content)
        else:
            self._end(distributions)
            if unit.entry.features.distribution == PROJECT:
                with contextlib.suppress(Exception):  # which the fork meets, too, and reports
                    prepared_data().prepared(unit, observer.stage)  # here, for all forks
            fork = Fork(lambda connection: _serve(connection, unit, conditions))
            self._forks[distributions] = fork
        while True:
            match fork.receive():
                case "report", Report() as report:
                    return report
                case "stage", str() as text:
                    observer.stage(text)
                case "progress", float() as share:
                    observer.progress(share)
                case _:  # the plugin has found the pipe
                    return Report(lost=True)


_worker = ForkedWorker()  # of this process, which belongs to a cluster


def run_pickled(pickled: bytes, conditions: Conditions) -> Report:
    """Run a unit that came from another process; one that cannot be read here fails alone."""
    try:
        unit: Unit = pickle.loads(pickled)
    except Exception as error:
        why = f"a worker cannot read it, its plugins may be missing there ({type(error).__name__}: {error})"
        return Report(failure=Failure(CellStatus.failed, why, innermost_frames()))
    if unit.entry.source_digest != unit.entry.digest_sources():
        name = unit.entry.algorithm.name
        return Report(
            refusal=PluginError(
                f"{name}: a worker has other source code (of the plugin, its helpers or the kernels) than "
                f"the process that planned the study; install the same there."
            )
        )
    return _worker.run(unit, conditions)


def end_forks() -> None:
    """End the forks of this process, when it gets no more units."""
    _worker.close()


def _distributions_of(unit: Unit) -> frozenset[str]:
    """The other distributions whose code the unit runs; that of a data set is run where it is loaded."""
    entry = unit.entry
    plugins = [entry.algorithm, entry.features, *([entry.loss] if entry.loss else [])]
    return frozenset(plugin.distribution for plugin in plugins) - {PROJECT}


def _pickled(unit: Unit, conditions: Conditions) -> bytes | None:
    """The unit for a fork that runs already; None for one of a class that has no name to find it by."""
    try:
        return pickle.dumps((unit, conditions))
    except Exception:
        return None


class _Telling(Observer):
    """Tells the process that forked this one about stages and progress."""

    def __init__(self, tell: Callable[[Any], None]):
        self._tell, self._told = tell, 0.0

    def stage(self, text: str) -> None:
        self._tell(("stage", text))

    def progress(self, share: float) -> None:
        if monotonic() - self._told > TELL_SECONDS:
            self._told = monotonic()
            self._tell(("progress", share))


def _serve(connection: Connection, unit: Unit, conditions: Conditions) -> None:
    """Run units in the fork, until the pipe is closed."""
    own = os.getpid()
    while True:
        try:
            report = run_unit(unit, replace(conditions, worker=True), _Telling(connection.send))
        except BaseException as error:  # such as GeneratorExit: in a fork it is always the plugin's
            report = _failed(error)
        if os.getpid() != own:  # the plugin has forked, and this is the copy
            return
        try:
            pickle.loads(pickle.dumps(report))  # a class of the plugin may be none that can be read back
        except Exception as error:
            report = _failed(error)
        connection.send(("report", report))
        try:
            unit, conditions = connection.recv()
        except EOFError:
            return


def _failed(error: BaseException) -> Report:
    return Report(failure=Failure(CellStatus.failed, sentence_of(error), innermost_frames()))
