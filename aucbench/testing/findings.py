"""What a check is, what it finds, and how a failure is worded."""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from aucbench.testing.patience import Patience


class Status(StrEnum):
    """What became of a check."""

    passed = "passed"
    exempt = "exempt"
    failed = "failed"
    untried = "untried"  # there was no time for it, or what failed before explains it


class Finding(NamedTuple):
    """What a check found; the message is what is wrong, the reason why it was not tried, or a remark."""

    check: str
    status: Status
    message: str = ""
    shown: str = ""  # the smallest input that fails, as literals, where it is small enough
    line: str = ""  # Python that fails again
    place: str = ""  # file, line and text of the plugin's own code that is the cause, where that is known
    follows: str = ""  # the failed check that explains why this one was not tried

    def __str__(self) -> str:
        return f"{self.check} {self.status}" + (f": {self.message}" if self.message else "")


class CheckFailure(AssertionError):  # noqa: N818  (a failed assertion, not an error of the program)
    """A plugin breaks a rule; the text names every failing check, in words."""


class Broken(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the rule is broken, as the text says, at that place of the plugin's code."""

    def __init__(self, text: str, place: str = ""):
        super().__init__(text)
        self.place = place


class Exempted(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: the plugin need not obey, for the reason in the text."""


class Untried(Exception):  # noqa: N818  (never leaves the package)
    """Raised by a check: it could not be carried out, for the reason in the text."""


class Subject(Protocol):
    """A plugin under test, and the inputs it is tried on."""

    plugin: Any  # the instance
    patience: "Patience"
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
        Takes the subject, raises `Broken`, `Exempted` or `Untried`, may return a remark. Its name is the
        check's name, the first line of its docstring the rule.
    prepare : callable
        Makes the subject of a plugin.
    needs : tuple of str
        Names of checks without which this one says nothing.
    """

    function: Callable[[Any], str | None]
    prepare: Callable[[Any], Subject]
    needs: tuple[str, ...] = ()

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
            That it passed, is exempt, or could not be tried in a minute, which is also a warning.

        Raises
        ------
        CheckFailure
            The rule is broken.
        """
        return conclude(plugin, (self.find(self.prepare(plugin)),), True)[0]

    def find(self, subject: Subject) -> Finding:
        """Try the rule; nothing is raised."""
        from aucbench.testing.examining import find

        return find(self, subject)


def exemptions(plugin: Any) -> Mapping[str, str]:
    """The checks a plugin declares not to obey, each with its reason."""
    declared = getattr(plugin, "exempt", {})
    return declared if isinstance(declared, Mapping) else {}


def instance_of(plugin: Any) -> Any:
    """The plugin itself, or made of its class with default parameters."""
    return plugin() if isinstance(plugin, type) else plugin


def conclude(plugin: Any, findings: tuple[Finding, ...], raise_on_failure: bool) -> tuple[Finding, ...]:
    """The findings, unless one failed and failures are to be raised."""
    name = getattr(plugin, "name", plugin)
    failed = [finding for finding in findings if finding.status is Status.failed]
    untried = [finding for finding in findings if finding.status is Status.untried]
    if failed and raise_on_failure:
        noun = "check" if len(failed) == 1 else "checks"
        lines = []
        for finding in failed:
            lines.append(f"  {finding.check}: {finding.message}")
            lines += [f"    {text}" for text in (finding.place, finding.shown, finding.line) if text]
            following = [each.check for each in untried if each.follows == finding.check]
            if following:
                lines.append(f"    not tried for that reason: {', '.join(following)}")
        raise CheckFailure("\n".join([f"{name} fails {len(failed)} {noun}:", *lines]))
    late = [finding for finding in untried if not finding.follows]
    if late and raise_on_failure:
        text = "; ".join(f"{finding.check}: {finding.message}" for finding in late)
        warnings.warn(f"{name}: not everything was tried: {text}", stacklevel=4)
    return findings
