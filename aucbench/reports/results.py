"""Data sets and results: measures, costs and conditions of the runs of each method."""

import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from msgspec import UNSET

from aucbench.contracts import DatasetFacts, ModelClass
from aucbench.evaluation.measures import Measure
from aucbench.humanize import counted
from aucbench.reports.cell_frame import PLACE
from aucbench.reports.cells import BoardCell
from aucbench.reports.labels import SELF_REPORTED, parameters_text, setting_texts
from aucbench.reports.statistics.cost import TARGET, first_crossing, median_cost
from aucbench.reports.statistics.over_runs import Floats, over_runs
from aucbench.studies.archives.replications import Agreement, compare, machines
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

BOARD = PLACE[:2]
TUNING = ["tuning_seconds", "tuning_passes"]
COSTS = ["train_seconds", "ns_per_iteration", "state_bytes", *TUNING]
CURVE = {"samples": "samples", "passes": "passes", "seconds": "train_seconds"}  # costs of a mean curve
SEVERAL, CLOCK = 1.5, 0.1  # processor time above 1.5 wall time + 0.1 s shows several threads
NAN = float("nan")


def tables_of(cells: pd.DataFrame, measures: Sequence[Measure]) -> dict[str, pd.DataFrame]:
    """The frames `curves`, `data_sets` and `results` of a report, from the frame of its cells.

    The first measure is compared; the other measures are only shown.
    """
    by, places = measures[0], {place: list(group) for place, group in cells.groupby(PLACE)["cell"]}
    index = pd.MultiIndex.from_tuples(places, names=PLACE)
    board = index.droplevel("method")
    boards = {at: list(group) for at, group in cells.groupby(BOARD)["cell"]}
    facts = pd.DataFrame(map(data_facts, boards.values()), pd.MultiIndex.from_tuples(boards, names=BOARD))
    facts["chance"] = [by.chance(share) for share in facts.get("positive_share", [NAN] * len(facts))]
    results = pd.DataFrame(map(_record_columns, places.values()), index)
    results["class_of_model"] = cells.groupby(PLACE)["class_of_model"].first()
    ratios = facts["test_train_ratio"].reindex(board).to_numpy(float)
    results = results.join(_numbers(cells, ratios, [measure.name for measure in measures]))
    facts["best"], facts["target"] = _targets(results, facts["chance"])
    goals = zip(places.values(), facts["target"].reindex(board), strict=True)
    reached = pd.DataFrame([_reaching(group, by.name, goal) for group, goal in goals], index)
    results[["target_seconds", "target_share"]] = reached
    results["timing_mark"] = timing_marks(cells).reindex(index).fillna("")
    settings = setting_texts({place: group[0] for place, group in places.items()})
    facts["setting_text"], results["own_setting"] = settings
    return {
        "curves": _curves(places, by.name),
        "data_sets": facts.reset_index(),
        "results": results.reset_index(),
    }


def _finished(cells: Iterable[BoardCell]) -> list[BoardCell]:
    return [cell for cell in cells if cell.status is CellStatus.finished]


def data_facts(cells: Sequence[BoardCell]) -> dict[str, Any]:
    """Facts of a data set, from the run with most rows if runs differ."""
    name = cells[0].described.dataset.name
    facts: dict[str, Any] = {
        "test_train_ratio": overlap(cell.record for cell in cells if cell.record),
        "name": name,
        "family": cells[0].described.dataset.family or name,
        "licence": DatasetFacts(plugin("dataset", name)).licence or "",
        "citation": citation("dataset", name) or "",
        "summary": summary("dataset", name),
        "links": [list(link) for link in links("dataset", name)],
    }
    parts = [cell.record.data for cell in cells if cell.record]
    if not parts:
        return facts
    data = max(parts, key=lambda part: part.train_rows + part.test_rows)
    rows, share = data.train_rows + data.test_rows, data.train_positives / data.train_rows
    if data.test_positives is not None:
        share = (data.train_positives + data.test_positives) / rows
    facts |= {"rows": rows, **subset(data, ("train_rows", "test_rows", "features")), "positive_share": share}
    facts |= {"positive": ", ".join(data.positive), "negative": ", ".join(data.negative)}
    facts |= {"format": data.format}
    shares = {"duplicates": data.duplicates, "mixed_labels": data.mixed_labels}
    return facts | {name: NAN if value is UNSET else value for name, value in shares.items()}


def overlap(records: Iterable[CellRecord]) -> float:
    """Ratio of test to training rows if several splits of the same rows make runs dependent.

    NaN if all runs share one split, or the split of the data set. Rows are counted as they were used: for k
    folds the ratio is 1/(k - 1), and a limit of the training rows counts. If the methods of a data set differ
    in the ratio, the largest ratio is taken, which makes intervals wider.
    """
    splits, rows = set(), defaultdict(list)
    for record in records:
        splits.add((record.split_seed, record.fold))
        if {"folds", "test_fraction"} & set(record.protocol.parameters):
            rows[canonical([record.protocol, record.max_train_rows])].append(record.data)
    if len(splits) < 2 or not rows:
        return NAN
    return max(
        sum(part.test_rows for part in data) / sum(part.train_rows for part in data) for data in rows.values()
    )


def _numbers(cells: pd.DataFrame, ratios: Floats, names: Sequence[str]) -> pd.DataFrame:
    """Counts of the runs of each place, means over the finished runs, and intervals; NaN if unknown.

    `ratios` are the ratios of `overlap`, one per place; `names` begins with the measure that is compared.
    """
    groups, finished = cells.groupby(PLACE), cells[cells["status"] == CellStatus.finished]
    counts = groups["status"].value_counts().unstack().reindex(columns=list(CellStatus)).fillna(0).astype(int)
    failed = counts[[status for status in CellStatus if status.is_failure]].sum(axis=1)
    gaps = pd.DataFrame({"diverged": counts["diverged"], "failed": failed, "missing": counts["missing"]})
    texts = list(map(_gaps, gaps.to_dict("records"), counts.sum(axis=1)))
    table = gaps.assign(runs=counts["finished"], gaps=texts)
    table[COSTS] = finished.astype(dict.fromkeys(COSTS, float)).groupby(PLACE)[COSTS].mean()
    table[TUNING] = table[TUNING].fillna(0.0)
    values = np.full((table["runs"].max(), len(table)), np.nan)
    at = finished.groupby(PLACE).cumcount(), groups.ngroup()[finished.index]
    for name in names:
        values[at] = finished[name].to_numpy(float)
        stats = over_runs(values, ratios)
        if name == names[0]:
            low, high = np.clip([stats.low, stats.high], 0.0, 1.0)
            table = table.assign(mean=stats.mean, std=stats.std, low=low, high=high)
        elif (is_whole := (stats.runs == table["runs"]) & (stats.runs > 0)).any():
            means = {f"{name}_mean": stats.mean, f"{name}_std": stats.std}
            table = table.assign(**{key: np.where(is_whole, value, NAN) for key, value in means.items()})
    return table


def _record_columns(cells: Sequence[BoardCell]) -> dict[str, Any]:
    """Columns of the results from the records of a method on a data set, beside those of `_numbers`."""
    finished, all_records = _finished(cells), [cell.record for cell in cells if cell.record]
    records = [cell.record for cell in finished if cell.record]
    results = [record.result for record in records]
    advice = Counter(record.result.advice for record in all_records if record.diverged)
    seeds, measures = [cell.run for cell in cells], common(all_records) if all_records else ()
    ends = [cell.curve[SUBOPTIMALITY][-1] for cell in finished if SUBOPTIMALITY in cell.curve]
    return {
        "algorithm": cells[0].described.algorithm.name,
        "time_note": time_note(results),
        "iteration": "pass" * any(run.record and takes_all_rows(run.record, run.curve) for run in finished),
        "unconverged": sum(result.converged is False for result in results),
        "chosen": chosen_in_words(records),
        "edges": "; ".join(sentence for _, sentence in edges_in_words(records)),
        "advice": next((text for text, _ in advice.most_common() if text), ""),
        "reported": reported(cells),
        "parameters": parameters_text((finished or cells)[0].described),
        "command": shlex.join(["aucbench", *words(cells[0].described, seeds, None, measures)]),
    } | ({SUBOPTIMALITY: float(np.mean(ends))} if 0 < len(ends) == len(finished) else {})


def _gaps(gaps: Mapping[Any, int], planned: int) -> str:
    """Numbers of runs without a result: ``diverged in 3 of 5 runs, failed in 1``; else empty."""
    first, *others = [f"{status} in {count}" for status, count in gaps.items() if count] or [""]
    return ", ".join([f"{first} of {counted(planned, 'run')}" if first else "", *others])


def class_of(cells: Iterable[BoardCell]) -> ModelClass:
    """The class of model of a method, from its runs; a class that is not linear if the runs differ."""
    all_cells = list(cells)
    models = {model_of(cell.record) for cell in all_cells if cell.record}
    return min(
        models or {model_of(cell.described) for cell in all_cells},
        key=lambda model: (model is ModelClass.linear, model),
    )


def _targets(results: pd.DataFrame, chance: "pd.Series[float]") -> "list[pd.Series[float]]":
    """The best mean of each data set and its target, chance + `TARGET` (best of a linear method - chance).

    Methods with gaps do not count. The target is set by linear methods if there are any: a linear method
    need not reach a non-linear one. The fraction is taken of the mean above chance, because a fraction of the
    AUC itself is trivial if AUCs are low and impossible to miss if they are high. NaN if no method is above
    chance.
    """
    complete = results[results["gaps"] == ""]
    linear = complete[complete["class_of_model"] == ModelClass.linear]
    best, goal = (table.groupby(BOARD)["mean"].max().reindex(chance.index) for table in (complete, linear))
    goal = goal.fillna(best)
    return [best, (chance + TARGET * (goal - chance)).where(goal > chance)]


def _reaching(cells: Sequence[BoardCell], by: str, target: float) -> tuple[float, float]:
    """The time to target of a method, and the share of its runs that reached it.

    A run that failed or diverged counts as never having reached the target.
    """
    finished = _finished(cells)
    with_curves = with_whole_curves(finished)
    costs = [np.inf] * sum(cell.status is CellStatus.diverged or cell.status.is_failure for cell in cells)
    for curve in (cell.curve for cell in with_curves):
        at = ~np.isnan(curve[by])
        cost = first_crossing(curve["train_seconds"][at].astype(float), curve[by][at], target)
        costs += [cost] * (len(finished) // len(with_curves))  # runs per stored curve
    if not costs or np.isnan(target):
        return NAN, NAN
    return median_cost(costs), float(np.isfinite(costs).mean())


def _curves(places: Mapping[Any, Sequence[BoardCell]], by: str) -> pd.DataFrame:
    """The mean curve of each method over its finished runs, with a line per common checkpoint."""
    groups = {place: with_whole_curves(runs) for place, cells in places.items() if (runs := _finished(cells))}
    means = {place: mean_curve([cell.curve for cell in group]) for place, group in groups.items()}
    lengths = [len(mean["iteration"]) for mean in means.values()]
    table = pd.MultiIndex.from_tuples(means, names=PLACE).repeat(lengths).to_frame(index=False)
    names = CURVE | {"mean": by, "std": f"{by}_std"}
    if any(SUBOPTIMALITY in mean for mean in means.values()):
        names[SUBOPTIMALITY] = SUBOPTIMALITY
    for column, name in names.items():
        pairs = zip(means.values(), lengths, strict=True)
        table[column] = np.concatenate([[], *(mean.get(name, np.full(count, NAN)) for mean, count in pairs)])
    return table


def timing_marks(cells: pd.DataFrame) -> "pd.Series[str]":
    """Why times of a place are not comparable: their conditions are not the commonest of the data set."""
    measured = cells[[cell.record is not None for cell in cells["cell"]]]
    conditions = [_condition(cell.record.environment) for cell in measured["cell"]]
    frame = measured[PLACE].assign(own=conditions).drop_duplicates()
    frame["usual"] = frame.groupby(BOARD)["own"].transform(lambda group: group.mode()[0])
    is_usual = frame["own"] == frame["usual"]
    count = np.where(is_usual.groupby([frame[name] for name in PLACE]).transform("any"), "some", "all")
    own = frame["own"].astype(object)
    text = "was timed " + own + " in " + count.astype(object) + " runs; usual on this data set is "
    return frame.assign(text=text + frame["usual"])[~is_usual].groupby(PLACE)["text"].agg("; ".join)


def _condition(host: Environment) -> str:
    rivals = "one at a time" if host.concurrency < 2 else f"up to {host.concurrency} at a time"
    return f"{rivals} on {host.cpu}" + (f" (machine {host.machine[:6]})" if host.machine else "")


def time_note(results: Iterable[Any]) -> str:
    """Why the times of some runs are not those of one thread; "" if they are.

    A method declares its number of threads and its device; a process that used more processor time than one
    thread can use has further threads. Earlier versions recorded none of these facts.
    """
    notes: dict[str, None] = {}
    for result in results:
        threads, device, used = result.threads, result.device, result.process_cpu_seconds
        if device and device != "cpu":
            notes[f"trained on {device}"] = None
        elif threads == 0:
            notes["trained by an unknown number of threads"] = None
        elif threads and threads > 1:
            notes[f"trained by {threads} threads"] = None
        elif used and used > SEVERAL * result.train_seconds + CLOCK:
            notes["trained by several threads, as the processor time of the process shows"] = None
        if result.warm_up:
            notes["timed with its compilation because the warm-up failed"] = None
    return " or ".join(notes)


def reported(cells: Sequence[BoardCell]) -> str:
    """Whether the results of a row are self-reported or replicated."""
    runs = [(cell.record, cell.replications) for cell in cells if cell.record]
    counts = [len(machines(record, replicas)) for record, replicas in runs]
    replicated = sum(count > 1 for count in counts)
    everywhere, part = f"on {min(counts, default=0)} machines", f"in {replicated} of {len(runs)} runs"
    differing = sum(
        any(compare(record, replica).agreement is Agreement.differs for replica in replicas)
        for record, replicas in runs
    )
    states = [f"replicated {everywhere if replicated == len(runs) else part}"] * (replicated > 0)
    states += [f"{differing} of {len(runs)} runs disagree with a replication"] * (differing > 0)
    return "; ".join(states) or SELF_REPORTED
