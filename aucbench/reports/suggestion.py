"""Methods and settings for a data set: those that did best on the most similar data sets of an archive.

Data sets are compared by four facts: the logarithms of training rows, features and density, and the logit of
the share of positives, each divided by its standard deviation over the archive. A data set that is farther
from all of the archive than any of these is from its nearest is similar to none.
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

NEIGHBOURS = 20  # data sets that a suggestion rests on
HOLDOUT_RATIO = 0.25  # ratio of test to training rows for methods without tuning
NEARNESS = 0.1  # added to a distance d: a data set has the weight 1 / (d + 0.1)^2
LEAST_SHARE = 1e-6  # least share before taking logarithms
EVIDENCE = ("data_set", "distance", "auc", "gain", "low", "high", "seconds")


@dataclass(frozen=True)
class SuggestedMethod:
    """A method with the setting that did best, and the evidence for it.

    The `evidence` has a line a data set, the nearest first, with its `data_set` and `distance`; the mean
    `auc` over splits, and over the validation rows of folds where settings were tried; its `gain` over that
    of balanced logistic regression, with the interval `low` to `high`; and the `seconds` of a training.
    """

    method: str
    parameters: dict[str, Any]
    linear: bool
    gain: float  # mean over the data sets of the evidence, weighted by their nearness
    low: float  # of its 95 % interval
    high: float
    seconds: float  # expected time of a training
    evidence: pd.DataFrame = field(repr=False)

    @property
    def overrides(self) -> tuple[str, ...]:
        """The words by which a run uses it, rounded, such as ``algo=psam algo.gamma=0.01``."""
        rounded = {
            name: float(f"{value:.3g}") if isinstance(value, float) and np.isfinite(value) else value
            for name, value in self.parameters.items()
        }
        return tuple(plugin_words("algo", PluginRecord(name=self.method, parameters=rounded)))


@dataclass(frozen=True)
class Suggestion:
    """The suggested methods, the best first; none where there is a reason against all."""

    facts: Facts
    methods: tuple[SuggestedMethod, ...]
    most_rows: float  # most training rows in the archive
    reason: str = ""


def suggest_methods(
    tried: Mapping[str, TriedDataset],
    facts: Facts,
    seconds: float | None = None,
    count: int = 3,
    linear: bool = False,
) -> Suggestion:
    """The best `count` methods, each with its best setting, by the mean gain over the nearest data sets.

    The mean is weighted by 1 / (distance + 0.1)^2, so that results on the data set itself decide. A setting
    counts where it gave an AUC on every split of all these data sets. `seconds` bounds what a training may
    be expected to take, `linear` asks for linear models only.
    """
    usable = [each for each in tried.values() if REFERENCE in each.methods]
    most = max((each.facts.rows for each in usable), default=0.0)

    def refused(reason: str) -> Suggestion:
        return Suggestion(facts, (), most, reason)

    if len(usable) < 2:
        return refused(f"the archive has fewer than two data sets with {REFERENCE}, the baseline of gains")
    own, farthest = distances([each.facts for each in usable], facts)
    near = sorted(zip(own, usable, strict=True), key=lambda pair: pair[0])[:NEIGHBOURS]
    if near[0][0] > farthest:
        return refused(
            f"no data set of the archive is similar: the nearest, {near[0][1].name}, has distance "
            f"{near[0][0]:.2f}, and none of them is farther than {farthest:.2f} from its own nearest"
        )
    shared = set.intersection(*(set(each.methods) for _, each in near))
    found = [_best(name, near, facts) for name in shared if plugin("algo", name)]
    best = [each for each in found if each and (each.linear or not linear)]
    if not best:
        return refused("no method of the archive gave an AUC on all of the most similar data sets")
    best.sort(key=lambda each: (-each.gain, each.method))
    affordable = [each for each in best if seconds is None or each.seconds <= seconds]
    if not affordable:
        fastest = min(best, key=lambda each: each.seconds)
        return refused(
            f"no method is expected to end within {duration(seconds or 0.0)}: the fastest, {fastest.method}, "
            f"takes about {duration(fastest.seconds)}"
        )
    return Suggestion(facts, tuple(affordable[:count]), most)


def distances(archive: Sequence[Facts], facts: Facts) -> tuple[Floats, float]:
    """Euclidean distances of scaled facts from those of an archive, and the largest that one of these has.

    The second is the distance from the nearest other data set of the archive, the largest over its data sets.
    More rows than any of the archive has count as the most.
    """
    most = max(each.rows for each in archive)
    every = np.array([*archive, facts._replace(rows=min(facts.rows, most))], dtype=float)
    share = np.clip(every[:, 3], LEAST_SHARE, 1.0 - LEAST_SHARE)
    points = np.log10(np.maximum(every, [1.0, 1.0, LEAST_SHARE, 1.0]))
    points[:, 3] = np.log(share / (1.0 - share))
    spread = points[:-1].std(axis=0, ddof=1)
    points /= np.where(spread > 0, spread, 1.0)
    apart = cdist(points, points)
    np.fill_diagonal(apart, np.inf)
    return apart[-1, :-1], float(apart[:-1, :-1].min(axis=1).max())


def _best(method: str, near: Sequence[tuple[float, TriedDataset]], facts: Facts) -> SuggestedMethod | None:
    """The setting of a method with the largest mean gain over some data sets, if any has one on all."""
    tried = [each.methods[method] for _, each in near]
    gains = [
        dict(zip(map(canonical, own.settings), gains_of(dataset, own), strict=True))
        for (_, dataset), own in zip(near, tried, strict=True)
    ]
    weights = np.array([1.0 / (distance + NEARNESS) ** 2 for distance, _ in near])
    weights /= weights.sum()
    # A line a data set, a column a setting.
    means = pd.DataFrame([{key: each.mean() for key, each in own.items()} for own in gains]).dropna(axis=1)
    if means.empty:
        return None
    chosen = str(means.columns[int(np.argmax(weights @ means.to_numpy()))])
    mean, share = float(weights @ means[chosen]), float(weights @ weights)
    # Student's interval of a weighted mean: the unbiased variance over data sets times the sum of w^2.
    variance = weights @ (means[chosen] - mean) ** 2 / (1.0 - share) if share < 1.0 else np.nan
    half = float(np.sqrt(share * variance) * stats.t.ppf(0.975, len(near) - 1))
    places = [list(own).index(chosen) for own in gains]
    evidence = [
        (dataset.name, distance, own.aucs[at].mean(), *interval(known[chosen]), own.seconds)
        for (distance, dataset), own, known, at in zip(near, tried, gains, places, strict=True)
    ]
    # The costs of small data sets are mostly not those that grow: the nearest size is the best guide.
    times = [_nonzeros(facts) / _nonzeros(dataset.facts) for _, dataset in near]
    nearest = min(range(len(times)), key=lambda at: abs(np.log(times[at])))
    return SuggestedMethod(
        method,
        tried[0].settings[places[0]],
        all(own.linear for own in tried),
        mean,
        mean - half,
        mean + half,
        tried[nearest].seconds * times[nearest],
        pd.DataFrame(evidence, columns=list(EVIDENCE)),
    )


def _nonzeros(facts: Facts) -> float:
    """Training values that are not 0, by which the time of a training is taken to grow."""
    return max(1.0, facts.rows * facts.features * facts.density)


def gains_of(dataset: TriedDataset, own: TriedSettings) -> Floats:
    """AUC minus that of balanced logistic regression, (settings, splits, folds).

    Settings of a tuning are compared with the baseline as given, on the validation rows of the same fold; a
    method that was not tuned by the test AUC of the same split.
    """
    baseline = dataset.methods[REFERENCE]
    if not own.is_tuned:
        return own.aucs - baseline.tested[None, :, None]
    if own.aucs.shape[1:] != baseline.aucs.shape[1:]:  # tuned differently, or not at all
        return np.full_like(own.aucs, np.nan)
    return np.asarray(own.aucs - baseline.aucs[0])


def interval(values: Floats) -> tuple[float, float, float]:
    """The mean of paired differences, (splits, folds), and its corrected 95 % interval; NaN if unknown."""
    folds = values.shape[1]
    found = over_runs(values.reshape(-1, 1), HOLDOUT_RATIO if folds == 1 else 1.0 / (folds - 1))
    return float(found.mean[0]), float(found.low[0]), float(found.high[0])
