"""The certified minimum of the objective that a method declares.

Solvers are plugins: methods with a class method `minimises` that accepts the objective. An objective without
a solver is reduced to simpler ones. A ball constraint becomes a regulariser, whose weight is searched for;
each trial starts from the previous solution. A loss with kinks becomes a sequence of smoothed losses of
decreasing width. A solution counts only with its certificate, which the framework computes from the weights
alone (`evaluation.pair_objective`).
"""

import contextlib
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch, MethodFacts, Norm, Objective, Problem, for_rows
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.contracts.validation import Family
from aucbench.data.preprocess import Prepared
from aucbench.errors import ParameterError
from aucbench.evaluation import pair_objective
from aucbench.evaluation.auc import exact_auc
from aucbench.evaluation.pair_objective import Certificate, certificate, declared_objective
from aucbench.kernels import loss_pieces, pair_loss
from aucbench.registry import Catalog
from aucbench.runner.cell import training_context
from aucbench.runner.trainer import finalize
from aucbench.studies.entry_and_keys import BoundPlugin, Entry
from aucbench.studies.execution.prepared_data import blaming, prepared_data, row_factor
from aucbench.studies.execution.work_units import Unit
from aucbench.studies.result import OptimumRecord, OptimumResult

SMOOTH, KINKED = 1e-8, 1e-6  # largest relative gap of a minimum, without and with kinks in the loss
AIM = 1e-11  # relative gap that ends the search for a multiplier
MOST_STEPS, MOST_TRIALS = 2000, 60  # steps of a solver; trials of multipliers
# Factor between multipliers until the weights leave the ball; small for |w|_1, so that few columns enter.
FALL = {Norm.l2: 1e-2, Norm.l1: 0.25}
LEAST = 1e-18  # smallest multiplier tried, relative to the first
KEPT = 16  # largest number of outcomes cached in a process
ZERO = 1e-10  # relative multiplier after which 0 is tried; few solvers accept 0


class Minimum(NamedTuple):
    """A certified minimum."""

    weights: NDArray[np.float64]  # (d,)
    certificate: Certificate
    solver: str  # name of the method that found it
    seconds: float  # CPU time


class NotCertifiedError(ParameterError):
    """No certified minimum was found; `seconds` is the time of a search ended by its limit, else 0."""

    def __init__(self, reason: str, seconds: float = 0.0):
        super().__init__(reason)
        self.seconds = seconds


def minimum(
    catalog: Catalog, objective: Objective, X: Any, y: NDArray[np.int8], seconds: float = math.inf
) -> Minimum:
    """Find the certified minimum of an objective over all pairs of some rows.

    Raises a `NotCertifiedError` if there is no solver, if the mean over pairs cannot be computed, if the
    solution cannot be certified, or if the search exceeds `seconds` of processor time.
    """
    begun, kinked = thread_time(), bool(loss_pieces.kinks(objective.loss))
    if not objective.is_bounded and len(loss_pieces.pieces(objective.loss) or "no") != 1:
        raise NotCertifiedError(
            f"the objective has neither regulariser nor ball, and may have no minimum: {objective}."
        )
    try:
        with training_context(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # systems may be nearly singular; the certificate decides
            search = _Search(catalog, X, y, seconds)
            solution = search.kinked(objective) if kinked else search.smooth(objective)
    except NotCertifiedError:
        raise
    except ParameterError as error:
        raise NotCertifiedError(str(error)) from error
    if solution is None:
        raise NotCertifiedError(f"no installed method minimises this objective: {objective}.")
    allowed, gap = KINKED if kinked else SMOOTH, solution.certificate.relative
    if not gap <= allowed:
        raise NotCertifiedError(
            f"no certified minimum: the best relative gap is {gap:.1e}, at most {allowed:g} is allowed: "
            f"{objective}."
        )
    return solution._replace(seconds=thread_time() - begun)


class _CertifiedError(Exception):
    """A search for a multiplier is done."""


class _Search:
    """Solvers on some rows; each solver continues from its last solution."""

    def __init__(self, catalog: Catalog, X: Any, y: NDArray[np.int8], seconds: float):
        self._algorithms = list(catalog.plugins[Family.algorithms].values())
        self._batch = Batch(X, y, np.zeros((1, 0), np.int64), Access.full)
        self._states: dict[type, Any] = {}
        self._seconds, self._end = seconds, thread_time() + seconds  # CPU time of this thread

    def kinked(self, objective: Objective) -> Minimum | None:
        """The minimum for a loss with kinks, by smoothed losses; each solution gives bounds on both sides."""
        value, bound, best = math.inf, -math.inf, None
        for width in pair_objective.WIDTHS:
            solution = self.smooth(replace(objective, loss=loss_pieces.Smoothed(width, objective.loss)))
            if solution is None:
                return None
            proof = self._certificate(objective, solution.weights, (width,))
            bound = max(bound, proof.bound)
            if proof.value < value:
                value, best = proof.value, solution
            combined = Certificate(value, max(0.0, value - bound), proof.start)
            if combined.relative <= KINKED:
                break
        return best and best._replace(certificate=combined)

    def smooth(self, objective: Objective) -> Minimum | None:
        """The minimum for a differentiable loss."""
        if objective.radius is None:
            return self._free(objective)
        return self._in_ball(objective, objective.radius)

    def _free(self, objective: Objective) -> Minimum | None:
        """The minimum without a ball, from the first solver with a certified solution."""
        best = None
        problem = Problem(self._batch.X, self._batch.y, None, objective.loss)
        # Solvers that name the loss come before solvers that accept any.
        name = objective.loss.name
        order = sorted(self._algorithms, key=lambda candidate: name not in MethodFacts(candidate.cls).losses)
        for plugin in order:
            factory: Any = MethodFacts(plugin.cls).minimises and plugin.imported.minimises
            solver = factory and factory(objective, problem)
            if solver is None:
                continue
            with blaming(BoundPlugin(solver, plugin.distribution, plugin.version)):
                weights = self._solved(solver, problem)
            solution = Minimum(weights, self._certificate(objective, weights), plugin.name, 0.0)
            if best is None or solution.certificate.gap < best.certificate.gap:
                best = solution
            if best.certificate.relative <= SMOOTH:
                break
        return best

    def _solved(self, solver: Any, problem: Problem) -> NDArray[np.float64]:
        """The weights of a solver at convergence, or after `MOST_STEPS` steps."""
        last_state = self._states.get(type(solver))
        rng = generator(0, RandomStream.method, 0)
        can_resume = MethodFacts(solver).init_from is not None
        state = solver.init_from(problem, rng, last_state) if can_resume else solver.init(problem, rng)
        batch = Batch(problem.X, problem.y, np.zeros((1, 0), np.int64), Access.full)
        for _ in range(MOST_STEPS):
            if solver.done(state):
                break
            if thread_time() > self._end:
                raise NotCertifiedError(
                    f"no certified minimum within limits.optimum={self._seconds:g} s of processor time.",
                    self._seconds,
                )
            state = solver.step(state, batch)
        self._states[type(solver)] = state
        return np.asarray(solver.weights(finalize(solver, state)), np.float64)

    def _in_ball(self, objective: Objective, radius: float) -> Minimum | None:
        """The minimum in a ball: search for the additional norm penalty that puts the weights on the sphere.

        For the l2 ball, the penalty is on |w|^2, and 1 / |w| is nearly linear in its weight (the secular
        equation). For the l1 ball and the square loss, |w|_1 is piecewise linear in the weight of |w|_1.
        """
        free, in_l1 = replace(objective, radius=None), objective.norm is Norm.l1
        best: Minimum | None = None

        def excess(multiplier: float) -> float:
            """Distance of the weights from the ball, 0 on the sphere; NaN without a solver."""
            nonlocal best
            l1, l2 = (multiplier, 0.0) if in_l1 else (0.0, multiplier)
            solution = self._free(replace(free, l1=free.l1 + l1, l2=free.l2 + l2))
            if solution is None:
                return math.nan
            w = solution.weights
            size = float(np.abs(w).sum() if in_l1 else np.linalg.norm(w))
            inside = w * (radius / size) if size > radius else w
            proof = self._certificate(objective, inside)
            if 0.0 < size < radius and proof.bound <= 0.0 and not free.is_bounded:
                # The minimum may be 0, at longer weights in the same direction.
                longer = w * (radius / size)
                if (longer_proof := self._certificate(objective, longer)).value < proof.value:
                    inside, proof = longer, longer_proof
            if best is None or proof.gap < best.certificate.gap:
                best = solution._replace(weights=inside, certificate=proof)
            if best.certificate.relative <= AIM:
                raise _CertifiedError
            if in_l1:
                return size - radius
            return 1.0 / radius - 1.0 / size if size > 0.0 else -math.inf

        with contextlib.suppress(_CertifiedError):
            if not free.is_bounded or excess(0.0) > 0.0:
                self._multiplier(excess, free, objective.norm, radius)
        return best

    def _multiplier(
        self, excess: Callable[[float], float], free: Objective, norm: Norm, radius: float
    ) -> None:
        """Search for the multiplier with excess 0: decrease it until excess > 0, then secants (Illinois)."""
        X, y, fall = self._batch.X, self._batch.y, FALL[norm]
        slopes = pair_loss.pair_mean(free.loss, np.zeros(len(y)), y).slopes
        pull = np.maximum(np.abs(X.T @ slopes) - free.l1, 0.0)
        # If `pull` is 0, zero weights are a minimum for any multiplier.
        largest = pull.max() if norm is Norm.l1 else np.linalg.norm(pull) / radius
        first = float(largest) or 1.0
        falling = [fall**power for power in range(1, 1 + int(math.log(LEAST) / math.log(fall)))]
        zero = sum(share >= ZERO for share in falling)
        high, above, low, below, last = first, -math.inf, 0.0, math.nan, 0
        for low in (first * share for share in (*falling[:zero], 0.0, *falling[zero:])):
            below = excess(low)
            if below > 0.0:
                break
            if below <= 0.0 and low > 0.0:
                high, above = low, below
        for _ in range(MOST_TRIALS if below > 0.0 else 0):
            if math.isinf(above):
                middle = math.sqrt(low * high) if low > 0.0 else FALL[Norm.l2] * high
            else:
                middle = low + (high - low) * below / (below - above)
            distance = excess(middle) if low < middle < high else 0.0
            if not abs(distance) > 0.0:
                return
            if distance > 0.0:
                low, below, above, last = middle, distance, above * (0.5 if last > 0 else 1.0), 1
            else:
                high, above, below, last = middle, distance, below * (0.5 if last < 0 else 1.0), -1

    def _certificate(self, objective: Objective, w: Any, widths: Any = pair_objective.WIDTHS) -> Certificate:
        return certificate(objective, w, self._batch.X, self._batch.y, widths)


def entry_optimum(catalog: Catalog, entry: Entry) -> OptimumResult:
    """The certified minimum for the method of an entry, on the training rows of its first cell.

    The entry limits the time of a search. Raises the errors of `minimum` and of loading data.
    """
    unit = Unit("", prepared_data().digests(entry), entry, entry.cells()[0])
    prepared = prepared_data().prepared(unit)
    loss = entry.loss and entry.loss.instance
    with blaming(entry.algorithm):
        factor = row_factor(entry, prepared)
        problem = Problem(prepared.X, prepared.y, None, loss, row_factor=factor)
        objective = declared_objective(for_rows(entry.algorithm.instance, factor), problem)
    return known_or_found(catalog, objective, unit, prepared)


# The latest outcomes in this process, by objective, rows and time limit.
_found: dict[tuple[Objective, Any, float], OptimumResult | NotCertifiedError] = {}


def known_or_found(catalog: Catalog, objective: Objective, unit: Unit, prepared: Prepared) -> OptimumResult:
    """The certified minimum of an objective on the rows of a unit; raises the errors of `minimum`.

    Runs of one process that share objective and rows share the search.
    """
    seconds = unit.entry.limits.optimum
    key = objective, unit.group, seconds
    if key not in _found:
        if len(_found) == KEPT:
            _found.clear()
        try:
            best = minimum(catalog, objective, prepared.X, prepared.y, seconds)
        except NotCertifiedError as error:
            _found[key] = error
        else:
            record = OptimumRecord(
                objective=str(objective),
                value=best.certificate.value,
                gap=best.certificate.gap,
                relative_gap=best.certificate.relative,
                size=best.certificate.size,
                solver=best.solver,
                seconds=best.seconds,
                train_rows=len(prepared.y),
                train_auc=exact_auc(prepared.X @ best.weights, prepared.y),
                test_auc=exact_auc(prepared.X_test @ best.weights, prepared.y_test),
                seeds=unit.seeds,
            )
            _found[key] = OptimumResult(record, best.weights)
    outcome = _found[key]
    if isinstance(outcome, NotCertifiedError):
        raise outcome
    return outcome
