"""The checks of each family, in their order, and what they are tried on."""

from collections.abc import Callable
from typing import Any

from aucbench.contracts.source_location import package_of, place_in, place_of
from aucbench.registry import Family
from aucbench.testing import (
    datasets,
    declarations,
    features,
    firstuse,
    learning,
    losses,
    repeating,
    scoring,
    speed,
)
from aucbench.testing.datasets import DatasetSubject
from aucbench.testing.examining import Watcher, examine
from aucbench.testing.features import FeatureSubject
from aucbench.testing.findings import Check, Finding, Status
from aucbench.testing.losses import LossSubject
from aucbench.testing.patience import PATIENCE, Patience
from aucbench.testing.training import Trainee


def _family(prepare: Any, *stages: tuple[Any, ...], aside: tuple[Any, ...] = ()) -> tuple[Check, ...]:
    """The checks of a family in stages, and that its exemptions name them.

    Each stage builds upon those before: it says nothing once one of them has failed. What is aside needs the
    first stage only, and nothing needs it.
    """
    names = [function.__name__ for stage in (*stages, aside) for function in stage]

    def exempt(subject: Any) -> None:
        """Every exemption names a check and gives a reason."""
        declarations.exemptions_named(subject, names)

    checks: list[Check] = []
    before: tuple[str, ...] = ()
    for number, stage in enumerate(stages):
        checks += [Check(function, prepare, before) for function in stage]
        before += tuple(function.__name__ for function in stage)
        if number == 0:
            checks += [Check(function, prepare, before) for function in (*aside, exempt)]
    return tuple(checks)


ALGORITHM_CHECKS = _family(
    Trainee,
    (declarations.declared,),
    (declarations.access,),
    (declarations.batch_size,),
    (firstuse.runs,),
    (scoring.scores,),
    (repeating.inputs_untouched,),
    (
        firstuse.compiled_once,
        repeating.same_seed,
        repeating.chunks,
        repeating.pickling,
        repeating.resumable,
        repeating.empty_chunk,
        scoring.companions,
        scoring.reading,
        scoring.weights,
        scoring.finalize,
        learning.sparse_rows,
        learning.float32_rows,
        learning.one_class_first,
        learning.converges,
        learning.auc,
        speed.cost,
    ),
    aside=(declarations.grid, declarations.spelling),
)
LOSS_CHECKS = _family(
    LossSubject,
    (declarations.declared,),
    (losses.one_parameter, losses.static),
    (losses.finite,),
    (losses.derivative, losses.compiled, losses.pairs, losses.prox, losses.facts),
)
DATASET_CHECKS = _family(
    DatasetSubject,
    (declarations.declared,),
    (datasets.origin,),
    (datasets.rows,),
    (datasets.labels, datasets.same_twice, datasets.facts),
)
FEATURE_CHECKS = _family(
    FeatureSubject,
    (declarations.declared,),
    (features.mapped,),
    (features.inputs_untouched,),
    (
        features.dtype,
        features.same_seed,
        features.companions,
        features.transform_pure,
        features.pickling,
    ),
)
CHECKS = {
    Family.algorithms: ALGORITHM_CHECKS,
    Family.datasets: DATASET_CHECKS,
    Family.losses: LOSS_CHECKS,
    Family.features: FEATURE_CHECKS,
}


def examined(
    family: Family,
    plugin: Any,
    patience: float = PATIENCE,
    watcher: Watcher | None = None,
    loss: Any = None,
) -> tuple[Finding, ...]:
    """Try all checks of its family on a plugin, class or instance; nothing is raised."""
    checks, time = CHECKS[family], Patience(patience)
    subjects: dict[Family, Callable[[], Any]] = {
        Family.algorithms: lambda: Trainee(plugin, loss, patience=time),
        Family.datasets: lambda: DatasetSubject(plugin),
        Family.losses: lambda: LossSubject(plugin, time),
        Family.features: lambda: FeatureSubject(plugin, patience=time),
    }
    try:
        subject = subjects[family]()
    except (Exception, SystemExit) as error:  # a class that cannot even be made
        return (_unmade(checks[0], plugin, error),)
    return examine(checks, subject, watcher or Watcher())


def _unmade(check: Check, plugin: Any, error: BaseException) -> Finding:
    text = f"With default parameters it cannot be made: {type(error).__name__}: {error}"
    if isinstance(error, TypeError) and "required positional argument" in text:
        text += "; give every field a default"
    cls = plugin if isinstance(plugin, type) else type(plugin)
    place = place_in(error, package_of(cls)) or place_of(cls)
    return Finding(check.name, Status.failed, f"{text}.", place=place)
