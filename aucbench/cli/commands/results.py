"""``aucbench results``: results as archives, which travel from machine to machine."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import click

from aucbench.cli.commands import FAILED
from aucbench.cli.commands._store import opened, store_option, trust_option
from aucbench.errors import ParameterError
from aucbench.humanize import counted, filesize
from aucbench.studies import store_size
from aucbench.studies.archives import archive as archives
from aucbench.studies.archives.archive_file import SCORES, read, write
from aucbench.studies.archives.replications import TOLERANCE, Agreement, Comparison, describe
from aucbench.studies.store import Store

LISTED = 10  # largest number of printed disagreements
tolerance_option = click.option(
    "--tolerance", type=click.FloatRange(0.0), default=TOLERANCE, show_default=True,
    help="Allowed difference of AUCs under different versions or code, or on different processors.",
)  # fmt: skip
study_option = click.option("--study", help="Use only the cells of this study.")


@click.group()
def results() -> None:
    """Export results to an archive, import, check, merge and verify archives; show the size of a store.

    An archive is one file of JSON and Parquet with a manifest of versions, machines, and digests of all
    entries and of the code that ran. Reading an archive runs no code. A damaged or edited archive is refused
    with the reason.

    \b
    Examples:
      aucbench results export mine mine.zip
      aucbench results check mine.zip
      aucbench results verify mine.zip --cells 3
      aucbench results merge mine.zip theirs.zip both.zip
      aucbench results import both.zip
      aucbench leaderboard --with both.zip
      aucbench results size
    """


@results.command()
@click.argument("study")
@click.argument("file")
@store_option
@click.option("--weights", is_flag=True, help="Include the final weights of linear methods.")
@click.option("--no-scores", is_flag=True, help="Leave out the test scores of methods that are not linear.")
@click.option("--compact", is_flag=True, help="Keep whole curves only for first runs, and round trials.")
def export(study: str, file: str, store: str, weights: bool, no_scores: bool, compact: bool) -> None:
    """Write the cells of STUDY into the archive FILE.

    Command lines and tracebacks are left out, because they may contain addresses and names of folders.
    Models and the test scores of your own files are left out, too. An archive never has labels or features of
    rows.
    """
    archive = archives.from_store(
        opened(store), study, weights=weights, scores=not no_scores, compact=compact
    )
    manifest = write(archive, file)
    failed = f", {counted(manifest.failures, 'failure')}" if manifest.failures else ""
    size = filesize(Path(file).stat().st_size)
    print(f"{counted(manifest.cells, 'cell')}{failed} of {study} written to {file} ({size})")
    if (entry := manifest.entries.get(SCORES)) is not None:
        print(f"{filesize(entry.bytes)} of it are test scores; --no-scores leaves them out")


@results.command()
@study_option
@store_option
def size(study: str | None, store: str) -> None:
    """Show the size of a store: records with curves, weights, test scores and models."""
    sizes = store_size.size_of(opened(store), study)
    print(f"{store_size.CELLS:<8} {sizes[store_size.CELLS]:>10,}")
    for kind in store_size.KINDS:
        print(f"{kind:<8} {filesize(sizes[kind]):>10}")


@results.command()
@click.option("--scores", is_flag=True, help="Remove the test scores of methods that are not linear.")
@click.option("--models", is_flag=True, help="Remove the models of methods that return them.")
@study_option
@store_option
def prune(scores: bool, models: bool, study: str | None, store: str) -> None:
    """Remove test scores or models from the cells of a store.

    Records, curves and weights stay. Only another training restores scores and models. Without scores,
    further measures of methods that are not linear need another training, too.
    """
    kinds = ["scores"] * scores + ["models"] * models
    if not kinds:
        raise ParameterError("Say what to remove: --scores, --models or both.")
    removed = store_size.prune(opened(store, writable=True), kinds, study)
    text = " and ".join(f"{filesize(removed[kind])} of {kind}" for kind in kinds)
    print(f"{text} removed from {counted(removed[store_size.CELLS], 'cell')}")


@results.command("import")
@click.argument("file")
@store_option
def import_(file: str, store: str) -> None:
    """Import the cells of the archive FILE into the store.

    If the store already has a cell, it keeps that cell, and the cell of the archive becomes its replication.
    """
    manifest, archive = read(file)
    counts = archives.into_store(archive, Store(store))
    print(
        f"{counted(counts.cells, 'cell')}, {counted(counts.replications, 'replication')} and "
        f"{counted(counts.failures, 'failure')} of {', '.join(manifest.studies)} put into {store}"
    )


@results.command()
@click.argument("file")
@click.option("--method", help="Method that must have everything that the reference study requires.")
def check(file: str, method: str | None) -> int:
    """Check that the archive FILE is undamaged, and complete under a ruleset.

    The exit status is 2 if the file is refused, and 1 if cells of its studies are missing or failed, or were
    not run under a ruleset as installed here. With --method, the archive must have that method on each data
    set of the reference study under both rulesets.
    """
    from aucbench import analysis
    from aucbench.cli.progress import say

    manifest, archive = read(file)
    studies = ", ".join(manifest.studies)
    print(f"{file}: {studies}, written by aucbench {manifest.aucbench} on {manifest.made}")
    print(f"{counted(manifest.cells, 'cell')}, {counted(manifest.failures, 'failure')}")
    for host in manifest.machines:
        print(f"{counted(host.cells, 'cell')} on {host.cpu}, {host.platform}, Python {host.python}")
    if archive.others:
        print(f"{counted(len(archive.others), 'cell')} with replications, as the archive says")
    gaps = analysis.check(archive, method)
    for gap in gaps:
        say(gap)
    return FAILED if gaps else 0


@results.command()
@click.argument("first")
@click.argument("other")
@click.argument("merged", required=False)
@tolerance_option
def merge(first: str, other: str, merged: str | None, tolerance: float) -> int:
    """Compare the equal cells of the archives FIRST and OTHER, and write all cells into the archive MERGED.

    Equal cells are replications. With equal versions and processors, their AUCs must be equal bit for bit,
    otherwise within the tolerance. Cells with a budget in seconds are not compared. If cells disagree, they
    are listed with both environments, and the exit status is 1.
    """
    archive, comparisons = archives.merged(read(first)[1], read(other)[1], tolerance)
    status = _show(comparisons)
    if merged is not None:
        print(f"{counted(write(archive, merged).cells, 'cell')} written to {merged}")
    return status


@results.command()
@click.argument("file")
@click.option(
    "--cells", type=click.IntRange(1), default=3, show_default=True, help="Number of cells to run again."
)
@click.option(
    "--sample", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
    help="Share of the cells to run again, such as 0.01, instead of --cells.",
)  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random sample."
)
@click.option("--method", help="Draw only cells of this method.")
@trust_option
@tolerance_option
def verify(file: str, sample: float | None, trust: tuple[str, ...], **drawn: Any) -> int:
    """Rerun a random sample of the cells of the archive FILE, tunings included, and compare the results.

    The cells run with the code that is installed here. A cell made by another version of the code is run,
    too; it is reported as made by other code, and must agree within the tolerance. Cells are left out if
    their data are in a user's own file or cannot be downloaded, if their budget is in seconds, or if they
    name an import path that --trust does not cover. The exit status is 1 if a result disagrees, if a cell
    fails here or has other data, settings, iterations, trials or AUCs at checkpoints, or if no cell can be
    run.
    """
    from aucbench.analysis import entry_of
    from aucbench.studies.execution.verify import verify_sample

    _, archive = read(file)
    if sample is not None:
        total = sum(drawn["method"] in (None, cell.record.algorithm.name) for cell in archive)
        drawn["cells"] = max(1, round(sample * total))
    outcome = verify_sample(archive, partial(entry_of, trust=trust), **drawn)
    for reason in outcome.left_out:
        print(f"left out: {reason}")
    for reason in outcome.different:
        print(f"different here: {reason}")
    status = _show(outcome.comparisons)
    return status if outcome.comparisons and not outcome.different else FAILED


def _show(comparisons: list[Comparison]) -> int:
    """Print how well replications agree; returns exit status 1 if some disagree."""
    counts = Counter(pair.agreement for pair in comparisons)
    print(
        f"{counted(len(comparisons), 'replication')}: {counts[Agreement.identical]} with equal AUC, "
        f"{counts[Agreement.close]} within the tolerance, {counts[Agreement.differs]} that disagree, "
        f"{counts[Agreement.timed]} with a budget in seconds, not compared"
    )
    if foreign := [pair for pair in comparisons if pair.other_code]:
        largest = max((pair.difference for pair in foreign if pair.difference >= 0), default=0.0)
        text = f"{counted(len(foreign), 'cell')} made by other code than that here"
        print(f"{text}: AUCs differ by at most {largest:.2g}")
    differing = [pair for pair in comparisons if pair.agreement is Agreement.differs]
    for pair in differing[:LISTED]:
        code = ", made by other code" if pair.other_code else ""
        aucs = f"AUC {pair.first.auc} and {pair.other.auc}"
        print(f"cell {pair.first.key[:12]}{code}: {aucs}, allowed {pair.allowed:g}")
        print(f"  {describe(pair.first.environment)}")
        print(f"  {describe(pair.other.environment)}")
    if len(differing) > LISTED:
        print(f"and {len(differing) - LISTED} more")
    return FAILED if differing else 0
