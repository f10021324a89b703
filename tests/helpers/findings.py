"""Findings of checks, by what tests ask of them."""

from aucbench.testing import Status


def by_name(findings):
    return {finding.check: finding for finding in findings}


def failures(findings):
    """The failed checks by name."""
    return {name: each for name, each in by_name(findings).items() if each.status is Status.failed}


def failed(findings):
    """The names of the failed checks."""
    return set(failures(findings))
