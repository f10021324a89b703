"""One method on one data set: what its runs reached, at what cost, and under which conditions."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from aucbench.contracts import ModelClass
from aucbench.humanize import counted
from aucbench.reports.cells import BoardCell
from aucbench.reports.labels import parameters_text
from aucbench.reports.statistics.cost import TARGET, first_crossing, median_cost
from aucbench.reports.statistics.over_runs import over_runs
from aucbench.studies.archives.replications import Agreement, compare, machine_of, machines
from aucbench.studies.codec import canonical
from aucbench.studies.plugin_metadata import model_of
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

SEVERAL, CLOCK = 1.5, 0.1  # times the wall time, and seconds more, that a single thread does not use
NAN = float("nan")
SELF_REPORTED = "self-reported"


def finished(cells: Iterable[BoardCell]) -> list[BoardCell]:
    """The cells that have a result."""
    return [cell for cell in cells if cell.status is CellStatus.finished]


def overlap(records: Iterable[CellRecord]) -> float | None:
    """Test rows over training rows, where several splits of the same rows make runs dependent.

    None where all runs share one split, or the data set's own. The rows are counted as they were used: for k
    folds the ratio is 1/(k - 1), and a limit of the training rows counts. Where the methods of a data set
    differ in it, the largest ratio is taken, which makes intervals wider.
    """
    rows: dict[str, list[int]] = {}
    splits = set()
    for record in records:
        splits.add((record.split_seed, record.fold))
        if {"folds", "test_fraction"} & set(record.protocol.parameters):
            used = rows.setdefault(canonical([record.protocol, record.max_train_rows]), [0, 0])
            used[0] += record.data.test_rows
            used[1] += record.data.train_rows
    if len(splits) < 2 or not rows:
        return None
    return max(test / train for test, train in rows.values())


def result_row(cells: Sequence[BoardCell], ratio: float | None, names: Sequence[str]) -> dict[str, Any]:
    """The line of a method on a data set; NaN where a number is not known.

    `ratio` is from `overlap`, `names` are the measure that is compared and those shown beside it.
    """
    done = finished(cells)
    statuses = Counter(cell.status for cell in cells)
    values = np.array([[cell.value(name) for name in names] for cell in done], float).reshape(-1, len(names))
    own = over_runs(values, ratio)
    records = [cell.record for cell in done if cell.record]
    results = [record.result for record in records]
    tuned = [record.tuned for record in records if record.tuned]
    described = (done or cells)[0].described
    gaps = {
        "diverged": statuses[CellStatus.diverged],
        "failed": sum(count for status, count in statuses.items() if status.is_failure),
        "missing": statuses[CellStatus.missing],
    }
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
        "tuning_seconds": _mean(each.cost.train_seconds for each in tuned) if tuned else 0.0,
        "tuning_passes": _mean(each.cost.passes for each in tuned) if tuned else 0.0,
        "unconverged": sum(result.converged is False for result in results),
        "chosen": chosen_in_words(records),
        "edges": "; ".join(sentence for _, sentence in edges_in_words(records)),
        "advice": _advice(cells),
        "reported": reported(cells),
        "parameters": parameters_text(described),
        "command": _command(cells),
    }
    for at, name in enumerate(names[1:], 1):
        if own.runs[at] == len(done) > 0:
            row |= {f"{name}_mean": float(own.mean[at]), f"{name}_std": float(own.std[at])}
    return row | _suboptimality(done)


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


def _command(cells: Sequence[BoardCell]) -> str:
    records = [cell.record for cell in cells if cell.record]
    measures = common(records) if records else ()
    return shlex.join(["aucbench", *words(cells[0].described, [cell.run for cell in cells], None, measures)])


def _advice(cells: Sequence[BoardCell]) -> str:
    """What to change, as most of the diverged runs say."""
    diverged = [cell.record.result for cell in cells if cell.record and cell.status is CellStatus.diverged]
    said = Counter(result.advice for result in diverged if result.advice)
    return said.most_common(1)[0][0] if said else ""


def _suboptimality(done: Sequence[BoardCell]) -> dict[str, float]:
    """The mean relative suboptimality at the end; empty where the minimum of some run is not known."""
    known = [cell.curve[SUBOPTIMALITY][-1] for cell in done if SUBOPTIMALITY in cell.curve]
    return {"suboptimality": _mean(known)} if done and len(known) == len(done) else {}


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


def with_reaching(
    rows: Sequence[dict[str, Any]], by_method: Mapping[str, Sequence[BoardCell]], by: str, target: float
) -> None:
    """Add to the lines of a data set the time to target and marks of uncommon timing.

    A run that failed or diverged never reached the target, whatever it had reached before.
    """
    marks = timing_marks(by_method)
    for row in rows:
        done = finished(by_method[row["method"]])
        kept = with_whole_curves(done)
        paid = []
        for curve in (cell.curve for cell in kept):
            at = ~np.isnan(curve[by])
            cost = first_crossing(curve["train_seconds"][at].astype(float), curve[by][at], target)
            paid += [cost] * (len(done) // len(kept))  # runs that one curve stands for
        paid += [np.inf] * (row["diverged"] + row["failed"])
        row["target_seconds"] = median_cost(paid) if target == target else NAN
        row["target_share"] = float(np.isfinite(paid).mean()) if paid and target == target else NAN
        row["timing_mark"] = marks.get(row["method"], "")


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
    conditions = {method: {_condition(each, by_id) for each in own} for method, own in environments.items()}
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


def _condition(own: Environment, by_id: bool) -> str:
    rivals = "one at a time" if own.concurrency < 2 else f"up to {own.concurrency} at a time"
    machine = f" (machine {own.machine[:6]})" if by_id and own.machine else ""
    return f"{rivals} on {own.cpu}{machine}"


def ruleset_text(by_method: Mapping[str, Sequence[BoardCell]]) -> str:
    """The rulesets of a board, with the methods and their departures where they differ; empty without any."""
    methods: dict[str, dict[str, None]] = {}  # by ruleset
    for method, cells in by_method.items():
        for own in (cell.ruleset for cell in cells):
            how = f"{method} ({' '.join(own.departures)})" if own and own.departures else method
            methods.setdefault(str(own or "no ruleset"), {})[how] = None
    if set(methods) <= {"no ruleset"}:
        return ""
    if len(methods) == 1:
        (ruleset, own_methods), *_ = methods.items()
        departing = ", ".join(how for how in own_methods if how not in by_method)
        return f"{ruleset} except {departing}" if departing else ruleset
    return ", ".join(f"{ruleset} ({', '.join(own)})" for ruleset, own in methods.items())


def reported(cells: Sequence[BoardCell]) -> str:
    """Whether the results of a row are self-reported or replicated."""
    records = [(cell.record, cell.replications) for cell in cells if cell.record]
    counts = [len(machines(record, others)) for record, others in records]
    replicated = sum(count > 1 for count in counts)
    states = []
    if counts and replicated == len(counts):
        states.append(f"replicated on {min(counts)} machines")
    elif replicated:
        states.append(f"replicated in {replicated} of {len(counts)} runs")
    differing = sum(
        any(compare(record, each).agreement is Agreement.differs for each in others)
        for record, others in records
    )
    if differing:
        states.append(f"{differing} of {len(counts)} runs disagree with a replication")
    return "; ".join(states) or SELF_REPORTED
