"""Defaults and suggestions judged by the trials of the reference study, leaving out one data set at a time.

The archive is that of ``+experiment=reference_trials``. ``python docs/_ext/trials_study.py [FILE]``
prints the table of losses and the evidence for suggestions that the pages have.
"""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import reference_study
from markdown import code, table

import aucbench
from aucbench.contracts.validation import Family
from aucbench.reports.report import Estimate
from aucbench.reports.statistics.multiple_comparisons import holm
from aucbench.reports.statistics.paired_t_test import t_statistics
from aucbench.reports.statistics.wilcoxon import signed_ranks
from aucbench.reports.suggestion import interval, suggest_methods
from aucbench.studies.archive_file import shipped
from aucbench.studies.tried_settings import TriedDataset, TriedSettings, tried_settings

LEVEL = 0.05
FIXED = "psam"  # what suggestions are compared with: the default of the command line
CHANCE = 0.5  # AUC of a setting that gave none
Floats = np.ndarray
Tried = Mapping[str, TriedDataset]


class Losses(NamedTuple):
    """One method: the loss of its default against tuning, and of the best setting of other data sets."""

    method: str
    datasets: int
    before: float  # tuned minus default, mean over data sets
    after: float  # tuned minus the setting that is best on average over the other data sets
    change: Estimate  # of the AUC over data sets: that setting minus the default
    better: int  # data sets on which the paired interval of the change lies above 0
    worse: int  # and below 0
    p: float  # of Wilcoxon's signed-rank test over data sets
    setting: dict[str, Any]  # best on average over all data sets
    tested: float = float("nan")  # p, corrected by Holm's method for all methods

    @property
    def is_default(self) -> bool:
        """Whether the setting should become the default."""
        return self.change.value > 0 and self.tested < LEVEL


def losses(tried: Tried) -> list[Losses]:
    """The losses of all methods with trials, by name."""
    methods = sorted({name for each in tried.values() for name in each.methods})
    found = [
        _losses(name, [own for each in tried.values() if (own := each.methods.get(name)) and own.is_tuned])
        for name in methods
    ]
    known = [each for each in found if each is not None]
    corrected = holm(np.array([each.p for each in known]))
    return [each._replace(tested=float(p)) for each, p in zip(known, corrected, strict=True)]


def _losses(method: str, sets: list[TriedSettings]) -> Losses | None:
    settings = [own.settings for own in sets]
    if len(sets) < 2 or any(each != settings[0] for each in settings):
        return None
    aucs = [_known(own) for own in sets]
    gains = np.array([(each - each[0]).mean(axis=(1, 2)) for each in aucs])  # (data sets, settings)
    changes, tunings, better, worse = [], [], 0, 0
    for at, each in enumerate(aucs):
        chosen = int(np.argmax(np.delete(gains, at, axis=0).mean(axis=0)))
        difference = each[chosen] - each[0]
        own = interval(difference)
        changes.append(difference.mean())
        tunings.append((tuned(each) - each[0]).mean())
        better, worse = better + (own.low > 0), worse + (own.high < 0)
    over = t_statistics(np.array(changes)[:, None])
    return Losses(
        method,
        len(sets),
        float(np.mean(tunings)),
        float(np.mean(tunings) - np.mean(changes)),
        Estimate(float(over.mean[0]), float(over.low[0]), float(over.high[0])),
        int(better),
        int(worse),
        signed_ranks(np.array(changes)).p,
        settings[0][int(np.argmax(gains.mean(axis=0)))],
    )


def _known(own: TriedSettings) -> Floats:
    """AUCs on the splits on which the method was run, by chance where a setting gave none."""
    run = ~np.isnan(own.aucs).all(axis=(0, 2))
    return np.nan_to_num(own.aucs[:, run], nan=CHANCE)


def tuned(aucs: Floats) -> Floats:
    """The AUC on each split and fold, (splits, folds), of the setting that is best on the other folds."""
    found = np.empty(aucs.shape[1:])
    for fold in range(aucs.shape[2]):
        chosen = np.delete(aucs, fold, axis=2).mean(axis=2).argmax(axis=0)
        found[:, fold] = aucs[chosen, np.arange(aucs.shape[1]), fold]
    return found


class SuggestionEvidence(NamedTuple):
    """Suggestions for each data set from the others, against one fixed method with its defaults."""

    fixed: str
    datasets: int
    without: int  # for which there was no suggestion
    change: Estimate  # AUC of the suggested setting minus that of the fixed one, over data sets
    better: int
    worse: int
    p: float

    @property
    def supports(self) -> bool:
        """Whether what is suggested is not worse than the fixed default, and better by more than noise."""
        return self.change.low > 0


def suggestion_evidence(tried: Tried) -> SuggestionEvidence:
    """Leave out one data set after the other, suggest a linear method for it, and compare."""
    differences: list[float] = []
    better, worse, without = 0, 0, 0
    for name, dataset in tried.items():
        others = {other: each for other, each in tried.items() if other != name}
        found = suggest_methods(others, dataset.facts, count=1, linear=True)
        if not found.methods:
            without += 1
            continue
        (method,) = found.methods
        baseline = _known_at(dataset.methods[FIXED], 0)
        own = dataset.methods.get(method.method)  # None where all of its runs failed
        at = None if own is None else own.settings.index(method.parameters)
        difference = (CHANCE if own is None or at is None else _known_at(own, at)) - baseline
        between = interval(difference)
        differences.append(difference.mean())
        better, worse = better + (between.low > 0), worse + (between.high < 0)
    over = t_statistics(np.array(differences)[:, None])
    change = Estimate(float(over.mean[0]), float(over.low[0]), float(over.high[0]))
    p = signed_ranks(np.array(differences)).p
    return SuggestionEvidence(FIXED, len(differences), without, change, int(better), int(worse), p)


def _known_at(own: TriedSettings, at: int) -> Floats:
    return np.nan_to_num(own.aucs[at], nan=CHANCE)


@cache
def _tried(file: str | None = None) -> dict[str, TriedDataset] | None:
    path = file or shipped()
    return None if path is None else tried_settings(reference_study.archive(Path(path)))


def losses_table(tried: Tried) -> str:
    """Loss against tuned, before and after, of all installed methods."""
    known = {each.method: each for each in losses(tried)}
    head = (
        "method", "data sets", "loss of the default", "loss of the best of others", "change of the AUC",
        "better on", "worse on", "p (Holm)", "best on average",
    )  # fmt: skip
    rows = []
    for method in aucbench.catalog().plugins[Family.algorithms]:
        name = f"[`{method}`](generated/methods/{method}.md)"
        if (own := known.get(method)) is None:
            rows.append((name, "no trials", "", "", "", "", "", "", ""))
            continue
        change = f"{own.change.value:+.4f} ({own.change.low:+.4f} to {own.change.high:+.4f})"
        setting = ", ".join(f"{key}={_shown(value)}" for key, value in own.setting.items())
        rows.append(
            (
                name,
                f"{own.datasets}",
                f"{own.before:+.4f}",
                f"{own.after:+.4f}",
                change,
                f"{own.better}",
                f"{own.worse}",
                f"{own.tested:.2g}",
                code(setting) + (" **new**" if own.is_default else ""),
            )
        )
    return table(head, rows)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def evidence_text(tried: Tried) -> str:
    """What leaving out data sets says of suggestions."""
    own = suggestion_evidence(tried)
    if not own.datasets:
        return "The archive has too few data sets for a suggestion from the others."
    verdict = (
        "A suggestion is better than the fixed default by more than noise."
        if own.supports
        else "A suggestion is no better than the fixed default by more than noise."
    )
    low, high = own.change.low, own.change.high
    return (
        f"Over {own.datasets} data sets, for each of which a linear method was suggested from the others, "
        f"the AUC of what was suggested minus that of `{own.fixed}` with its defaults is "
        f"{own.change.value:+.4f} in the mean (95 % interval over data sets {low:+.4f} to {high:+.4f}, "
        f"Wilcoxon's p = {own.p:.2g}). The paired interval lies above zero on {own.better} data sets and "
        f"below zero on {own.worse}; for {own.without} more there was no suggestion. {verdict}"
    )


def write(folder: Path) -> None:
    """Write the table and the evidence below the folder of generated pages."""
    tried, defaults = _tried(), _tried(str(reference_study.ARCHIVE))
    absent = "The archive of the study is not in this checkout."
    texts = {
        "default_losses.inc": losses_table(tried) if tried else absent,
        "suggestion_evidence.inc": evidence_text(tried) if tried else absent,
        "suggestion_evidence_defaults.inc": evidence_text(defaults) if defaults else absent,
    }
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    if (found := _tried(*sys.argv[1:])) is None:
        raise SystemExit("There is no archive of trials: docs/results/reference_trials.zip")
    print(losses_table(found), evidence_text(found), sep="\n\n")
