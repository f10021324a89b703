"""From stored cells to the data frames of a report."""

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

    With `one_study` the cells belong together, so that methods on a data set are compared whatever their
    budget. `remarks` come before the notes on the numbers. `reference` is the name of the method that gains
    are relative to, or the label of one of its variants (None: `default_reference`). `by` is the name of the
    measure that all else follows. `rope` is the largest difference in it that does not matter in practice
    (None: `ROPE` for the AUC, and no rope for other measures); `planned_reference` and `planned_rope` are
    those that the study fixed. With `model_class`, only methods of that `ModelClass` are compared, and the
    reference, of whatever class.

    ParameterError, when the rope is not above 0, when no method is of that class, when the reference is
    neither installed nor among the cells, when no cell has the measure, or when cells have it with different
    parameters.
    """
    if rope is not None and not 0.0 < rope < np.inf:
        raise ParameterError(f"--rope: expected a number above 0, got {rope:g}.")
    measure, *others = measures = measures_of(cells, by)
    judged = judged_by(cells, by)
    lacking = sum(own is not cell for own, cell in zip(judged, cells, strict=True))
    every = cell_frame(judged, one_study)
    models = every.groupby(["setting", "method"])["cell"].agg(lambda own: str(class_of(own)))
    every = every.join(models.rename("class_of_model"), on=["setting", "method"])
    reference = reference or default_reference(every, planned_reference)
    check_reference(reference, {*every["method"].dropna(), *every["algorithm"]})
    if model_class is not None:
        every = _of_class(every, model_class, reference)
    usual = (planned_rope or ROPE) if by == AUC.name else None
    if rope not in (None, usual) and by == AUC.name:
        remarks = (*remarks, LATER.format(rope=rope, usual=usual))
    rope = rope or usual
    placed = every.dropna(subset=PLACE)
    references = {str(setting): reference_of(own, reference) for setting, own in placed.groupby("setting")}
    tables = tables_of(placed, measures)
    cells_alone = every.drop(columns=["cell", "class_of_model"])
    against = comparison(cells_alone, tables["data_sets"], tables["results"], references, rope, by)
    report = Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(sorted(every["cpu"].dropna().unique())) or "no machine yet",
        made=max(every["finished_at"].dropna(), default=""),
        measure=measure,
        others=tuple(others),
        rope=rope,
        references=references,
        cells=cells_alone,
        methods=pd.DataFrame(),
        **tables,
        **against,
        remarks=remarks,
        notes=(*remarks, *_notes(measure, rope, lacking, tables["results"])),
    )
    report.verdicts["is_best"] = _best_of(report)
    best = report.verdicts.loc[report.verdicts["group"] == ALL, "method"]
    first = [*filter(None, references.values()), *best]
    return replace(report, methods=_methods(placed, tables["results"], first))


def _best_of(report: Report) -> list[bool]:
    """Whether a line of the verdicts is of the method with the largest gain, or of one equivalent to it.

    The gain is that over all data sets of the setting, and on a single data set that over its runs. No
    method is best where the verdict on it is undecided, or no verdict over it if it is the reference.
    """
    best = {setting: str(report.over_all(setting)["method"].iloc[0]) for setting in report.settings}
    frames = report.cells, report.data_sets, report.results
    other = replace(report, **comparison(*frames, best, report.rope, report.measure.name))
    found = set()
    for setting, name in best.items():
        rankings = (each.ranking(setting).set_index("method") for each in (report, other))
        own, over = (ranking["verdict"].fillna("") for ranking in rankings)
        judging = over if name == report.references[setting] else own[[name]]
        if not judging.isin(["", "undecided"]).all():
            found |= {(setting, method) for method in [name, *over.index[over == "equivalent"]]}
    places = report.verdicts[["setting", "method"]].itertuples(index=False, name=None)
    return [place in found for place in places]


def _methods(cells: pd.DataFrame, results: pd.DataFrame, first: list[str]) -> pd.DataFrame:
    """The methods of each setting, what their plugins say, and looks: those `first` have the first ones."""
    keys = ["setting", "method"]
    firsts = cells.sort_values(["setting", "data_set"], kind="stable").drop_duplicates(keys)
    found = firsts[[*keys, "algorithm", "class_of_model"]].reset_index(drop=True)
    settings = results.groupby(keys)["own_setting"].agg(
        lambda own: " / ".join(dict.fromkeys(filter(None, own)))
    )
    found = found.join(settings, on=keys)
    every = [cell.described.algorithm.exempt for cell in firsts["cell"]]
    found["exempt"] = ["; ".join(f"{check}: {why}" for check, why in each.items()) for each in every]
    looks = shown_looks(list(dict.fromkeys([*first, *found["method"]])))
    drawn = pd.DataFrame([looks[method] for method in found["method"]], columns=list(Look._fields))
    return pd.concat([found, drawn, pd.DataFrame(map(method_facts, found["algorithm"]))], axis=1)


def _notes(measure: Measure, rope: float | None, lacking: int, results: pd.DataFrame) -> list[str]:
    """How the numbers of a report are made; `lacking` finished cells have no value of the measure."""
    known = tomllib.loads(files("aucbench.reports").joinpath("notes.toml").read_text("utf-8"))
    texts = [known["auc" if measure.name == AUC.name else "measure"]]
    texts += [known["lacking"]] * bool(lacking)
    texts += [known["positives"]] * (measure.name in ("ap", "precision_at"))
    texts += [known["no_rope" if rope is None else "rope"], *known["always"]]
    texts += [known["threads"]] * bool((results["time_note"] != "").any())
    if "suboptimality" in results and results["suboptimality"].fillna(0.0).any():
        texts.append(known["suboptimality"])
    return [text.format(measure=measure.title, rope=rope or 0.0, lacking=lacking) for text in texts]


def _of_class(cells: pd.DataFrame, model: str, reference: str) -> pd.DataFrame:
    """The cells of methods of a class of model and of the reference, on data sets with such methods."""
    cells = cells.dropna(subset=PLACE)
    is_own = cells["class_of_model"] == model
    if not is_own.any():
        known = ", ".join(sorted(cells["class_of_model"].unique()))
        raise ParameterError(f"--model-class: no method here is of the class {model}; known: {known}.")
    is_there = is_own.groupby([cells["setting"], cells["data_set"]]).transform("any")
    names = {setting: reference_of(own, reference) for setting, own in cells.groupby("setting")}
    is_reference = cells["method"] == cells["setting"].map(names)
    return cells[is_there & (is_own | is_reference)].reset_index(drop=True)


def method_facts(name: str) -> dict[str, Any]:
    """What an installed plugin says of itself; little of one that is not installed."""
    found = installed("algo", name)
    facts = MethodFacts(found and found.cls)
    claims = facts.claims
    return {
        "summary": found.summary if found else "This plugin is not installed here.",
        "citation": citation("algo", name) or "",
        "claims": f"rate {claims.rate}; cost per iteration O({claims.cost})" if claims else "",
        "deviations": list(facts.deviations),
        "source": found.source if found else "",  # address or file of its code
        "distribution": f"{found.distribution} {found.version}" if found else "",
        "links": [list(link) for link in links("algo", name)],
    }
