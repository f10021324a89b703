"""From stored cells to the data frames of a report."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET
from msgspec.structs import asdict

from aucbench.contracts import DatasetFacts, MethodFacts, ModelClass
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, MEASURES, Measure
from aucbench.reports.cells import (
    NOTHING_FIXED,
    BoardCell,
    Fixed,
    Group,
    check_reference,
    default_reference,
    groups,
    judged_by,
    measure_of,
    measures_of,
    once_for_each,
    reference_of,
)
from aucbench.reports.gains import best_of, compared, gains_of, slopes_of
from aucbench.reports.labels import setting_texts
from aucbench.reports.report import ALL, DEFAULTS, ROPE, TUNED, MethodInfo, Report
from aucbench.reports.results import (
    class_of,
    curve_rows,
    overlap,
    result_row,
    ruleset_text,
    target_of,
    with_reaching,
)
from aucbench.studies.codec import canonical, subset
from aucbench.studies.method_look import shown_looks
from aucbench.studies.plugin_metadata import citation, links, plugin, summary
from aucbench.studies.record import EntryDescription

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
    planned: Fixed = NOTHING_FIXED,
) -> Report:
    """The report on some cells: finished, failed and missing ones.

    With `one_study` the cells belong together, so that methods on a data set are compared whatever their
    budget. `remarks` come before the notes on the numbers. `reference` is the name of the method that gains
    are relative to, or the label of one of its variants (None: `default_reference`). `by` is the name of the
    measure that all else follows. `rope` is the largest difference in it that does not matter in practice
    (None: `ROPE` for the AUC, and no rope for other measures); `planned` has the reference and the rope that
    the study fixed. With `model_class`, only methods of that
    `ModelClass` are compared, and the reference, of whatever class.

    ParameterError, when the rope is not above 0, when no method is of that class, when the reference is
    neither installed nor among the cells, when no cell has the measure, or when cells have it with different
    parameters.
    """
    import pandas as pd

    if rope is not None and not 0.0 < rope < np.inf:
        raise ParameterError(f"--rope: expected a number above 0, got {rope:g}.")
    measures = measures_of(cells)
    measure = measure_of(measures, by)
    known = [measures[name] for name in MEASURES if name != by and name in measures]
    others = tuple(next(iter(each)) for each in known if len(each) == 1)
    judged = judged_by(cells, by)
    lacking = sum(own is not cell for own, cell in zip(judged, cells, strict=True))
    found = groups(judged, one_study)
    reference = reference or default_reference(found, planned.reference)
    check_reference(reference, found)
    if model_class is not None:
        found = _of_class(found, model_class, reference)
        kept = {cell.key for group in found for own in group.boards.values() for cell in own}
        judged = [cell for cell in judged if cell.key in kept]
    usual = (planned.rope or ROPE) if by == AUC.name else None
    if rope not in (None, usual) and by == AUC.name:
        remarks = (*remarks, LATER.format(rope=rope, usual=usual))
    rope = rope or usual
    parts: dict[str, list[Any]] = {"curves": [], "data_sets": [], "methods": [], "results": []}
    references = {}
    for name, group in zip(_settings(found), found, strict=True):
        references[name] = reference_of(group, reference) or ""
        by_label = group.by_method()
        models = {label: class_of(own) for label, own in by_label.items()}
        for data_set in group.boards:
            _add_data_set(parts, group, data_set, name, measure, others, models)
        for label, own in by_label.items():
            algorithm = own[0].described.algorithm
            settings = [row["own_setting"] for row in parts["results"]
                        if (row["setting"], row["method"]) == (name, label)]  # fmt: skip
            parts["methods"].append(
                {
                    "setting": name,
                    "method": label,
                    "algorithm": algorithm.name,
                    "class_of_model": str(models[label]),
                    "own_setting": " / ".join(dict.fromkeys(filter(None, settings))),
                    "exempt": "; ".join(f"{check}: {why}" for check, why in algorithm.exempt.items()),
                }
            )
    curves, data_sets, methods, results = (pd.DataFrame(rows) for rows in parts.values())
    if not len(curves):
        curves = pd.DataFrame(columns=CURVE).astype(dict.fromkeys(CURVE[3:], float))
    every = cell_frame(judged, found)
    gains = gains_of(every, data_sets, references, rope, by)
    verdicts = compared(gains, results, data_sets, rope)
    verdicts["is_best"] = best_of(every, data_sets, verdicts, rope, by)
    order: list[str] = list(verdicts.loc[verdicts["group"] == ALL, "method"]) if len(verdicts) else []
    looks = shown_looks(list(dict.fromkeys([*filter(None, references.values()), *order, *methods["method"]])))
    for name in ("colour", "dark", "marker", "dashes"):
        methods[name] = [getattr(looks[method], name) for method in methods["method"]]
    records = [cell.record for cell in judged if cell.record]
    return Report(
        title=title,
        version=version("aucbench"),
        machines=", ".join(sorted({record.environment.cpu for record in records})) or "no machine yet",
        made=max((record.environment.finished_at or "" for record in records), default=""),
        measure=measure,
        others=others,
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


def _of_class(found: Sequence[Group], model: str, reference: str) -> list[Group]:
    """The groups with the methods of a class of model and the reference, where there are such methods."""
    chosen, others = [], set()
    for group in found:
        models = {label: class_of(own) for label, own in group.by_method().items()}
        others |= set(models.values())
        own = {label for label in models if models[label] == model}
        boards = {
            name: [cell for cell in cells if group.label(cell) in {*own, reference_of(group, reference)}]
            for name, cells in group.boards.items()
            if any(group.label(cell) in own for cell in cells)
        }
        chosen += [replace(group, boards=boards)] if boards else []
    if not chosen:
        raise ParameterError(
            f"--model-class: no method here is of the class {model}; known: {', '.join(sorted(others))}."
        )
    return chosen


def _settings(found: Sequence[Group]) -> list[str]:
    """Names of the settings: defaults or tuned, and a number where several are alike."""
    names: list[str] = []
    for group in found:
        plain = TUNED if group.tuned else DEFAULTS
        alike = sum(name.startswith(plain) for name in names)
        names.append(f"{plain} {alike + 1}" if alike else plain)
    return names


def _add_data_set(
    parts: Mapping[str, list[dict[str, Any]]],
    group: Group,
    data_set: str,
    setting: str,
    measure: Measure,
    others: Sequence[Measure],
    models: Mapping[str, ModelClass],
) -> None:
    """Add what there is to be said of one data set under one setting."""
    by_method = dict(sorted(group.by_method(data_set).items()))
    cells = group.boards[data_set]
    where = {"setting": setting, "data_set": data_set}
    ratio = overlap(cell.record for cell in cells if cell.record)
    rows = [
        where
        | {"method": method, "class_of_model": str(models[method])}
        | result_row(own, ratio, [measure.name, *(other.name for other in others)])
        for method, own in by_method.items()
    ]
    shared, own_settings = setting_texts(
        {method: [cell.described for cell in own] for method, own in by_method.items()}
    )
    for row in rows:
        row["own_setting"] = own_settings[row["method"]]
    facts = data_facts(cells)
    chance = measure.chance(facts.get("positive_share", np.nan))
    best, target = target_of(rows, chance)
    with_reaching(rows, by_method, measure.name, target)
    parts["results"] += rows
    parts["curves"] += [
        where | {"method": method} | row
        for method, own in by_method.items()
        for row in curve_rows(own, measure.name)
    ]
    parts["data_sets"].append(
        where
        | facts
        | {
            "chance": chance,
            "best": best,
            "target": target,
            "test_train_ratio": np.nan if ratio is None else ratio,
            "setting_text": "; ".join(filter(None, (shared, ruleset_text(by_method)))),
        }
    )


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
_DESCRIBED = (
    "dataset", "loss", "features", "scaling", "rescale", "regularisation", "protocol", "tuning",
    "max_train_rows", "budget", "order", "dtype",
)  # fmt: skip
_MEASURED = (
    "auc", "iterations", "train_seconds", "train_cpu_seconds", "ns_per_iteration", "state_bytes",
    "stop_reason",
)  # fmt: skip
_ENVIRONMENT = ("concurrency", "cpu", "finished_at")
_ROWS = ("train_rows", "test_rows", "train_positives", "test_positives")
CELL = (
    "setting", "data_set", "family", "method", "algorithm", "status", "seed", "split_seed", "order_seed",
    "fold",
    *_MEASURED, "tuning_passes", "tuning_seconds", "chosen", "edges", *_ROWS, *_ENVIRONMENT, "parameters",
    "described", "source", "key",
)  # fmt: skip


def cell_frame(cells: Sequence[BoardCell], found: Sequence[Group]) -> "pd.DataFrame":
    """One line a cell, from which all but what is read off curves can be computed again.

    `setting`, `data_set` and `method` are null for a cell that a later version of its code or data has
    replaced. The last columns are the other measures that some cell has, and their parameters in it.
    """
    import pandas as pd

    places: dict[str, tuple[str, str, str]] = {}
    for name, group in zip(_settings(found), found, strict=True):
        for data_set, members in group.boards.items():
            places |= {cell.key: (name, data_set, group.label(cell)) for cell in members}
    measured = [
        name for name in MEASURES if name not in CELL and any(cell.value(name) is not None for cell in cells)
    ]
    rows = []
    for cell, described in zip(cells, once_for_each(cells, _described), strict=True):
        row = described | _cell(cell)
        if cell.key in places:
            row |= dict(zip(("setting", "data_set", "method"), places[cell.key], strict=True))
        known = cell.record.measures if cell.record else {}
        row |= {name: cell.value(name) for name in measured}
        for name in measured:
            if name in known:
                row |= {f"{name}_{key}": value for key, value in known[name].parameters.items()}
        rows.append(row)
    names = dict.fromkeys([*CELL, *measured, *(name for row in rows for name in row)])
    return pd.DataFrame(rows, columns=list(names))


def _described(described: EntryDescription) -> dict[str, str]:
    return {
        "family": described.dataset.family or described.dataset.name,
        "algorithm": described.algorithm.name,
        "parameters": json.dumps(described.algorithm.parameters, default=str),
        "described": canonical(subset(described, _DESCRIBED)),
    }


def _cell(cell: BoardCell) -> dict[str, Any]:
    record = cell.record
    tuned = record.tuned if record else None
    row: dict[str, Any] = {
        "status": str(cell.status),
        "chosen": json.dumps(tuned.parameters, default=str) if tuned else None,
        "edges": json.dumps(tuned.edges) if tuned and tuned.edges is not UNSET else None,
        "tuning_passes": tuned.cost.passes if tuned else None,
        "tuning_seconds": tuned.cost.train_seconds if tuned else None,
        "source": record.source if record else None,
        "key": cell.key,
        **asdict(cell.run),
    }
    if record:
        for part, names in (
            (record.environment, _ENVIRONMENT),
            (record.data, _ROWS),
            (record.result, _MEASURED),
        ):
            row |= {name: None if (own := getattr(part, name, None)) is UNSET else own for name in names}
        if record.result.placements is not UNSET:
            row["placements"] = list(record.result.placements)
    return row
