"""``aucbench try``: a method against well-known ones, in about a minute."""

import sys

import click

import aucbench
from aucbench.cli.exit_status import INTERRUPTED
from aucbench.errors import ParameterError


@click.command("try")
@click.argument("name")
@click.option("--epochs", default=5.0, show_default=True, help="Passes over the training rows.")
@click.option(
    "--seconds", default=60.0, show_default=True, help="For all of it; a slow method sees fewer rows."
)
def try_method(name: str, epochs: float, seconds: float) -> int:
    """Run the method NAME on three small data sets against solam, fsauc, psam and the batch optimum.

    With its defaults and, if it declares a grid, tuned over a few random settings as the others are. What an
    iteration takes is measured first: a slow method sees fewer rows and is not tuned, and one that hangs is
    ended. Shows curves, a table, and a verdict in words. Nothing is downloaded, kept or logged. Exit status 1
    when the method failed or diverged on some of the data.
    """
    try:
        return _tried(name, epochs, seconds)
    except KeyboardInterrupt:
        print("aucbench: interrupted; a trial keeps nothing", file=sys.stderr)
        return INTERRUPTED


def _tried(name: str, epochs: float, seconds: float) -> int:
    from aucbench import trying
    from aucbench.cli.ticking import Ticker

    for option, value in (("epochs", epochs), ("seconds", seconds)):
        if not 0.0 < value < float("inf"):
            raise ParameterError(f"--{option} must be > 0, got {value:g}.")
    with Ticker(seconds) as ticker:
        contest = trying.hold(aucbench.catalog(), name, epochs, seconds, ticker.stage, ticker.describe)
    trying.show(contest, sys.stdout)
    defaults = [contest.standings[name, dataset] for dataset in contest.datasets]
    return int(any(each.failed or each.diverged_at is not None for each in defaults))
