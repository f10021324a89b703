"""From stored cells to the data frames of a report."""

import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET

from aucbench.contracts import DatasetFacts, MethodFacts
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, Measure
from aucbench.reports.cell_frame import PLACE, cell_frame, check_reference, default_reference, reference_of
from aucbench.reports.cells import BoardCell, judged_by, measures_of
from aucbench.reports.gains import best_of, compared, gains_of, slopes_of
from aucbench.reports.labels import setting_texts
from aucbench.reports.report import ALL, ROPE, MethodInfo, Report
from aucbench.reports.results import (
    class_of,
    curve_rows,
    overlap,
    result_row,
    ruleset_text,
    target_of,
    with_reaching,
)
from aucbench.studies.method_look import shown_looks
from aucbench.studies.plugin_metadata import citation, links, plugin, summary
from aucbench.studies.provenance import own_packages

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
    every = _with_models(cell_frame(judged, one_study))
    reference = reference or default_reference(every, planned_reference)
    check_reference(reference, {*every["method"].dropna(), *every["algorithm"]})
    if model_class is not None:
        every = _of_class(every, model_class, reference)
    usual = (planned_rope or ROPE) if by == AUC.name else None
    if rope not in (None, usual) and by == AUC.name:
        remarks = (*remarks, LATER.format(rope=rope, usual=usual))
    rope = rope or usual
    references: dict[str, str] = {}
    lines: dict[str, list[Any]] = {"curves": [], "data_sets": [], "methods": [], "results": []}
    for setting, own in every.dropna(subset=PLACE).groupby("setting", sort=False):
        references[str(setting)] = reference_of(own, reference)
        found = [_on_data_set(board, measures) for _, board in own.groupby("data_set")]
        for name in ("curves", "data_sets", "results"):
            lines[name] += [{"setting": setting} | line for part in found for line in part[name]]
        lines["methods"] += [{"setting": setting} | line for line in _methods(own, lines["results"])]
    curves, data_sets, methods, results = (pd.DataFrame(each) for each in lines.values())
    if not len(curves):
        curves = pd.DataFrame(columns=CURVE).astype(dict.fromkeys(CURVE[3:], float))
    remarks = (*remarks, *_several_versions(every))
    every = every.drop(columns=["cell", "class_of_model"])
    gains = gains_of(every, data_sets, references, rope, by)
    verdicts = compared(gains, results, data_sets, rope)
    verdicts["is_best"] = best_of(every, data_sets, verdicts, rope, by)
    order: list[str] = list(verdicts.loc[verdicts["group"] == ALL, "method"]) if len(verdicts) else []
    looks = shown_looks(list(dict.fromkeys([*filter(None, references.values()), *order, *methods["method"]])))
    for name in ("colour", "dark", "marker", "dashes"):
        methods[name] = [getattr(looks[method], name) for method in methods["method"]]
    return Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(sorted(every["cpu"].dropna().unique())) or "no machine yet",
        made=max(every["finished_at"].dropna(), default=""),
        measure=measure,
        others=tuple(others),
        rope=rope,
        references=references,
        cells=every,
        curves=curves,
        data_sets=data_sets,
        methods=methods,
        results=results,
        gains=gains,
        verdicts=verdicts,
        slopes=slopes_of(gains, data_sets),
        plugins={name: method_info(name) for name in sorted(methods["algorithm"].unique())},
        remarks=remarks,
        notes=(*remarks, *_notes(measure, rope, lacking, results)),
    )


def _on_data_set(board: "pd.DataFrame", measures: Sequence[Measure]) -> dict[str, list[Any]]:
    """What there is to be said of one data set under one setting: lines of results, curves and facts."""
    cells = list(board["cell"])
    by_method = {str(method): list(own) for method, own in board.groupby("method")["cell"]}
    models = dict(zip(board["method"], board["class_of_model"], strict=True))
    where = {"data_set": board["data_set"].iloc[0]}
    ratio = overlap(cell.record for cell in cells if cell.record)
    shared, own_settings = setting_texts(
        {method: [cell.described for cell in own] for method, own in by_method.items()}
    )
    facts = data_facts(cells)
    names, chance = [each.name for each in measures], measures[0].chance(facts.get("positive_share", np.nan))
    rows = [
        where
        | {"method": method, "class_of_model": models[method]}
        | result_row(own, ratio, names)
        | {"own_setting": own_settings[method]}
        for method, own in by_method.items()
    ]
    best, target = target_of(rows, chance)
    with_reaching(rows, by_method, names[0], target)
    facts |= {
        "chance": chance,
        "best": best,
        "target": target,
        "test_train_ratio": np.nan if ratio is None else ratio,
        "setting_text": "; ".join(filter(None, (shared, ruleset_text(by_method)))),
    }
    curves = [
        where | {"method": method} | row
        for method, own in by_method.items()
        for row in curve_rows(own, names[0])
    ]
    return {"curves": curves, "data_sets": [where | facts], "results": rows}


def _methods(cells: "pd.DataFrame", results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The lines of the methods of a setting."""
    found = []
    firsts: Any = cells.sort_values("data_set", kind="stable").drop_duplicates("method").itertuples()
    for row in firsts:
        own = [each["own_setting"] for each in results
               if (each["setting"], each["method"]) == (row.setting, row.method)]  # fmt: skip
        exempt = row.cell.described.algorithm.exempt
        found.append(
            {
                "method": row.method,
                "algorithm": row.algorithm,
                "class_of_model": row.class_of_model,
                "own_setting": " / ".join(dict.fromkeys(filter(None, own))),
                "exempt": "; ".join(f"{check}: {why}" for check, why in exempt.items()),
            }
        )
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


def _several_versions(cells: "pd.DataFrame") -> list[str]:
    """Methods whose cells were made with several versions of a package, such as a booster's library."""
    made: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    placed = cells.dropna(subset=PLACE)
    for method, cell in zip(placed["method"], placed["cell"], strict=True):
        for name, number in (own_packages(cell.record) if cell.record else {}).items():
            made[method, name].add(number)
    return [
        f"Cells of {method} were made with several versions of {name}: {', '.join(sorted(numbers))}."
        for (method, name), numbers in made.items()
        if len(numbers) > 1
    ]


def _with_models(cells: "pd.DataFrame") -> "pd.DataFrame":
    """The cells with the `class_of_model` of their method under their setting."""
    keys = ["setting", "method"]
    models = cells.groupby(keys)["cell"].agg(lambda own: str(class_of(own)))
    return cells.join(models.rename("class_of_model"), on=keys)


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


def data_facts(cells: Sequence[BoardCell]) -> dict[str, Any]:
    """Facts of a data set; those of the run with most rows, where runs differ."""
    name = cells[0].described.dataset.name
    known: dict[str, Any] = {
        "name": name,
        "family": cells[0].described.dataset.family or name,
        "licence": DatasetFacts(plugin("dataset", name)).licence or "",
        "citation": citation("dataset", name) or "",
        "summary": summary("dataset", name),
        "links": [list(link) for link in links("dataset", name)],
    }
    parts = [cell.record.data for cell in cells if cell.record]
    if not parts:
        return known
    data = max(parts, key=lambda each: each.train_rows + each.test_rows)
    rows, share = data.train_rows + data.test_rows, data.train_positives / data.train_rows
    if data.test_positives is not None:
        share = (data.train_positives + data.test_positives) / rows
    return known | {
        "rows": rows,
        "train_rows": data.train_rows,
        "test_rows": data.test_rows,
        "features": data.features,
        "positive_share": share,
        "positive": ", ".join(data.positive),
        "negative": ", ".join(data.negative),
        "format": data.format,
        "duplicates": np.nan if data.duplicates is UNSET else data.duplicates,
        "mixed_labels": np.nan if data.mixed_labels is UNSET else data.mixed_labels,
    }


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
