"""Checks and their subjects. Checks run in order within a time limit; failures show a small input."""

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import MethodFacts
from aucbench.contracts.declarations import Facts
from aucbench.contracts.source_location import place_of
from aucbench.contracts.validation import Family
from aucbench.runner.cell import training_context
from aucbench.suggestions import suggest
from aucbench.testing.findings import Broken, CheckFailure, Finding, Skipped, Status, explain
from aucbench.testing.problems import SMALL, STANDARD, Size, Toy, small

PATIENCE = 60.0  # seconds for all checks of a plugin
SHRINKING = 10.0  # most seconds to look for a smaller failing input
ASIDE = ("exempt", "grid")  # checks whose failure does not stop other checks


class Subject:
    """A plugin under test, and its last input, which `where` describes.

    Methods are trained with the loss and scored; feature maps are fitted, and their features are the scores.
    """

    family: ClassVar[Family]
    companions: ClassVar[tuple[float, float]]  # tolerances of one row against many, double and single
    rows: Callable[..., NDArray[np.int64]]  # rows that a run visits
    train: Callable[..., Any]  # the state after a run
    final: Callable[[Any], Any]  # the state to score
    score: Callable[[Any, Any], NDArray[Any]]  # decision values (n,), or features (n, d), of rows
    read: Callable[[Any, Any], Any]  # calls all functions that read a final state
    uses: Callable[..., Iterator[str]]  # trains and scores, and yields each function that was called

    def __init__(self, plugin: Any, patience: float = PATIENCE, loss: Any = None):
        self.plugin = plugin() if isinstance(plugin, type) else plugin
        self.patience, self.began = patience, monotonic()  # seconds for all checks, and their beginning
        self.where, self._loss = "", loss
        self._size: Size | None = None

    def changed(self, **changes: Any) -> Self:
        """The same subject with some other attributes."""
        clone = copy.copy(self)
        vars(clone).update(changes)
        return clone

    @property
    def spent(self) -> float:
        """Seconds since the checks began."""
        return monotonic() - self.began

    def require_time(self) -> None:
        """Raise `Skipped` when no time is left."""
        if self.spent >= self.patience:
            reason = f"the {self.patience:g} s for all checks are used up (--patience allows more)"
            raise Skipped(Status.untried, reason)

    @property
    def size(self) -> Size:
        """Size of the problems."""
        self._size = self._size or STANDARD
        return self._size

    def smaller(self) -> Iterator[Self]:
        """The same plugin on smaller problems, in order; none if no check has read the size."""
        current = self._size or Size(0, 0, 0)
        for size in SMALL:
            if size.n <= current.n and size.d <= current.d and size != current:
                yield self.changed(_size=size)

    def exempt_if_it_requires(self, name: str) -> None:
        """Raise `Skipped` if the plugin requires `name` ("dense", "float64"), with its reason."""
        reasons = MethodFacts(self.plugin).requires
        if name in reasons and not str(reasons[name]).strip():
            raise Broken(f"`requires` names {name!r} without a reason.")
        if name in reasons:
            raise Skipped(Status.exempt, f"requires {name}: {reasons[name]}")

    @property
    def layouts(self) -> tuple[str, ...]:
        """The layouts of `problems.small` that the plugin takes."""
        return ("dense",) if "dense" in MethodFacts(self.plugin).requires else ("dense", "csr", "wide")

    def use(self, toy: Toy) -> Toy:
        """Record a problem in `where`; returns it."""
        self.where = toy.words
        return toy

    def problem(self, layout: str = "dense", dtype: Any = np.float64) -> Toy:
        """A small problem."""
        return self.use(small(self.size, layout, dtype))

    def problems(self) -> Iterator[Toy]:
        """One small problem for each layout that the plugin takes."""
        return (self.problem(layout) for layout in self.layouts)

    def outcome(self, toy: Toy, *run: Any) -> NDArray[Any]:
        """The scores of the rows of a problem after training on it."""
        return self.score(self.final(self.train(toy, *run)), toy.X)

    def broken(self, method: str, words: str) -> Broken:
        """The error for a function, with its place."""
        return Broken(f"`{method}` {words}", place_of(getattr(type(self.plugin), method, None)))


@dataclass(frozen=True)
class Check:
    """One rule. Call it with a plugin, class or instance; it raises `CheckFailure` if the rule is broken.

    Parameters
    ----------
    function : callable
        Takes the subject, and each small problem if it has two parameters; may return a remark. Its name is
        the name of the check, the first line of its docstring is the rule.
    prepare : callable
        Makes the subject of a plugin.
    stage : int
        A check needs all checks of earlier stages to pass.
    """

    function: Callable[..., str | None]
    prepare: type[Subject]
    stage: int = 0

    @property
    def name(self) -> str:
        """The name of the check in exemptions."""
        return self.function.__name__

    @property
    def sentence(self) -> str:
        """The rule."""
        return inspect.getdoc(self.function).splitlines()[0]  # type: ignore[union-attr]

    def __str__(self) -> str:
        return self.name

    def __call__(self, plugin: Any) -> Finding:
        """Check a plugin; a class is tried with its default parameters.

        The finding is passed, exempt, or untried after a minute, with a warning.
        """
        return conclude(plugin, (self.find(self.prepare(plugin)),), True)[0]

    def run(self, subject: Subject) -> str | None:
        """Check the rule, on each small problem if it applies to problems; returns the last remark."""
        if len(inspect.signature(self.function).parameters) == 1:
            return self.function(subject)
        *_, remark = (self.function(subject, toy) for toy in subject.problems())
        return remark

    def find(self, subject: Subject) -> Finding:
        """Check a subject; nothing is raised."""
        exempt = Facts(subject.plugin).exempt
        if exempt.get(self.name):
            return Finding(self.name, Status.exempt, exempt[self.name])
        subject.where = ""
        with training_context():  # same number of BLAS threads as in a run
            try:
                subject.require_time()
                return Finding(self.name, Status.passed, self.run(subject) or "")
            except Skipped as skipped:
                return Finding(self.name, skipped.status, str(skipped))
            except (Exception, SystemExit) as error:  # any exception of a plugin is a finding
                return _smallest(self, subject, error)


def in_stages(prepare: type[Subject], *stages: tuple[Callable[..., str | None], ...]) -> tuple[Check, ...]:
    """The checks of a family; `exempt` is added to the second stage."""
    names = [function.__name__ for stage in stages for function in stage]

    def exempt(subject: Subject) -> None:
        """Every exemption names a check and has a reason."""
        for name, reason in Facts(subject.plugin).exempt.items():
            if name not in names:
                raise Broken(f"`exempt` names {name!r}, which is not a check. {suggest(str(name), names)}")
            if not reason.strip():
                raise Broken(f"`exempt` gives no reason for {name!r}.")

    first, second, *later = stages
    all_stages = enumerate((first, (exempt, *second), *later))
    return tuple(Check(function, prepare, number) for number, stage in all_stages for function in stage)


# called with the name of each check, then with its finding, and at the end with the seconds of all checks
Progress = Callable[[Finding | str | float], None]


def examine(
    checks: Sequence[Check], subject: Subject, progress: Progress = lambda message: None
) -> tuple[Finding, ...]:
    """Run checks on one subject; a failure that explains other failures is reported once."""
    findings: list[Finding] = []
    failed: dict[str, tuple[Check, Finding]] = {}
    for check in checks:
        earlier = (name for name, (prior, _) in failed.items() if prior.stage < check.stage)
        cause = next((name for name in earlier if name not in ASIDE), None)
        if cause is None:
            progress(check.name)
            finding = check.find(subject)
            if finding.status is Status.failed:
                same = (name for name, (_, failure) in failed.items() if failure.place == finding.place != "")
                cause = next(same, None)
                failed |= {} if cause else {check.name: (check, finding)}
        if cause is not None:
            finding = following(check.name, cause)
        findings.append(finding)
        progress(finding)
    progress(subject.spent)
    return tuple(findings)


def following(name: str, cause: str) -> Finding:
    """The finding of a check that is skipped because another one failed."""
    return Finding(name, Status.untried, f"stopped by what failed in {cause}", follows=cause)


def conclude(plugin: Any, findings: tuple[Finding, ...], raise_on_failure: bool) -> tuple[Finding, ...]:
    """Return the findings; if `raise_on_failure`, raise failures and warn of untried checks."""
    failed = [finding for finding in findings if finding.status is Status.failed]
    untried = [finding for finding in findings if finding.status is Status.untried]
    name = getattr(plugin, "name", plugin)
    if raise_on_failure and failed:
        lines = [f"{name} fails {len(failed)} check{'' if len(failed) == 1 else 's'}:"]
        for finding in failed:
            lines.append(f"  {finding.check}: {finding.message}")
            lines += [f"    {finding.place}"] if finding.place else []
            stopped = [follower.check for follower in untried if follower.follows == finding.check]
            if stopped:
                lines.append(f"    not tried for that reason: {', '.join(stopped)}")
        raise CheckFailure("\n".join(lines))
    if raise_on_failure and untried:
        text = "; ".join(f"{finding.check}: {finding.message}" for finding in untried)
        warnings.warn(f"{name}: not everything was tried: {text}", stacklevel=4)
    return findings


def _smallest(check: Check, subject: Subject, error: BaseException) -> Finding:
    """The failure on the smallest input found that fails in the same way."""
    end, (message, place), cls = monotonic() + SHRINKING, explain(type(subject.plugin), error), type(error)
    for candidate in subject.smaller():
        if monotonic() > end:
            break
        try:
            check.run(candidate)
        except Skipped:
            break
        except (Exception, SystemExit) as failure:  # as in `Check.find`
            text, location = explain(type(subject.plugin), failure)
            alike = ("CSR" in candidate.where) == ("CSR" in subject.where)
            if (type(failure), location) == (cls, place) and alike:
                subject, message = candidate, text
                break
    where = f" The smallest input that shows it: {subject.where}." if subject.where else ""
    return Finding(check.name, Status.failed, message + where, place)
