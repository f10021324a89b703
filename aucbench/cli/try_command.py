"""``aucbench try``: the packaged study of a method and well-known ones, in about a minute, and a verdict."""

import math
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import click

import aucbench
from aucbench.boards.report import Report
from aucbench.cli import INTERRUPTED
from aucbench.cli.ticking import Ticker
from aucbench.config import binding, composing, sweeping
from aucbench.config.settings import Limits, Running
from aucbench.entry import Entry
from aucbench.errors import ParameterError
from aucbench.registry import Catalog, Family
from aucbench.runner.task import DEFAULT_EPOCHS
from aucbench.store import Store
from aucbench.studies import forking
from aucbench.studies.estimating import iterations_of
from aucbench.studies.observing import Observer
from aucbench.studies.performing import workshop
from aucbench.studies.running import Study, opened_store, run_study
from aucbench.studies.trial_run import Speed, TrialRuns
from aucbench.studies.units import Unit
from aucbench.wording import duration

EXPERIMENT = ("+experiment=try", "tracking=none")
EPOCHS, SECONDS = 5.0, 60.0
TRIALS, FEWEST_TRIALS = 12, 4  # settings that a tuning tries, and fewer than which are not worth it
FEWEST_CHECKPOINTS = 4
ANY_LOSS = "logistic"  # of a method that takes any and has no default
GRACE = 6.0  # seconds beyond its own that a run may take: for a process to begin, and for compiling
RIVAL_SECONDS = 1e-6  # that an iteration of the stochastic rivals takes at most
OPTIMA = ("ls_svm", "svm_or")  # are not tuned
PLOTTED = "⣿│"  # characters of a plot, which not every output knows


@click.command("try")
@click.argument("name")
@click.option("--epochs", default=EPOCHS, show_default=True, help="Passes over the training rows.")
@click.option(
    "--seconds", default=SECONDS, show_default=True, help="Total time limit; slow methods train on fewer rows."
)
@click.option("--store", default=None, help="Folder to keep the cells in; nothing is kept when left out.")
def try_method(name: str, epochs: float, seconds: float, store: str | None) -> int:
    """Run the method NAME on three small data sets beside well-known ones (the experiment `try`).

    With its defaults and, if it declares a grid and there is time, tuned over a few random settings as the
    others are. How fast it is is measured first: a slow method gets fewer epochs and is not tuned, and one
    that hangs is ended. Shows curves, leaderboards, and a verdict in words. Nothing is downloaded or logged.
    Exit status 1 when the method failed or diverged on some of the data.
    """
    for option, value in (("epochs", epochs), ("seconds", seconds)):
        if not 0.0 < value < math.inf:
            raise ParameterError(f"--{option} must be > 0, got {value:g}.")
    catalog = aucbench.catalog()
    cls = _method(catalog, name)
    try:
        with opened_store(store) as opened, Ticker(seconds) as ticker, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # overflows of a method that diverges are in the verdict
            trial = _Trial(catalog, cls, epochs, seconds, opened, ticker)
            trial.run()
            ticker.stage("comparing them")
            report = trial.report()
    except KeyboardInterrupt:
        kept = "nothing was saved" if store is None else "finished cells are in the store"
        print(f"aucbench: interrupted; {kept}", file=sys.stderr)
        return INTERRUPTED
    troubles = trial.failures()
    _show(report, name, troubles, trial.remarks, None if trial.is_cut else epochs)
    own = [row for board in report.boards for row in board.rows if row.method == name and not board.tuned]
    return int(bool(troubles) or any(row.diverged for row in own))


def _method(catalog: Catalog, name: str) -> Any:
    if name not in catalog.plugins[Family.algorithms]:
        for plugin in catalog:
            if plugin.name == name:
                raise ParameterError(
                    f"'{name}' is a {plugin.family.singular}; only methods are tried: "
                    f"aucbench check {name} tests it against the rules."
                )
    return catalog.find(Family.algorithms, name).cls


@dataclass
class _Progress(Observer):
    """Says beside the bar what runs."""

    ticker: Ticker

    def started(self, unit: Unit) -> None:
        self.ticker.describe(f"{unit.entry.algorithm.name} on {unit.entry.dataset.title}")


@dataclass
class _Trial:
    """The study, run in three parts: the rivals, the method with its defaults, then all of them tuned.

    Each part is the study so far with more entries: the store has what was run before.
    """

    catalog: Catalog
    cls: Any
    epochs: float
    seconds: float
    store: Store
    ticker: Ticker
    remarks: list[str] = field(default_factory=list)
    is_cut: bool = False  # whether the method got fewer epochs than was asked for

    def __post_init__(self) -> None:
        self._end = monotonic() + self.seconds
        self._name = str(self.cls.name)
        self._entries: list[Entry] = []
        self._refused: dict[str, str] = {}  # sentence by data set, of the method alone
        self._costs: dict[str, float] = {}  # seconds of a complete run, by data set
        self._runs = 1
        takes_any = tuple(getattr(self.cls, "losses", ()))[:1] == ("*",)
        self._loss = (f"loss={ANY_LOSS}",) * takes_any
        if takes_any:
            self.remarks.append(f"it takes any loss and has no default: {ANY_LOSS} was used")

    @property
    def _left(self) -> float:
        return max(1e-3, self._end - monotonic())

    def run(self) -> None:
        """Run what there is time for."""
        own = self._composed(f"algo={self._name}", *self._loss)
        rivals = [entry for entry in self._composed() if entry.algorithm.name != self._name]
        self._check_epochs(rivals)
        forking.begin()
        self.ticker.stage("training the methods it is compared with")
        self._add(rivals)
        self.ticker.stage(f"measuring how fast {self._name} is")
        own = self._fitted(own)
        self.ticker.stage(f"training {self._name} with its defaults")
        self._add(own)
        self._tune()

    def report(self) -> Report:
        """The leaderboard over the runs that the method has."""
        from aucbench.boards.building import build
        from aucbench.boards.collecting import from_store

        cells = [cell for cell in from_store(self.store, self._study) if cell.run[0] < self._runs]
        return replace(build(cells, self._study, one_study=True), notes=())

    def failures(self) -> list[str]:
        """Why the method could not run, each reason once with its data sets."""
        found: dict[str, dict[str, None]] = {}
        for each in self.store.failures():
            if each["algorithm"]["name"] == self._name:
                found.setdefault(f"{each['reason']}: {each['message']}", {})[each["dataset"]["title"]] = None
        if not getattr(self.cls, "requires", None):  # else it declares which rows it takes
            for dataset, sentence in self._refused.items():
                found.setdefault(sentence, {})[dataset] = None
        return [f"{', '.join(datasets)}: {sentence}" for sentence, datasets in found.items()]

    @property
    def _study(self) -> str:
        return f"try_{self._name}"

    def _composed(self, *words: str) -> list[Entry]:
        jobs = composing.experiment_jobs(self.catalog, [*EXPERIMENT, *words])
        entries = [
            binding.bind(self.catalog, cfg) for cfg in sweeping.runs(self.catalog, jobs) if cfg is not None
        ]
        return [
            entry
            if entry.budget.epochs is None
            else replace(entry, budget=replace(entry.budget, epochs=self.epochs))
            for entry in entries
        ]

    def _check_epochs(self, rivals: Sequence[Entry]) -> None:
        """Refuse epochs that take the rivals longer than all may: a cell that runs is not interrupted."""
        iterations = sum(
            iterations_of(entry, _rows(entry)) * entry.settings.runs
            for entry in rivals
            if entry.budget.epochs is not None
        )
        needed = iterations * RIVAL_SECONDS
        if needed > self.seconds:
            raise ParameterError(
                f"--epochs {self.epochs:g} may take the other methods {needed:,.0f} s: "
                f"set --seconds {math.ceil(2 * needed)}, or fewer epochs."
            )

    def _add(self, entries: Sequence[Entry]) -> None:
        self._entries += entries
        running = Running(stop_after=self._left)
        study = Study(self._entries, running, self._study, command=f"aucbench try {self._name}")
        _, conducted = run_study(study, self.store, _Progress(self.ticker))
        for each in conducted.refused:
            name, _, dataset = each.entry.partition(" on ")
            if name == self._name:
                self._refused[dataset] = each.why
                self.remarks.append(f"{dataset}: it did not run: {each.why.rstrip('.')}")

    def _fitted(self, own: list[Entry]) -> list[Entry]:
        """The method's entries with as many runs, epochs and checkpoints as there is time for."""
        speeds: dict[str, Speed | None] = {}
        wait = Limits(self.seconds / 6.0, None, self.seconds / 6.0)
        with TrialRuns() as trial_runs:
            for entry in own:
                title = entry.dataset.title
                speeds[title] = trial_runs.speed(replace(entry, limits=wait), entry.settings.seed, 0)
                speed = speeds[title]
                if speed is not None and math.isinf(speed.iteration):
                    others = [each.dataset.title for each in own if each.dataset.title not in speeds]
                    if others:
                        self.remarks.append(f"it was not run on {', '.join(others)}, as it hangs on {title}")
                    short = Limits(self.seconds / 10.0, None, GRACE)
                    return [replace(_with_runs(entry, 1), limits=short)]
                if speed is not None:
                    points = entry.budget.checkpoints * speed.checkpoint
                    self._costs[title] = speed.iteration * iterations_of(entry, _rows(entry)) + points
        needed = sum(self._costs.values())
        self._runs = own[0].settings.runs if needed * own[0].settings.runs <= self._left / 2 else 1
        if self._runs < own[0].settings.runs:
            self.remarks.append("there was time for one run only (--seconds allows more)")
        cut: dict[str, float] = {}
        fitted = []
        left, waiting = 0.8 * self._left, sorted(own, key=lambda each: self._costs.get(each.dataset.title, 0.0))
        while waiting:
            entry, *waiting = waiting
            title, share = entry.dataset.title, left / (self._runs * (len(waiting) + 1))
            cost, speed = self._costs.get(title, 1.0), speeds[title]
            if speed is not None and cost > share:
                entry = _within(entry, speed, share)
                cut[title], cost = float(entry.budget.epochs or 0.0), share
            left -= self._runs * cost
            fitted.append(replace(_with_runs(entry, self._runs), limits=Limits(1.0 + 3.0 * cost, None, GRACE)))
        if cut:
            self.is_cut = True
            slowest = max(each.iteration for each in speeds.values() if each is not None)
            seen = ", ".join(f"{epochs:.2g} on {title}" for title, epochs in cut.items())
            self.remarks.append(
                f"{self._name} takes {duration(slowest)} per iteration: of {self.epochs:g} epochs there was time "
                f"for {seen}, and it was not tuned (--seconds {10 * math.ceil(0.2 * needed + 2.0)} is enough)"
            )
        return fitted

    def _tune(self) -> None:
        """Tune the method and its stochastic rivals over a few settings, where there is time for it."""
        if not getattr(self.cls, "grid", None):
            self.remarks.append("it declares no grid and was not tuned")
            return
        if self.is_cut or self.failures() or not self._costs:
            return
        trials = min(TRIALS, int(0.5 * self._left / max(1e-9, self._runs * sum(self._costs.values()))))
        if trials < FEWEST_TRIALS:
            self.remarks.append("there was no time to tune it (--seconds allows more)")
            return
        self.ticker.stage(f"tuning {self._name} and its rivals over {trials} settings")
        tuning = ("tuning=random", f"tuning.trials={trials}", "tuning.folds=2", "tuning.report=false")
        limits = Limits(1.0 + 3.0 * max(self._costs.values()), None, GRACE)
        own = [
            replace(_with_runs(entry, self._runs), limits=limits)
            for entry in self._composed(f"algo={self._name}", *self._loss, *tuning)
            if entry.dataset.title in self._costs
        ]
        rivals = [
            _with_runs(entry, self._runs)
            for entry in self._composed(*tuning)
            if entry.algorithm.name not in (self._name, *OPTIMA)
        ]
        self._add([*own, *rivals])


def _rows(entry: Entry) -> int:
    """Training rows of its first run."""
    return len(workshop().split(entry, entry.settings.seed, 0).train.y)


def _with_runs(entry: Entry, runs: int) -> Entry:
    return replace(entry, settings=replace(entry.settings, runs=runs))


def _within(entry: Entry, speed: Speed, seconds: float) -> Entry:
    """The entry with as many epochs and checkpoints as fit into some seconds."""
    fitting = int(0.25 * seconds / max(speed.checkpoint, 1e-9))
    checkpoints = max(FEWEST_CHECKPOINTS, min(entry.budget.checkpoints, fitting))
    training = max(0.0, seconds - checkpoints * speed.checkpoint)
    epochs = entry.budget.epochs or DEFAULT_EPOCHS
    share = training / max(speed.iteration * iterations_of(entry, _rows(entry)), 1e-12)
    least = epochs / iterations_of(entry, _rows(entry))  # of one iteration
    fitted = max(least, epochs * min(1.0, share))
    return replace(entry, budget=replace(entry.budget, epochs=fitted, checkpoints=checkpoints))


def _show(
    report: Report, name: str, troubles: Sequence[str], remarks: Sequence[str], epochs: float | None
) -> None:
    """Print curves, boards and the verdict; colours on a terminal, letters where braille is not known."""
    from aucbench.boards import terminal
    from aucbench.boards.braille_plot import WIDTH, board_series, draw
    from aucbench.boards.verdict import next_steps, verdict

    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    for board in report.boards:
        lines = draw(board_series(board, name), braille=_knows_braille(), colours=colours)
        if lines and not board.tuned:
            print(f"test AUC on {board.dataset}", *lines, "", sep="\n")
    terminal.show(report)
    print()
    sentences = [
        *verdict(report, name),
        *(f"Failed on {each}" for each in troubles),
        *(f"Note: {remark}." for remark in remarks),
        *(f"Next: {step}" for step in next_steps(report, name, epochs, bool(troubles))),
    ]
    width = min(WIDTH, shutil.get_terminal_size().columns)
    for sentence in sentences:
        print(textwrap.fill(sentence, width, subsequent_indent="  ", break_long_words=False))


def _knows_braille() -> bool:
    try:
        PLOTTED.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
