"""Construction of the data frames of a report from stored cells."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from aucbench.contracts import MethodFacts
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, Measure
from aucbench.reports.cell_frame import PLACE, cell_frame, check_reference, default_reference, reference_of
from aucbench.reports.cells import BoardCell, judged_by, measures_of
from aucbench.reports.gains import comparison
from aucbench.reports.report import ALL, ROPE, Report
from aucbench.reports.results import class_of, tables_of
from aucbench.studies.method_look import Look, shown_looks
from aucbench.studies.plugin_metadata import citation, installed, links

LATER = "The rope of {rope:g} was chosen when the results were known; the study was planned with {usual:g}."


def build(
    cells: Sequence[BoardCell],
    title: str,
    one_study: bool = False,
    remarks: tuple[str, ...] = (),
    reference: str | None = None,
    by: str = AUC.name,
    rope: float | None = None,
    model_class: str | None = None,
    planned_reference: str | None = None,
    planned_rope: float | None = None,
) -> Report:
    """The report on some cells: finished, failed and missing ones.

    With `one_study` the cells belong together: methods on a data set are compared regardless of budget.
    `remarks` come before the notes on the numbers. `reference` is the name of the method that gains are
    relative to, or the label of one of its variants (None: `default_reference`). `by` is the name of the
    measure that is compared. `rope` is the largest difference of the measure that does not matter in practice
    (None: `ROPE` for the AUC, and no rope for other measures). `planned_reference` and `planned_rope` are the
    reference and the rope that the study fixed. With `model_class`, only methods of this `ModelClass` are
    compared; the reference may be of any class.

    Raises ParameterError if the rope is not above 0, if no method is of the class, if the reference is
    neither installed nor among the cells, if no cell has the measure, or if the parameters of the measure
    differ between cells.
    """
    if rope is not None and not 0.0 < rope < np.inf:
        raise ParameterError(f"--rope: expected a number above 0, got {rope:g}.")
    measure, *others = measures = measures_of(cells, by)
    judged = judged_by(cells, by)
    n_missing = sum(judged_cell is not cell for judged_cell, cell in zip(judged, cells, strict=True))
    frame = cell_frame(judged, one_study)
    models = frame.groupby(["setting", "method"])["cell"].agg(lambda group: str(class_of(group)))
    frame = frame.join(models.rename("class_of_model"), on=["setting", "method"])
    reference = reference or default_reference(frame, planned_reference)
    check_reference(reference, {*frame["method"].dropna(), *frame["algorithm"]})
    if model_class is not None:
        frame = _of_class(frame, model_class, reference)
    default_rope = (planned_rope or ROPE) if by == AUC.name else None
    if rope not in (None, default_rope) and by == AUC.name:
        remarks = (*remarks, LATER.format(rope=rope, usual=default_rope))
    rope = rope or default_rope
    placed = frame.dropna(subset=PLACE)
    references = {str(setting): reference_of(rows, reference) for setting, rows in placed.groupby("setting")}
    tables = tables_of(placed, measures)
    cells_alone = frame.drop(columns=["cell", "class_of_model"])
    comparisons = comparison(cells_alone, tables["data_sets"], tables["results"], references, rope, by)
    report = Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(sorted(frame["cpu"].dropna().unique())) or "no machine yet",
        made=max(frame["finished_at"].dropna(), default=""),
        measure=measure,
        others=tuple(others),
        rope=rope,
        references=references,
        cells=cells_alone,
        methods=pd.DataFrame(),
        **tables,
        **comparisons,
        remarks=remarks,
        notes=(*remarks, *_notes(measure, rope, n_missing, tables["results"])),
    )
    report.verdicts["is_best"] = _best_of(report)
    best = report.verdicts.loc[report.verdicts["group"] == ALL, "method"]
    first = [*filter(None, references.values()), *best]
    return replace(report, methods=_methods(placed, tables["results"], first))


def _best_of(report: Report) -> list[bool]:
    """Whether a line of the verdicts is for the method with the largest gain, or for an equivalent method.

    The gain is taken over all data sets of the setting, and on a single data set over its runs. No
    method is best if its verdict is undecided or, for the reference, if all verdicts against it are.
    """
    best = {setting: str(report.over_all(setting)["method"].iloc[0]) for setting in report.settings}
    frames = report.cells, report.data_sets, report.results
    rebased = replace(report, **comparison(*frames, best, report.rope, report.measure.name))
    winners = set()
    for setting, name in best.items():
        rankings = (source.ranking(setting).set_index("method") for source in (report, rebased))
        over_reference, over_best = (ranking["verdict"].fillna("") for ranking in rankings)
        verdicts = over_best if name == report.references[setting] else over_reference[[name]]
        if not verdicts.isin(["", "undecided"]).all():
            winners |= {(setting, method) for method in [name, *over_best.index[over_best == "equivalent"]]}
    pairs = report.verdicts[["setting", "method"]].itertuples(index=False, name=None)
    return [pair in winners for pair in pairs]


def _methods(cells: pd.DataFrame, results: pd.DataFrame, first: list[str]) -> pd.DataFrame:
    """The methods of each setting, with plugin facts and looks; the methods `first` get the first looks."""
    keys = ["setting", "method"]
    firsts = cells.sort_values(["setting", "data_set"], kind="stable").drop_duplicates(keys)
    frame = firsts[[*keys, "algorithm", "class_of_model"]].reset_index(drop=True)
    settings = results.groupby(keys)["own_setting"].agg(
        lambda texts: " / ".join(dict.fromkeys(filter(None, texts)))
    )
    frame = frame.join(settings, on=keys)
    exempt = [cell.described.algorithm.exempt for cell in firsts["cell"]]
    frame["exempt"] = ["; ".join(f"{check}: {text}" for check, text in checks.items()) for checks in exempt]
    looks = shown_looks(list(dict.fromkeys([*first, *frame["method"]])))
    drawn = pd.DataFrame([looks[method] for method in frame["method"]], columns=list(Look._fields))
    return pd.concat([frame, drawn, pd.DataFrame(map(method_facts, frame["algorithm"]))], axis=1)


def _notes(measure: Measure, rope: float | None, n_missing: int, results: pd.DataFrame) -> list[str]:
    """Notes on how the numbers are computed; `n_missing` finished cells have no value of the measure."""
    templates = tomllib.loads(files("aucbench.reports").joinpath("notes.toml").read_text("utf-8"))
    texts = [templates["auc" if measure.name == AUC.name else "measure"]]
    texts += [templates["lacking"]] * bool(n_missing)
    texts += [templates["positives"]] * (measure.name in ("ap", "precision_at"))
    texts += [templates["no_rope" if rope is None else "rope"], *templates["always"]]
    texts += [templates["threads"]] * bool((results["time_note"] != "").any())
    if "suboptimality" in results and results["suboptimality"].fillna(0.0).any():
        texts.append(templates["suboptimality"])
    return [text.format(measure=measure.title, rope=rope or 0.0, lacking=n_missing) for text in texts]


def _of_class(cells: pd.DataFrame, model: str, reference: str) -> pd.DataFrame:
    """The cells of a class of model and of the reference, on data sets with methods of the class."""
    cells = cells.dropna(subset=PLACE)
    in_class = cells["class_of_model"] == model
    if not in_class.any():
        classes = ", ".join(sorted(cells["class_of_model"].unique()))
        raise ParameterError(f"--model-class: no method here is of the class {model}; known: {classes}.")
    has_class = in_class.groupby([cells["setting"], cells["data_set"]]).transform("any")
    references = {setting: reference_of(group, reference) for setting, group in cells.groupby("setting")}
    is_reference = cells["method"] == cells["setting"].map(references)
    return cells[has_class & (in_class | is_reference)].reset_index(drop=True)


def method_facts(name: str) -> dict[str, Any]:
    """The metadata of an installed plugin; mostly empty if the plugin is not installed."""
    plugin = installed("algo", name)
    facts = MethodFacts(plugin and plugin.cls)
    claims = facts.claims
    return {
        "summary": plugin.summary if plugin else "This plugin is not installed here.",
        "citation": citation("algo", name) or "",
        "claims": f"rate {claims.rate}; cost per iteration O({claims.cost})" if claims else "",
        "deviations": list(facts.deviations),
        "source": plugin.source if plugin else "",  # address or file of the code
        "distribution": f"{plugin.distribution} {plugin.version}" if plugin else "",
        "links": [list(link) for link in links("algo", name)],
    }
