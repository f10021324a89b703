"""``aucbench try``: the packaged study of a method and well-known ones, in about a minute, and a verdict."""

import math
import os
import re
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
from aucbench.cli._ticker import Ticker
from aucbench.cli.exit_status import INTERRUPTED
from aucbench.config.build import build_study
from aucbench.config.compose import compose_jobs
from aucbench.config.overrides import parse
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.execution.cost_estimate import Speed, TrialRuns, iterations_of
from aucbench.execution.execute import execute_study, opened_store
from aucbench.execution.worker import prepared_data
from aucbench.humanize import duration
from aucbench.leaderboard.cells import from_store
from aucbench.leaderboard.report import Report
from aucbench.processes import start_fork_server
from aucbench.registry import Catalog
from aucbench.runner.task import DEFAULT_EPOCHS
from aucbench.studies.entry import Entry
from aucbench.studies.settings import Limits, Running
from aucbench.studies.store import Store
from aucbench.studies.study import Observer, Study

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
    "--seconds",
    default=SECONDS,
    show_default=True,
    help="Total time limit; slow methods train on fewer rows.",
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
            report, troubles = trial.report(), trial.failures()
    except KeyboardInterrupt:
        kept = "nothing was saved" if store is None else "finished cells are in the store"
        print(f"aucbench: interrupted; {kept}", file=sys.stderr)
        return INTERRUPTED
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

    def started(self, entry: Entry) -> None:
        self.ticker.describe(f"{entry.algorithm.name} on {entry.dataset.title}")


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
        self._name = str(self.cls.name)
        self._study = f"try_{self._name}"
        self._entries: list[Entry] = []
        self._refused: dict[str, str] = {}  # sentence by data set, of the method alone
        self._speeds: dict[str, Speed] = {}  # of the method, by data set; not where it failed
        self._costs: dict[str, float] = {}  # seconds of a complete run, for the same
        self._runs = 1  # of the method
        takes_any = tuple(getattr(self.cls, "losses", ()))[:1] == ("*",)
        self._own = (f"algo={self._name}", *(f"loss={ANY_LOSS}",) * takes_any)
        if takes_any:
            self.remarks.append(f"it takes any loss and has no default: {ANY_LOSS} was used")

    @property
    def _left(self) -> float:
        return max(1e-3, self._end - monotonic())

    def run(self) -> None:
        """Run what there is time for."""
        own = self._composed(*self._own)
        rivals = [entry for entry in self._composed() if entry.algorithm.name != self._name]
        self._check_epochs(rivals)
        start_fork_server()
        self._end = monotonic() + self.seconds
        self.ticker.stage("training the methods it is compared with")
        self._add(rivals)
        self.ticker.stage(f"measuring how fast {self._name} is")
        hanging = self._measure(own)
        own = self._fitted(own) if hanging is None else [hanging]
        self.ticker.stage(f"training {self._name} with its defaults")
        self._add(own)
        self._tune()

    def report(self) -> Report:
        """The leaderboard over the runs that the method has."""
        from aucbench.leaderboard.build import build

        cells = [cell for cell in from_store(self.store, self._study) if cell.run.seed < self._runs]
        return replace(build(cells, self._study, one_study=True), notes=())

    def failures(self) -> list[str]:
        """Why the method could not run, each reason once with its data sets."""
        sentences = [
            (cell.described.dataset.title, f"{failure.reason}: {failure.message}")
            for cell in from_store(self.store, self._study)
            if cell.described.algorithm.name == self._name
            and (failure := self.store.failure(cell.key)) is not None
        ]
        if not getattr(self.cls, "requires", None):  # else it declares which rows it takes
            sentences += self._refused.items()
        found: dict[
            str, tuple[dict[str, None], str]
        ] = {}  # by the sentence without its numbers, such as rows
        for dataset, sentence in sentences:
            found.setdefault(re.sub(r"\d+", "", sentence), ({}, sentence))[0][dataset] = None
        return [f"{', '.join(datasets)}: {sentence}" for datasets, sentence in found.values()]

    def _composed(self, *words: str) -> list[Entry]:
        """Entries of the experiment, of its own methods unless the words name another."""
        composed = compose_jobs(self.catalog, parse([*EXPERIMENT, *words]))
        study = build_study(self.catalog, composed)
        if study.refused:
            raise study.refused[0].error
        # Methods that run until they have converged do so here, too.
        return [
            each if each.budget.epochs is None else _with_epochs(each, self.epochs) for each in study.entries
        ]

    def _check_epochs(self, rivals: Sequence[Entry]) -> None:
        """Refuse epochs that take the rivals longer than all may: a cell that runs is not interrupted."""
        stochastic = [entry for entry in rivals if entry.budget.epochs is not None]
        needed = RIVAL_SECONDS * sum(_iterations(entry) * entry.settings.runs for entry in stochastic)
        if needed > self.seconds:
            raise ParameterError(
                f"--epochs {self.epochs:g} may take the other methods {needed:,.0f} s: "
                f"set --seconds {math.ceil(2 * needed)}, or fewer epochs."
            )

    def _add(self, entries: Sequence[Entry]) -> None:
        """Run the study with more entries."""
        self._entries += entries
        running = Running(stop_after=self._left)
        study = Study(self._entries, running, self._study, command=f"aucbench try {self._name}")
        result = execute_study(study, self.store, _Progress(self.ticker))
        if sum(left for _, left in result.left) == result.cells:
            raise ParameterError(f"--seconds {self.seconds:g} is too short: nothing could be run.")
        for each in result.refused:
            name, _, dataset = each.entry.partition(" on ")
            if name == self._name and dataset not in self._refused:
                self._refused[dataset] = each.why
                self.remarks.append(f"{dataset}: it did not run: {each.why.rstrip('.')}")

    def _measure(self, own: Sequence[Entry]) -> Entry | None:
        """Try how fast the method is on each data set; gives the first entry on which it does not end."""
        wait = Limits(self.seconds / 6.0, None, self.seconds / 6.0)
        with TrialRuns() as trial_runs:
            for number, entry in enumerate(own):
                title = entry.dataset.title
                speed = trial_runs.speed(replace(entry, limits=wait), entry.settings.seed, 0)
                if speed is not None and math.isinf(speed.iteration):
                    if others := [each.dataset.title for each in own[number + 1 :]]:
                        self.remarks.append(f"it was not run on {', '.join(others)}, as it hangs on {title}")
                    self.is_cut = True
                    return replace(_with_runs(entry, 1), limits=Limits(self.seconds / 10.0, None, GRACE))
                if speed is not None:
                    self._speeds[title] = speed
                    scoring = entry.budget.checkpoints * speed.checkpoint
                    self._costs[title] = speed.iteration * _iterations(entry) + scoring
        return None

    def _fitted(self, own: list[Entry]) -> list[Entry]:
        """The method's entries with as many runs, epochs and checkpoints as there is time for."""
        runs, needed = own[0].settings.runs, sum(self._costs.values())
        if needed * runs <= self._left / 2:
            self._runs = runs
        else:
            self.remarks.append("there was time for one run only (--seconds allows more)")
        left = 0.8 * self._left
        fitted: list[Entry] = []
        cut: dict[str, float] = {}  # epochs by data set
        for entry in sorted(own, key=lambda each: self._costs.get(each.dataset.title, 0.0)):
            title, share = entry.dataset.title, left / (self._runs * (len(own) - len(fitted)))
            cost = self._costs.get(title, 1.0)
            if title in self._speeds and cost > share:
                entry, cost = _within(entry, self._speeds[title], share), share
                cut[title] = float(entry.budget.epochs or 0.0)
            left -= self._runs * cost
            limits = Limits(1.0 + 3.0 * cost, None, GRACE)
            fitted.append(replace(_with_runs(entry, self._runs), limits=limits))
        if cut:
            self.is_cut = True
            slowest = duration(max(self._speeds[title].iteration for title in cut))
            seen = ", ".join(f"{epochs:.2g} on {title}" for title, epochs in cut.items())
            self.remarks.append(
                f"{self._name} takes {slowest} per iteration: of {self.epochs:g} epochs there was time for "
                f"{seen}, and it was not tuned (--seconds {10 * math.ceil(0.2 * needed + 2.0)} is enough)"
            )
        return fitted

    def _tune(self) -> None:
        """Tune the method and its stochastic rivals over a few settings, where there is time for it."""
        if not getattr(self.cls, "grid", None):
            self.remarks.append("it declares no grid and was not tuned")
            return
        if self.is_cut or not self._costs or self.failures():
            return
        trials = min(TRIALS, int(0.5 * self._left / max(1e-9, self._runs * sum(self._costs.values()))))
        if trials < FEWEST_TRIALS:
            self.remarks.append("there was no time to tune it (--seconds allows more)")
            return
        self.ticker.stage(f"tuning {self._name} and its rivals over {trials} settings")
        tuning = ("tuning=random", f"tuning.trials={trials}", "tuning.folds=2", "tuning.report=false")
        limits = Limits(1.0 + 3.0 * max(self._costs.values()), None, GRACE)
        own = [each for each in self._composed(*self._own, *tuning) if each.dataset.title in self._costs]
        rivals = [
            each for each in self._composed(*tuning) if each.algorithm.name not in (self._name, *OPTIMA)
        ]
        limited = [replace(each, limits=limits) for each in own]
        self._add([_with_runs(each, self._runs) for each in (*limited, *rivals)])


def _iterations(entry: Entry) -> float:
    """Iterations of a complete run."""
    return iterations_of(entry, len(prepared_data().split(entry, entry.settings.seed, 0).train.y))


def _with_runs(entry: Entry, runs: int) -> Entry:
    return replace(entry, settings=replace(entry.settings, runs=runs))


def _with_epochs(entry: Entry, epochs: float) -> Entry:
    return replace(entry, budget=replace(entry.budget, epochs=epochs))


def _within(entry: Entry, speed: Speed, seconds: float) -> Entry:
    """The entry with as many epochs and checkpoints as fit into some seconds, at least one iteration."""
    fitting = int(0.25 * seconds / max(speed.checkpoint, 1e-9))
    checkpoints = max(FEWEST_CHECKPOINTS, min(entry.budget.checkpoints, fitting))
    training = max(0.0, seconds - checkpoints * speed.checkpoint)
    iterations = _iterations(entry)
    share = max(1.0 / iterations, min(1.0, training / max(speed.iteration * iterations, 1e-12)))
    epochs = share * (entry.budget.epochs or DEFAULT_EPOCHS)
    return replace(entry, budget=replace(entry.budget, epochs=epochs, checkpoints=checkpoints))


def _show(
    report: Report, name: str, troubles: Sequence[str], remarks: Sequence[str], epochs: float | None
) -> None:
    """Print curves, boards and the verdict; colours on a terminal, letters where braille is not known."""
    from aucbench.leaderboard.render import terminal
    from aucbench.leaderboard.render.braille_plot import WIDTH, board_series, draw
    from aucbench.leaderboard.verdict import next_steps, verdict

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
