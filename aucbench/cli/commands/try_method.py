"""``aucbench try``: the packaged study of a method and well-known ones, in about a minute, and a verdict."""

import math
import re
import sys
import textwrap
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import click
from rich.console import Console

from aucbench import api
from aucbench.cli.exit_status import INTERRUPTED
from aucbench.cli.progress import BarView, bar
from aucbench.config.build import build_study
from aucbench.config.overrides import parse
from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.humanize import duration
from aucbench.pool import Pool, start_fork_server
from aucbench.registry import Catalog
from aucbench.reports.answer import listed
from aucbench.reports.cells import from_store
from aucbench.reports.report import Report
from aucbench.studies.default_settings import Running
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.cost_estimate import seconds_of
from aucbench.studies.execution.execute import execute_study, opened_store
from aucbench.studies.record import CellStatus
from aucbench.studies.store import Store
from aucbench.studies.study import Study

EXPERIMENT = ("+experiment=try", "tracking=none")
EPOCHS, SECONDS = 5.0, 60.0
EPOCHS_PER_SECOND = 30.0  # that the stochastic methods of the experiment do all together on a slow machine
FEWEST_CHECKPOINTS = 4
ANY_LOSS = "logistic"  # of a method that takes any and has no default
GRACE = 6.0  # seconds beyond its own that a run may take: for a process to begin, and for compiling


@click.command("try")
@click.argument("name")
@click.option("--epochs", default=EPOCHS, show_default=True, help="Passes over the training rows.")
@click.option("--seconds", default=SECONDS, show_default=True, help="Limit; slow methods see fewer rows.")
@click.option("--store", default=None, help="Folder to keep the cells in; nothing is kept when left out.")
def try_method(name: str, epochs: float, seconds: float, store: str | None) -> int:
    """Run the method NAME on three small data sets beside well-known ones (the experiment `try`).

    All have their defaults. The speed of the method is measured first: a slow one gets fewer epochs, and one
    that hangs is killed. Shows leaderboards and a verdict in words. Nothing is downloaded or logged.
    Exit status 1 when the method failed or diverged on some of the data.
    """
    for option, value in (("epochs", epochs), ("seconds", seconds)):
        if not 0.0 < value < math.inf:
            raise ParameterError(f"--{option} must be > 0, got {value:g}.")
    if epochs > EPOCHS_PER_SECOND * seconds:
        raise ParameterError(
            f"--epochs {epochs:g} may take the other methods longer than --seconds {seconds:g}: "
            f"set --seconds {math.ceil(epochs / EPOCHS_PER_SECOND)}, or fewer epochs."
        )
    catalog = api.catalog()
    cls = _method(catalog, name)
    try:
        with opened_store(store) as opened, closing(_Stages(seconds)) as stages, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # overflows of a method that diverges are in the verdict
            trial = _Trial(catalog, cls, epochs, seconds, opened, stages)
            trial.run()
            stages.begin("comparing them")
            report, troubles = trial.report(), trial.failures()
    except KeyboardInterrupt:
        kept = "nothing was saved" if store is None else "finished cells are in the store"
        print(f"aucbench: interrupted; {kept}", file=sys.stderr)
        return INTERRUPTED
    _show(report, name, troubles, trial.remarks, None if trial.is_cut else epochs)
    own = report.results[report.results["method"] == name]
    return int(bool(troubles) or bool(own["diverged"].any()))


def _method(catalog: Catalog, name: str) -> Any:
    for plugin in catalog:
        if plugin.name == name and name not in catalog.plugins[Family.algorithms]:
            raise ParameterError(
                f"'{name}' is a {plugin.family.singular}; only methods are tried: "
                f"aucbench check {name} tests it against the rules."
            )
    return catalog.find(Family.algorithms, name).cls


class _Stages(BarView):
    """Prints stages, and shows on a terminal what runs and how much of the time is spent."""

    def __init__(self, seconds: float) -> None:
        self._bar = bar(f"{{desc}}{{elapsed}} of at most {seconds:g} s")

    def begin(self, stage: str) -> None:
        self._bar.write(f"aucbench: {stage} ...", file=sys.stderr)

    def started(self, entry: Entry) -> None:
        self._bar.set_description(f"{entry.algorithm.name} on {entry.dataset.title}")


@dataclass
class _Trial:
    """The study, run in two parts: the rivals, then the method as well, with its defaults.

    The method's runs get half of the time that the rivals leave. Where three runs of each data set do not fit
    into that, there is one, which trains for the fraction of its epochs that fits. A run that takes much
    longer is killed.
    """

    catalog: Catalog
    cls: Any
    epochs: float
    seconds: float
    store: Store
    stages: _Stages
    remarks: list[str] = field(default_factory=list)
    is_cut: bool = False  # whether the method got fewer epochs than was asked for

    def __post_init__(self) -> None:
        self._name = str(self.cls.name)
        self._study = f"try_{self._name}"
        self._entries: list[Entry] = []
        self._refused: dict[str, str] = {}  # sentence by data set, of the method alone
        self._runs = 1  # of the method
        takes_any = MethodFacts(self.cls).losses[:1] == ("*",)
        self._own = (f"algo={self._name}", *(f"loss={ANY_LOSS}",) * takes_any)
        if takes_any:
            self.remarks.append(f"it takes any loss and has no default: {ANY_LOSS} was used")

    @property
    def _left(self) -> float:
        return max(1e-3, self._end - monotonic())

    def run(self) -> None:
        """Run what there is time for."""
        own = self._composed(*self._own)
        rivals = self._composed()
        start_fork_server()
        self._end = monotonic() + self.seconds
        self.stages.begin("training the methods it is compared with")
        self._add([entry for entry in rivals if entry.algorithm.name != self._name])
        self.stages.begin(f"measuring how fast {self._name} is")
        own, needed = self._measured(own)
        self.stages.begin(f"training {self._name} with its defaults")
        self._add(self._fitted(own, needed))

    def report(self) -> Report:
        """The leaderboard over the runs that the method has; a remark names those that were not finished."""
        from aucbench.reports.build import build

        planned = [cell for cell in from_store(self.store, self._study) if cell.run.seed < self._runs]
        cells = [cell for cell in planned if cell.status is not CellStatus.missing]
        late: dict[str, dict[str, None]] = {}  # data sets by method
        for cell in planned:
            if cell.status is CellStatus.missing:
                late.setdefault(cell.described.algorithm.name, {})[cell.described.dataset.title] = None
        if late:
            told = ", ".join(f"{method} on {listed([*data_sets])}" for method, data_sets in late.items())
            self.remarks.append(f"not all runs were finished of {told} (--seconds allows more)")
        return replace(build(cells, self._study, one_study=True), notes=())

    def failures(self) -> list[str]:
        """Why the method could not run, each reason once with its data sets."""
        told = [
            (cell.described.dataset.title, f"{failure.reason}: {failure.message}")
            for cell in from_store(self.store, self._study)
            if cell.described.algorithm.name == self._name
            and (failure := self.store.failure(cell.key)) is not None
        ]
        if not MethodFacts(self.cls).requires:  # else it declares which rows it takes
            told += self._refused.items()
        alike: dict[str, tuple[str, dict[str, None]]] = {}  # sentences that differ in numbers alone
        for dataset, sentence in told:
            alike.setdefault(re.sub(r"\d+", "", sentence), (sentence, {}))[1][dataset] = None
        return [f"{', '.join(data_sets)}: {sentence}" for sentence, data_sets in alike.values()]

    def _composed(self, *words: str) -> list[Entry]:
        """Entries of the experiment, of its own methods unless the words name another."""
        study = build_study(self.catalog, parse([*EXPERIMENT, *words]))
        if study.refused:
            raise study.refused[0].error
        # Methods that run until they have converged do so here, too.
        return [
            replace(each, budget=replace(each.budget, epochs=each.budget.epochs and self.epochs))
            for each in study.entries
        ]

    def _add(self, entries: Sequence[Entry]) -> None:
        """Run the study with more entries."""
        self._entries += entries
        running = Running(stop_after=self._left)
        study = Study(self._entries, running, self._study, command=f"aucbench try {self._name}")
        result = execute_study(study, self.store, self.stages)
        if sum(left for _, left in result.left) == result.cells:
            raise ParameterError(f"--seconds {self.seconds:g} is too short: nothing could be run.")
        for each in result.refused:
            name, _, dataset = each.entry.partition(" on ")
            if name == self._name and dataset not in self._refused:
                self._refused[dataset] = each.why
                self.remarks.append(f"{dataset}: it did not run: {each.why.rstrip('.')}")

    def _measured(self, own: Sequence[Entry]) -> tuple[list[Entry], float]:
        """The entries up to the first on which the method hangs, and the seconds of one run of each."""
        needed = 0.0
        with Pool() as pool:
            for number, entry in enumerate(own, 1):
                needed += seconds_of(entry, pool, self.seconds / 3.0) or 0.0  # it fails: the run will tell
                if math.isinf(needed):
                    if others := ", ".join(each.dataset.title for each in own[number:]):
                        hanging = entry.dataset.title
                        self.remarks.append(f"it was not run on {others}, as it hangs on {hanging}")
                    return list(own[:number]), needed
        return list(own), needed

    def _fitted(self, own: Sequence[Entry], needed: float) -> list[Entry]:
        """The method's entries with as many runs and epochs as fit into half of the time that is left."""
        runs, time = own[0].settings.runs, self._left / 2.0
        if needed * runs <= time:
            self._runs = runs
        else:
            self.remarks.append("there was time for one run only (--seconds allows more)")
        limit = 1.0 + 2.0 * time / (self._runs * len(own))
        limits = (f"limits.seconds={limit:g}", f"limits.grace={GRACE:g}")
        fitted = self._composed(*self._own, f"runs={self._runs}", *limits)[: len(own)]
        self.is_cut = needed > time
        if not self.is_cut or math.isinf(needed):
            return fitted
        share = time / needed
        self.remarks.append(
            f"{self._name} takes {duration(needed)} for {self.epochs:g} epochs on all data sets: there was "
            f"time for {share * self.epochs:.2g} (--seconds {10 * math.ceil(0.2 * needed + 2.0)} is enough)"
        )
        shorter = []
        for entry in fitted:
            epochs, checkpoints = entry.budget.epochs, int(share * entry.budget.checkpoints)
            epochs, checkpoints = epochs and share * epochs, max(FEWEST_CHECKPOINTS, checkpoints)
            budget = replace(entry.budget, epochs=epochs, checkpoints=checkpoints)
            shorter.append(replace(entry, budget=budget))
        return shorter


def _show(
    report: Report, name: str, troubles: Sequence[str], remarks: Sequence[str], epochs: float | None
) -> None:
    """Print the board and the verdict."""
    from aucbench.reports.try_verdict import next_steps, verdict
    from aucbench.reports.views.text import show

    show(report)
    print()
    sentences = [
        *verdict(report, name),
        *(f"Failed on {each}" for each in troubles),
        *(f"Note: {remark}." for remark in remarks),
        *(f"Next: {step}" for step in next_steps(report, name, epochs, bool(troubles))),
    ]
    width = min(80, Console().width)
    for sentence in sentences:
        print(textwrap.fill(sentence, width, subsequent_indent="  ", break_long_words=False))
