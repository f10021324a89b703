"""Measures what methods claim: rates of convergence and costs per iteration."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict
from time import perf_counter, process_time
from typing import Any

from msgspec import Struct

from aucbench.errors import CellError, ParameterError
from aucbench.execution.convergence_rate import Effort, RateFinding, can_be_measured, rate_finding
from aucbench.execution.cost_law import CostFinding, cost_finding
from aucbench.execution.execute import opened_store
from aucbench.pool import Pool, ProcessEnded
from aucbench.registry import catalog
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.provenance import environment

WORKERS = 2  # processes in which methods are measured
FULL = Effort(seeds=5, seconds=0.5)
QUICK = Effort(seeds=3, seconds=0.08, datasets=4)
REPEATS, SECONDS = 5, 0.01  # of each time of an iteration, in full
QUICK_REPEATS, QUICK_SECONDS = 3, 0.002


class MethodClaims(Struct, frozen=True, kw_only=True):
    """A method, and what was found of its claims."""

    method: str
    settings: dict[str, Any]  # other than the defaults
    rate: RateFinding | None  # None where there is none to be measured
    cost: CostFinding
    seconds: float  # that it took
    cpu_seconds: float  # of the process that measured it


class ClaimsResult(Struct, frozen=True, kw_only=True):
    """What `aucbench claims` measured, as it is written to a file."""

    command: str
    machine: str
    seconds: float
    methods: list[MethodClaims]


def measure_claims(
    studies: Mapping[str, Sequence[Entry]],
    command: str,
    quick: bool = False,
    observer: Callable[[ClaimsResult], None] = lambda found: None,
) -> ClaimsResult:
    """Measure what some methods claim, several of them in processes of their own, two at a time.

    Parameters
    ----------
    studies : mapping
        Names of methods to their entries on several data sets.
    command : str
        That asked for it.
    quick : bool
        Shorter runs on fewer data sets.
    observer : callable
        Called after each method with all that is known by then; the last method is the new one.

    Returns
    -------
    ClaimsResult
        With the methods in the order of `studies`.
    """
    begun, found = perf_counter(), dict[str, MethodClaims]()

    def result(names: Iterable[str]) -> ClaimsResult:
        return ClaimsResult(
            command=command,
            machine=environment().cpu,
            seconds=perf_counter() - begun,
            methods=[found[name] for name in names],
        )

    for each in _measured(list(studies.values()), quick):
        found[each.method] = each
        observer(result(found))
    return result(name for name in studies if name in found)


def _measured(studies: Sequence[Sequence[Entry]], quick: bool) -> Iterator[MethodClaims]:
    """The findings of each method as they come."""
    if len(studies) < 2:
        yield from (method_claims(entries, quick) for entries in studies)
        return
    with Pool() as pool:
        futures = [
            pool.submit(method_claims, entries, quick, key=number % WORKERS)
            for number, entries in enumerate(studies)
        ]
        try:
            for future in as_completed(futures):
                found: MethodClaims = future.result()
                yield found
        except ProcessEnded:
            raise CellError("a process that measured claims ended too early; was it killed?") from None


def method_claims(entries: Sequence[Entry], quick: bool = False) -> MethodClaims:
    """Measure what a method claims; the entries are the method on several data sets.

    A method without `claims` is a `ParameterError`.
    """
    begun, cpu, algorithm = perf_counter(), process_time(), entries[0].algorithm.instance
    if not hasattr(algorithm, "claims"):
        raise ParameterError(f"{algorithm.name} declares no claims.")
    loss = entries[0].loss
    with opened_store(None) as store:
        has_rate = can_be_measured(algorithm)
        rate = rate_finding(catalog(), entries, store, QUICK if quick else FULL) if has_rate else None
    effort = (QUICK_REPEATS, QUICK_SECONDS) if quick else (REPEATS, SECONDS)
    cost = cost_finding(algorithm, loss and loss.instance, *effort)
    defaults = type(algorithm)()
    return MethodClaims(
        method=algorithm.name,
        settings={
            name: value for name, value in asdict(algorithm).items() if value != getattr(defaults, name)
        },
        rate=rate,
        cost=cost,
        seconds=perf_counter() - begun,
        cpu_seconds=process_time() - cpu,
    )
