"""Gradient boosting of trees by LightGBM or XGBoost: one round per iteration, and any loss over all pairs.

A round adds a tree f_t to the scores s = f_1 + ... + f_{t-1} of the rows. The library grows this tree by its
own rules from the derivatives g_i and h_i of its criterion by the scores. With `criterion=pairs` this is

    L(s) = n / (n+ n-) sum over pairs of l(s+ - s-),   g = dL / ds,   h = the diagonal of d2L / ds2

for any loss l; the factor n gives a row the weight that it has in the log loss, for which the defaults of the
libraries are meant. h bounds the values of leaves; it is at least .001 n / n_y for a row of the class y, and
n / n_y where l is piecewise linear, as in plain gradient boosting. The other criteria are the libraries' own:

    log_loss           sum of log(1 + e^(-y s))
    balanced_log_loss  the same, with the weight n / (2 n_y) for a row of the class y
    ranking            lambdarank of LightGBM, in random groups of at most 500 rows, all pairs of a group
                       counting; rank:pairwise of XGBoost with pairs of the mean method

A run without a budget has `rounds` rounds. With `patience`, a share `validation` of the training rows is held
out; training ends when the AUC on these rows has not risen for `patience` rounds, and the model consists of
the rounds up to the best one. Scoring the held-out rows is training time.

Rows stay sparse. Training uses one thread, and the seed of the run decides what is sampled. With row weights,
a pair has the product of both weights, and n and n_y are sums of weights. The libraries still count rows, not
weights, where they limit the rows of a leaf or find the bins of a feature.

Cost per round: O(n d), or O(nnz) of sparse rows, plus that of the loss, O(n log n) for most.

Source: Ke, Meng, Finley, Wang, Chen, Ma, Ye, Liu, LightGBM: a highly efficient gradient boosting decision
tree, NIPS 2017; Chen, Guestrin, XGBoost: a scalable tree boosting system, KDD 2016.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import numpy as np

from aucbench import (
    Access,
    Batch,
    Claims,
    Count,
    Index,
    Interval,
    Method,
    ModelClass,
    NonNegative,
    ParameterError,
    Positive,
    Problem,
    check_fields,
)
from aucbench.evaluation import exact_auc
from aucbench.kernels import pair_loss
from aucbench.kernels.pair_loss import class_shares
from aucbench_algorithms._boosters import LightGbm, Objective, Rows, XgBoost
from aucbench_algorithms._linear_method import total
from aucbench_algorithms._parameters import Parameters, distributions, is_installed

Leaves = Annotated[int, Interval(low=2)]
Share = Annotated[float, Interval(low=0.0, high=1.0, open_low=True)]
PartialShare = Annotated[float, Interval(low=0.0, high=1.0, open_high=True)]
RESERVED = {  # patterns of library parameters that cannot be set, and why
    r".*seed.*|random_state": "it is the seed of the run",
    r"n_jobs|num_threads?|n?threads?|n_?threads?": "it is 1, so that times compare",
    r"num_(iterations?|trees?|rounds?|boost_round)|n_iter|n_estimators|max_iter|nrounds": "it is `rounds`",
    r".*early_stopping.*": "it is `patience`",
    r".*(file|mlist|machine|port|workers|model|save_binary|directory).*": "no file and no network is used",
}
MANY = 500  # rows whose pairs are too many to be visited one by one
OBJECTIVE = r"objective(_type)?|app(lication)?|loss"
Library = StrEnum("Library", "lightgbm xgboost")
Criterion = StrEnum("Criterion", "pairs log_loss balanced_log_loss ranking")
BOOSTERS: Mapping[Library, Any] = {Library.lightgbm: LightGbm, Library.xgboost: XgBoost}


class Trees:
    """A booster with the held-out rows and their scores, hidden from the search for arrays."""

    __slots__ = ("booster", "held", "held_scores", "is_live", "rounds")

    def __init__(self, held: Any, booster: Any = None, rounds: int = 0, is_live: bool = True):
        self.booster, self.held, self.rounds = booster, held, rounds
        self.held_scores = None if held is None else np.zeros(len(held.y))
        self.is_live = is_live  # false after unpickling, which leaves out the training rows

    def __reduce__(self) -> Any:
        return type(self), (self.held, self.booster, self.rounds, False)

    def grow(self, objective: Objective | None) -> None:
        """Add one round, and its scores to those of the held-out rows."""
        self.booster.grow(objective)
        if self.held is not None:
            self.held_scores += self.booster.scores(self.held.X, self.rounds, self.rounds + 1)
        self.rounds += 1


class State(NamedTuple):
    """The trees so far."""

    trees: Trees
    seed: int
    rounds: int  # finished rounds
    scored: int  # rounds summed in scores
    best: int  # the round of the highest AUC on the held-out rows
    best_auc: float
    largest: np.ndarray  # (1,) largest derivative of the last round; NaN once training has diverged
    loss: Any


@dataclass(frozen=True)
class Boosting(Method):
    """Boosted trees of LightGBM or XGBoost, by any loss over all pairs, log loss or ranking.

    Parameters
    ----------
    library : lightgbm or xgboost
        The library that grows the trees.
    criterion : pairs, log_loss, balanced_log_loss or ranking
        What the rounds decrease; only `pairs` uses the surrogate loss.
    rounds : int >= 1 or None
        Largest number of rounds, if the budget allows as many; None means that the budget decides.
    learning_rate : float > 0
        Factor by which each tree is multiplied.
    num_leaves : int >= 2 or None
        Largest number of leaves of a tree. None, here and below, means the library's default.
    max_depth : int >= 0 or None
        Largest depth of a tree; 0 sets no limit.
    min_child_weight : float >= 0 or None
        Smallest sum of the second derivatives in a leaf.
    reg_lambda : float >= 0 or None
        Weight of the squared values of leaves.
    subsample : float in (0, 1] or None
        Share of the rows that a round uses.
    colsample_bytree : float in (0, 1] or None
        Share of the features that a tree uses.
    patience : int >= 0
        Training ends after this many rounds without a higher AUC on the held-out rows; 0 holds out no rows.
    validation : float in [0, 1)
        Share of the training rows that is held out.
    params : mapping or None
        Other parameters of the library by its own names.
    """

    name = "boosting"
    access = Access.full
    losses = ("logistic", "*")
    weighted = True
    class_of_model = ModelClass.trees
    packages = ("lightgbm",)
    extra = "aucbench[boosting]"
    grid = {"learning_rate": (0.03, 0.1, 0.3), "num_leaves": (4, 16, 64), "reg_lambda": (0.1, 10.0)}
    claims = Claims(rate="none", cost="n d")
    citation = "ke2017lightgbm"
    exempt = {
        "auc": "trees approximate the linear optimum of this check by steps",
        "weighted": "a leaf and the bins of a feature count rows, so that copies of rows are not weights",
    }
    deviations = (
        "All random choices follow the seed of the run, and there is one thread.",
        "XGBoost takes 0 for a missing value in dense rows, as in sparse ones, where 0 is not stored.",
        "LightGBM's lambdarank counts all pairs of a group (`lambdarank_truncation_level`), and XGBoost's "
        "rank:pairwise draws the partners of a row uniformly (`lambdarank_pair_method=mean`).",
    )

    library: Library = Library.lightgbm
    criterion: Criterion = Criterion.pairs
    rounds: Count | None = 100
    learning_rate: Positive = 0.1
    num_leaves: Leaves | None = None
    max_depth: Index | None = None
    min_child_weight: NonNegative | None = None
    reg_lambda: NonNegative | None = None
    subsample: Share | None = None
    colsample_bytree: Share | None = None
    patience: Index = 0
    validation: PartialShare = 0.0
    params: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        Parameters.coerce(self, "params")
        if bool(self.patience) != bool(self.validation):
            raise ParameterError(
                f"boosting: patience and validation belong together, the rounds without a higher AUC and the "
                f"share of rows that is held out for it; got patience={self.patience} and "
                f"validation={self.validation:g}."
            )
        if not is_installed(self.library):
            raise ParameterError(
                f"boosting: library={self.library} needs the package {self.library}, which is not installed: "
                f"pip install '{self.extra}'."
            )
        object.__setattr__(self, "packages", distributions(self.library))
        if self.criterion is not Criterion.pairs:
            object.__setattr__(self, "losses", ())
        if self.params:
            self._check_params(self.params)

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """No tree; a ParameterError where the library cannot take weights."""
        if problem.weights is not None and self._is_ranking and self.library is Library.xgboost:
            raise ParameterError("boosting: the ranking objective of XGBoost takes no weights of rows.")
        held = getattr(problem, "validation", None) if self.patience else None
        if self.patience and (held is None or np.ptp(held.y) == 0):
            raise ParameterError(
                f"boosting: patience={self.patience} needs held-out rows of both classes, and has none: "
                f"raise validation, now {self.validation:g}, or set patience=0."
            )
        if problem.loss is not None:  # compiles the kernels for distant scores, which the warm-up lacks
            y = np.where(np.arange(MANY) % 2, 1, -1).astype(np.int8)
            weights = None if problem.weights is None else np.ones(MANY)
            mean = pair_loss.pair_mean(problem.loss, np.linspace(-1.0, 1.0, MANY), y, weights)
            _ = mean.slopes, mean.curvature.diagonal
        seed = int(rng.integers(2**31 - 1))
        return State(Trees(held), seed, 0, 0, 0, -np.inf, np.zeros(1), problem.loss)

    def step(self, state: State, batch: Batch) -> State:
        for _ in range(len(batch)):
            if self._is_done(state):
                break
            state = self._round(state, batch)
        return state

    @property
    def done(self) -> Callable[[State], bool]:
        """A function of a state: whether it has all its rounds or `patience` is at an end."""
        if self.rounds is None and not self.patience:
            raise AttributeError("The budget alone ends training.")
        return self._is_done

    def finalize(self, state: State) -> State:
        """The rounds up to the best one."""
        if not self.patience or state.trees.booster is None:
            return state
        trees = Trees(None, state.trees.booster, state.trees.rounds, state.trees.is_live)
        return state._replace(trees=trees, scored=state.best)

    def score(self, state: State, X: Any) -> np.ndarray:
        if state.trees.booster is None:
            return np.zeros(X.shape[0])
        return state.trees.booster.scores(X, 0, state.scored)

    def model(self, state: State) -> bytes:
        """The trees in the library's own format, which `lightgbm` or `xgboost` reads."""
        return b"" if state.trees.booster is None else state.trees.booster.saved(state.scored)

    def state_bytes(self, state: State) -> int:
        return len(self.model(state))

    def _is_done(self, state: State) -> bool:
        is_full = self.rounds is not None and state.rounds >= self.rounds
        return is_full or (self.patience > 0 and state.rounds - state.best >= self.patience)

    @property
    def _is_ranking(self) -> bool:
        return self.criterion is Criterion.ranking

    def _round(self, state: State, batch: Batch) -> State:
        largest = np.zeros(1)
        obj = self._pair_objective(state.loss, batch, largest) if self.criterion is Criterion.pairs else None
        trees = state.trees
        if trees.booster is None or not trees.is_live or trees.rounds != state.rounds:
            trees = self._regrown(state, batch, obj)
        trees.grow(obj)
        rounds = state.rounds + 1
        state = state._replace(trees=trees, rounds=rounds, scored=rounds, largest=largest)
        if trees.held is None:
            return state
        auc = exact_auc(trees.held_scores, trees.held.y, trees.held.weights)
        return state._replace(best=rounds, best_auc=auc) if auc > state.best_auc else state

    def _pair_objective(self, loss: Any, batch: Batch, largest: np.ndarray) -> Objective:
        """The objective of the library; it stores the largest derivative, NaN where one is not finite."""
        # A row of weight k counts as k rows, as in the log loss of the libraries.
        objective, weight = BOOSTERS[self.library].pair_objective(loss), total(batch) / len(batch.y)

        def finite(scores: Any, data: Any) -> tuple[np.ndarray, np.ndarray]:
            largest[0] = np.nan
            if np.all(np.isfinite(scores)):
                gradient, curvature = objective(scores, data)
                largest[0] = weight * np.max([-gradient.min(), gradient.max(), curvature.max()])
                if largest[0] < np.finfo(np.float32).max:
                    return (gradient, curvature) if weight == 1.0 else (weight * gradient, weight * curvature)
                largest[0] = np.nan
            return np.zeros(len(batch.y)), np.ones(len(batch.y))

        return finite

    def _regrown(self, state: State, batch: Batch, objective: Objective | None) -> Trees:
        """The trees of a state with their training rows: equal rows give equal trees."""
        trees = Trees(state.trees.held, self._booster(state.seed, batch))
        for _ in range(state.rounds):
            trees.grow(objective)
        return trees

    def _booster(self, seed: int, batch: Batch) -> Any:
        kind = BOOSTERS[self.library]
        X, y, weights, groups = batch.X, (batch.y == 1).astype(np.float64), batch.weights, None
        if self.criterion is Criterion.balanced_log_loss:
            weights = total(batch) / 2.0 * class_shares(batch.y, batch.weights)
        elif self._is_ranking:
            count = -(-len(y) // (kind.largest_group or len(y)))
            order = np.random.default_rng(seed).permutation(len(y)) if count > 1 else np.arange(len(y))
            groups = [len(part) for part in np.array_split(order, count)]
            X, y, weights = X[order], y[order], None if weights is None else weights[order]
        return kind(self._settings(), seed, Rows(X, y, weights, groups))

    def _settings(self) -> dict[str, Any]:
        """The parameters of the library, by its names."""
        kind = BOOSTERS[self.library]
        criterion = "log_loss" if self.criterion is Criterion.balanced_log_loss else str(self.criterion)
        values = {name: getattr(self, field) for field, name in kind.names.items()}
        chosen = {name: value for name, value in values.items() if value is not None}
        return {"objective": kind.objectives[criterion]} | chosen | dict(self.params or {})

    def _check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters that are unknown to the library or reserved."""
        kind = BOOSTERS[self.library]
        taken = {*kind.names, *kind.names.values()}
        for key, value in params.items():
            prefix = f"boosting: params.{key} cannot be set"
            reason = next((text for pattern, text in RESERVED.items() if re.fullmatch(pattern, key)), None)
            if key in taken:
                reason = "it is a field of its own"
            elif re.fullmatch(OBJECTIVE, key) and not self._is_ranking:
                reason = "it is `criterion`"
            if reason is not None:
                raise ParameterError(f"{prefix}: {reason}, got {value!r}.")
        if self.patience and "dart" in params.values():
            raise ParameterError(
                "boosting: patience needs the rounds as they were, and dart changes earlier rounds: "
                "set patience=0 and validation=0."
            )
        if params.get("booster") == "gblinear":
            raise ParameterError("boosting: params.booster=gblinear grows no trees; use gbtree or dart.")
        rows = Rows(np.eye(4), np.arange(4) % 2, None, [4] if self._is_ranking else None)
        # A list may have a value for each feature, whose number is known from the training rows only.
        tried = {key: value for key, value in self._settings().items() if not isinstance(value, tuple)}
        try:
            unknown = kind.unknown(tried)
            kind(tried, 0, rows)
        except Exception as error:  # exception classes of libraries that may not be installed
            cause = " ".join(str(error).split())
            raise ParameterError(f"boosting: {self.library} refuses params={dict(params)}: {cause}") from None
        if unknown:
            raise ParameterError(f"boosting: {self.library} has no parameter '{unknown[0]}' in params.")
