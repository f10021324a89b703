"""Defaults and suggestions judged by the trials of the reference study, leaving out one data set at a time.

The trials are in the archive of ``+experiment=reference``. ``python docs/_ext/trials_study.py [FILE]``
prints the table of losses and the evidence for suggestions, as on the pages.
"""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import reference_study
from markdown import code, table

import aucbench
from aucbench.contracts import DatasetFacts
from aucbench.contracts.validation import Family
from aucbench.reports.answer import BETTER, listed
from aucbench.reports.columns import VERDICTS, signed
from aucbench.reports.report import ROPE
from aucbench.reports.statistics.verdicts import compare_families
from aucbench.reports.suggestion import interval, suggest_methods
from aucbench.studies.archives.archive import Archive
from aucbench.studies.archives.archive_file import shipped
from aucbench.studies.archives.tried_settings import TriedDataset, TriedSettings, tried_settings
from aucbench.studies.plugin_metadata import plugin

FIXED = "psam"  # baseline of suggestions: the default method of the command line
CHANCE = 0.5  # AUC of a setting without a result
Floats = np.ndarray
Tried = Mapping[str, TriedDataset]


def losses(tried: Tried) -> pd.DataFrame:
    """A row for each method with trials, indexed by its name.

    `before` and `after` are the AUC of the tuned method minus that of its default, and of the setting that
    is best on average over the other data sets, in the mean over data sets. `gain`, `low`, `high` and
    `verdict` compare that setting with the default over families; `raised` and `lowered` are the data sets on
    which the paired interval of the change lies above and below 0; `setting` is best on average over all.
    """
    changes: list[tuple[str, str, str, float]] = []
    facts = {}
    for method in sorted({name for dataset in tried.values() for name in dataset.methods}):
        sets = [grid for dataset in tried.values() if (grid := dataset.methods.get(method)) and grid.is_tuned]
        if len(sets) < 2 or any(grid.settings != sets[0].settings for grid in sets):
            continue
        aucs = [_known(grid) for grid in sets]
        gains = np.array([(auc - auc[0]).mean(axis=(1, 2)) for auc in aucs])  # (data sets, settings)
        best = [int(np.argmax(np.delete(gains, index, axis=0).mean(axis=0))) for index in range(len(sets))]
        differences = [auc[setting] - auc[0] for auc, setting in zip(aucs, best, strict=True)]
        mean = np.array([difference.mean() for difference in differences])
        changes += [
            (method, grid.dataset, _family(grid.dataset), gain) for grid, gain in zip(sets, mean, strict=True)
        ]
        before = float(np.mean([(tuned(auc) - auc[0]).mean() for auc in aucs]))
        intervals = [interval(difference) for difference in differences]
        facts[method] = {
            "before": before,
            "after": before - float(mean.mean()),
            "raised": sum(low > 0 for _, low, _ in intervals),
            "lowered": sum(high < 0 for _, _, high in intervals),
            "setting": sets[0].settings[int(np.argmax(gains.mean(axis=0)))],
        }
    columns = ["method", "data_set", "family", "gain"]
    compared = compare_families(pd.DataFrame(changes, columns=columns), ROPE)
    return compared.join(pd.DataFrame.from_dict(facts, orient="index"))


def _family(data_set: str) -> str:
    return DatasetFacts(plugin("dataset", data_set)).family or data_set


def _known(grid: TriedSettings) -> Floats:
    """AUCs on the splits on which the method was run; `CHANCE` where a setting has no result."""
    has_run = ~np.isnan(grid.aucs).all(axis=(0, 2))
    return np.nan_to_num(grid.aucs[:, has_run], nan=CHANCE)


def tuned(aucs: Floats) -> Floats:
    """The AUC on each split and fold, (splits, folds), of the setting that is best on the other folds."""
    scores = np.empty(aucs.shape[1:])
    for fold in range(aucs.shape[2]):
        chosen = np.delete(aucs, fold, axis=2).mean(axis=2).argmax(axis=0)
        scores[:, fold] = aucs[chosen, np.arange(aucs.shape[1]), fold]
    return scores


class SuggestionEvidence(NamedTuple):
    """Suggestions for each data set from other families, against one fixed method with its defaults."""

    datasets: int
    without: int  # data sets without a suggestion
    compared: pd.Series  # gain, interval and verdict of suggestions over families
    better: int  # data sets on which the paired interval of the gain lies above 0
    worse: int


def suggestion_evidence(tried: Tried) -> SuggestionEvidence:
    """Suggest a linear method for each data set from data sets of other families, and compare."""
    gains: list[tuple[str, str, str, float]] = []
    better, worse, without = 0, 0, 0
    for name, dataset in tried.items():
        other_sets = {other: entry for other, entry in tried.items() if _family(other) != _family(name)}
        suggestion = suggest_methods(other_sets, dataset.facts, count=1, linear=True)
        if not suggestion.methods:
            without += 1
            continue
        (method,) = suggestion.methods
        baseline = _known_at(dataset.methods[FIXED], 0)
        grid = dataset.methods.get(method.method)  # None if all runs of the method failed
        index = None if grid is None else grid.settings.index(method.parameters)
        difference = (CHANCE if grid is None or index is None else _known_at(grid, index)) - baseline
        _, low, high = interval(difference)
        gains.append(("suggested", name, _family(name), float(difference.mean())))
        better, worse = better + (low > 0), worse + (high < 0)
    columns = ["method", "data_set", "family", "gain"]
    frame = pd.DataFrame(gains or [("suggested", "", "", np.nan)], columns=columns)
    return SuggestionEvidence(len(gains), without, compare_families(frame, ROPE).iloc[0], better, worse)


def _known_at(grid: TriedSettings, index: int) -> Floats:
    return np.nan_to_num(grid.aucs[index], nan=CHANCE)


@cache
def _tried(file: str | None = None) -> dict[str, TriedDataset] | None:
    path = file or shipped()
    return None if path is None else tried_settings(reference_study.archive(Path(path)))


def losses_table(tried: Tried) -> str:
    """Losses in AUC against tuning, `before` and `after`, for all installed methods."""
    facts = losses(tried).to_dict("index")
    head = (
        "method", "data sets", "loss of the default", "loss of the best of others", "change of the AUC",
        "verdict", "better on", "worse on", "best on average",
    )  # fmt: skip
    rows = []
    for method in aucbench.catalog().plugins[Family.algorithms]:
        name = f"[`{method}`](generated/methods/{method}.md)"
        if (row := facts.get(method)) is None:
            rows.append((name, "no trials", *[""] * 7))
            continue
        setting = ", ".join(f"{key}={_shown(value)}" for key, value in row["setting"].items())
        rows.append(
            (
                name,
                f"{row['data_sets']}",
                signed(row["before"]),
                signed(row["after"]),
                VERDICTS["gain"].shown(row),
                row["verdict"],
                f"{row['raised']}",
                f"{row['lowered']}",
                code(setting),
            )
        )
    return table(head, rows)


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def evidence_text(tried: Tried) -> str:
    """The evidence for suggestions from leaving out data sets, in words."""
    evidence = suggestion_evidence(tried)
    if not evidence.datasets:
        return "The archive has too few data sets for a suggestion from the others."
    row = evidence.compared
    verdict = (
        f"A suggestion is {row['verdict']} than the fixed default."
        if row["verdict"] in BETTER
        else "So a suggestion is not shown to be better than the fixed default."
    )
    return (
        f"Over {evidence.datasets} data sets, for each of which a linear method was suggested from other "
        f"families, the AUC of what was suggested minus that of `{FIXED}` with its defaults is "
        f"{signed(row['gain'])} in the mean over families (95 % interval {signed(row['low'])} to "
        f"{signed(row['high'])}). The paired interval lies above zero on {evidence.better} data sets and "
        f"below zero on {evidence.worse}; for {evidence.without} more there was no suggestion. {verdict}"
    )


TRIED = ("boosting", "mlp", "log_reg")  # candidates of a trial, from three classes of model


def trial_text(archive: Archive) -> str:
    """The AUC lost against the best of all methods by choosing among `TRIED` by cross-validation."""
    rows = [
        (
            record.dataset.family or record.dataset.name,
            record.dataset.title,
            record.seeds.split_seed,
            record.algorithm.name,
            np.nan if record.result.auc is None else record.result.auc,
            record.tuned.validation_auc if record.tuned else np.nan,
        )
        for record in (cell.record for cell in archive)
    ]
    frame = pd.DataFrame(rows, columns=["family", "data_set", "split", "method", "auc", "validation"])
    keys = ["family", "data_set", "split"]
    tested = frame.pivot_table(index=keys, columns="method", values="auc")
    validated = frame.pivot_table(index=keys, columns="method", values="validation")[list(TRIED)].dropna()
    best, tested = tested.max(axis=1)[validated.index], tested.loc[validated.index]
    chosen = np.array([tested.at[key, name] for key, name in validated.idxmax(axis=1).items()], dtype=float)
    deficits = {
        "chosen": best - chosen,
        **{name: best - tested[name] for name in TRIED},
    }
    means = {
        name: deficit.groupby(["family", "data_set"]).mean().groupby("family").mean().mean()
        for name, deficit in deficits.items()
    }
    costs = listed([f"{means[name]:.4f} with `{name}`" for name in TRIED])
    return (
        f"Trying is better than being told. Of {listed([f'`{name}`' for name in TRIED])}, the one with the "
        f"highest AUC in the cross-validation of its tuning is {means['chosen']:.4f} behind the best of all "
        f"methods on the same test rows, in the mean over families; always taking the same method loses "
        f"{costs}. The best of so many methods on few test rows is partly luck, which all of these figures "
        f"contain."
    )


def write(folder: Path) -> None:
    """Write the table and the evidence below the folder of generated pages."""
    tried, defaults = _tried(), _tried(str(reference_study.ARCHIVE))
    absent = "The archive of the study is not in this checkout."
    texts = {
        "default_losses.inc": losses_table(tried) if tried else absent,
        "trial_evidence.inc": trial_text(reference_study.archive(Path(shipped() or ""))) if tried else absent,
        "suggestion_evidence.inc": evidence_text(tried) if tried else absent,
        "suggestion_evidence_defaults.inc": evidence_text(defaults) if defaults else absent,
    }
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    if (datasets := _tried(*sys.argv[1:])) is None:
        raise SystemExit("There is no archive of trials: docs/results/reference.zip")
    print(losses_table(datasets), evidence_text(datasets), sep="\n\n")
