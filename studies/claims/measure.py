"""Measures the claims of one method."""

import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aucbench
from aucbench import ParameterError
from studies.claims.costs import cost_finding
from studies.claims.power_law import Finding, Verdict
from studies.claims.rates import Effort, can_be_measured, instances, rate_finding

FULL, QUICK = Effort(seeds=5, seconds=0.5), Effort(seeds=3, seconds=0.08, datasets=4)
COST, QUICK_COST = (5, 0.01), (3, 0.002)  # repetitions, and seconds of a single time
REASONS = Path(__file__).with_name("reasons.toml")  # likely reasons of verdicts other than "holds"
# Settings other than the defaults where the objective has no minimum with these: a ball or a regulariser.
SETTINGS = {
    "fifo_ogd": ["algo.radius=1"],
    "aogd": ["algo.radius=1"],
    "pair_batch": ["algo.lam=0.01"],
    "pesg": ["algo.lam=0"],
}


def method_claims(method: str, overrides: Sequence[str] = (), quick: bool = False) -> dict[str, Any]:
    """The findings on the claims of a method, in the form of the file."""
    cls = aucbench.catalog().algorithm(method)
    if not getattr(cls, "claims", None):
        raise ParameterError(f"{method} declares no claims.")
    settings = [*SETTINGS.get(method, []), *overrides]
    arguments = [f"algo={method}", *settings]
    if tuple(getattr(cls, "losses", ()))[:1] == ("*",):
        arguments.append("loss=logistic")
    record = aucbench.run(*arguments, "budget.iterations=100", "budget.checkpoints=1").cells[0].record
    claimed = cls.claims.rate
    if can_be_measured(cls):
        rate = rate_finding(arguments, QUICK if quick else FULL)
    else:
        rate = Finding(claimed, "", Verdict.none_claimed if claimed == "none" else Verdict.no_objective, "")
    cost = cost_finding(*instances(record), *(QUICK_COST if quick else COST))
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8")).get(method, {})
    return {
        "settings": " ".join(settings),
        "rate": _with_reason(rate, reasons.get("rate")),
        "cost": _with_reason(cost, reasons.get("cost")),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "version": record.environment.packages["aucbench"],
        "machine": record.environment.cpu,
    }


def _with_reason(finding: Finding, reason: str | None) -> dict[str, str]:
    differs = finding.verdict in (Verdict.slower, Verdict.faster, Verdict.unknown)
    return {**finding._asdict(), "why": reason if reason and differs else finding.why}
