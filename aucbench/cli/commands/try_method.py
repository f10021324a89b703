"""``aucbench try``: the packaged study of a method and well-known ones, in about a minute, and a verdict."""

import math
import re
import sys
import textwrap
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from time import monotonic

import click

from aucbench import api
from aucbench.cli.progress import BarView, bar
from aucbench.config.build import build_study
from aucbench.config.words import parse
from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.humanize import duration
from aucbench.pool import start_fork_server
from aucbench.registry import Catalog
from aucbench.reports.cells import from_store
from aucbench.reports.report import Report
from aucbench.studies.default_settings import Limits, Running
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execution.cost_estimate import seconds_alone
from aucbench.studies.execution.execute import execute_study, opened_store
from aucbench.studies.record import CellStatus
from aucbench.studies.store import Store
from aucbench.studies.study import Study

EXPERIMENT = ("+experiment=try", "tracking=none")
EPOCHS, SECONDS = 5.0, 60.0
ANY_LOSS = "logistic"  # loss for methods that take any loss and have no default
GRACE = 6.0  # extra seconds of a run, for starting its process and compiling
WIDTH = 80


@click.command("try")
@click.argument("name")
@click.option("--epochs", default=EPOCHS, show_default=True, help="Number of passes over the training rows.")
@click.option(
    "--seconds",
    default=SECONDS,
    show_default=True,
    help="Time limit in seconds; slow methods visit fewer rows.",
)
@click.option("--store", default=None, help="Folder for the cells; if left out, nothing is kept.")
def try_method(name: str, epochs: float, seconds: float, store: str | None) -> int:
    """Compare the method NAME with well-known methods on three small data sets (the experiment `try`).

    All methods have their defaults. The speed of NAME is measured first: a slow method gets fewer epochs, and
    a method that hangs is killed. The output is leaderboards and a verdict in words. Nothing is downloaded or
    logged. The exit status is 1 if the method failed or diverged on some of the data.
    """
    from aucbench.reports.try_verdict import verdict
    from aucbench.reports.views.text import console, show

    for option, value in (("epochs", epochs), ("seconds", seconds)):
        if not 0.0 < value < math.inf:
            raise ParameterError(f"--{option} must be > 0, got {value:g}.")
    catalog = api.catalog()
    catalog.find(Family.algorithms, name)
    with opened_store(store) as opened, closing(_Stages(seconds)) as stages, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # overflows of a method that diverges are in the verdict
        trial = _Trial(catalog, name, epochs, seconds, opened, stages)
        trial.run()
        stages.begin("comparing them")
        report, troubles = trial.report(), trial.failures()
    show(report)
    print()
    sentences = [
        *verdict(report, name),
        *(f"Failed on {trouble}" for trouble in troubles),
        *(f"Note: {remark}." for remark in trial.remarks),
        *([f"Next: aucbench check {name} shows on small inputs what goes wrong."] if troubles else []),
    ]
    for sentence in sentences:
        width = min(WIDTH, console().width)
        print(textwrap.fill(sentence, width, subsequent_indent="  ", break_long_words=False))
    rows = report.results[report.results["method"] == name]
    return int(bool(troubles) or bool(rows["diverged"].any()))


class _Stages(BarView):
    """Prints stages, and shows the running entry and the elapsed time on a terminal."""

    def __init__(self, seconds: float) -> None:
        self._bar = bar(f"{{desc}}{{elapsed}} of at most {seconds:g} s")

    def begin(self, stage: str) -> None:
        self._bar.write(f"aucbench: {stage} ...", file=sys.stderr)

    def started(self, entry: Entry) -> None:
        self._bar.set_description(f"{entry.algorithm.name} on {entry.dataset.title}")


class _Trial:
    """The study, run in two parts: the rivals, then the method as well, with its defaults.

    The method's runs get half of the time left by the rivals, and train for the fraction of their epochs
    that fits into this time. A run that takes much longer is killed.
    """

    def __init__(
        self, catalog: Catalog, name: str, epochs: float, seconds: float, store: Store, stages: _Stages
    ) -> None:
        self._catalog, self._name, self._seconds = catalog, name, seconds
        self._facts = MethodFacts(catalog.find(Family.algorithms, name).cls)
        self._store, self._stages = store, stages
        self._entries: list[Entry] = []
        self._refused: dict[str, str] = {}  # reasons by data set, for the method alone
        self.remarks: list[str] = []
        self._epochs = epochs

    def run(self) -> None:
        """Run as many entries as the time limit allows."""
        overrides = [f"algo={self._name}"]
        if self._facts.losses[:1] == ("*",):
            overrides.append(f"loss={ANY_LOSS}")
            self.remarks.append(f"it takes any loss and has no default: {ANY_LOSS} was used")
        entries, rivals = self._composed(*overrides), self._composed()
        start_fork_server()
        end = monotonic() + self._seconds
        self._stages.begin("training the methods it is compared with")
        self._add([entry for entry in rivals if entry.algorithm.name != self._name], end)
        self._stages.begin(f"measuring how fast {self._name} is")
        needed = seconds_alone(entries, self._seconds / 3.0)  # failures and hangs are reported by the runs
        self._stages.begin(f"training {self._name} with its defaults")
        self._add(self._fitted(entries, needed, max(1e-3, end - monotonic()) / 2.0), end)

    def report(self) -> Report:
        """The leaderboard of all runs that were made; a remark gives the number of missing runs."""
        from aucbench.reports.build import build

        planned = list(from_store(self._store, self._study))
        cells = [cell for cell in planned if cell.status is not CellStatus.missing]
        if missing := len(planned) - len(cells):
            self.remarks.append(f"{missing} of {len(planned)} runs were not made (--seconds allows more)")
        return replace(build(cells, self._study, one_study=True), notes=())

    def failures(self) -> list[str]:
        """The reasons why the method could not run, each reason once with its data sets."""
        pairs = [
            (cell.described.dataset.title, f"{failure.reason}: {failure.message}")
            for cell in from_store(self._store, self._study)
            if cell.described.algorithm.name == self._name
            and (failure := self._store.failure(cell.key)) is not None
        ]
        pairs += [] if self._facts.requires else self._refused.items()  # `requires` explains refusals
        alike: dict[str, tuple[str, dict[str, None]]] = {}  # sentences that differ in numbers alone
        for dataset, sentence in pairs:
            alike.setdefault(re.sub(r"\d+", "", sentence), (sentence, {}))[1][dataset] = None
        return [f"{', '.join(data_sets)}: {sentence}" for sentence, data_sets in alike.values()]

    @property
    def _study(self) -> str:
        return f"try_{self._name}"

    def _composed(self, *overrides: str) -> list[Entry]:
        """Entries of the experiment, with its methods unless the overrides name another one."""
        study = build_study(self._catalog, parse([*EXPERIMENT, *overrides]))
        if study.refused:
            raise study.refused[0].error
        return _with_epochs(study.entries, self._epochs)

    def _add(self, entries: Sequence[Entry], end: float) -> None:
        """Run the study with more entries."""
        self._entries += entries
        running = Running(stop_after=max(1e-3, end - monotonic()))
        study = Study(self._entries, running, self._study, command=f"aucbench try {self._name}")
        result = execute_study(study, self._store, self._stages)
        if sum(count for _, count in result.left) == result.cells:
            raise ParameterError(f"--seconds {self._seconds:g} is too short: nothing could be run.")
        for refusal in result.refused:
            name, _, dataset = refusal.entry.partition(" on ")
            if name == self._name and dataset not in self._refused:
                self._refused[dataset] = refusal.why
                self.remarks.append(f"{dataset}: it did not run: {refusal.why.rstrip('.')}")

    def _fitted(self, entries: Sequence[Entry], needed: float, time: float) -> list[Entry]:
        """The method's entries with as many epochs as fit into the time."""
        limits = Limits(seconds=1.0 + 2.0 * time / sum(entry.settings.runs for entry in entries), grace=GRACE)
        fitted = [replace(entry, limits=limits) for entry in entries]
        epochs, share = self._epochs, time / needed if needed else 1.0
        if share >= 1.0:
            return fitted
        self.remarks.append(
            f"{self._name} takes {duration(needed)} for {epochs:g} epochs on all data sets: there was "
            f"time for {share * epochs:.2g} (--seconds {10 * math.ceil(0.2 * needed + 2.0)} is enough)"
        )
        return _with_epochs(fitted, share * epochs)


def _with_epochs(entries: Sequence[Entry], epochs: float) -> list[Entry]:
    """The entries with other epochs; entries that run until convergence stay unchanged."""
    budgets = [replace(entry.budget, epochs=entry.budget.epochs and epochs) for entry in entries]
    return [replace(entry, budget=budget) for entry, budget in zip(entries, budgets, strict=True)]
