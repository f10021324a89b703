"""The settings of a run that belong to no plugin; their defaults are defined only here."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from aucbench.contracts import Count, Index, Interval, NonNegative, Positive, check_fields
from aucbench.data.scaler import Scaling
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import AUC, RECORDED, named
from aucbench.runner.task import Order

# The bound leaves room for seed + runs in 64 bits.
Seed = Annotated[int, Interval(low=0, high=2.0**62)]


class _Checked:
    """Settings with fields that are checked at construction; text fields are None or not empty."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_fields(self)
        group = {"run": "", "running": "", "mlflow": "tracking."}.get(self.name, f"{self.name}.")
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, str) and value != field.default and not value.strip():
                setting = group + field.name
                raise ParameterError(f"{setting} is empty: name one, or say {setting}=null for none.")


class Dtype(StrEnum):
    """Type of the feature values; the state of the built-in methods is always float64."""

    float64 = "float64"
    float32 = "float32"


class Regularisation(StrEnum):
    """The weights to which the regularisation of a method refers.

    ``columns``: the weights of the scaled columns, so its strength does not depend on rescaling. ``rows``:
    the weights of the rescaled rows, as in results of version 0.1.
    """

    columns = "columns"
    rows = "rows"


@dataclass(frozen=True)
class Settings(_Checked):
    """Top-level fields.

    Parameters
    ----------
    scaling : Scaling, optional
        Scaling of the features: by default auto, or none if the data set declares that its features must not
        be scaled.
    rescale : bool
        Whether dense rows are centred after scaling, and all rows multiplied by one number that makes the
        mean of |x|^2 over the training rows 1. Step sizes and radii then mean the same on all data. If False,
        they refer to the scaled rows, as in the papers.
    regularisation : Regularisation
        Whether ``C``, ``lam``, ``gamma`` and other weights of |w|^2 refer to the scaled columns or to the
        rescaled rows.
    order : Order
        Order in which rows are visited.
    dtype : Dtype
        Type of the feature values.
    seed : int
        Seed of the first run; run r uses seed + r.
    runs : int
        Number of runs (cells) of the entry.
    split_seed, order_seed : int, optional
        Seed of the split, or of the sample order, for all runs. By default, both follow the seed of the run.
    max_train_rows : int, optional
        Largest number of training rows. If there are more, a random subset is drawn with the split seed.
    metrics : list of str
        Measures besides the AUC, which is always measured: ``[ap, pauc, tpauc, precision_at,
        recall_at_fpr]``, and `objective`, the method's objective over all pairs of its training rows.
        Parameters of measures are separate fields, such as ``pauc.max_fpr``. A missing measure of a finished
        cell is computed from its stored results; the cell is trained again only if they do not suffice.
    strict : bool
        Whether a plugin that fails to load is an error.
    study : str, optional
        Name of the entry's study, a tag of its MLflow run.
    """

    name: ClassVar[str] = "run"
    scaling: Scaling | None = None
    rescale: bool = True
    regularisation: Regularisation = Regularisation.columns
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
        super().__post_init__()
        object.__setattr__(self, "metrics", _measures(self.metrics))


@dataclass(frozen=True)
class Budget(_Checked):
    """Length of the training: at most one of epochs, iterations and seconds.

    Parameters
    ----------
    epochs : float, optional
        Number of passes over the training rows. If neither epochs, iterations nor seconds are set, training
        on n rows visits max(10 n, min(20,000, 200 n)) rows; a full method that detects convergence runs until
        it converges.
    iterations : int, optional
        Number of iterations.
    seconds : float, optional
        Training time in seconds.
    checkpoints : int
        Number of log-spaced points at which the test AUC is measured.
    """

    name: ClassVar[str] = "budget"
    epochs: Positive | None = None
    iterations: Count | None = None
    seconds: Positive | None = None
    checkpoints: Annotated[int, Interval(low=1, high=100_000)] = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [name for name in ("epochs", "iterations", "seconds") if getattr(self, name) is not None]
        if len(names) > 1:
            raise ParameterError(
                f"budget: set exactly one of epochs, iterations and seconds, got {' and '.join(names)}."
            )


class Timing(StrEnum):
    """Conditions under which training is timed.

    ``shared``: the workers run cells at the same time. ``exclusive``: cells run one at a time once all
    tunings have ended, and finished cells that ran beside others run again.
    """

    shared = "shared"
    exclusive = "exclusive"


class Isolation(StrEnum):
    """Isolation of plugins from other distributions.

    ``distribution``: plugins from distributions other than aucbench run in separate processes, one per set of
    distributions, and cannot affect the cells of others. ``none``: all plugins run in the same process, where
    a debugger can reach them.
    """

    distribution = "distribution"
    none = "none"


@dataclass(frozen=True)
class Running(_Checked):
    """Settings of the execution: top-level fields that change no result.

    Parameters
    ----------
    parallel : int
        Number of worker processes, with one thread each. 1 runs the cells in this process; 0 uses one worker
        per physical core.
    scheduler : str, optional
        Address of a running Dask scheduler, ``tcp://HOST:PORT``, ``tls://HOST:PORT``, or ``file://`` and the
        path of its file. Its workers replace local processes; certificates for TLS are in Dask's settings.
    timing : Timing
        Whether cells run beside others (``shared``) or one at a time (``exclusive``).
    isolation : Isolation
        Whether plugins from other distributions run in separate processes (``distribution``) or not
        (``none``).
    stop_after : float, optional
        Seconds after which no further training starts. Running trainings finish, and the same command
        continues with the rest.
    reference : str, optional
        Method with which the study's leaderboard compares the others. By default, or if this method was not
        run: log_reg_cv if methods are tuned and log_reg_cv was run, else log_reg.
    rope : float, optional
        Largest difference in AUC that does not matter in practice, by default 0.005. It is stored with the
        study.
    suite : str, optional
        Description of the data sets in words, set by ``+suite=NAME``.
    """

    name: ClassVar[str] = "running"
    parallel: Index = 1
    scheduler: str | None = None
    timing: Timing = Timing.shared
    isolation: Isolation = Isolation.distribution
    stop_after: Positive | None = None
    reference: str | None = None
    rope: Positive | None = None
    suite: str | None = None


@dataclass(frozen=True)
class Limits(_Checked):
    """Limits of one cell, or one training of a tuning; `seconds` and `memory` need a worker process.

    Parameters
    ----------
    seconds : float, optional
        Limit on the wall time in seconds. The run ends between two chunks; if it has not ended `grace`
        seconds later, the worker is killed.
    memory : str or int, optional
        Memory limit of the worker, in bytes or as text such as ``2GB``. By default, the worker's share of the
        machine's memory.
    grace : float
        Seconds allowed beyond `seconds`, including loading, preparation and compilation.
    optimum : float
        Processor seconds, besides training, for finding the certified minimum of the objective, which
        ``metrics=[objective]`` needs for the suboptimality. 0 means no search.
    """

    name: ClassVar[str] = "limits"
    seconds: Positive | None = None
    memory: Any = None
    grace: Positive = 60.0
    optimum: NonNegative = 60.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory is not None:
            object.__setattr__(self, "memory", _bytes(self.memory))


@dataclass(frozen=True)
class Matrix:
    """Exceptions to the common settings of a study, by data set and method.

    Parameters
    ----------
    for_dataset, for_algo : mapping, optional
        Overrides for single data sets or methods, by name: ``{a9a: [protocol=given]}``. The command line
        takes precedence.
    skip : mapping, optional
        Data sets on which a method does not run, by the name of the method.
    runs : mapping, optional
        Numbers of runs by size of the data set: ``{10: {rows: 1000, rare: 100}, 5: {rows: 5000}}``. A data
        set gets the first number with a bound above its published training rows or those of its rarer class.
        The other settings take precedence.
    skip_missing_data : bool
        Whether an unavailable data set is skipped and listed instead of being an error.
    """

    name: ClassVar[str] = "matrix"
    for_dataset: Any = None
    for_algo: Any = None
    skip: Any = None
    runs: Any = None
    skip_missing_data: bool = False


@dataclass(frozen=True)
class Ruleset(_Checked):
    """The rules under which methods are compared: a file of the group ``ruleset``, dated and versioned.

    A ruleset is chosen as a whole, ``ruleset=trials``. The leaderboard lists settings that depart from it.

    Parameters
    ----------
    title : str, optional
        Name of the file. If None, there are no rules.
    version : int
        Version of the file, increased with every change.
    date : str
        Date of this version.
    """

    name: ClassVar[str] = "ruleset"
    title: str | None = None
    version: Count = 1
    date: str = ""


class Weights(StrEnum):
    """Stored weights of a linear method: final ones, or those at every checkpoint."""

    final = "final"
    checkpoints = "checkpoints"


@dataclass(frozen=True)
class StoreSettings(_Checked):
    """The store of finished cells.

    Parameters
    ----------
    path : str, optional
        Folder of the store. If None, nothing is stored.
    weights : Weights
        Stored weights: ``final``, or ``checkpoints``, which allow further measures along the whole curve
        later. Cells that are already finished keep their stored weights.
    scores : bool
        Whether the final test scores of methods that are not linear are stored for later measures, intervals
        and ensembles. The scores of linear methods are computed from their weights.
    models : bool
        Whether models are stored, for methods that return them as bytes.
    """

    name: ClassVar[str] = "store"
    path: str | None = "aucbench-store"
    weights: Weights = Weights.final
    scores: bool = True
    models: bool = True


@dataclass(frozen=True)
class MlflowTracking(_Checked):
    """Log every entry as a run to the MLflow server or file at `uri`.

    The default is the variable MLFLOW_TRACKING_URI, else mlflow.db in this folder. User name and password of
    a server are best set in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or a token in
    MLFLOW_TRACKING_TOKEN; credentials in an address are masked in all records.
    """

    name: ClassVar[str] = "mlflow"
    uri: str | None = None

    @property
    def address(self) -> str:
        """The address to which results are logged."""
        return mlflow_address(self.uri)


MLFLOW_FILE = "sqlite:///mlflow.db"


def mlflow_address(uri: str | None) -> str:
    """The address `uri` of MLflow, else MLFLOW_TRACKING_URI, else a file in the current folder."""
    return uri or os.environ.get("MLFLOW_TRACKING_URI", "").strip() or MLFLOW_FILE


@dataclass(frozen=True)
class NoTracking:
    """Log nothing."""

    name: ClassVar[str] = "none"


SECTIONS: tuple[Any, ...] = (Budget, Limits, StoreSettings, Matrix, Ruleset)  # top-level names with fields
TRACKINGS: tuple[Any, ...] = (MlflowTracking, NoTracking)


def _bytes(amount: Any) -> int:
    from dask.utils import parse_bytes

    try:
        size = int(parse_bytes(amount))
    except (TypeError, ValueError):
        size = 0
    if size <= 0:
        raise ParameterError(f"limits.memory: expected bytes or a size such as 2GB, got {amount}.")
    return size


def _measures(metrics: Any) -> tuple[str, ...]:
    """The distinct names of measures beside the AUC."""
    names = [metrics] if isinstance(metrics, str) else metrics
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"metrics: expected a list of names, such as [ap,pauc], got {metrics}.")
    measures = [named(name, known=RECORDED) for name in names]
    return tuple(dict.fromkeys(cls.name for cls in measures if cls is not AUC))
