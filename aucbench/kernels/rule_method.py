"""What a method that is a rule inherits: its state, steps and weights, alone and in lockstep."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch, Problem
from aucbench.kernels import lockstep, rule_loops, thresholded, weights
from aucbench.kernels.compiled_loss import compile_loss
from aucbench.kernels.rule_loops import Scaled
from aucbench.kernels.rules import Ball, Rule
from aucbench.kernels.thresholded import Thresholded
from aucbench.kernels.weights import Layout, layout, two_vectors

SMALLEST_BLOCK, LARGEST_BLOCK = 8, 32  # settings whose weights lie side by side
CACHE_BYTES = 1 << 18  # of the weights of a block
REFRESH = 1024  # steps between exact computations of |w|^2 and the fixed products, at least


class RuleState(NamedTuple):
    """The state of a rule: weights w = scale u, sum of the averaged w = weight u - v."""

    uv: (
        NDArray[np.float64] | Thresholded
    )  # (2, d) u and v; a thresholded vector in the l1 ball on sparse rows
    w: Scaled
    counts: tuple[int, int]  # steps, positive rows among them
    own: Any  # the method's own numbers, a NamedTuple of floats
    given: Any  # its parameters, a NamedTuple of numbers and flags
    fixed: tuple[float, ...]  # products of w with the fixed vectors
    F: NDArray[np.float64]  # (c, d) the fixed vectors
    products: NDArray[np.float64]  # (n, c) of every row with them
    loss: Any  # whose derivative the rule calls, or None


class RuleMethod:
    """Base of a method whose step is a `Rule`; it adds `step`, `weights`, `score` and `together`.

    The method has a `rule`, an `access` of stream or pairs, and an `init` that returns
    `RuleMethod.first_state`.
    """

    access: ClassVar[Access]

    @property
    def rule(self) -> Rule:
        """The rule; a class variable where all settings have the same."""
        raise NotImplementedError

    def first_state(
        self,
        problem: Problem,
        given: Any,
        own: Any = (),
        w: float | NDArray[np.float64] = 0.0,
        fixed: NDArray[np.float64] | None = None,
        loss: Any = None,
    ) -> RuleState:
        """The state before the first step.

        Parameters
        ----------
        problem : Problem
            Gives the number of features and the rows whose products with the fixed vectors are needed.
        given : NamedTuple of float, int and bool
            What the rule is given at every step; `given.radius` is that of the ball.
        own : NamedTuple of float, optional
            The numbers that the rule carries from step to step, besides the weights.
        w : float or (d,) array
            The first weights.
        fixed : (c, d) array, optional
            Vectors, such as class means, whose products with w the rule reads as `row.fixed`.
        loss : Loss, optional
            The rule calls its derivative by `kernels.call(row.loss, margin, theta)`.

        Returns
        -------
        RuleState
            For `step`.
        """
        if self.rule.ball is Ball.l1:
            return self._first_in_l1_ball(problem, given, own, w, loss)
        uv = two_vectors(problem.X)
        uv[0] = w
        F = np.zeros((0, problem.n_features)) if fixed is None else fixed
        products = np.ascontiguousarray(problem.X @ F.T) if len(F) else np.zeros((0, 0))
        at_start = tuple(float(f @ uv[0]) for f in F)
        first = Scaled(size=float(uv[0] @ uv[0]), peak=float(sum(map(abs, at_start))))
        return RuleState(uv, first, (0, 0), _typed(own), _typed(given), at_start, F, products, loss)

    def _first_in_l1_ball(
        self, problem: Problem, given: Any, own: Any, w: float | NDArray[np.float64], loss: Any
    ) -> RuleState:
        d, uv = problem.n_features, two_vectors(problem.X)
        uv[0] = w
        first = Scaled(size=float(np.abs(uv[0]).sum()))  # with this ball the bound on |w|_1
        vector: Any = uv
        if layout(problem.X) is Layout.lazy:
            vector = thresholded.thresholded(d)
            if first.size > 0.0:
                thresholded.start(vector, uv[0])
        none = np.zeros((0, 0))
        return RuleState(vector, first, (0, 0), _typed(own), _typed(given), (), none, none, loss)

    def step(self, state: RuleState, batch: Batch) -> RuleState:
        """Consume the rows or pairs of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        uv, w, counts, own, given, fixed, F, products, loss = state
        template = rule_loops.over_pairs if self.access is Access.pairs else rule_loops.over_rows
        advance = rule_loops.advance
        if self.rule.ball is Ball.l1:
            is_lazy = isinstance(uv, Thresholded)
            advance = rule_loops.advance_lazy_l1 if is_lazy else rule_loops.advance_l1
        address = 0 if loss is None else compile_loss(loss).derivative
        w, counts, fixed, own = self.rule.loop(template, ADVANCE=advance)(
            batch.rows_view, batch.y, batch.rows, max(REFRESH, batch.X.shape[1]),
            uv, w, counts, fixed, F, products, own, given, address,
        )  # fmt: skip
        return state._replace(w=w, counts=counts, own=own, fixed=fixed)

    @classmethod
    def together(
        cls, algorithms: Sequence["RuleMethod"], states: Sequence[RuleState]
    ) -> "RuleLockstep | None":
        """Settings in lockstep; None with the l1 ball, whose projection is no scalar."""
        rule = algorithms[0].rule
        return None if rule.ball is Ball.l1 else RuleLockstep(rule, cls.access, states)

    def weights(self, state: RuleState) -> NDArray[np.float64]:
        """(d,) weighted mean of the points so far; the current point where none was averaged."""
        w = state.w
        if isinstance(state.uv, Thresholded):
            total: NDArray[np.float64] = thresholded.accumulated(state.uv)
            return total / w.total if w.total else thresholded.current(state.uv)
        u, v = state.uv
        mean: NDArray[np.float64] = weights.mean(u, v, w.weight, w.total) if w.total else w.scale * u
        return mean

    def score(self, state: RuleState, X: Any) -> NDArray[np.float64]:
        """(n,) decision values w.x."""
        scores: NDArray[np.float64] = X @ self.weights(state)
        return scores


class RuleLockstep:
    """Settings of a rule that are trained together, in blocks whose weights stay in the processor's cache."""

    def __init__(self, rule: Rule, access: Access, states: Sequence[RuleState]):
        self._rule, self._access = rule, access
        d = len(states[0].uv[0])
        size = max(SMALLEST_BLOCK, min(LARGEST_BLOCK, CACHE_BYTES // (16 * d)))
        starts = range(0, len(states), size)
        self._blocks = [_Block(range(s, min(s + size, len(states))), states[s : s + size]) for s in starts]

    def step(self, batch: Batch) -> None:
        """All settings consume the rows or pairs of a batch, in order."""
        template = lockstep.over_pairs if self._access is Access.pairs else lockstep.over_rows
        loop = self._rule.loop(template, DECIDE=lockstep.decide, SETTLE=lockstep.settle)
        for block in self._blocks:
            block.step(loop, batch)

    def state(self, number: int) -> RuleState:
        """The state of a setting."""
        return next(block.state(number) for block in self._blocks if number in block.numbers)

    def drop(self, number: int) -> None:
        """Train a setting no more."""
        for block in self._blocks:
            if number in block.numbers:
                block.drop(number)
        self._blocks = [block for block in self._blocks if block.numbers]


class _Block:
    """Settings whose numbers lie side by side."""

    def __init__(self, numbers: Sequence[int], states: Sequence[RuleState]):
        self.numbers, first = list(numbers), states[0]
        # (d, 2 m): u of all settings beside v of all settings
        self.uv = np.ascontiguousarray(
            np.concatenate([np.stack([s.uv[c] for s in states]) for c in (0, 1)]).T
        )
        self.w = _stacked([state.w for state in states])
        self.own = _stacked([state.own for state in states])
        self.given = _stacked([state.given for state in states])
        self.fixed = _stacked([state.fixed for state in states])
        self.counts, self.F, self.products, self.loss = first.counts, first.F, first.products, first.loss
        self.work = lockstep.room(len(states))

    def step(self, loop: Any, batch: Batch) -> None:
        address = 0 if self.loss is None else compile_loss(self.loss).derivative
        self.counts = loop(
            batch.rows_view, batch.y, batch.rows, max(REFRESH, batch.X.shape[1]), self.uv, self.work,
            self.w, self.counts, self.fixed, self.F, self.products, self.own, self.given, address,
        )  # fmt: skip

    def state(self, number: int) -> RuleState:
        m, count = self.numbers.index(number), len(self.numbers)
        uv = np.ascontiguousarray(self.uv[:, [m, count + m]].T)
        own, given, fixed, w = (_one(each, m) for each in (self.own, self.given, self.fixed, self.w))
        w = w._replace(inverse=1.0 / w.scale if w.scale else np.inf)
        return RuleState(uv, w, self.counts, own, given, fixed, self.F, self.products, self.loss)

    def drop(self, number: int) -> None:
        states = [self.state(each) for each in self.numbers if each != number]
        self.numbers.remove(number)
        if states:
            self.__init__(self.numbers, states)  # type: ignore[misc]


def _stacked(numbers: Sequence[Any]) -> Any:
    """One tuple of arrays for the tuples of numbers of all settings; flags, which are equal, stay flags."""
    columns = [
        column[0] if isinstance(column[0], bool) else np.array(column)
        for column in zip(*numbers, strict=True)
    ]
    return type(numbers[0])(*columns) if hasattr(numbers[0], "_fields") else tuple(columns)


def _one(numbers: Any, m: int) -> Any:
    """The numbers of one setting from a tuple of arrays."""
    values = [each if isinstance(each, bool) else each[m].item() for each in numbers]
    return type(numbers)(*values) if hasattr(numbers, "_fields") else tuple(values)


def _typed(numbers: Any) -> Any:
    """The NamedTuple with every number of the type that its class declares: loops are compiled by types."""
    if not numbers:
        return ()
    kinds = get_type_hints(type(numbers))
    return type(numbers)(*(kinds[name](value) for name, value in numbers._asdict().items()))
