"""``aucbench try``: the packaged study of a method and well-known ones, in about a minute, and a verdict."""

import math
import re
import shutil
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
from scipy import sparse

from aucbench import api
from aucbench.cli.exit_status import INTERRUPTED
from aucbench.cli.progress import BarView, bar
from aucbench.config.build import build_study
from aucbench.config.compose import compose_jobs
from aucbench.config.overrides import parse
from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.humanize import duration
from aucbench.pool import Pool, start_fork_server
from aucbench.registry import Catalog
from aucbench.reports.cells import BoardCell, from_store
from aucbench.reports.report import TUNED, Report
from aucbench.runner.task import default_passes
from aucbench.studies.cost_estimate import iterations_of, seconds_of
from aucbench.studies.default_settings import Running
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.execute import execute_study, opened_store
from aucbench.studies.record import Seeds
from aucbench.studies.store import Store
from aucbench.studies.study import Study
from aucbench.studies.worker import prepared_data

EXPERIMENT = ("+experiment=try", "tracking=none")
EPOCHS, SECONDS = 5.0, 60.0
EPOCHS_PER_SECOND = 30.0  # that the stochastic methods of the experiment do all together on a slow machine
TRIALS, FEWEST_TRIALS = 12, 4  # settings that a tuning tries, and fewer than which are not worth it
FEWEST_CHECKPOINTS = 4
ANY_LOSS = "logistic"  # of a method that takes any and has no default
GRACE = 6.0  # seconds beyond its own that a run may take: for a process to begin, and for compiling
OPTIMA = ("ls_svm", "svm_or")  # are not tuned
LANDMARKS = 100  # of the kernel features on which a linear method is run as well
KERNEL_SHARE = 0.25  # of the time that is left, which that may take
MUCH_BETTER = 0.02  # that the AUC must be with these for a hint


@click.command("try")
@click.argument("name")
@click.option("--epochs", default=EPOCHS, show_default=True, help="Passes over the training rows.")
@click.option("--seconds", default=SECONDS, show_default=True, help="Limit; slow methods see fewer rows.")
@click.option("--store", default=None, help="Folder to keep the cells in; nothing is kept when left out.")
def try_method(name: str, epochs: float, seconds: float, store: str | None) -> int:
    """Run the method NAME on three small data sets beside well-known ones (the experiment `try`).

    With its defaults; if it is linear, once on kernel features, for a hint where these are much better;
    and, if it declares a grid and there is time, tuned over a few random settings as the others are.
    Its speed is measured first: a slow method gets fewer epochs and is not tuned, and one that hangs is
    killed. Shows curves, leaderboards, and a verdict in words. Nothing is downloaded or logged.
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
            report, troubles, hints = trial.report(), trial.failures(), trial.hints()
    except KeyboardInterrupt:
        kept = "nothing was saved" if store is None else "finished cells are in the store"
        print(f"aucbench: interrupted; {kept}", file=sys.stderr)
        return INTERRUPTED
    _show(report, name, troubles, trial.remarks, hints, None if trial.is_cut else epochs)
    own = report.results[(report.results["method"] == name) & (report.results["setting"] != TUNED)]
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
    """The study, run in three parts: the rivals, the method with its defaults, then all of them tuned.

    Each part is the study so far with more entries: the store has what was run before.

    The method's runs with its defaults get half of the time that the rivals leave. Where three runs of each
    data set do not fit into that, there is one, and on each data set it gets an equal share of the time: it
    trains for that fraction of its epochs which fits. A run that takes much longer than its share is killed.
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
        self._kernel_study = f"{self._study}_kernel"
        self._first_seeds: Seeds | None = None  # of the run on kernel features, where there was one
        self._entries: list[Entry] = []
        self._refused: dict[str, str] = {}  # sentence by data set, of the method alone
        self._costs: dict[str, float] = {}  # seconds of a complete run by data set; not where it failed
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
        own = self._measured(own)
        self.stages.begin(f"training {self._name} with its defaults")
        self._add(self._fitted(own))
        self._try_kernel()
        self._tune()

    def report(self) -> Report:
        """The leaderboard over the runs that the method has."""
        from aucbench.reports.build import build

        cells = [cell for cell in from_store(self.store, self._study) if cell.run.seed < self._runs]
        return replace(build(cells, self._study, one_study=True), notes=())

    def hints(self) -> list[str]:
        """Where the method is much better on kernel features, in the first run of both."""
        first = [cell for cell in from_store(self.store, self._study) if cell.run == self._first_seeds]
        linear = {cell.described.dataset.title: cell for cell in first if self._is_own(cell)}
        told = []
        for cell in from_store(self.store, self._kernel_study) if self._first_seeds else ():
            before, after = linear.get(cell.described.dataset.title), cell.value("auc")
            auc = before.value("auc") if before is not None else None
            if auc is not None and after is not None and after - auc > MUCH_BETTER:
                told.append(f"{auc:.3f} -> {after:.3f} on {cell.described.dataset.title}")
        if not told:
            return []
        return [
            f"with features=nystroem, a Gaussian kernel at {LANDMARKS} landmarks, the AUC of one run is much "
            f"better: {', '.join(told)}. A line does not separate such data; try features=nystroem on yours."
        ]

    def _is_own(self, cell: BoardCell) -> bool:
        return cell.described.algorithm.name == self._name and cell.described.tuning.name == "none"

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
        alike: dict[str, list[tuple[str, str]]] = {}  # sentences that differ in numbers alone, such as rows
        for dataset, sentence in told:
            alike.setdefault(re.sub(r"\d+", "", sentence), []).append((dataset, sentence))
        return [
            f"{', '.join(dict.fromkeys(dataset for dataset, _ in group))}: {group[0][1]}"
            for group in alike.values()
        ]

    def _composed(self, *words: str) -> list[Entry]:
        """Entries of the experiment, of its own methods unless the words name another."""
        study = build_study(self.catalog, compose_jobs(self.catalog, parse([*EXPERIMENT, *words])))
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

    def _measured(self, own: Sequence[Entry]) -> list[Entry]:
        """Measure how fast the method is on each data set; the entries up to the first on which it hangs."""
        with Pool() as pool:
            for number, entry in enumerate(own):
                seconds = seconds_of(entry, pool, self.seconds / 3.0)
                if seconds is None:
                    continue
                title = entry.dataset.title
                self._costs[title] = seconds
                if math.isinf(self._costs[title]):
                    if others := [each.dataset.title for each in own[number + 1 :]]:
                        self.remarks.append(f"it was not run on {', '.join(others)}, as it hangs on {title}")
                    return list(own[: number + 1])
        return list(own)

    def _fitted(self, own: Sequence[Entry]) -> list[Entry]:
        """The method's entries with as many runs and epochs as fit into half of the time that is left."""
        runs, needed, time = own[0].settings.runs, sum(self._costs.values()), self._left / 2.0
        self.is_cut = needed > time
        if needed * runs <= time:
            self._runs = runs
        else:
            self.remarks.append("there was time for one run only (--seconds allows more)")
        share = time / (self._runs * len(own))
        words = (*self._own, f"runs={self._runs}", *_limited(1.0 + 2.0 * share))
        fitted = self._composed(*words)[: len(own)]
        cut = []
        for number, entry in enumerate(fitted):
            cost = self._costs.get(entry.dataset.title, 0.0)
            if self.is_cut and cost > share:
                fitted[number] = _shortened(entry, share / cost)
                cut.append(f"{fitted[number].budget.epochs:.2g} on {entry.dataset.title}")
        if cut and math.isfinite(needed):
            enough = 10 * math.ceil(0.2 * needed + 2.0)
            self.remarks.append(
                f"{self._name} takes {duration(needed)} for {self.epochs:g} epochs on all data sets: there "
                f"was time for {', '.join(cut)}, and it was not tuned (--seconds {enough} is enough)"
            )
        return fitted

    def _tune(self) -> None:
        """Tune the method and its stochastic rivals over a few settings, where there is time for it."""
        if not MethodFacts(self.cls).grid:
            self.remarks.append("it declares no grid and was not tuned")
            return
        if self.is_cut or not self._costs or self.failures():
            return
        costs = self._costs.values()
        trials = min(TRIALS, int(0.5 * self._left / max(1e-9, self._runs * sum(costs))))
        if trials < FEWEST_TRIALS:
            self.remarks.append("there was no time to tune it (--seconds allows more)")
            return
        self.stages.begin(f"tuning {self._name} and its rivals over {trials} settings")
        search = ("tuning=random", f"tuning.trials={trials}", "tuning.folds=2", "tuning.report=false")
        words = (*search, f"runs={self._runs}")
        own = self._composed(*self._own, *words, *_limited(1.0 + 3.0 * max(costs)))
        rivals = self._composed(*words)
        self._add(
            [each for each in own if each.dataset.title in self._costs]
            + [each for each in rivals if each.algorithm.name not in (self._name, *OPTIMA)]
        )

    def _try_kernel(self) -> None:
        """Run a linear method once on kernel features of the dense data sets, where there is time for it."""
        room = KERNEL_SHARE * self._left
        if self.is_cut or not self._costs or self.failures() or MethodFacts(self.cls()).weights is None:
            return
        kernel = ("features=nystroem", f"features.landmarks={LANDMARKS}", "runs=1", *_limited(room))
        dense = [
            entry
            for entry in self._composed(*self._own, *kernel)
            if entry.dataset.title in self._costs
            and not sparse.issparse(prepared_data().split(entry, entry.settings.seed, 0).train.X)
        ]
        if not dense or LANDMARKS * sum(self._costs[entry.dataset.title] for entry in dense) > 10.0 * room:
            return
        self.stages.begin(f"training {self._name} on kernel features")
        study = Study(
            dense, Running(stop_after=room), self._kernel_study, command=f"aucbench try {self._name}"
        )
        execute_study(study, self.store, self.stages)
        self._first_seeds = dense[0].cells()[0]


def _limited(seconds: float) -> tuple[str, str]:
    return f"limits.seconds={seconds:g}", f"limits.grace={GRACE:g}"


def _shortened(entry: Entry, fraction: float) -> Entry:
    """The entry with a fraction of its epochs and checkpoints, at least one iteration."""
    budget = entry.budget
    rows = len(prepared_data().split(entry, entry.settings.seed, 0).train.y)
    epochs = max(fraction, 1.0 / iterations_of(entry, rows)) * (budget.epochs or default_passes(rows))
    checkpoints = max(FEWEST_CHECKPOINTS, int(fraction * budget.checkpoints))
    return replace(entry, budget=replace(budget, epochs=epochs, checkpoints=checkpoints))


def _show(
    report: Report,
    name: str,
    troubles: list[str],
    remarks: list[str],
    hints: list[str],
    epochs: float | None,
) -> None:
    """Print curves, boards and the verdict; colours on a terminal, letters where braille is not known."""
    from aucbench.reports.try_verdict import next_steps, verdict
    from aucbench.reports.views.braille_plot import WIDTH, data_set_series, draw
    from aucbench.reports.views.text import show

    console = Console()
    colours = console.color_system is not None and not console.no_color
    for setting, data_set in report.data_sets[["setting", "data_set"]].itertuples(index=False):
        series = [] if setting == TUNED else data_set_series(report, setting, data_set, name)
        lines = draw(series, braille=not console.options.ascii_only, colours=colours)
        if lines:
            print(f"test AUC on {data_set}", *lines, "", sep="\n")
    show(report)
    print()
    sentences = [
        *verdict(report, name),
        *(f"Failed on {each}" for each in troubles),
        *(f"Note: {remark}." for remark in remarks),
        *(f"Hint: {hint}" for hint in hints),
        *(f"Next: {step}" for step in next_steps(report, name, epochs, bool(troubles))),
    ]
    width = min(WIDTH, shutil.get_terminal_size().columns)
    for sentence in sentences:
        print(textwrap.fill(sentence, width, subsequent_indent="  ", break_long_words=False))
