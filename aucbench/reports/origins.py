"""Origin of the rows of a board: rulesets, machines, replications."""

from collections.abc import Mapping, Sequence

from aucbench.reports.cells import BoardCell
from aucbench.studies.archives.replications import Agreement, compare, machine_of, machines

SELF_REPORTED = "self-reported"


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


def has_several_machines(by_method: Mapping[str, Sequence[BoardCell]]) -> bool:
    """Whether the times of a board were measured on several machines."""
    environments = [cell.record.environment for cells in by_method.values() for cell in cells if cell.record]
    known = all(each.machine for each in environments)
    return len({machine_of(each) if known else each.cpu for each in environments}) > 1
