"""Notes on how the numbers of a report are made, for every view."""

import tomllib
from importlib.resources import files

from aucbench.evaluation.measures import Measure


def notes_on(
    measure: Measure, rope: float | None, lacking: int, minima: bool, threads: bool
) -> tuple[str, ...]:
    """The notes on a report; `lacking` finished cells have no value, `minima` are shown or not.

    `threads` says whether there are times that are not those of one thread.
    """
    first = (
        f"{measure.title} on the test rows at the end of training: mean and standard deviation over the runs"
    )
    notes = [f"{first}{', ties counted one half' * (measure.name == 'auc')}."]
    if lacking:
        notes.append(f"{lacking} finished cells have no {measure.title} and count as missing.")
    if measure.name in ("ap", "precision_at"):
        notes.append("It depends on the share of positives: its means over data sets mix what differs.")
    known = tomllib.loads(files("aucbench.reports").joinpath("notes.toml").read_text("utf-8"))
    texts = [known["no_rope" if rope is None else "rope"], *known["always"]]
    texts += [known["threads"]] * threads + [known["suboptimality"]] * minima
    return (*notes, *(text.format(measure=measure.title, rope=rope or 0.0) for text in texts))
