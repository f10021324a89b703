"""``aucbench optimum``: the certified minimum of a method's objective."""

import click

from aucbench import analysis
from aucbench.humanize import duration


@click.command()
@click.argument("algo")
@click.argument("dataset")
@click.argument("overrides", nargs=-1, metavar="[OVERRIDE ...]")
def optimum(algo: str, dataset: str, overrides: tuple[str, ...]) -> None:
    """Find the minimum of the objective that the method ALGO declares, on the training rows of DATASET.

    Overrides are the same as for aucbench run: algo.gamma=1e-4, protocol=kfold. The rows are those of the
    first run. The output shows the objective, its value at the weights found, a bound on the distance of this
    value from the minimum, the method that found it, the time, and the AUC of the weights. limits.optimum=600
    raises the time limit of 60 seconds.
    """
    record = analysis.optimum(f"algo={algo}", f"dataset={dataset}", *overrides).record
    rows = [
        ("objective", record.objective),
        ("minimum", f"{record.value:.12g}"),
        ("certified gap", f"{record.gap:.1e}, relative {record.relative_gap:.1e}"),
        ("found by", f"{record.solver} in {duration(record.seconds)}"),
        ("training rows", f"{record.train_rows:,}, AUC {record.train_auc:.4f}"),
        ("test rows", f"AUC {record.test_auc:.4f}"),
    ]
    for name, text in rows:
        print(f"{name:<14} {text}")
