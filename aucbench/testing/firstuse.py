"""The first calls of a method: whether they run, whether later ones compile again, what they take."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core import event

from aucbench.contracts import Access
from aucbench.humanize import duration
from aucbench.testing import problems
from aucbench.testing.calling import CSR_ROWS
from aucbench.testing.findings import Broken, Exempted
from aucbench.testing.patience import Patience
from aucbench.testing.problems import STANDARD, Size

if TYPE_CHECKING:
    from aucbench.testing.training import Trainee

FEW = 3  # iterations of the first call
MORE = 7  # the second call ends before this one
RUNS = 100  # of the standard problem, about as much as all checks together
# Tried in this order where the standard size would take too long. A problem of fewer rows says too little.
SMALLER = (Size(220, 8, 1), Size(110, 8, 1), Size(55, 8, 1), Size(28, 8, 1), Size(20, 8, 1))
ITEMS = {
    Access.stream: "(x, label), an example",
    Access.pairs: "(x_pos, x_neg), two rows",
    Access.minibatch: "(X, y), some rows",
    Access.full: "(X, y), all rows",
}


class FirstUse(NamedTuple):
    """What the first calls showed."""

    error: BaseException | None = None  # that ended them
    where: str = ""  # words for the input they were ended at
    shown: str = ""  # that input as literals
    recompiled: tuple[str, str] | None = None  # the method that compiled again, and the input
    seconds: float = 0.0  # an iteration takes


def first_use(trainee: Trainee, size: Size) -> FirstUse:
    """Call everything once and once more on each kind of rows; errors are kept, not raised."""
    slowest, recompiled = 0.0, None
    try:
        for layout in trainee.layouts:
            seconds, again = _layout(trainee, size, layout)
            slowest = max(slowest, seconds)
            if again and recompiled is None:
                recompiled = (again, trainee.where)
    except BaseException as error:  # also that it was interrupted: nobody wants to wait for that twice
        if isinstance(error, KeyboardInterrupt | GeneratorExit):
            raise
        return FirstUse(error, trainee.where, trainee.shown)
    return FirstUse(recompiled=recompiled, seconds=slowest)


def affordable(trainee: Trainee, seconds: float, patience: Patience) -> Size:
    """The size of problems on which all checks can be made in time, as far as that is possible."""
    sizes = [STANDARD, *SMALLER]
    for size in sizes:
        if RUNS * seconds * trainee.iterations(size.n, size.epochs) <= patience.seconds:
            return size
    return sizes[-1]


def _layout(trainee: Trainee, size: Size, layout: str) -> tuple[float, str | None]:
    """Seconds of an iteration on such rows, and the method that compiled again."""
    calls = trainee.calls
    toy = trainee.use(problems.small(size, layout))
    rows = trainee.rows(toy, size.epochs)
    few, more = (FEW, MORE) if len(rows) >= MORE else (1, len(rows))
    batch = trainee.batch(toy, rows)
    again, seconds = None, 0.0
    first = calls.init(trainee.posed(toy, len(rows)), trainee.generator())
    state = first
    try:
        for method in ("step", "score"):  # for the first time
            if method == "step":
                state = calls.step(state, batch.take(rows[:few]))
            else:
                calls.raw_score(calls.final(state), toy.X)
                if hasattr(trainee.plugin, "weights"):
                    calls.weights(calls.final(state))
        for method in ("step", "score"):
            with event.install_recorder("numba:compiler_lock") as recorder:
                began = monotonic()
                if method == "step":
                    state = calls.step(state, batch.take(rows[few:more]))
                    seconds = (monotonic() - began) / max(1, more - few)
                else:
                    calls.raw_score(calls.final(state), toy.X[::-1].copy())
            if recorder.buffer:
                again = again or method
    except (Broken, Exempted):
        raise
    except Exception as error:
        hint = _sparse_only(toy) or _other_kind(first, state) or _other_access(trainee, size)
        if hint:
            error.add_note(hint)
        raise
    return (0.0 if again == "step" else seconds), again


def _other_kind(first: Any, state: Any) -> str:
    """That `step` returned something else than what `init` did."""
    if type(first) is type(state):
        return ""
    return (
        f"`init` returned a {type(first).__name__} and `step` a {type(state).__name__}: "
        f"both must return the same kind of state."
    )


def _sparse_only(toy: problems.Toy) -> str:
    """What to do about CSR rows; the dense ones were tried before."""
    return f"Dense rows work. {CSR_ROWS}" if "CSR" in toy.words else ""


def _other_access(trainee: Trainee, size: Size) -> str:
    """The access with which the same code runs."""
    if trainee.tries_other_access:
        return ""
    declared = trainee.access
    for other in Access:
        if other is not declared and first_use(trainee.with_access(other), size).error is None:
            return (
                f"With access {declared.value!r} an item of the batch is {ITEMS[declared]}; the same code "
                f"runs with access {other.value!r}, where it is {ITEMS[other]}: change `access`, or what "
                f"`step` unpacks."
            )
    return ""


def runs(trainee: Trainee) -> str | None:
    """`init`, `step`, `score` and what else there is can be called; the first two return a state."""
    size, use = trainee.size, trainee.first_use
    if use.error is not None:
        trainee.where, trainee.shown = use.where, use.shown
        raise use.error
    if trainee.was_scaled and size != STANDARD:
        return (
            f"one iteration takes {duration(use.seconds)}, so that the checks use {size.n} rows and one "
            f"pass, not {STANDARD.n} and {STANDARD.epochs}"
        )
    return None


def compiled_once(trainee: Trainee) -> None:
    """The second call of `step` and of `score` compiles nothing, and loads nothing compiled from disk.

    Conclusive in a process that has not used the method before.
    """
    _, use = trainee.size, trainee.first_use
    if use.error is not None:
        raise use.error
    if use.recompiled:
        method, trainee.where = use.recompiled
        raise Broken(
            f"The second call of `{method}` compiles again: the types of what its kernels receive differ "
            f"from those of the first call (a number that was whole, another dtype or order of an array)."
        )
