"""``aucbench try``: a method against well-known ones, in less than a minute."""

import sys

import click

import aucbench
from aucbench.errors import ParameterError


@click.command("try")
@click.argument("name")
@click.option("--epochs", default=5.0, show_default=True, help="Passes over the training rows.")
def try_method(name: str, epochs: float) -> int:
    """Run the method NAME on three small data sets against solam, fsauc, psam and the batch optimum.

    With its defaults and, if it declares a grid, tuned over a few random settings as the others are. Shows
    curves, a table, and a verdict in words. Nothing is downloaded, kept or logged. Exit status 1 when the
    method failed or diverged on some of the data.
    """
    from aucbench import trying

    if not 0.0 < epochs < float("inf"):
        raise ParameterError(f"--epochs must be > 0, got {epochs:g}.")
    contest = trying.hold(aucbench.catalog(), name, epochs, _say)
    trying.show(contest, sys.stdout)
    defaults = [contest.standings[name, dataset] for dataset in contest.datasets]
    return int(any(each.trouble or each.diverged_at is not None for each in defaults))


def _say(text: str) -> None:
    print(f"aucbench: {text} ...", file=sys.stderr, flush=True)
