"""Findings of checks, by name and status."""

from aucbench.testing import Status


def by_name(findings):
    return {finding.check: finding for finding in findings}


def failures(findings):
    """The failed checks by name."""
    return {name: finding for name, finding in by_name(findings).items() if finding.status is Status.failed}


def failed(findings):
    """The names of the failed checks."""
    return set(failures(findings))
