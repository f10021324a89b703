"""The numbers of settings in lockstep: rows of one array, with a place for each setting.

The first rows are the fields of `rule_loops.Scaled`; after the rows of the step come the own numbers of the
method, what the rule is given, and the products with the fixed vectors.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from aucbench.kernels.jit import fast_kernel, scalar
from aucbench.kernels.rule_loops import FADED, Scaled

SCALE, WEIGHT, TOTAL, SIZE, PEAK = map(Scaled._fields.index, ("scale", "weight", "total", "size", "peak"))
PRODUCT = 6  # u.x
A, B = 7, 8  # what is added to u and v along x
STEP = 9  # of w along x, after the projection
AFTER = 10  # weight of the new w in the average
SUM = 11  # what u is multiplied by in the sum, before the step
FOLDS, UNCERTAIN = 12, 13  # 1 for a setting that must be folded, whose |w|^2 must be computed exactly
OWN = 14


@scalar
def at(row, m, lanes):
    """Index of a number of setting m; unsigned, so that no access checks for negative indices."""
    return np.uintp(row * lanes + m)


# Numbers of one setting from the rows of the array, and back. They are written out for the types of the
# examples `own`, `given` and `fixed`, the tuples of some setting; flags, which all share, are theirs.


def pick_own(numbers: Any, own: Any, m: int, lanes: int) -> Any:
    """The method's own numbers of setting m."""
    raise NotImplementedError


def put_own(numbers: Any, own: Any, m: int, lanes: int, new: Any) -> None:
    """Set the method's own numbers of setting m."""
    raise NotImplementedError


def pick_given(numbers: Any, own: Any, given: Any, m: int, lanes: int) -> Any:
    """The numbers that the rule is given for setting m."""
    raise NotImplementedError


def pick_fixed(numbers: Any, own: Any, given: Any, fixed: Any, m: int, lanes: int) -> Any:
    """The products of w of setting m with the fixed vectors."""
    raise NotImplementedError


def move_fixed(
    numbers: Any,
    own: Any,
    given: Any,
    fixed: Any,
    m: int,
    lanes: int,
    factor: float,
    step: float,
    changes: Any,
) -> bool:
    """Move these products as w moves along x, whose own are `changes`; whether they have faded."""
    raise NotImplementedError


def keep_exact(
    is_due: bool, numbers: Any, own: Any, given: Any, fixed: Any, F: Any, uv: Any, lanes: int
) -> None:
    """Compute these products anew: of all settings when it is due, else of those that have faded."""
    raise NotImplementedError


def _function(arguments: str, *lines: str, **names: Any) -> Any:
    scope: dict[str, Any] = dict(names)
    exec("\n    ".join([f"def implementation({arguments}):", *lines]), scope)
    return scope["implementation"]


def _tuple(example: Any, first: int) -> tuple[str, dict[str, Any]]:
    """The source that makes a tuple of the type of the example from rows, and the names it uses."""
    parts = []
    for c, kind in enumerate(example.types):
        value = f"numbers[np.uintp({first + c} * lanes + m)]"
        name = str(kind)
        parts.append(f"example[{c}]" if name == "bool" else f"np.int64({value})" if "int" in name else value)
    inside = "".join(f"{part}, " for part in parts)
    if hasattr(example, "instance_class"):
        return f"made({inside})", {"made": example.instance_class, "np": np}
    return f"({inside})", {"np": np}


@overload(pick_own)
def _pick_own(numbers, own, m, lanes):
    source, names = _tuple(own, OWN)
    return _function("numbers, own, m, lanes", "example = own", f"return {source}", **names)


@overload(put_own)
def _put_own(numbers, own, m, lanes, new):
    if new != own:  # all numbers are floats in the array, and would hide it
        raise TypeError(f"Cannot unify {own} and {new} for 'own'")  # as the loop of one setting says
    lines = [f"numbers[np.uintp({OWN + c} * lanes + m)] = new[{c}]" for c in range(len(own))]
    return _function("numbers, own, m, lanes, new", *lines, "return None", np=np)


@overload(pick_given)
def _pick_given(numbers, own, given, m, lanes):
    source, names = _tuple(given, OWN + len(own))
    return _function("numbers, own, given, m, lanes", "example = given", f"return {source}", **names)


@overload(pick_fixed)
def _pick_fixed(numbers, own, given, fixed, m, lanes):
    source, names = _tuple(fixed, OWN + len(own) + len(given))
    arguments = "numbers, own, given, fixed, m, lanes"
    return _function(arguments, "example = fixed", f"return {source}", **names)


@overload(move_fixed)
def _move_fixed(numbers, own, given, fixed, m, lanes, factor, step, changes):
    arguments = "numbers, own, given, fixed, m, lanes, factor, step, changes"
    if not len(fixed):
        return _function(arguments, "return False")
    first = OWN + len(own) + len(given)
    places = [f"numbers[np.uintp({first + c} * lanes + m)]" for c in range(len(fixed))]
    peak = f"numbers[np.uintp({PEAK} * lanes + m)]"
    return _function(
        arguments,
        *(f"{place} = factor * {place} + step * changes[{c}]" for c, place in enumerate(places)),
        "current = " + " + ".join(f"abs({place})" for place in places),
        f"{peak} = max({peak}, current)",
        f"return {peak} > {FADED} * (1.0 + current)",
        np=np,
    )


@overload(keep_exact)
def _keep_exact(is_due, numbers, own, given, fixed, F, uv, lanes):
    if not len(fixed):
        return lambda is_due, numbers, own, given, fixed, F, uv, lanes: None
    first, count = OWN + len(own) + len(given), len(fixed)

    def implementation(is_due, numbers, own, given, fixed, F, uv, lanes):
        for m in range(lanes):
            current = 0.0
            for c in range(count):
                current += abs(numbers[(first + c) * lanes + m])
            if is_due or numbers[PEAK * lanes + m] > FADED * (1.0 + current):
                current = 0.0
                for c in range(count):
                    product = numbers[SCALE * lanes + m] * _dot_column(F, c, uv, m)
                    numbers[(first + c) * lanes + m] = product
                    current += abs(product)
                numbers[PEAK * lanes + m] = current

    return implementation


@fast_kernel
def _dot_column(F, c, uv, m):
    total = 0.0
    for j in range(uv.shape[0]):
        total += F[c, j] * uv[j, m]
    return total
