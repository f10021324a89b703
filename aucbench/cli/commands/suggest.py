"""``aucbench suggest``: methods and settings for a data set, with the evidence for them."""

import math
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from aucbench import analysis
from aucbench.cli.commands import FAILED
from aucbench.contracts import class_of_model
from aucbench.humanize import duration
from aucbench.reports.columns import signed
from aucbench.studies.plugin_metadata import plugin

if TYPE_CHECKING:
    from aucbench.reports.suggestion import SuggestedMethod

NEAREST_SHOWN = 5  # number of similar data sets printed for each method


@click.command()
@click.argument("dataset")
@click.argument("overrides", nargs=-1, metavar="[OVERRIDE ...]")
@click.option(
    "--seconds", type=click.FloatRange(0.0, min_open=True), help="Largest expected training time, in seconds."
)
@click.option(
    "--with", "archive", metavar="FILE",
    help="Archive of a study under ruleset=trials; by default the archive of aucbench.",
)  # fmt: skip
@click.option(
    "--count", type=click.IntRange(1), default=3, show_default=True, help="Largest number of methods."
)
@click.option("--linear", is_flag=True, help="Suggest only linear models.")
def suggest(dataset: str, overrides: tuple[str, ...], **limits: Any) -> int:
    """Suggest methods and settings for DATASET, the name of a data set or a file of your own.

    The number of training rows and features, the density and the share of positives determine the twenty most
    similar data sets of the archive. The command suggests the settings with the largest mean gain in AUC over
    balanced logistic regression (log_reg) on these data sets, with the gain, its 95 % interval and the
    training seconds on the nearest five. In the mean, a data set at distance d has the weight
    1 / (d + 0.1)^2. Nothing is trained. Overrides are those of a run that determine its rows. If the archive
    has no evidence, the reason is shown, and the exit status is 1.

    \b
    Examples:
      aucbench suggest german
      aucbench suggest german --seconds 0.1 --linear
      aucbench suggest rows.csv dataset.target=outcome --with theirs.zip
    """
    suggestion = analysis.suggest(dataset, *overrides, **limits)
    facts = suggestion.facts
    print(
        f"{dataset}: {facts.rows:,.0f} training rows, {facts.features:,.0f} features, "
        f"{100 * facts.density:.3g} % of the values not 0, {100 * facts.positives:.3g} % positive"
    )
    if facts.rows > suggestion.most_rows > 0:
        print(f"the methods of the archive were trained on {suggestion.most_rows:,.0f} rows at most")
    if suggestion.reason:
        print(f"aucbench: nothing to suggest: {suggestion.reason}", file=sys.stderr)
        return FAILED
    for number, method in enumerate(suggestion.methods, 1):
        _show(number, method)
    if not any((method.evidence["low"] > 0).any() for method in suggestion.methods):
        print("no interval lies above 0: balanced logistic regression, algo=log_reg, may do as well")
    command = shlex.join([*suggestion.methods[0].overrides, *analysis.dataset_words(dataset, *overrides)])
    print(f"next: aucbench {command}")
    return 0


def _show(number: int, method: "SuggestedMethod") -> None:
    kind = "" if method.linear else f" ({class_of_model(plugin('algo', method.method))}, not a linear model)"
    print(
        f"{number}. {shlex.join(method.overrides)}{kind}\n   AUC {_interval(method)} over log_reg, mean "
        f"of {len(method.evidence)} data sets weighted by distance\n   about {duration(method.seconds)} of "
        f"training on these rows; the nearest data sets:"
    )
    nearest: Any = method.evidence[:NEAREST_SHOWN].itertuples()
    for row in nearest:
        print(
            f"   {row.data_set:<14} distance {row.distance:.2f}  AUC {row.auc:.4f}  "
            f"{_interval(row)}  {duration(row.seconds)}"
        )


def _interval(row: Any) -> str:
    has_interval = math.isfinite(row.low)
    return f"{signed(row.gain)} ({f'{signed(row.low)} to {signed(row.high)}' if has_interval else 'one run'})"
