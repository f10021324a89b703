"""``aucbench claims``: claimed rates and costs beside measured ones."""

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aucbench import analysis, api
from aucbench.errors import ParameterError
from aucbench.humanize import duration

if TYPE_CHECKING:
    from aucbench.execution.claims import ClaimsResult, MethodClaims

NOTHING = {False: "the method declares no objective", True: "none is claimed"}
METHOD, CLAIM, MEASURED = 11, 20, 35  # widths of columns


@click.command()
@click.argument("words", nargs=-1, metavar="[METHOD ...] [OVERRIDE ...]")
@click.option("--quick", is_flag=True, help="Shorter runs on fewer data sets, at most 3 minutes for all.")
@click.option(
    "--output", type=click.Path(dir_okay=False), help="Write what was measured as JSON, after each method."
)
def claims(words: tuple[str, ...], quick: bool, output: str | None) -> None:
    """Measure the rate of convergence and the cost of an iteration that METHODs claim, all by default.

    Rates: the suboptimality of the objective that a method declares, against its certified minimum, on the
    tail of runs on small data sets (the experiment `claims`) with several seeds. Costs: CPU time of an
    iteration on problems made for it. Each exponent is shown with its 95 % interval and a verdict: holds,
    faster, slower, or cannot tell. Overrides such as algo.schedule=pegasos are for all METHODs; a budget,
    runs or a tuning are refused. All methods take at most 30 minutes on two cores.
    """
    methods = [word for word in words if "=" not in word]
    overrides = [word for word in words if "=" in word]
    file = None if output is None else _writable(Path(output))

    def observed(found: "ClaimsResult") -> None:
        if file is not None:
            _write(found, file)
        if len(found.methods) == 1:
            _line("method", "claim", "measured", "verdict")
        _show(found.methods[-1])

    found = analysis.claims(methods, overrides, quick, observed)
    print(f"in {duration(found.seconds)}", file=sys.stderr)
    if file is not None:
        _write(found, file)


def _writable(file: Path) -> Path:
    """The file, if it can be written; whoever measures for half an hour shall know before."""
    try:
        _part(file).touch()
        _part(file).unlink()
    except OSError as error:
        raise ParameterError(f"--output: {file} cannot be written: {error.strerror}.") from None
    return file


def _part(file: Path) -> Path:
    return file.with_name(file.name + ".part")


def _write(found: "ClaimsResult", file: Path) -> None:
    """Replace the file at once, so that an interruption leaves the last whole one."""
    import msgspec

    part = _part(file)
    part.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    part.replace(file)


def _show(found: "MethodClaims") -> None:
    """Print what was found of a method; why something could not be measured follows on a line of its own."""
    rate, cost = found.rate, found.cost
    if rate is None:
        claimed = api.catalog().algorithm(found.method).claims.rate
        _line(found.method, f"rate {claimed}", NOTHING[claimed == "none"], "-")
    elif rate.measured is None:
        _line(found.method, f"rate {rate.claimed}", "not measured", rate.verdict, rate.why)
    else:
        exact = rate.claimed == "exact"
        text = f"{rate.measured.estimate:.0e}" if exact else str(rate.measured)
        lines = textwrap.wrap(rate.quantity, MEASURED)
        fits = len(lines[-1]) + len(text) < MEASURED
        lines = [*lines[:-1], f"{lines[-1]} {text}"] if fits else [*lines, text]
        _line(found.method, f"rate {rate.claimed}", "\n".join(lines), rate.verdict)
    claim = f"cost {cost.claimed}"
    if not cost.exponents:
        _line("", claim, "not measured", cost.verdict, cost.why)
    for number, each in enumerate(cost.exponents):
        _line("", "" if number else claim, f"{each.variable}^{each.measured}", each.verdict)
    sys.stdout.flush()


def _line(method: str, claim: str, measured: str, verdict: str, why: str = "") -> None:
    """Print one claim in 80 columns; what takes several lines goes on below its column."""
    first, *others = measured.splitlines()
    print(f"{method:<{METHOD}} {claim:<{CLAIM}} {first:<{MEASURED}} {verdict}")
    others += textwrap.wrap(f"({why})", MEASURED + len("cannot tell")) if why else []
    for text in others:
        print(f"{'':<{METHOD}} {'':<{CLAIM}} {text}")
