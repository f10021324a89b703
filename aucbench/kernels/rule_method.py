"""Base class of methods that are rules: their state, steps and weights, alone and in lockstep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch, LinearMethod, Problem
from aucbench.errors import PluginError
from aucbench.humanize import uncoloured
from aucbench.kernels import lanes, lockstep, rule_loops, thresholded, weights
from aucbench.kernels.compiled_loss import derivative_address
from aucbench.kernels.rule_loops import Scaled
from aucbench.kernels.rules import Ball, Move, Row, Rule
from aucbench.kernels.thresholded import Thresholded
from aucbench.kernels.weights import Layout, layout, two_vectors

BLOCKS = (8, 16, 32)  # block sizes, in settings
LARGEST_BLOCK = BLOCKS[-1]
PLACES = ("During:", "File ", "There are ")  # numba's messages contain no reason after such lines
LONGEST = 300  # most characters of a reason
REFRESH = 1024  # least number of steps between exact computations of |w|^2 and the fixed products

# The declared types of a NamedTuple, cached: finding them takes longer than a hundred steps.
_types: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


class RuleState(NamedTuple):
    """The state of a rule: weights w = scale u, sum of the averaged w = weight u - v."""

    uv: (
        NDArray[np.float64] | Thresholded
    )  # (2, d) u and v; a thresholded vector in the l1 ball on sparse rows
    w: Scaled
    counts: tuple[int, int]  # steps, and positive rows so far
    scalars: Any  # numbers carried by the rule, a NamedTuple of floats
    params: Any  # parameters of the rule, a NamedTuple of numbers and flags
    fixed: tuple[float, ...]  # products of w with the fixed vectors
    F: NDArray[np.float64]  # (c, d) the fixed vectors
    products: NDArray[np.float64]  # (n, c) products of all rows with F
    loss: Any  # loss with the derivative that the rule calls, or None


class RuleMethod(LinearMethod):
    """Base class of methods whose step is a `Rule`; it adds `step`, `weights` and `together`.

    The method has a `rule`, an `access` of stream or pairs, and an `init` that returns
    `RuleMethod.first_state`.
    """

    min_together = 6  # with fewer settings most of a block of 8 would be wasted

    @property
    def rule(self) -> Rule:
        """The rule; a class variable if all settings share it."""
        raise NotImplementedError

    def first_state(
        self,
        problem: Problem,
        params: Any,
        scalars: Any = (),
        w: float | NDArray[np.float64] = 0.0,
        fixed: NDArray[np.float64] | None = None,
        loss: Any = None,
    ) -> RuleState:
        """The state before the first step.

        Parameters
        ----------
        problem : Problem
            Problem with the number of features and the rows whose products with the fixed vectors are needed.
        params : NamedTuple of float, int and bool
            Constant parameters of the rule; `params.radius` is the radius of the ball.
        scalars : NamedTuple of float, optional
            The numbers that the rule carries from step to step, besides the weights.
        w : float or (d,) array
            The initial weights.
        fixed : (c, d) array, optional
            Vectors, such as class means, whose products with w the rule reads as `row.fixed`.
        loss : Loss, optional
            Loss whose derivative the rule calls by `kernels.call(row.loss, margin, theta)`.

        Returns
        -------
        RuleState
            State for the first `step`.

        Raises
        ------
        PluginError
            The access, the rule, its numbers or its radius are inconsistent.
        """
        self._check(params, scalars, fixed, loss)
        is_l1, uv = self.rule.ball is Ball.l1, two_vectors(problem.X)
        uv[0] = w
        F = np.zeros((0, problem.n_features)) if fixed is None else fixed
        products = np.ascontiguousarray(problem.X @ F.T) if len(F) else np.zeros((0, 0))
        at_start = tuple(float(f @ uv[0]) for f in F)
        size = float(np.abs(uv[0]).sum() if is_l1 else uv[0] @ uv[0])
        vector: Any = uv
        if is_l1 and layout(problem.X) is Layout.lazy:
            vector = thresholded.thresholded(problem.n_features)
            if size > 0.0:
                thresholded.replace(vector, np.array(uv[0]))
        first = Scaled(size=size, peak=float(sum(map(abs, at_start))))
        return RuleState(vector, first, (0, 0), _typed(scalars), _typed(params), at_start, F, products, loss)

    def _check(self, params: Any, scalars: Any, fixed: Any, loss: Any) -> None:
        who, rule = type(self).__name__, self.rule
        if not isinstance(rule, Rule):
            raise PluginError(f"{who}: `rule` must be made by kernels.rule, got {type(rule).__name__}.")
        if self.access not in (Access.stream, Access.pairs):
            raise PluginError(
                f"{who}: a rule takes rows or pairs (access stream or pairs), got {self.access}."
            )
        for name, value in (("params", params), ("scalars", scalars)):
            if value != () and list(_types(type(value))) != list(getattr(value, "_fields", (None,))):
                raise PluginError(f"{who}: `{name}` must be a typing.NamedTuple of numbers, got {value!r}.")
        if bool in _types(type(scalars)).values():
            raise PluginError(
                f"{who}: `scalars` has numbers only; a flag that changes is a float that is 0 or 1."
            )
        if rule.ball is not Ball.none and not hasattr(params, "radius"):
            raise PluginError(f"{who}: a rule with a ball needs its radius as `params.radius`.")
        if rule.ball is Ball.l1 and fixed is not None:
            raise PluginError(f"{who}: a rule with the l1 ball has no fixed vectors.")

    def step(self, state: RuleState, batch: Batch) -> RuleState:
        """Consume the rows or pairs of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        uv, w, counts, scalars, params, fixed, F, products, loss = state
        rule = self.rule
        template = rule_loops.over_pairs if self.access == Access.pairs else rule_loops.over_rows
        first, advance = rule_loops.first, rule_loops.advance
        if rule.ball is Ball.l1:
            is_lazy = isinstance(uv, Thresholded)
            first = rule_loops.no_products
            advance = rule_loops.advance_lazy_l1 if is_lazy else rule_loops.advance_l1
        loop = rule.loop(template, FIRST=first, STEP=rule_loops.step, ADVANCE=advance)
        w, counts, fixed, scalars = _called(
            loop, rule, batch.rows_view, batch.y, batch.rows, batch.weights, _refresh(batch.X.shape[1]),
            uv, w, counts, fixed, F, products, scalars, params, derivative_address(loss),
        )  # fmt: skip
        return RuleState(uv, w, counts, scalars, params, fixed, F, products, loss)

    @classmethod
    def together(
        cls, algorithms: Sequence["RuleMethod"], states: Sequence[RuleState]
    ) -> "RuleLockstep | None":
        """Settings in lockstep; None with the l1 ball, whose projection is not a scalar factor."""
        rules = [algorithm.rule for algorithm in algorithms]
        return (
            None if any(rule.ball is Ball.l1 for rule in rules) else RuleLockstep(rules, cls.access, states)
        )

    def weights(self, state: RuleState) -> NDArray[np.float64]:
        """(d,) weighted mean of the points so far; the current point if none was averaged."""
        w = state.w
        if isinstance(state.uv, Thresholded):
            total: NDArray[np.float64] = thresholded.accumulated(state.uv)
            return total / w.total if w.total else thresholded.current(state.uv)
        u, v = state.uv
        mean: NDArray[np.float64] = weights.mean(u, v, w.weight, w.total) if w.total else w.scale * u
        return mean


class RuleLockstep:
    """Settings trained together, in blocks that fit in the cache; the settings of a block share a rule."""

    def __init__(self, rules: Sequence[Rule], access: Access, states: Sequence[RuleState]):
        template = rule_loops.over_pairs if access == Access.pairs else rule_loops.over_rows
        kinds: dict[Any, dict[int, RuleState]] = {}
        for number, (rule, state) in enumerate(zip(rules, states, strict=True)):
            kinds.setdefault(_shared(rule, state), {})[number] = state
        self._blocks = [
            _Block(kind[0], template, dict(islice(members.items(), start, start + LARGEST_BLOCK)))
            for kind, members in kinds.items()
            for start in range(0, len(members), LARGEST_BLOCK)
        ]

    def step(self, batch: Batch) -> None:
        """Consume the rows or pairs of a batch with all settings, in order."""
        for block in self._blocks:
            block.step(batch)

    def state(self, number: int) -> RuleState:
        """The state of a setting."""
        return next(block.state(number) for block in self._blocks if number in block.lanes)

    def drop(self, number: int) -> None:
        """Stop training a setting."""
        self._blocks = [block.without(number) for block in self._blocks if set(block.lanes) != {number}]


def _shared(rule: Rule, state: RuleState) -> tuple[Any, ...]:
    """The parts that the settings of a block share: the rule, flags, vectors, products and the loss."""
    flags = tuple(value for value in state.params if isinstance(value, bool))
    return rule, flags, state.F.tobytes(), type(state.loss)


class _Block:
    """Settings with their numbers side by side; lanes without a setting repeat the first."""

    def __init__(self, rule: Rule, template: Callable[..., Any], states: Mapping[int, RuleState]):
        self._rule, self._template = rule, template
        self.lanes = {number: lane for lane, number in enumerate(states)}
        self._first = first = next(iter(states.values()))
        self._count = next(count for count in BLOCKS if count >= len(states))
        self._counts = first.counts
        self._no_rows: Batch | None = None
        full = [*states.values(), *[first] * (self._count - len(states))]
        uv = np.array([s.uv[c] for c in (0, 1) for s in full]).T
        self._uv = lanes.zeros(*uv.shape)  # aligned to cache lines, which saves a tenth of the time
        self._uv[:] = uv
        is_lazy = not np.asarray(first.uv).flags.c_contiguous  # as `two_vectors` makes them
        self._folds = lockstep.no_folds(len(self._uv), self._count, is_lazy)
        self._numbers = lanes.zeros(lockstep.STATE + sum(map(len, self._tuples(first))), self._count)
        for lane, state in enumerate(full):
            self._numbers[: len(state.w), lane] = state.w
            self._numbers[lockstep.STATE :, lane] = np.concatenate(self._tuples(state))

    @staticmethod
    def _tuples(state: RuleState) -> tuple[Any, Any, Any]:
        return state.scalars, state.params, state.fixed

    def step(self, batch: Batch) -> None:
        """Consume the rows or pairs of a batch with all settings, in order."""
        self._no_rows, first = batch.take(batch.rows[:0]), self._first
        loop = self._rule.loop(
            self._template, LANES=self._count, FIRST=rule_loops.no_products, STEP=rule_loops.step,
            STEP_ALL=lockstep.step_all, ADVANCE=lockstep.advance,
        )  # fmt: skip
        scalars, params, fixed = self._tuples(first)
        faded = 1  # assume faded: the numbers come from another batch
        _, self._counts, _, _ = _called(
            loop, self._rule, batch.rows_view, batch.y, batch.rows, batch.weights, _refresh(batch.X.shape[1]),
            lockstep.Block(self._uv, self._numbers.ravel(), self._folds), faded, self._counts,
            fixed, first.F, first.products, scalars, params, derivative_address(first.loss),
        )  # fmt: skip

    def state(self, number: int) -> RuleState:
        """The state of a setting."""
        lane = self.lanes[number]
        lockstep.catch_up_all(self._uv, self._folds)
        w = Scaled(*self._numbers[: len(self._first.w), lane].tolist())
        flat = iter(self._numbers[lockstep.STATE :, lane].tolist())
        scalars, params, fixed = (_typed(part, islice(flat, len(part))) for part in self._tuples(self._first))
        # The memory order is that of the first state: see `two_vectors`.
        uv = np.copy(np.asarray(self._first.uv), order="K")
        uv[:] = self._uv[:, [lane, self._count + lane]].T
        return self._first._replace(
            uv=uv, w=w, counts=self._counts, scalars=scalars, params=params, fixed=fixed
        )

    def without(self, number: int) -> "_Block":
        """The block without a setting, packed if the remaining settings fit in fewer lanes."""
        if number not in self.lanes:
            return self
        del self.lanes[number]
        if len(self.lanes) > self._count // 2 or self._count == BLOCKS[0]:
            return self
        packed = _Block(self._rule, self._template, {setting: self.state(setting) for setting in self.lanes})
        if self._no_rows is not None:
            packed.step(self._no_rows)  # compiles the loop of this width outside the timed part
        return packed


def _called(loop: Callable[..., Any], rule: Rule, *arguments: Any) -> Any:
    """The result of the loop of a rule, or the reason why the rule cannot be compiled, in a sentence."""
    try:
        return loop(*arguments)
    except (NumbaError, TypeError, KeyError) as error:
        lines = [line.strip() for line in uncoloured(str(error)).splitlines()]
        causes = list(takewhile(lambda line: not line.startswith(PLACES), filter(None, lines)))
        reason = " ".join(line for line in causes if "nopython" not in line)[:LONGEST].rstrip(" .")
        code = rule.function.__code__
        location = f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
        raise PluginError(
            f"The rule {rule.function.__name__} ({location}) cannot be compiled: {reason}. It must take "
            f"(row, scalars, params), where a row has {', '.join(Row._fields)}; return (Move, scalars) of "
            f"the same types, where a Move has {', '.join(Move._fields)}; and call kernels.scalar functions."
        ) from error


def _refresh(d: int) -> int:
    """Steps between exact computations, which cost O(d): a power of 2."""
    return 1 << (max(REFRESH, d) - 1).bit_length()


def _typed(example: Any, numbers: Iterable[Any] | None = None) -> Any:
    """The tuple, or one with other numbers, each converted to the type that its class declares.

    Loops are compiled for the types of the numbers.
    """
    values = example if numbers is None else numbers
    if not hasattr(example, "_fields"):
        return tuple(map(float, values))
    kinds = _types(type(example))
    return type(example)(*(kinds[name](value) for name, value in zip(example._fields, values, strict=True)))
