"""``aucbench claims``: claimed rates and costs beside the measured ones."""

import json
import textwrap

import click

from aucbench import api
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.studies.archives.archive_file import shipped

FINDINGS = "claims.json"
METHOD, CLAIM, MEASURED = 11, 20, 35  # widths of columns
MEASURE = "in a checkout of the repository, python -m studies.claims"


@click.command()
@click.argument("methods", nargs=-1, metavar="[METHOD ...]")
def claims(methods: tuple[str, ...]) -> None:
    """Show the convergence rates and the costs per iteration that methods claim, by default all methods.

    For each claim, the table shows the measured exponent with its 95 % interval, and a verdict: holds,
    faster, slower, or cannot tell. The measurements come with aucbench. In a checkout of the repository,
    `python -m studies.claims METHOD` measures a method again, also with other settings.
    """
    path = shipped(FINDINGS)
    measurements = json.loads(path.read_text(encoding="utf-8")) if path else {}
    catalog = api.catalog()
    plugins = catalog.plugins[Family.algorithms]
    claiming = [name for name, plugin in plugins.items() if getattr(plugin.cls, "claims", None)]
    chosen = [catalog.find(Family.algorithms, name).name for name in methods] or claiming
    for name in chosen:
        if name not in claiming:
            raise ParameterError(f"{name} declares no claims.")
    _line("method", "claim", "measured", "verdict")
    for name in chosen:
        claimed = catalog.algorithm(name).claims
        for kind, claim, label in (("rate", claimed.rate, name), ("cost", claimed.cost, "")):
            finding = measurements.get(name, {}).get(kind, {})
            if finding.get("claimed") != claim:
                _line(label, f"{kind} {claim}", "not measured", "-")
                continue
            measured = finding["measured"].replace("], ", "]\n") or "not measured"
            _line(label, f"{kind} {claim}", measured, finding["verdict"], finding["why"])
    print()
    findings = [measurements[name] for name in chosen if name in measurements]
    sources = {(record["date"], record["version"], record["machine"]) for record in findings}
    for date, version, machine in sorted(sources):
        print(f"Measured on {date} with aucbench {version} on {machine}.")
    if unmeasured := [name for name in chosen if name not in measurements]:
        print(f"To measure {', '.join(unmeasured)}: {MEASURE} {' '.join(unmeasured)}")


def _line(method: str, claim: str, measured: str, verdict: str, reason: str = "") -> None:
    """Print one claim in 80 columns; text of several lines continues below its column."""
    first, *lines = measured.splitlines()
    print(f"{method:<{METHOD}} {claim:<{CLAIM}} {first:<{MEASURED}} {verdict}")
    lines += textwrap.wrap(f"({reason})", MEASURED + len("cannot tell")) if reason else []
    for text in lines:
        print(f"{'':<{METHOD}} {'':<{CLAIM}} {text}")
