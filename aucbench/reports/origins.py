"""Origin of the rows of a board: rulesets, machines and their speed, replications."""

from collections.abc import Mapping, Sequence

import numpy as np

from aucbench.reports.cells import BoardCell
from aucbench.studies.record import CalibrationRecord, CellStatus, DataRecord
from aucbench.studies.replications import Agreement, compare, machine_of, machines

SELF_REPORTED = "self-reported"
MILLION = 1e6
PER_SECOND = 1e9  # nanoseconds
CACHE_BYTES = 4 * 2**20  # rows of more are taken to come from memory


def ruleset_text(by_method: Mapping[str, Sequence[BoardCell]]) -> str:
    """The rulesets of a board with the methods that depart from them; empty where there are none."""
    methods: dict[str, list[str]] = {}  # by ruleset; "" for none
    for method, cells in by_method.items():
        for cell in cells:
            own = cell.ruleset
            how = f"{method} ({' '.join(own.departures)})" if own and own.departures else method
            listed = methods.setdefault(str(own or ""), [])
            if how not in listed:
                listed.append(how)
    without = methods.pop("", [])
    if not methods:
        return ""
    texts = []
    for ruleset, own_methods in methods.items():
        departing = [method for method in own_methods if method not in by_method]
        whom = "" if len(methods) == 1 else f" ({', '.join(own_methods)})"
        texts.append(ruleset + (f" except {', '.join(departing)}" if departing and not whom else whom))
    return ", ".join(texts + ([f"no ruleset ({', '.join(without)})"] if without else []))


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


def calibrated(cells: Sequence[BoardCell]) -> float:
    """Mean training time of finished cells in millions of non-zeros; NaN where a speed is not known.

    That many the bare kernel of the machine that ran the cell would have gone through in the same time.
    """
    times = []
    for record in (cell.record for cell in cells if cell.record and cell.status is CellStatus.finished):
        speed = record.environment.calibration
        if not speed:
            return float("nan")
        times.append(record.result.train_seconds * PER_SECOND / unit(speed, record.data) / MILLION)
    return float(np.mean(times)) if times else float("nan")


def unit(speed: CalibrationRecord, data: DataRecord) -> float:
    """Nanoseconds for a non-zero of some training rows: CSR or dense, larger than `CACHE_BYTES` or not."""
    per_row = data.features if data.nonzeros_per_row is None else data.nonzeros_per_row
    if data.format == "csr":
        cached, memory, size = speed.csr_cached, speed.csr_memory, 12
    else:
        cached, memory, size = speed.dense_cached, speed.dense_memory, 8
    return memory if data.train_rows * per_row * size > CACHE_BYTES else cached


def has_several_machines(by_method: Mapping[str, Sequence[BoardCell]]) -> bool:
    """Whether the times of a board were measured on several machines."""
    environments = [cell.record.environment for cells in by_method.values() for cell in cells if cell.record]
    known = all(each.machine for each in environments)
    return len({machine_of(each) if known else each.cpu for each in environments}) > 1
