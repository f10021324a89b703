"""One data set: what the runs of each method reached, at what cost, and under which conditions."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET

from aucbench.contracts import DatasetFacts, ModelClass
from aucbench.evaluation.measures import Measure
from aucbench.humanize import counted
from aucbench.reports.cells import BoardCell
from aucbench.reports.labels import parameters_text, setting_texts
from aucbench.reports.statistics.cost import TARGET, first_crossing, median_cost
from aucbench.reports.statistics.over_runs import over_runs
from aucbench.studies.archives.replications import Agreement, compare, machine_of, machines
from aucbench.studies.codec import canonical, subset
from aucbench.studies.plugin_metadata import citation, links, model_of, plugin, summary
from aucbench.studies.record import CellRecord, CellStatus, Environment
from aucbench.studies.rerun_command import words
from aucbench.studies.result import (
    SUBOPTIMALITY,
    chosen_in_words,
    common,
    edges_in_words,
    mean_curve,
    takes_all_rows,
    with_whole_curves,
)

if TYPE_CHECKING:
    import pandas as pd

SEVERAL, CLOCK = 1.5, 0.1  # times the wall time, and seconds more, that a single thread does not use
NAN = float("nan")
SELF_REPORTED = "self-reported"


def finished(cells: Iterable[BoardCell]) -> list[BoardCell]:
    """The cells that have a result."""
    return [cell for cell in cells if cell.status is CellStatus.finished]


def on_data_set(board: "pd.DataFrame", measures: Sequence[Measure]) -> dict[str, list[dict[str, Any]]]:
    """Lines of the frames `curves`, `data_sets` and `results` on one data set, whose cells are given.

    The first measure is compared, the others are shown beside it.
    """
    cells = list(board["cell"])
    by_method = {str(method): list(own) for method, own in board.groupby("method")["cell"]}
    models = dict(zip(board["method"], board["class_of_model"], strict=True))
    ratio = overlap(cell.record for cell in cells if cell.record)
    shared, own_settings = setting_texts(
        {method: [cell.described for cell in own] for method, own in by_method.items()}
    )
    names, facts = [each.name for each in measures], {"data_set": board["data_set"].iloc[0]}
    places = {method: facts | {"method": method} for method in by_method}
    facts |= data_facts(cells)
    chance = measures[0].chance(facts.get("positive_share", NAN))
    rows = [
        places[method]
        | {"class_of_model": models[method]}
        | result_row(own, ratio, names)
        | {"own_setting": own_settings[method]}
        for method, own in by_method.items()
    ]
    best, target = target_of(rows, chance)
    marks = timing_marks(by_method)
    for row in rows:
        row |= _reaching(row, by_method[row["method"]], names[0], target)
        row["timing_mark"] = marks.get(row["method"], "")
    facts |= {"chance": chance, "best": best, "target": target}
    facts["test_train_ratio"] = NAN if ratio is None else ratio
    facts["setting_text"] = "; ".join(filter(None, (shared, ruleset_text(by_method))))
    curves = [
        place | row for method, place in places.items() for row in curve_rows(by_method[method], names[0])
    ]
    return {"curves": curves, "data_sets": [facts], "results": rows}


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
    known |= {"rows": rows, **subset(data, ("train_rows", "test_rows", "features")), "positive_share": share}
    known |= {"positive": ", ".join(data.positive), "negative": ", ".join(data.negative)}
    known |= {"format": data.format}
    shares = {"duplicates": data.duplicates, "mixed_labels": data.mixed_labels}
    return known | {name: NAN if each is UNSET else each for name, each in shares.items()}


def overlap(records: Iterable[CellRecord]) -> float | None:
    """Test rows over training rows, where several splits of the same rows make runs dependent.

    None where all runs share one split, or the data set's own. The rows are counted as they were used: for k
    folds the ratio is 1/(k - 1), and a limit of the training rows counts. Where the methods of a data set
    differ in it, the largest ratio is taken, which makes intervals wider.
    """
    splits, rows = set(), defaultdict(list)
    for record in records:
        splits.add((record.split_seed, record.fold))
        if {"folds", "test_fraction"} & set(record.protocol.parameters):
            rows[canonical([record.protocol, record.max_train_rows])].append(record.data)
    if len(splits) < 2 or not rows:
        return None
    return max(
        sum(each.test_rows for each in own) / sum(each.train_rows for each in own) for own in rows.values()
    )


def result_row(cells: Sequence[BoardCell], ratio: float | None, names: Sequence[str]) -> dict[str, Any]:
    """The line of a method on a data set; NaN where a number is not known.

    `ratio` is from `overlap`, `names` are the measure that is compared and those shown beside it.
    """
    done = finished(cells)
    statuses = Counter(cell.status for cell in cells)
    values = np.array([[cell.value(name) for name in names] for cell in done], float).reshape(-1, len(names))
    own = over_runs(values, ratio)
    every = [cell.record for cell in cells if cell.record]
    records = [cell.record for cell in done if cell.record]
    results = [record.result for record in records]
    costs = [record.tuned.cost for record in records if record.tuned]
    described = (done or cells)[0].described
    gaps = {
        "diverged": statuses[CellStatus.diverged],
        "failed": sum(count for status, count in statuses.items() if status.is_failure),
        "missing": statuses[CellStatus.missing],
    }
    measures = common(every) if every else ()
    rerun = words(cells[0].described, [cell.run for cell in cells], None, measures)
    advice = Counter(cell.record.result.advice for cell in cells if cell.record and cell.record.diverged)
    row = {
        "algorithm": described.algorithm.name,
        "runs": len(done),
        **gaps,
        "gaps": _gaps(gaps, len(cells)),
        "mean": float(own.mean[0]),
        "std": float(own.std[0]),
        "low": float(np.clip(own.low[0], 0.0, 1.0)),
        "high": float(np.clip(own.high[0], 0.0, 1.0)),
        "time_note": time_note(results),
        "train_seconds": _mean(result.train_seconds for result in results),
        "ns_per_iteration": _mean(result.ns_per_iteration for result in results),
        "iteration": "pass" * any(cell.record and takes_all_rows(cell.record, cell.curve) for cell in done),
        "state_bytes": _mean(result.state_bytes for result in results),
        "tuning_seconds": _mean(cost.train_seconds for cost in costs) if costs else 0.0,
        "tuning_passes": _mean(cost.passes for cost in costs) if costs else 0.0,
        "unconverged": sum(result.converged is False for result in results),
        "chosen": chosen_in_words(records),
        "edges": "; ".join(sentence for _, sentence in edges_in_words(records)),
        "advice": next((text for text, _ in advice.most_common() if text), ""),
        "reported": reported(cells),
        "parameters": parameters_text(described),
        "command": shlex.join(["aucbench", *rerun]),
    }
    for at, name in enumerate(names[1:], 1):
        if own.runs[at] == len(done) > 0:
            row |= {f"{name}_mean": float(own.mean[at]), f"{name}_std": float(own.std[at])}
    ends = [cell.curve[SUBOPTIMALITY][-1] for cell in done if SUBOPTIMALITY in cell.curve]
    return row | ({SUBOPTIMALITY: _mean(ends)} if done and len(ends) == len(done) else {})


def _mean(values: Iterable[Any]) -> float:
    known = [float(value) for value in values if isinstance(value, int | float)]
    return fmean(known) if known else NAN


def _gaps(gaps: Mapping[str, int], planned: int) -> str:
    """What became of the runs without a result: ``diverged in 3 of 5 runs, failed in 1``; else empty."""
    first, *others = [f"{why} in {count}" for why, count in gaps.items() if count] or [""]
    return ", ".join([f"{first} of {counted(planned, 'run')}" if first else "", *others])


def class_of(cells: Iterable[BoardCell]) -> ModelClass:
    """The class of model of a method, as its runs say; where they differ, one that is not linear."""
    every = list(cells)
    found = {model_of(cell.record) for cell in every if cell.record}
    return min(
        found or {model_of(cell.described) for cell in every},
        key=lambda each: (each is ModelClass.linear, each),
    )


def target_of(rows: Sequence[Mapping[str, Any]], chance: float) -> tuple[float, float]:
    """The best mean of a data set and the target, chance + `TARGET` (best of a linear method - chance).

    Methods with gaps do not count. The target is that of linear methods where there are any: no linear method
    need reach a non-linear one. It is a fraction of what lies above chance, since a fraction of the AUC
    itself is trivial where AUCs are low and impossible to miss where they are high. NaN where nothing is
    above chance.
    """
    whole = [row for row in rows if not row["gaps"] and not np.isnan(row["mean"])]
    linear = [row for row in whole if row["class_of_model"] == ModelClass.linear] or whole
    best, goal = (max((row["mean"] for row in own), default=NAN) for own in (whole, linear))
    return best, chance + TARGET * (goal - chance) if goal > chance else NAN


def _reaching(row: Mapping[str, Any], cells: Sequence[BoardCell], by: str, target: float) -> dict[str, float]:
    """The time to target of a method, and the share of its runs that reached it.

    A run that failed or diverged never reached the target, whatever it had reached before.
    """
    done = finished(cells)
    kept = with_whole_curves(done)
    paid = []
    for curve in (cell.curve for cell in kept):
        at = ~np.isnan(curve[by])
        cost = first_crossing(curve["train_seconds"][at].astype(float), curve[by][at], target)
        paid += [cost] * (len(done) // len(kept))  # runs that one curve stands for
    paid += [np.inf] * (row["diverged"] + row["failed"])
    if not paid or np.isnan(target):
        return {"target_seconds": NAN, "target_share": NAN}
    return {"target_seconds": median_cost(paid), "target_share": float(np.isfinite(paid).mean())}


def curve_rows(cells: Sequence[BoardCell], by: str) -> list[dict[str, Any]]:
    """The mean curve of a method over its finished runs, one line a checkpoint that all of them reached."""
    done = finished(cells)
    if not done:
        return []
    mean = mean_curve([cell.curve for cell in with_whole_curves(done)])
    columns = {"samples": np.asarray(mean["samples"], float), "passes": mean["passes"]}
    columns |= {"seconds": mean["train_seconds"], "mean": mean[by], "std": mean[f"{by}_std"]}
    columns |= {name: mean[name] for name in (SUBOPTIMALITY,) if name in mean}
    points = zip(*(each.tolist() for each in columns.values()), strict=True)
    return [dict(zip(columns, values, strict=True)) for values in points]


def timing_marks(by_method: Mapping[str, Sequence[BoardCell]]) -> dict[str, str]:
    """Why the times of a method are not comparable with those of the largest class of conditions."""
    environments = {
        method: [cell.record.environment for cell in cells if cell.record]
        for method, cells in by_method.items()
    }
    every = [each for own in environments.values() for each in own]
    by_id = all(each.machine for each in every) and len(set(map(machine_of, every))) > 1

    def condition(own: Environment) -> str:
        rivals = "one at a time" if own.concurrency < 2 else f"up to {own.concurrency} at a time"
        return f"{rivals} on {own.cpu}" + (f" (machine {own.machine[:6]})" if by_id and own.machine else "")

    conditions = {method: {condition(each) for each in own} for method, own in environments.items()}
    texts = sorted(one for found in conditions.values() for one in found)
    usual = max(texts, key=texts.count, default="")
    return {
        method: f"{'some' if usual in found else 'all'} times were measured {' and '.join(other)}; usual on "
        f"this data set is {usual}"
        for method, found in conditions.items()
        if (other := sorted(found - {usual}))
    }


def time_note(results: Iterable[Any]) -> str:
    """Why the times of some runs are not those of one thread; "" where they are.

    A method says how many threads it has and on which device it trains; a process that used more processor
    time than one thread can has others. Earlier versions recorded none of this.
    """
    found: dict[str, None] = {}
    for result in results:
        threads, device, used = result.threads, result.device, result.process_cpu_seconds
        if device and device != "cpu":
            found[f"trained on {device}"] = None
        elif threads == 0:
            found["trained by an unknown number of threads"] = None
        elif threads and threads > 1:
            found[f"trained by {threads} threads"] = None
        elif used and used > SEVERAL * result.train_seconds + CLOCK:
            found["trained by several threads, as the processor time of the process shows"] = None
        if result.warm_up:
            found["timed with its compilation, since the warm-up failed"] = None
    return " or ".join(found)


def ruleset_text(by_method: Mapping[str, Sequence[BoardCell]]) -> str:
    """The rulesets of a board, with the methods and their departures where they differ; empty without any."""
    methods: dict[str, dict[str, None]] = {}  # methods by ruleset
    for method, cells in by_method.items():
        for own in (cell.ruleset for cell in cells):
            how = f"{method} ({' '.join(own.departures)})" if own and own.departures else method
            methods.setdefault(str(own or "no ruleset"), {})[how] = None
    if set(methods) <= {"no ruleset"}:
        return ""
    if len(methods) > 1:
        return ", ".join(f"{ruleset} ({', '.join(own)})" for ruleset, own in methods.items())
    ((ruleset, hows),) = methods.items()
    departing = ", ".join(how for how in hows if how not in by_method)
    return f"{ruleset} except {departing}" if departing else ruleset


def reported(cells: Sequence[BoardCell]) -> str:
    """Whether the results of a row are self-reported or replicated."""
    records = [(cell.record, cell.replications) for cell in cells if cell.record]
    counts = [len(machines(record, others)) for record, others in records]
    replicated = sum(count > 1 for count in counts)
    differing = sum(
        any(compare(record, each).agreement is Agreement.differs for each in others)
        for record, others in records
    )
    states = []
    if replicated:
        everywhere = f"replicated on {min(counts)} machines"
        part = f"replicated in {replicated} of {len(counts)} runs"
        states.append(everywhere if replicated == len(counts) else part)
    if differing:
        states.append(f"{differing} of {len(counts)} runs disagree with a replication")
    return "; ".join(states) or SELF_REPORTED
