"""Notes on how the numbers of a report are made, for every view."""

from aucbench.evaluation.measures import Measure

NOTES = (
    "The gain of a method on a data set is the mean over the common runs of method - reference. Data sets of "
    "one origin are a family: the gain of a family is the mean over its data sets, and the gain of a method "
    "the mean over families. Intervals over families hold for all methods of the table at once (95 %).",
    "On one data set, the interval is Student's over the runs; where training sets overlap (folds, repeated "
    "hold-outs) its variance is corrected after Nadeau and Bengio (2003). Of one run, and where "
    "the test part is larger than the training part, the variance is DeLong's, over the test rows.",
    "A data set on which a run of the method or of the reference diverged, failed or is missing is left out "
    "of the gain and counted under gaps. Nothing is imputed.",
    "Changes of the gain with imbalance, rows and columns are slopes of a linear regression of the families' "
    "gains on their logarithms. Their intervals hold one by one (95 %), and a slope does not say that the "
    "property is the cause.",
    "A run has diverged when its weights stopped being finite; it has no result, whatever it reached before.",
    "Training time is wall time of init, step and finalize alone, with one BLAS thread. The time ratio "
    "includes the tuning.",
    "The target of a data set is chance + 99 % of the way to the best mean {measure} of a linear method; the "
    "time to target is the least within which half of the runs reach it.",
    "Anytime {measure} is the mean over the logarithm of the rows seen; before its first checkpoint a method "
    "counts as chance.",
)
ROPE_NOTE = (
    "Differences in {measure} below the rope of {rope:g} do not matter in practice. A method is better or "
    "worse when its interval lies beyond the rope, equivalent when it lies inside, slightly better or "
    "slightly worse when it excludes 0, not worse when its lower end is above -{rope:g}, and undecided "
    "otherwise."
)
NO_ROPE = (
    "There are no verdicts: no difference in {measure} was named that does not matter in practice (--rope)."
)
TIME_NOTE = (
    "An asterisk marks times that are not those of one thread at work: the method trains by several threads "
    "or on another device, or its times include compilation. They depend on the machine in another way than "
    "those of the others."
)
SUBOPTIMALITY_NOTE = (
    "Relative suboptimality is (F(w) - F*) / max(F*, F(0) / 1000): F is the objective of the method with its "
    "own parameters over all pairs of the training rows of a run, F* its certified minimum there. Methods "
    "with different objectives have different F and F*. Differences below the gap of the "
    "certificate count as it."
)


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
    notes.append((ROPE_NOTE if rope is not None else NO_ROPE).format(measure=measure.title, rope=rope or 0.0))
    notes += [note.format(measure=measure.title) for note in NOTES]
    return (*notes, *[TIME_NOTE] * threads, *[SUBOPTIMALITY_NOTE] * minima)
