"""Data sets and results: what the runs of each method reached, at what cost, and under which conditions."""

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
SEVERAL, CLOCK = 1.5, 0.1  # times the wall time, and seconds more, that a single thread does not use
NAN = float("nan")


def tables_of(cells: pd.DataFrame, measures: Sequence[Measure]) -> dict[str, pd.DataFrame]:
    """The frames `curves`, `data_sets` and `results` of a report, from the frame of its cells.

    The first measure is compared, the others are shown beside it.
    """
    by, places = measures[0], {place: list(own) for place, own in cells.groupby(PLACE)["cell"]}
    index = pd.MultiIndex.from_tuples(places, names=PLACE)
    board = index.droplevel("method")
    boards = {at: list(own) for at, own in cells.groupby(BOARD)["cell"]}
    facts = pd.DataFrame(map(data_facts, boards.values()), pd.MultiIndex.from_tuples(boards, names=BOARD))
    facts["chance"] = [by.chance(share) for share in facts.get("positive_share", [NAN] * len(facts))]
    results = pd.DataFrame(map(_words, places.values()), index)
    results["class_of_model"] = cells.groupby(PLACE)["class_of_model"].first()
    ratios = facts["test_train_ratio"].reindex(board).to_numpy(float)
    results = results.join(_numbers(cells, ratios, [each.name for each in measures]))
    facts["best"], facts["target"] = _targets(results, facts["chance"])
    goals = zip(places.values(), facts["target"].reindex(board), strict=True)
    reached = pd.DataFrame([_reaching(own, by.name, goal) for own, goal in goals], index)
    results[["target_seconds", "target_share"]] = reached
    results["timing_mark"] = timing_marks(cells).reindex(index).fillna("")
    settings = setting_texts({place: own[0] for place, own in places.items()})
    facts["setting_text"], results["own_setting"] = settings
    return {
        "curves": _curves(places, by.name),
        "data_sets": facts.reset_index(),
        "results": results.reset_index(),
    }


def _finished(cells: Iterable[BoardCell]) -> list[BoardCell]:
    return [cell for cell in cells if cell.status is CellStatus.finished]


def data_facts(cells: Sequence[BoardCell]) -> dict[str, Any]:
    """Facts of a data set; those of the run with most rows, where runs differ."""
    name = cells[0].described.dataset.name
    known: dict[str, Any] = {
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


def overlap(records: Iterable[CellRecord]) -> float:
    """Test rows over training rows, where several splits of the same rows make runs dependent.

    NaN where all runs share one split, or the data set's own. The rows are counted as they were used: for k
    folds the ratio is 1/(k - 1), and a limit of the training rows counts. Where the methods of a data set
    differ in it, the largest ratio is taken, which makes intervals wider.
    """
    splits, rows = set(), defaultdict(list)
    for record in records:
        splits.add((record.split_seed, record.fold))
        if {"folds", "test_fraction"} & set(record.protocol.parameters):
            rows[canonical([record.protocol, record.max_train_rows])].append(record.data)
    if len(splits) < 2 or not rows:
        return NAN
    return max(
        sum(each.test_rows for each in own) / sum(each.train_rows for each in own) for own in rows.values()
    )


def _numbers(cells: pd.DataFrame, ratios: Floats, names: Sequence[str]) -> pd.DataFrame:
    """Counts of the runs of each place, means over those that finished, and intervals; NaN where not known.

    `ratios` are those of `overlap`, one a place; `names` are the measure that is compared, and others.
    """
    places, done = cells.groupby(PLACE), cells[cells["status"] == CellStatus.finished]
    counts = places["status"].value_counts().unstack().reindex(columns=list(CellStatus)).fillna(0).astype(int)
    failed = counts[[status for status in CellStatus if status.is_failure]].sum(axis=1)
    gaps = pd.DataFrame({"diverged": counts["diverged"], "failed": failed, "missing": counts["missing"]})
    texts = list(map(_gaps, gaps.to_dict("records"), counts.sum(axis=1)))
    found = gaps.assign(runs=counts["finished"], gaps=texts)
    found[COSTS] = done.astype(dict.fromkeys(COSTS, float)).groupby(PLACE)[COSTS].mean()
    found[TUNING] = found[TUNING].fillna(0.0)
    values = np.full((found["runs"].max(), len(found)), np.nan)
    at = done.groupby(PLACE).cumcount(), places.ngroup()[done.index]
    for name in names:
        values[at] = done[name].to_numpy(float)
        own = over_runs(values, ratios)
        if name == names[0]:
            low, high = np.clip([own.low, own.high], 0.0, 1.0)
            found = found.assign(mean=own.mean, std=own.std, low=low, high=high)
        elif (is_whole := (own.runs == found["runs"]) & (own.runs > 0)).any():
            means = {f"{name}_mean": own.mean, f"{name}_std": own.std}
            found = found.assign(**{key: np.where(is_whole, each, NAN) for key, each in means.items()})
    return found


def _words(cells: Sequence[BoardCell]) -> dict[str, Any]:
    """What the records of a method on a data set say beside the numbers of `_numbers`."""
    done, every = _finished(cells), [cell.record for cell in cells if cell.record]
    records = [cell.record for cell in done if cell.record]
    results = [record.result for record in records]
    advice = Counter(record.result.advice for record in every if record.diverged)
    seeds, measures = [cell.run for cell in cells], common(every) if every else ()
    ends = [cell.curve[SUBOPTIMALITY][-1] for cell in done if SUBOPTIMALITY in cell.curve]
    return {
        "algorithm": cells[0].described.algorithm.name,
        "time_note": time_note(results),
        "iteration": "pass" * any(cell.record and takes_all_rows(cell.record, cell.curve) for cell in done),
        "unconverged": sum(result.converged is False for result in results),
        "chosen": chosen_in_words(records),
        "edges": "; ".join(sentence for _, sentence in edges_in_words(records)),
        "advice": next((text for text, _ in advice.most_common() if text), ""),
        "reported": reported(cells),
        "parameters": parameters_text((done or cells)[0].described),
        "command": shlex.join(["aucbench", *words(cells[0].described, seeds, None, measures)]),
    } | ({SUBOPTIMALITY: float(np.mean(ends))} if 0 < len(ends) == len(done) else {})


def _gaps(gaps: Mapping[Any, int], planned: int) -> str:
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


def _targets(results: pd.DataFrame, chance: "pd.Series[float]") -> "list[pd.Series[float]]":
    """The best mean of each data set and its target, chance + `TARGET` (best of a linear method - chance).

    Methods with gaps do not count. The target is that of linear methods where there are any: no linear method
    need reach a non-linear one. It is a fraction of what lies above chance, since a fraction of the AUC
    itself is trivial where AUCs are low and impossible to miss where they are high. NaN where nothing is
    above chance.
    """
    whole = results[results["gaps"] == ""]
    linear = whole[whole["class_of_model"] == ModelClass.linear]
    best, goal = (each.groupby(BOARD)["mean"].max().reindex(chance.index) for each in (whole, linear))
    goal = goal.fillna(best)
    return [best, (chance + TARGET * (goal - chance)).where(goal > chance)]


def _reaching(cells: Sequence[BoardCell], by: str, target: float) -> tuple[float, float]:
    """The time to target of a method, and the share of its runs that reached it.

    A run that failed or diverged never reached the target, whatever it had reached before.
    """
    done = _finished(cells)
    kept = with_whole_curves(done)
    paid = [np.inf] * sum(cell.status is CellStatus.diverged or cell.status.is_failure for cell in cells)
    for curve in (cell.curve for cell in kept):
        at = ~np.isnan(curve[by])
        cost = first_crossing(curve["train_seconds"][at].astype(float), curve[by][at], target)
        paid += [cost] * (len(done) // len(kept))  # runs that one curve stands for
    if not paid or np.isnan(target):
        return NAN, NAN
    return median_cost(paid), float(np.isfinite(paid).mean())


def _curves(places: Mapping[Any, Sequence[BoardCell]], by: str) -> pd.DataFrame:
    """The mean curve of each method over its finished runs, a line a checkpoint that all of them reached."""
    done = {place: with_whole_curves(own) for place, cells in places.items() if (own := _finished(cells))}
    means = {place: mean_curve([cell.curve for cell in own]) for place, own in done.items()}
    lengths = [len(mean["iteration"]) for mean in means.values()]
    found = pd.MultiIndex.from_tuples(means, names=PLACE).repeat(lengths).to_frame(index=False)
    names = CURVE | {"mean": by, "std": f"{by}_std"}
    if any(SUBOPTIMALITY in mean for mean in means.values()):
        names[SUBOPTIMALITY] = SUBOPTIMALITY
    for column, name in names.items():
        every = zip(means.values(), lengths, strict=True)
        found[column] = np.concatenate([[], *(mean.get(name, np.full(count, NAN)) for mean, count in every)])
    return found


def timing_marks(cells: pd.DataFrame) -> "pd.Series[str]":
    """Why the times of a place are not comparable with those of the largest class of conditions."""
    known = cells[[cell.record is not None for cell in cells["cell"]]]
    conditions = [_condition(cell.record.environment) for cell in known["cell"]]
    every = known[PLACE].assign(own=conditions).drop_duplicates()
    every["usual"] = every.groupby(BOARD)["own"].transform(lambda own: own.mode()[0])
    is_usual = every["own"] == every["usual"]
    count = np.where(is_usual.groupby([every[name] for name in PLACE]).transform("any"), "some", "all")
    text = count.astype(object) + " times were measured " + every["own"] + "; usual on this data set is "
    return every.assign(text=text + every["usual"])[~is_usual].groupby(PLACE)["text"].agg("; ".join)


def _condition(own: Environment) -> str:
    rivals = "one at a time" if own.concurrency < 2 else f"up to {own.concurrency} at a time"
    return f"{rivals} on {own.cpu}" + (f" (machine {own.machine[:6]})" if own.machine else "")


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


def reported(cells: Sequence[BoardCell]) -> str:
    """Whether the results of a row are self-reported or replicated."""
    runs = [(cell.record, cell.replications) for cell in cells if cell.record]
    counts = [len(machines(record, others)) for record, others in runs]
    replicated = sum(count > 1 for count in counts)
    everywhere, part = f"on {min(counts, default=0)} machines", f"in {replicated} of {len(runs)} runs"
    differing = sum(
        any(compare(record, each).agreement is Agreement.differs for each in others)
        for record, others in runs
    )
    states = [f"replicated {everywhere if replicated == len(runs) else part}"] * (replicated > 0)
    states += [f"{differing} of {len(runs)} runs disagree with a replication"] * (differing > 0)
    return "; ".join(states) or SELF_REPORTED
