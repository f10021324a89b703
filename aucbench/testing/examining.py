"""Trying the checks of a plugin: in order, within its patience, each failure on the smallest input."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

from aucbench.contracts.source_location import own_frames, package_of, place_in
from aucbench.testing.causes import explain, same
from aucbench.testing.findings import Check, Exempted, Finding, Status, Subject, Untried, exemptions
from aucbench.testing.patience import SHRINKING, OutOfTime

ATTEMPTS = 40  # at finding a smaller input that fails


class Watcher:
    """Told what happens while checks are tried; this one ignores it."""

    def trying(self, name: str) -> None:
        """A check is tried next."""

    def found(self, finding: Finding) -> None:
        """It was tried, or there was a reason not to."""


def examine(checks: Sequence[Check], subject: Subject, watcher: Watcher) -> tuple[Finding, ...]:
    """Try checks on one subject; those that a failure explains are not tried, or not repeated."""
    findings: list[Finding] = []
    for check in checks:
        failed = {each.check: each for each in findings if each.status is Status.failed}
        needed = next((name for name in check.needs if name in failed), None)
        if needed is not None:
            finding = following(check.name, needed)
        else:
            watcher.trying(check.name)
            finding = check.find(subject)
            cause = next((name for name, each in failed.items() if _one_cause(each, finding)), None)
            finding = finding if cause is None else following(check.name, cause)
        findings.append(finding)
        watcher.found(finding)
    return tuple(findings)


def _one_cause(one: Finding, other: Finding) -> bool:
    """Whether two failures are at the same line of the plugin."""
    return other.status is Status.failed and bool(one.place) and one.place == other.place


def find(check: Check, subject: Subject) -> Finding:
    """Try one check; nothing is raised."""
    reason = exemptions(subject.plugin).get(check.name)
    if reason:
        return Finding(check.name, Status.exempt, reason)
    subject.begin()
    # As in a timed run: results may depend on the number of BLAS threads.
    with _threadpools().limit(limits=1):
        try:
            with subject.patience.alarm():
                return Finding(check.name, Status.passed, check.function(subject) or "")
        except Exempted as exempted:
            return Finding(check.name, Status.exempt, str(exempted))
        except Untried as untried:
            return Finding(check.name, Status.untried, str(untried))
        except OutOfTime as late:
            return _late(check, subject, late)
        except (Exception, SystemExit) as error:  # whatever a stranger's plugin raises is a finding
            return _smallest(check, subject, error)


def following(name: str, cause: str) -> Finding:
    """That a check says nothing because of the failure of another one."""
    return Finding(name, Status.untried, f"stopped by what failed in {cause}", follows=cause)


def _late(check: Check, subject: Subject, late: OutOfTime) -> Finding:
    """What was interrupted: a failure when it hangs."""
    package = package_of(type(subject.plugin))
    frames = own_frames(late, package)
    words = subject.patience.verdict()
    if words is None and subject.patience.call is None and frames:  # a plugin of another family
        words = f"`{frames[0][0].f_code.co_name}` was not done in time: it hangs, or is too slow to be tried."
    if words is None:
        return Finding(check.name, Status.untried, subject.patience.words)
    where = f" The input: {subject.where}." if subject.where else ""
    return Finding(
        check.name,
        Status.failed,
        words + where,
        subject.shown,
        subject.line(check.name),
        place_in(late, package),
    )


def _smallest(check: Check, subject: Subject, error: BaseException) -> Finding:
    """The failure on the smallest input found that fails in the same way."""
    attempts = iter(range(ATTEMPTS))
    notes = getattr(error, "__notes__", [])  # what a smaller input suggests may be a coincidence
    found: tuple[Subject, BaseException] | None = (subject, error)
    try:
        with subject.patience.alarm(SHRINKING):
            while found is not None:
                subject, error = found
                found = _smaller(check, subject, error, attempts)
    except (OutOfTime, Untried):
        pass  # what was found so far is small enough
    error.__notes__ = notes
    words, place = explain(subject.plugin, error)
    where = f" The smallest input that shows it: {subject.where}." if subject.where else ""
    return Finding(check.name, Status.failed, words + where, subject.shown, subject.line(check.name), place)


def _smaller(
    check: Check, subject: Subject, error: BaseException, attempts: Any
) -> tuple[Subject, BaseException] | None:
    """The first of the next smaller inputs that fails in the same way."""
    for candidate, _ in zip(subject.smaller(), attempts, strict=False):
        try:
            check.function(candidate)
        except Untried:
            raise
        except (Exception, SystemExit) as again:  # as above
            # Another kind of rows would be another failure.
            alike = ("CSR" in candidate.where) == ("CSR" in subject.where)
            if alike and same(subject.plugin, error, again):
                return candidate, again
    return None


@cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()
