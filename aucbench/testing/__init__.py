"""Checks that any plugin must pass, for a test suite of one's own and for ``aucbench check``.

One line is a test::

    import aucbench.testing

    def test_my_method():
        aucbench.testing.check_algorithm(PairSgd)

and one test per rule is::

    @pytest.mark.parametrize("check", aucbench.testing.ALGORITHM_CHECKS, ids=str)
    def test_my_method(check):
        check(PairSgd)

A plugin that rightly breaks a rule says so, and why: ``exempt: ClassVar = {"pickling": "its state holds an
open file"}``. A method that cannot take CSR or float32 rows declares ``requires = {"dense": reason}`` or
``{"float64": reason}``.
"""

from typing import Any

from aucbench.errors import ParameterError
from aucbench.registry import Family, suggest
from aucbench.testing import (
    datasets,
    declarations,
    features,
    learning,
    losses,
    repeating,
    scoring,
    speed,
)
from aucbench.testing.datasets import DatasetSubject
from aucbench.testing.features import FeatureSubject
from aucbench.testing.findings import Check, CheckFailure, Finding, Status, conclude, examine
from aucbench.testing.losses import LossSubject
from aucbench.testing.problems import STANDARD, Size
from aucbench.testing.training import Trainee

__all__ = [
    "ALGORITHM_CHECKS",
    "CHECKS",
    "DATASET_CHECKS",
    "FEATURE_CHECKS",
    "LOSS_CHECKS",
    "Check",
    "CheckFailure",
    "Finding",
    "Status",
    "check_algorithm",
    "check_dataset",
    "check_features",
    "check_loss",
    "reproduce",
]


def _family(prepare: Any, *functions: Any) -> tuple[Check, ...]:
    """The checks of a family; the last is that its exemptions name them."""
    names = [function.__name__ for function in functions]

    def exempt(subject: Any) -> None:
        """Every exemption names a check and gives a reason."""
        declarations.exemptions_named(subject, names)

    return tuple(Check(function, prepare) for function in (*functions, exempt))


# Compilation is looked at first: it is conclusive only while the method has not been used.
ALGORITHM_CHECKS = _family(
    Trainee,
    declarations.declared,
    declarations.access,
    declarations.grid,
    declarations.batch_size,
    speed.compiled_once,
    repeating.same_seed,
    repeating.chunks,
    repeating.pickling,
    repeating.empty_chunk,
    repeating.inputs_untouched,
    scoring.scores,
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
)
LOSS_CHECKS = _family(
    LossSubject,
    declarations.declared,
    losses.one_parameter,
    losses.finite,
    losses.derivative,
    losses.compiled,
    losses.pairs,
    losses.prox,
    losses.facts,
)
DATASET_CHECKS = _family(
    DatasetSubject,
    declarations.declared,
    datasets.origin,
    datasets.rows,
    datasets.labels,
    datasets.same_twice,
    datasets.facts,
)
FEATURE_CHECKS = _family(
    FeatureSubject,
    declarations.declared,
    features.mapped,
    features.dtype,
    features.same_seed,
    features.companions,
    features.inputs_untouched,
    features.transform_pure,
    features.pickling,
)
CHECKS = {
    Family.algorithms: ALGORITHM_CHECKS,
    Family.datasets: DATASET_CHECKS,
    Family.losses: LOSS_CHECKS,
    Family.features: FEATURE_CHECKS,
}


def check_algorithm(plugin: Any, *, loss: Any = None, raise_on_failure: bool = True) -> tuple[Finding, ...]:
    """Run every check of algorithms on a method.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameters.
    loss : Loss, optional
        An instance to train with; the first registered one that the method accepts when left out.
    raise_on_failure : bool
        Whether a broken rule is an error; otherwise it is only among the findings.

    Returns
    -------
    tuple of Finding
        One for each of `ALGORITHM_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken; the text lists every failing check in words, with the smallest input that shows it.
    """
    return _all(ALGORITHM_CHECKS, plugin, lambda: Trainee(plugin, loss), raise_on_failure)


def check_loss(plugin: Any, *, raise_on_failure: bool = True) -> tuple[Finding, ...]:
    """Run every check of losses, as `check_algorithm` does for algorithms.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameter.
    raise_on_failure : bool
        Whether a broken rule is an error; otherwise it is only among the findings.

    Returns
    -------
    tuple of Finding
        One for each of `LOSS_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken; the text names the smallest margin that shows it.
    """
    return _all(LOSS_CHECKS, plugin, lambda: LossSubject(plugin), raise_on_failure)


def check_dataset(plugin: Any, *, raise_on_failure: bool = True) -> tuple[Finding, ...]:
    """Run every check of data sets, as `check_algorithm` does for algorithms.

    A data set whose files cannot be had is reported as exempt, not as passed.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameters.
    raise_on_failure : bool
        Whether a broken rule is an error; otherwise it is only among the findings.

    Returns
    -------
    tuple of Finding
        One for each of `DATASET_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken.
    """
    return _all(DATASET_CHECKS, plugin, lambda: DatasetSubject(plugin), raise_on_failure)


def check_features(plugin: Any, *, raise_on_failure: bool = True) -> tuple[Finding, ...]:
    """Run every check of feature maps, as `check_algorithm` does for algorithms.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameters.
    raise_on_failure : bool
        Whether a broken rule is an error; otherwise it is only among the findings.

    Returns
    -------
    tuple of Finding
        One for each of `FEATURE_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken; the text shows the smallest input that it was found for.
    """
    return _all(FEATURE_CHECKS, plugin, lambda: FeatureSubject(plugin), raise_on_failure)


def reproduce(
    plugin: Any,
    check: str,
    *,
    n: int = STANDARD.n,
    d: int = STANDARD.d,
    epochs: int = STANDARD.epochs,
    loss: Any = None,
) -> Finding:
    """Run one check on a problem of a given size: the line that a failing check prints.

    Parameters
    ----------
    plugin : class or instance
        Of any family.
    check : str
        The name of a check of its family.
    n, d, epochs : int
        Rows, columns and passes of the problems that a method or a feature map is tried on; checks that use a
        problem of their own take no notice.
    loss : Loss, optional
        An instance to train a method with; the first registered one that it accepts when left out.

    Returns
    -------
    Finding
        Of a check that passed, or that the plugin is exempt from.

    Raises
    ------
    CheckFailure
        The rule is broken.
    ParameterError
        The family has no check of that name.
    """
    family = _family_of(plugin)
    known = {each.name: each for each in CHECKS[family]}
    if check not in known:
        raise ParameterError(f"'{check}' is no check of {family}. {suggest(check, known)}")
    size = Size(n, d, epochs)
    subjects: dict[Family, Any] = {
        Family.algorithms: lambda: Trainee(plugin, loss, size),
        Family.features: lambda: FeatureSubject(plugin, size),
    }
    subject: Any = subjects[family]() if family in subjects else known[check].prepare(plugin)
    return conclude(plugin, (known[check].find(subject),), True)[0]


def _family_of(plugin: Any) -> Family:
    for family, method in (
        (Family.algorithms, "step"),
        (Family.features, "fit"),
        (Family.losses, "derivative"),
    ):
        if hasattr(plugin, method):
            return family
    return Family.datasets


def _all(checks: tuple[Check, ...], plugin: Any, prepare: Any, raise_on_failure: bool) -> tuple[Finding, ...]:
    try:
        subject = prepare()
    except Exception as error:  # a class that cannot even be made
        text = f"With default parameters it cannot be made: {type(error).__name__}: {error}"
        return conclude(plugin, (Finding(checks[0].name, Status.failed, text),), raise_on_failure)
    return examine(plugin, checks, subject, raise_on_failure)
