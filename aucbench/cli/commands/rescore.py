"""``aucbench rescore``: more measures of the cells of a study, from their stored weights or scores."""

import shlex
import sys

import click

from aucbench.cli.commands._store import opened, store_option, trust_option
from aucbench.evaluation.measures import MEASURES, TrainingObjective
from aucbench.humanize import counted


@click.command()
@click.argument("study")
@click.argument("parameters", nargs=-1)
@click.option(
    "--metrics", required=True,
    help=f"Measures, separated by commas: {', '.join([*list(MEASURES)[1:], TrainingObjective.name])}.",
)  # fmt: skip
@click.option(
    "--replace", is_flag=True,
    help="Replace measures that cells have with other parameters; without the weights of checkpoints, their "
    "curves are lost.",
)  # fmt: skip
@store_option
@trust_option
def rescore(
    study: str, parameters: tuple[str, ...], metrics: str, replace: bool, store: str, trust: tuple[str, ...]
) -> int:
    """Compute measures of the finished cells of STUDY from stored weights or scores, without training.

    PARAMETERS are parameters of the measures, such as ``pauc.max_fpr=0.05``. If the weights of all
    checkpoints are stored (``store.weights=checkpoints``), whole curves are computed, otherwise only their
    ends. A measure that a cell has with other parameters is not replaced.
    """
    from aucbench import analysis

    names = [name for text in metrics.strip(" []").split(",") if (name := text.strip())]
    outcome = analysis.rescore(opened(store, writable=True), study, names, parameters, replace, trust)
    overrides = shlex.join([f"metrics=[{','.join(names)}]", *parameters])
    diverged = f", {outcome.diverged} diverged and have no value" if outcome.diverged else ""
    measured = f"{counted(outcome.scored, 'cell')} measured from stored weights or scores"
    print(f"{measured}, {outcome.known} had these measures{diverged}")
    for measure, count in outcome.kept.items():
        print(
            f"{counted(count, 'cell')} kept {measure}; to replace it, run the study again with {overrides}, "
            f"which trains where the curve needs it, or add --replace"
        )
    for method, count in outcome.without_scores.items():
        print(
            f"{method}: {counted(count, 'cell')} without stored weights or scores; to train again what lacks "
            f"measures, run the study again with {overrides}"
        )
    for sentence in outcome.failed:
        print(f"aucbench: {sentence}", file=sys.stderr)
    return 1 if outcome.failed else 0
