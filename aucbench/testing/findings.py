"""What a check is, what it finds, and how a failure is worded."""

import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, Protocol

from threadpoolctl import ThreadpoolController

from aucbench.errors import AucbenchError

ATTEMPTS = 40  # at finding a smaller input that fails


class Status(StrEnum):
    """What became of a check."""

    passed = "passed"
    exempt = "exempt"
    failed = "failed"


class Finding(NamedTuple):
    """What a check found; the message is the reason of an exemption, or what is wrong, or a remark."""

    check: str
    status: Status
    message: str = ""
    shown: str = ""  # the smallest input that fails, as literals, where it is small enough
    line: str = ""  # Python that fails again

    def __str__(self) -> str:
        return f"{self.check} {self.status}" + (f": {self.message}" if self.message else "")


class CheckFailure(AssertionError):  # noqa: N818  (a failed assertion, not an error of the program)
    """A plugin breaks a rule; the text names every failing check, in words."""


class Broken(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the rule is broken, as the text says."""


class Exempted(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the plugin need not obey, for the reason in the text."""


class Subject(Protocol):
    """A plugin under test, and the inputs it is tried on."""

    plugin: Any  # the instance
    where: str  # words for the input tried last
    shown: str  # that input as literals, empty when that would be long

    def begin(self) -> None:
        """Another check is to be tried."""

    def smaller(self) -> "Iterator[Subject]":
        """The same plugin on smaller inputs, to be tried in this order; none when the size plays no part."""

    def line(self, check: str) -> str:
        """Python that tries a check on the same input."""


@dataclass(frozen=True)
class Check:
    """One rule. Call it with a plugin, class or instance; it raises `CheckFailure` when the rule is broken.

    Parameters
    ----------
    function : callable
        Takes the subject, raises `Broken` or `Exempted`, may return a remark. Its name is the check's name,
        the first line of its docstring the rule.
    prepare : callable
        Makes the subject of a plugin.
    """

    function: Callable[[Any], str | None]
    prepare: Callable[[Any], Subject]

    @property
    def name(self) -> str:
        """By which exemptions name it."""
        return self.function.__name__

    @property
    def sentence(self) -> str:
        """The rule."""
        return inspect.getdoc(self.function).splitlines()[0]  # type: ignore[union-attr]

    def __str__(self) -> str:
        return self.name

    def __call__(self, plugin: Any) -> Finding:
        """Try the rule on a plugin.

        Parameters
        ----------
        plugin : class or instance
            A class is tried with its default parameters.

        Returns
        -------
        Finding
            That it passed, or is exempt.

        Raises
        ------
        CheckFailure
            The rule is broken.
        """
        return conclude(plugin, (self.find(self.prepare(plugin)),), True)[0]

    def find(self, subject: Subject) -> Finding:
        """Try the rule; nothing is raised."""
        reason = exemptions(subject.plugin).get(self.name)
        if reason:
            return Finding(self.name, Status.exempt, reason)
        subject.begin()
        # As in a timed run: results may depend on the number of BLAS threads.
        with _threadpools().limit(limits=1):
            try:
                return Finding(self.name, Status.passed, self.function(subject) or "")
            except Exempted as exempted:
                return Finding(self.name, Status.exempt, str(exempted))
            except Exception as error:  # whatever a stranger's plugin raises is a finding
                return self._smallest(subject, error)

    def _smallest(self, subject: Subject, error: Exception) -> Finding:
        """The failure on the smallest input found that fails in the same way."""
        attempts = iter(range(ATTEMPTS))
        while (found := self._smaller(subject, error, attempts)) is not None:
            subject, error = found
        where = f" The smallest input that shows it: {subject.where}." if subject.where else ""
        line = subject.line(self.name)
        return Finding(self.name, Status.failed, _words(error) + where, subject.shown, line)

    def _smaller(
        self, subject: Subject, error: Exception, attempts: Iterator[int]
    ) -> tuple[Subject, Exception] | None:
        """The first of the next smaller inputs that fails in the same way."""
        for candidate, _ in zip(subject.smaller(), attempts, strict=False):
            try:
                self.function(candidate)
            except Exception as again:  # as above
                if type(again) is type(error):
                    return candidate, again
        return None


def exemptions(plugin: Any) -> Mapping[str, str]:
    """The checks a plugin declares not to obey, each with its reason."""
    declared = getattr(plugin, "exempt", {})
    return declared if isinstance(declared, Mapping) else {}


def instance_of(plugin: Any) -> Any:
    """The plugin itself, or made of its class with default parameters."""
    return plugin() if isinstance(plugin, type) else plugin


def examine(plugin: Any, checks: Sequence[Check], subject: Subject, raise_on_failure: bool) -> Any:
    """Run checks on one subject, and conclude."""
    return conclude(plugin, tuple(check.find(subject) for check in checks), raise_on_failure)


def conclude(plugin: Any, findings: tuple[Finding, ...], raise_on_failure: bool) -> tuple[Finding, ...]:
    """The findings, unless one failed and failures are to be raised."""
    failed = [finding for finding in findings if finding.status is Status.failed]
    if failed and raise_on_failure:
        name = getattr(plugin, "name", plugin)
        noun = "check" if len(failed) == 1 else "checks"
        lines = []
        for finding in failed:
            lines.append(f"  {finding.check}: {finding.message}")
            lines += [f"    {text}" for text in (finding.shown, finding.line) if text]
        raise CheckFailure("\n".join([f"{name} fails {len(failed)} {noun}:", *lines]))
    return findings


def _words(error: Exception) -> str:
    if isinstance(error, Broken):
        return str(error)
    if isinstance(error, AucbenchError):  # its sentence says all
        return f"It raised {type(error).__name__}: {error}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = str(error).strip().split("\n")[0]
    return f"It raised {type(error).__name__}: {text} ({frame.filename}, line {frame.lineno})."


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()
