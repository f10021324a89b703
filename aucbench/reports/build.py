"""From stored cells to the data frames of a report."""

import tomllib
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from aucbench.contracts import MethodFacts
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, Measure
from aucbench.reports.cell_frame import PLACE, cell_frame, check_reference, default_reference, reference_of
from aucbench.reports.cells import BoardCell, judged_by, measures_of
from aucbench.reports.gains import best_of, compared, gains_of, slopes_of
from aucbench.reports.report import ALL, ROPE, MethodInfo, Report
from aucbench.reports.results import class_of, on_data_set
from aucbench.studies.method_look import shown_looks
from aucbench.studies.plugin_metadata import citation, links

if TYPE_CHECKING:
    import pandas as pd

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
    import pandas as pd

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
    references: dict[str, str] = {}
    lines: dict[str, list[Any]] = {"curves": [], "data_sets": [], "results": []}
    for setting, own in placed.groupby("setting", sort=False):
        references[str(setting)] = reference_of(own, reference)
        found = [on_data_set(board, measures) for _, board in own.groupby("data_set")]
        for name, all_lines in lines.items():
            all_lines += [{"setting": setting} | line for part in found for line in part[name]]
    curves, data_sets, results = (pd.DataFrame(each) for each in lines.values())
    if not len(curves):
        curves = pd.DataFrame(columns=CURVE).astype(dict.fromkeys(CURVE[3:], float))
    every = every.drop(columns=["cell", "class_of_model"])
    gains = gains_of(every, data_sets, references, rope, by)
    verdicts = compared(gains, results, data_sets, rope)
    verdicts["is_best"] = best_of(every, data_sets, verdicts, rope, by)
    best = verdicts.loc[verdicts["group"] == ALL, "method"]
    methods = _methods(placed, results, [*filter(None, references.values()), *best])
    frames: dict[str, Any] = {"cells": every, "curves": curves, "data_sets": data_sets, "methods": methods}
    frames |= {"results": results, "gains": gains, "verdicts": verdicts}
    return Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(sorted(every["cpu"].dropna().unique())) or "no machine yet",
        made=max(every["finished_at"].dropna(), default=""),
        measure=measure,
        others=tuple(others),
        rope=rope,
        references=references,
        **frames,
        slopes=slopes_of(gains, data_sets),
        plugins={name: method_info(name) for name in sorted(methods["algorithm"].unique())},
        remarks=remarks,
        notes=(*remarks, *_notes(measure, rope, lacking, results)),
    )


def _methods(cells: "pd.DataFrame", results: "pd.DataFrame", first: list[str]) -> "pd.DataFrame":
    """The methods of each setting, with their looks; those that come `first` have the first ones."""
    import pandas as pd

    keys = ["setting", "method"]
    parts = [own.sort_values("data_set", kind="stable") for _, own in cells.groupby("setting", sort=False)]
    firsts = pd.concat(parts).drop_duplicates(keys)
    found = firsts[[*keys, "algorithm", "class_of_model"]].reset_index(drop=True)
    settings = results.groupby(keys)["own_setting"].agg(
        lambda own: " / ".join(dict.fromkeys(filter(None, own)))
    )
    found = found.join(settings, on=keys)
    every = [cell.described.algorithm.exempt for cell in firsts["cell"]]
    found["exempt"] = ["; ".join(f"{check}: {why}" for check, why in each.items()) for each in every]
    looks = shown_looks(list(dict.fromkeys([*first, *found["method"]])))
    for name in ("colour", "dark", "marker", "dashes"):
        found[name] = [getattr(looks[method], name) for method in found["method"]]
    return found


def _notes(measure: Measure, rope: float | None, lacking: int, results: "pd.DataFrame") -> list[str]:
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


def _of_class(cells: "pd.DataFrame", model: str, reference: str) -> "pd.DataFrame":
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


def method_info(name: str) -> MethodInfo:
    """What an installed plugin says of itself; little of one that is not installed."""
    from aucbench.registry import catalog

    found = catalog().plugins[Family.algorithms].get(name)
    if found is None:
        return MethodInfo(name, "This plugin is not installed here.", "", "", (), "", "")
    claims = MethodFacts(found.cls).claims
    return MethodInfo(
        name=name,
        summary=found.summary,
        citation=citation("algo", name) or "",
        claims=f"rate {claims.rate}; cost per iteration O({claims.cost})" if claims else "",
        deviations=MethodFacts(found.cls).deviations,
        source=found.source,
        distribution=f"{found.distribution} {found.version}",
        links=links("algo", name),
    )


CURVE = ("setting", "data_set", "method", "samples", "passes", "seconds", "mean", "std")
