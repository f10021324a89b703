"""Typed records of everything that is JSON on disk: cells, failures, trials, and plans of studies.

A record of a finished cell inherits the description of its entry, so that its JSON is flat. Fields that
earlier versions did not write have defaults here. Unknown fields are ignored when a record is read.
"""

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from aucbench.contracts import ModelClass
from aucbench.evaluation.measures import RECORDED

# Limits of values, checked when a record is read.
Whole = Annotated[int, Meta(ge=0, lt=2**53)]
Count = Annotated[int, Meta(gt=0, lt=2**48)]  # number of rows or features
Auc = Annotated[float, Meta(ge=0, le=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Placements = Annotated[tuple[Annotated[float, Meta(ge=-2, le=2)], ...], Meta(min_length=32, max_length=32)]
Duration = Annotated[float, Meta(ge=0, le=sys.float_info.max)]  # finite
Rope = Annotated[float, Meta(gt=0, le=sys.float_info.max)]
# Names become part of an override in a rerun, and must not contain another override.
WORD = r"[A-Za-z_][\w-]*"
Name = Annotated[str, Meta(pattern=rf"\A{WORD}\Z")]
# A tuning may have parameters of its measure, such as pauc.max_fpr.
TuningName = Annotated[str, Meta(pattern=rf"\A(({'|'.join(RECORDED)})\.)?{WORD}\Z")]
# A tuning may choose the budget, too.
TunedName = Annotated[str, Meta(pattern=rf"\A(budget\.)?{WORD}\Z")]


class CellStatus(StrEnum):
    """State of a cell."""

    finished = "finished"
    diverged = "diverged"  # the result diverged, or every setting of the tuning did
    failed = "failed"
    timeout = "timeout"
    out_of_memory = "out-of-memory"
    missing = "missing"

    @property
    def is_failure(self) -> bool:
        """Whether the cell ran and failed other than by divergence."""
        return self in (CellStatus.failed, CellStatus.timeout, CellStatus.out_of_memory)


class Seeds(Struct, frozen=True, order=True):
    """The numbers that identify a cell within its entry."""

    seed: Whole
    split_seed: Whole
    order_seed: Whole
    fold: Whole


SEEDS = Seeds.__struct_fields__


class PluginRecord(Struct, frozen=True, kw_only=True):
    """A plugin: its name, parameters and distribution, and the checks that it is exempt from."""

    name: Name
    parameters: dict[Name, Any]
    distribution: str = ""
    version: str = ""
    exempt: dict[str, str] = {}


class DatasetRecord(PluginRecord, frozen=True, kw_only=True):
    """A data set, and its part that was used."""

    part: Name
    title: str
    family: str | UnsetType = UNSET  # set in records of cells only; part of no key


class ProtocolRecord(Struct, frozen=True, kw_only=True):
    """The split of the rows."""

    name: Name
    parameters: dict[Name, Any]


class TuningRecord(Struct, frozen=True, kw_only=True):
    """The planned search for hyperparameters, and the values among which it chooses."""

    name: Name
    parameters: dict[TuningName, Any] = {}
    space: dict[TunedName, list[Any]] = {}


class BudgetRecord(Struct, frozen=True, kw_only=True):
    """The planned length of the training, and the number of checkpoints."""

    epochs: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    checkpoints: int = 50


class EntryDescription(Struct, frozen=True, kw_only=True):
    """Everything that all cells of an entry share and that decides their results, besides code and data."""

    algorithm: PluginRecord
    dataset: DatasetRecord
    loss: PluginRecord | None
    features: PluginRecord
    scaling: Name
    rescale: bool
    regularisation: Name | UnsetType = UNSET  # unset in old records, where it refers to the rows
    protocol: ProtocolRecord
    tuning: TuningRecord
    max_train_rows: int | None
    budget: BudgetRecord
    order: Name
    dtype: Name
    device: Name | UnsetType = UNSET  # device on which the method trains; unset for "cpu"


DESCRIPTION = EntryDescription.__struct_fields__


class DataRecord(Struct, frozen=True, kw_only=True):
    """The rows of a training; versions that did not count test positives did not record labels."""

    sha256: tuple[str, ...]  # digests of the parts of the data set
    train_rows: Count
    test_rows: Count
    validation_rows: Count | UnsetType = UNSET  # training rows that the method held out
    features: Count
    train_positives: Whole
    test_positives: Whole | None = None
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    row_factor: float = 1.0  # factor that rescaled the rows
    max_norm: float | None = None  # largest norm of a training row, None if infinite
    format: str  # "csr" or "dense"
    nonzeros_per_row: float | None = None
    features_seconds: float = 0.0
    # Share of test rows that equal a training row; unset, like the next field, by earlier versions.
    duplicates: Share | UnsetType = UNSET
    mixed_labels: Share | UnsetType = UNSET  # share of all rows whose equal rows have both labels


class Trial(Struct, frozen=True, kw_only=True):
    """One setting of a tuning on one inner fold, in the store and beside a result."""

    number: Whole
    fold: Whole
    parameters: dict[str, Any]
    auc: float | None  # AUC on the validation part; None if the setting failed
    stop_reason: str  # reason why the training ended or failed
    value: float | UnsetType | None = UNSET  # value of the tuning measure, unless that is the AUC
    passes: float | UnsetType = UNSET  # over the training rows; unset, like the next field, in old records
    train_seconds: float | UnsetType = UNSET
    error: str | UnsetType | None = UNSET  # the error in a sentence; in the store only

    @property
    def judged(self) -> float | None:
        """The value by which the setting is judged, None if the setting failed."""
        return self.auc if self.value is UNSET else self.value


class TuningCost(Struct, frozen=True, kw_only=True):
    """The cost of a tuning."""

    settings: Whole
    trainings: Whole
    passes: float  # over the training rows
    train_seconds: float


class TunedRecord(Struct, frozen=True, kw_only=True):
    """The choice of a tuning and its cost; edges and space are unset in records of earlier versions."""

    parameters: dict[str, Any]
    validation_auc: float
    validation_value: float | UnsetType = UNSET  # value of the tuning measure, unless that is the AUC
    folds: Whole
    cost: TuningCost
    edges: dict[str, str] | UnsetType = UNSET  # "lower" or "upper" edge of the space, by chosen field
    space: dict[str, list[Any]] | UnsetType = UNSET  # all values tried, by field
    trials: tuple[Trial, ...] | UnsetType = UNSET  # unset if trials are not kept


class MinimumRecord(Struct, frozen=True, kw_only=True):
    """The certified minimum of the objective of a run, or the reason why it is missing."""

    value: float | None = None  # objective at the solution; None without a solution
    gap: float = 0.0  # the value is at most this much above the minimum
    size: float = 0.0  # scale of the relative suboptimality; 0 in old records
    objective: str = ""  # description of the objective
    solver: str = ""  # name of the method that found it
    seconds: float = 0.0  # CPU time, also of a search that reached its time limit
    reason: str = ""  # why there is no minimum


class MeasureRecord(Struct, frozen=True, kw_only=True):
    """A measure beside the AUC, on the test rows at the end of training."""

    parameters: dict[str, float] = {}
    value: float | None  # None if undefined
    reason: str = ""  # why the value is undefined
    minimum: MinimumRecord | UnsetType = UNSET  # minimum of the training objective; unset unless requested


class ResultRecord(Struct, frozen=True, kw_only=True):
    """The outcome of a training."""

    auc: Auc | None  # final test AUC, None for a run that diverged
    iterations: Whole
    train_seconds: Duration
    train_cpu_seconds: Duration  # CPU time of the training thread
    # CPU time of all threads of the process; unset, like the next two fields, by earlier versions.
    process_cpu_seconds: Duration | UnsetType = UNSET
    threads: Whole | UnsetType = UNSET  # threads that the method declares; 0 if unknown
    device: Name | UnsetType = UNSET  # device on which the method trains
    ns_per_iteration: Duration
    cpu_ns_per_iteration: float
    nonzeros_per_iteration: float | UnsetType = UNSET  # mean number of non-zeros in the rows of an iteration
    state_bytes: Whole
    layout: str | None = None  # layout of the weights, "eager" or "lazy"
    warm_up: str | UnsetType = UNSET  # the error that ended the warm-up: times may include compilation
    weights_norm: float | None = None  # None for a method without weights, which is not linear
    score_at_zero: float | None = 0.0  # score of a row that was zero before scaling
    stop_reason: str
    advice: str | None = None  # suggested change after divergence
    converged: bool | None = None  # None for a method without a test of convergence
    checkpoints: Whole
    measures: dict[str, MeasureRecord] | UnsetType = UNSET  # beside the AUC, by name; unset if none
    # Deviations of 32 blocks of test rows, as of `evaluation.delong`; unset by earlier
    # versions, for a diverged run, and if a class has rows in one block only.
    placements: Placements | UnsetType = UNSET


class Environment(Struct, frozen=True, kw_only=True):
    """Versions, machine, BLAS, thread limits, concurrency and command line."""

    python: str = ""
    platform: str = ""
    packages: dict[str, str] = {}
    cpu: str = "unknown"
    cores_physical: Whole | None = None
    cores_logical: Whole | None = None
    memory_bytes: Whole | None = None
    blas: tuple[dict[str, Any], ...] = ()
    timed_blas_threads: int = 1
    command: str = ""
    concurrency: Whole = 1
    load_average: float | None = None
    machine: str | UnsetType = UNSET  # a random number; unset, like the next field, by earlier versions
    calibration: dict[str, Any] | UnsetType = UNSET  # written by earlier versions
    finished_at: str | UnsetType = UNSET  # time at which a cell with a result finished


class _RunRecord(EntryDescription, frozen=True, kw_only=True):
    """A cell: its entry, its key and its seeds."""

    key: str
    seed: Whole
    split_seed: Whole
    order_seed: Whole
    fold: Whole

    @property
    def seeds(self) -> Seeds:
        """Seeds that identify the cell within its entry."""
        return Seeds(self.seed, self.split_seed, self.order_seed, self.fold)


class CellRecord(_RunRecord, frozen=True, kw_only=True):
    """Everything known about a finished cell, except its curve and its weights."""

    format: Literal[2] = 2
    data: DataRecord
    tuned: TunedRecord | None  # None without a tuning
    result: ResultRecord
    class_of_model: ModelClass | UnsetType = UNSET  # unset by earlier versions
    source: str | None = None  # digest of the code that decides the result
    git_commit: str | None = None
    environment: Environment

    @property
    def diverged(self) -> bool:
        """Whether the weights, or the scores, stopped being finite."""
        return self.result.stop_reason == "diverged"

    @property
    def measures(self) -> dict[str, MeasureRecord]:
        """The measures beside the AUC, by name."""
        return self.result.measures or {}


class ReplicationRecord(Struct, frozen=True, kw_only=True):
    """Result of another run of a cell: of the same key, on another machine or at another time."""

    key: str
    auc: Auc | None  # None for a run that diverged
    stop_reason: str
    timed: bool  # the budget was in seconds, so results differ between runs
    train_seconds: Duration
    ns_per_iteration: float
    environment: Environment


class LimitsRecord(Struct, frozen=True, kw_only=True):
    """Limits of a cell: seconds of wall time, bytes of memory."""

    seconds: float | None = None
    memory: Whole | None = None


class FailureRecord(_RunRecord, frozen=True, kw_only=True):
    """The failure of a cell."""

    reason: CellStatus
    message: str
    traceback: str = ""
    limits: LimitsRecord = LimitsRecord()
    environment: Environment = Environment()


class RulesetRecord(Struct, frozen=True, kw_only=True):
    """The ruleset under which an entry was run, and the settings that departed from it."""

    title: str
    version: int
    date: str
    departures: tuple[str, ...] = ()  # words such as "budget.epochs=20"

    def __str__(self) -> str:
        return f"ruleset {self.title}, version {self.version} of {self.date}"


class EntryPlan(Struct, frozen=True, kw_only=True):
    """An entry of a planned study, and its cells by key."""

    key: str
    algorithm: str
    dataset: str
    described: EntryDescription
    cells: dict[str, Seeds]
    ruleset: RulesetRecord | UnsetType = UNSET


class StudyPlan(Struct, frozen=True, kw_only=True):
    """The entries of a study."""

    study: str
    planned: str  # ISO date
    command: str  # command that started the study
    entries: tuple[EntryPlan, ...]
    reference: str | UnsetType = UNSET  # method to which gains are relative; unset for the default
    rope: Rope | UnsetType = UNSET  # fixed in advance: the difference in AUC that does not matter
    unavailable: tuple[str, ...] = ()  # entries skipped because their data is unavailable, and why
    replaced: tuple[EntryPlan, ...] | UnsetType = UNSET  # earlier entries that were replaced; used by `sync`


@dataclass(frozen=True)
class Failure:
    """Error in a sentence, and where it occurred."""

    reason: CellStatus
    message: str
    traceback: str = ""
