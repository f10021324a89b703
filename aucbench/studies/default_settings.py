"""The fields of a run that belong to no plugin. Each default stands here and nowhere else."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

from aucbench.contracts import Count, Index, Interval, NonNegative, Positive, check_fields
from aucbench.data.scaler import Scaling
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, RECORDED, named
from aucbench.runner.task import Order

LONGEST_NAME = 150  # of a study, as it stands in the name of a file
# Room is left for seed + runs in 64 bits.
Seed = Annotated[int, Interval(low=0, high=2.0**62)]


class Dtype(StrEnum):
    """Type of the feature values; the state of the built-in methods is float64 in any case."""

    float64 = "float64"
    float32 = "float32"


@dataclass(frozen=True)
class Settings:
    """Top-level fields.

    Parameters
    ----------
    scaling : Scaling, optional
        None: standard, or none where the data set declares that its features must not be scaled.
    rescale : bool
        Whether dense rows are then moved to the mean 0, and all rows multiplied by one number that makes the
        mean of |x|^2 over the training rows 1. It leaves the ranking problem as it is, and step sizes, radii
        and regularisation mean the same on any data. False: they refer to the rows as they are scaled, as in
        the papers.
    order : Order
        In which order rows are visited.
    dtype : Dtype
        Type of the feature values.
    seed : int
        Seed of the first run; run r uses seed + r.
    runs : int
        Number of runs (cells) of the entry.
    split_seed, order_seed : int, optional
        Fix the split or the sample order for all runs; None: both follow the seed of the run.
    max_train_rows : int, optional
        Train on at most that many rows of the training part, drawn at random by the split seed.
    metrics : list of str
        Measures beside the AUC, which is always measured: ``[ap, pauc, tpauc, precision_at, recall_at_fpr]``,
        and `objective`, that of the method over all pairs of its training rows.
        Their parameters are fields of their own, such as ``pauc.max_fpr``. They change no result: a finished
        cell that lacks one gets it from its stored weights, or is trained again where it has none, or where
        they would not give the curve again that it has with other parameters.
    strict : bool
        Whether a plugin that fails to load is an error.
    study : str, optional
        Name of the study the entry belongs to, a tag of its MLflow run.
    """

    name: ClassVar[str] = "run"
    scaling: Scaling | None = None
    rescale: bool = True
    order: Order = Order.shuffled
    dtype: Dtype = Dtype.float64
    seed: Seed = 0
    runs: Count = 1
    split_seed: Seed | None = None
    order_seed: Seed | None = None
    max_train_rows: Count | None = None
    metrics: Any = (AUC.name,)
    strict: bool = False
    study: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "metrics", _measures(self.metrics))
        _refuse_empty("study", self.study, "study=null for none")
        if self.study is not None and len(quote(self.study)) > LONGEST_NAME:
            raise ParameterError(f"study: the name is too long, expected at most {LONGEST_NAME} characters.")


@dataclass(frozen=True)
class Budget:
    """How long a method trains: at most one of epochs, iterations and seconds.

    Parameters
    ----------
    epochs : float, optional
        Passes over the training rows. With none of the three set it is 10, except that a full method that
        knows when it has converged runs until then.
    iterations : int, optional
        Number of iterations.
    seconds : float, optional
        Training time.
    checkpoints : int
        Log-spaced points at which the test AUC is measured.
    """

    name: ClassVar[str] = "budget"
    epochs: Positive | None = None
    iterations: Count | None = None
    seconds: Positive | None = None
    checkpoints: Count = 50

    def __post_init__(self) -> None:
        check_fields(self)
        given = [name for name in ("epochs", "iterations", "seconds") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ParameterError(
                f"budget: set exactly one of epochs, iterations and seconds, got {' and '.join(given)}."
            )


class Timing(StrEnum):
    """Under which conditions training is timed.

    ``shared``: as the cells come, beside those of the other workers; ``exclusive``: cells that ran beside
    others run once more after the sweep, one at a time.
    """

    shared = "shared"
    exclusive = "exclusive"


class Isolation(StrEnum):
    """Cells that have a process to themselves.

    ``distribution``: plugins of other distributions than aucbench run in a fork of the process, one for each
    distribution, so that nothing they do to their process reaches the cells of others; ``none``: all run in
    the process itself, where a debugger finds them.
    """

    distribution = "distribution"
    none = "none"


@dataclass(frozen=True)
class Running:
    """Settings of where cells run; top-level fields that change no result.

    Parameters
    ----------
    parallel : int
        Worker processes with one thread each; 1 runs the cells in this process, 0 takes one worker for each
        physical core.
    scheduler : str, optional
        Address of a running Dask scheduler, ``tcp://HOST:PORT``, ``tls://HOST:PORT``, or ``file://`` and the
        path of its file; its workers are used in place of processes of our own.
    certificates : str, optional
        Folder with ``ca.pem``, ``cert.pem`` and ``key.pem`` for a scheduler that speaks TLS; None: those of
        Dask's own settings.
    timing : Timing
        ``shared`` or ``exclusive``.
    isolation : Isolation
        ``distribution`` or ``none``.
    stop_after : float, optional
        Seconds of running after which nothing more is started; what runs then comes to its end, and the same
        command continues with the rest.
    baseline : str, optional
        Method that the gains of the study's leaderboard are relative to; None: log_reg.
    """

    name: ClassVar[str] = "running"
    parallel: Index = 1
    scheduler: str | None = None
    certificates: str | None = None
    timing: Timing = Timing.shared
    isolation: Isolation = Isolation.distribution
    stop_after: Positive | None = None
    baseline: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_empty("scheduler", self.scheduler, "scheduler=null for none")
        _refuse_empty("certificates", self.certificates, "certificates=null for none")
        _refuse_empty("baseline", self.baseline, "baseline=null for log_reg")
        if self.baseline == "none":  # on the command line as good as null
            object.__setattr__(self, "baseline", None)


@dataclass(frozen=True)
class Limits:
    """Limits of one cell, or one training of a tuning; `seconds` and `memory` need a worker process.

    Parameters
    ----------
    seconds : float, optional
        Wall time. The run ends between two chunks; the worker is ended when it does not come to that within
        `grace` seconds more.
    memory : str or int, optional
        Of the worker, in bytes or such as ``2GB``. None: its share of the machine's.
    grace : float
        Seconds beyond `seconds`, among them those of loading, preparing and compiling.
    optimum : float
        Seconds of processor time for the certified minimum of the objective, which ``metrics=[objective]``
        needs for the suboptimality, beside those of the training; 0: no minimum is looked for.
    """

    name: ClassVar[str] = "limits"
    seconds: Positive | None = None
    memory: Any = None
    grace: Positive = 60.0
    optimum: NonNegative = 60.0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.memory is not None:
            object.__setattr__(self, "memory", _bytes(self.memory))


@dataclass(frozen=True)
class Matrix:
    """How a study departs from its common settings for single data sets and methods.

    Parameters
    ----------
    for_dataset, for_algo : mapping, optional
        Name to a list of overrides, ``{a9a: [protocol=given]}``. Words of the command line win over them.
    skip : mapping, optional
        Name of a method to the data sets on which it does not run.
    skip_missing_data : bool
        Whether a data set that cannot be had is left out, and listed, in place of being an error.
    """

    name: ClassVar[str] = "matrix"
    for_dataset: Any = None
    for_algo: Any = None
    skip: Any = None
    skip_missing_data: bool = False


@dataclass(frozen=True)
class Ruleset:
    """The rules under which methods are compared: a file of the group ``ruleset``, dated and versioned.

    It is chosen whole, ``ruleset=trials``. Settings that depart from it are named on the leaderboard.

    Parameters
    ----------
    title : str, optional
        Name of the file; None: no rules.
    version : int
        Grows with every change of the file.
    date : str
        When this version was made.
    """

    name: ClassVar[str] = "ruleset"
    title: str | None = None
    version: Count = 1
    date: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_empty("ruleset.title", self.title, "leave the ruleset out for none")


class Weights(StrEnum):
    """The weights of a linear method that are kept: those at its end, or those at every checkpoint."""

    final = "final"
    checkpoints = "checkpoints"


@dataclass(frozen=True)
class StoreSettings:
    """The store of finished cells.

    Parameters
    ----------
    path : str, optional
        Where finished cells are kept; None keeps nothing.
    weights : Weights
        ``final``, or ``checkpoints``, from which other measures can be computed along the whole curve later;
        finished cells that have final weights only are then trained again.
    """

    name: ClassVar[str] = "store"
    path: str | None = "aucbench-store"
    weights: Weights = Weights.final

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_empty("store.path", self.path, "store.path=null for no store")


@dataclass(frozen=True)
class MlflowTracking:
    """Log every entry as a run of an MLflow server or file at `uri`."""

    name: ClassVar[str] = "mlflow"
    uri: str = "sqlite:///mlflow.db"

    def __post_init__(self) -> None:
        check_fields(self)
        _refuse_empty("tracking.uri", self.uri, "tracking=none for no tracking")


@dataclass(frozen=True)
class NoTracking:
    """Log nothing."""

    name: ClassVar[str] = "none"


def _bytes(amount: Any) -> int:
    from dask.utils import parse_bytes

    try:
        size = int(parse_bytes(amount))
    except (TypeError, ValueError):
        size = 0
    if size <= 0:
        raise ParameterError(f"limits.memory: expected bytes or a size such as 2GB, got {amount}.")
    return size


def _measures(given: Any) -> tuple[str, ...]:
    """The names of measures beside the AUC, each once."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"metrics: expected a list of names, such as [ap,pauc], got {given}.")
    found = [named(name, known=RECORDED) for name in names]
    return tuple(dict.fromkeys(cls.name for cls in found if cls is not AUC))


def _refuse_empty(field: str, value: str | None, alternative: str) -> None:
    if value is not None and not value.strip():
        raise ParameterError(f"{field} is empty: name one, or say {alternative}.")
