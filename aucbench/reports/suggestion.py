"""Methods and settings for a data set: the best ones on the most similar data sets of an archive.

Data sets are compared by four facts: the logarithms of training rows, features and density, and the logit of
the share of positives, each divided by its standard deviation over the archive. A data set is similar to none
if its distance from the archive exceeds all nearest-neighbour distances within the archive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial.distance import cdist

from aucbench.humanize import duration
from aucbench.reports.cell_frame import REFERENCE
from aucbench.reports.statistics.over_runs import over_runs
from aucbench.studies.archives.tried_settings import Facts, Floats, TriedDataset, TriedSettings
from aucbench.studies.codec import canonical
from aucbench.studies.plugin_metadata import plugin
from aucbench.studies.record import PluginRecord
from aucbench.studies.rerun_command import plugin_words

NEIGHBOURS = 20  # number of data sets behind a suggestion
HOLDOUT_RATIO = 0.25  # ratio of test to training rows for methods without tuning
NEARNESS = 0.1  # added to distances d in the weights 1 / (d + 0.1)^2 of data sets
LEAST_SHARE = 1e-6  # lower bound of shares before taking logarithms
EVIDENCE = ("data_set", "distance", "auc", "gain", "low", "high", "seconds")


@dataclass(frozen=True)
class SuggestedMethod:
    """A method with its best setting, and the evidence for it.

    The `evidence` has a line per data set, the nearest first, with its `data_set` and `distance`; the mean
    `auc` over splits, and over validation folds if settings were tuned; the `gain` of this AUC over balanced
    logistic regression, with the interval `low` to `high`; and the `seconds` of a training.
    """

    method: str
    parameters: dict[str, Any]
    linear: bool
    gain: float  # mean over the data sets of the evidence, weighted by nearness
    low: float  # lower end of the 95 % interval of the gain
    high: float
    seconds: float  # expected time of a training
    evidence: pd.DataFrame = field(repr=False)

    @property
    def overrides(self) -> tuple[str, ...]:
        """The overrides for a run of the method, rounded, such as ``algo=psam algo.gamma=0.01``."""
        rounded = {
            name: float(f"{value:.3g}") if isinstance(value, float) and np.isfinite(value) else value
            for name, value in self.parameters.items()
        }
        return tuple(plugin_words("algo", PluginRecord(name=self.method, parameters=rounded)))


@dataclass(frozen=True)
class Suggestion:
    """The suggested methods, the best first; empty if there is a reason against all methods."""

    facts: Facts
    methods: tuple[SuggestedMethod, ...]
    most_rows: float  # largest number of training rows in the archive
    reason: str = ""


def suggest_methods(
    tried: Mapping[str, TriedDataset],
    facts: Facts,
    seconds: float | None = None,
    count: int = 3,
    linear: bool = False,
) -> Suggestion:
    """The best `count` methods, each with its best setting, by the mean gain over the nearest data sets.

    The mean is weighted by 1 / (distance + 0.1)^2, so that results on the same data set dominate. A setting
    counts if it gave an AUC on every split of all these data sets. `seconds` bounds the expected time of a
    training; with `linear`, only linear models are suggested.
    """
    usable = [dataset for dataset in tried.values() if REFERENCE in dataset.methods]
    most_rows = max((dataset.facts.rows for dataset in usable), default=0.0)

    def refused(reason: str) -> Suggestion:
        return Suggestion(facts, (), most_rows, reason)

    if len(usable) < 2:
        return refused(f"the archive has fewer than two data sets with {REFERENCE}, the baseline of gains")
    separations, farthest = distances([dataset.facts for dataset in usable], facts)
    nearest = sorted(zip(separations, usable, strict=True), key=lambda pair: pair[0])[:NEIGHBOURS]
    if nearest[0][0] > farthest:
        return refused(
            f"no data set of the archive is similar: the nearest, {nearest[0][1].name}, has distance "
            f"{nearest[0][0]:.2f}, and nearest neighbours within the archive are at most {farthest:.2f} apart"
        )
    shared = set.intersection(*(set(dataset.methods) for _, dataset in nearest))
    candidates = [_best(name, nearest, facts) for name in shared if plugin("algo", name)]
    best = [candidate for candidate in candidates if candidate and (candidate.linear or not linear)]
    if not best:
        return refused("no method of the archive gave an AUC on all of the most similar data sets")
    best.sort(key=lambda candidate: (-candidate.gain, candidate.method))
    affordable = [candidate for candidate in best if seconds is None or candidate.seconds <= seconds]
    if not affordable:
        fastest = min(best, key=lambda candidate: candidate.seconds)
        return refused(
            f"no method is expected to end within {duration(seconds or 0.0)}: the fastest, {fastest.method}, "
            f"takes about {duration(fastest.seconds)}"
        )
    return Suggestion(facts, tuple(affordable[:count]), most_rows)


def distances(archive: Sequence[Facts], facts: Facts) -> tuple[Floats, float]:
    """Euclidean distances of scaled facts from the archive, and the largest nearest-neighbour distance.

    The second value is the largest distance of a data set of the archive from its nearest neighbour there.
    The number of rows is capped at the largest number in the archive.
    """
    most_rows = max(entry.rows for entry in archive)
    matrix = np.array([*archive, facts._replace(rows=min(facts.rows, most_rows))], dtype=float)
    share = np.clip(matrix[:, 3], LEAST_SHARE, 1.0 - LEAST_SHARE)
    points = np.log10(np.maximum(matrix, [1.0, 1.0, LEAST_SHARE, 1.0]))
    points[:, 3] = np.log(share / (1.0 - share))
    spread = points[:-1].std(axis=0, ddof=1)
    points /= np.where(spread > 0, spread, 1.0)
    pairwise = cdist(points, points)
    np.fill_diagonal(pairwise, np.inf)
    return pairwise[-1, :-1], float(pairwise[:-1, :-1].min(axis=1).max())


def _best(method: str, nearest: Sequence[tuple[float, TriedDataset]], facts: Facts) -> SuggestedMethod | None:
    """The setting of a method with the largest mean gain over the data; None if none covers all data sets."""
    tried = [dataset.methods[method] for _, dataset in nearest]
    gains = [
        dict(zip(map(canonical, trial.settings), gains_of(dataset, trial), strict=True))
        for (_, dataset), trial in zip(nearest, tried, strict=True)
    ]
    weights = np.array([1.0 / (distance + NEARNESS) ** 2 for distance, _ in nearest])
    weights /= weights.sum()
    # Rows are data sets, columns are settings.
    means = pd.DataFrame([{key: gain.mean() for key, gain in row.items()} for row in gains]).dropna(axis=1)
    if means.empty:
        return None
    chosen = str(means.columns[int(np.argmax(weights @ means.to_numpy()))])
    mean, share = float(weights @ means[chosen]), float(weights @ weights)
    # Student's interval of a weighted mean: the unbiased variance over data sets times the sum of w^2.
    variance = weights @ (means[chosen] - mean) ** 2 / (1.0 - share) if share < 1.0 else np.nan
    half = float(np.sqrt(share * variance) * stats.t.ppf(0.975, len(nearest) - 1))
    positions = [list(row).index(chosen) for row in gains]
    evidence = [
        (dataset.name, distance, trial.aucs[at].mean(), *interval(row[chosen]), trial.seconds)
        for (distance, dataset), trial, row, at in zip(nearest, tried, gains, positions, strict=True)
    ]
    # On small data sets fixed costs dominate: the data set of the nearest size is the best guide.
    ratios = [_nonzeros(facts) / _nonzeros(dataset.facts) for _, dataset in nearest]
    closest = min(range(len(ratios)), key=lambda at: abs(np.log(ratios[at])))
    return SuggestedMethod(
        method,
        tried[0].settings[positions[0]],
        all(trial.linear for trial in tried),
        mean,
        mean - half,
        mean + half,
        tried[closest].seconds * ratios[closest],
        pd.DataFrame(evidence, columns=list(EVIDENCE)),
    )


def _nonzeros(facts: Facts) -> float:
    """Number of non-zero training values; the time of a training is assumed proportional to it."""
    return max(1.0, facts.rows * facts.features * facts.density)


def gains_of(dataset: TriedDataset, trial: TriedSettings) -> Floats:
    """AUC minus that of balanced logistic regression, (settings, splits, folds).

    Settings of a tuning are compared with the default baseline, on the validation rows of the same fold; a
    method without tuning is compared by the test AUC of the same split.
    """
    baseline = dataset.methods[REFERENCE]
    if not trial.is_tuned:
        return trial.aucs - baseline.tested[None, :, None]
    if trial.aucs.shape[1:] != baseline.aucs.shape[1:]:  # tuned differently, or not at all
        return np.full_like(trial.aucs, np.nan)
    return np.asarray(trial.aucs - baseline.aucs[0])


def interval(values: Floats) -> tuple[float, float, float]:
    """Mean and corrected 95 % interval of paired differences, (splits, folds); NaN if unknown."""
    folds = values.shape[1]
    estimates = over_runs(values.reshape(-1, 1), HOLDOUT_RATIO if folds == 1 else 1.0 / (folds - 1))
    return float(estimates.mean[0]), float(estimates.low[0]), float(estimates.high[0])
