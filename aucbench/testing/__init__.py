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

What failed first often explains the rest: a check that needs what failed before, or stops at the same line
of the plugin, is not tried, and says so (`Status.untried`, `Finding.follows`).
"""

from typing import Any

from aucbench.errors import ParameterError
from aucbench.registry import Family, suggest
from aucbench.testing.catalogue import (
    ALGORITHM_CHECKS,
    CHECKS,
    DATASET_CHECKS,
    FEATURE_CHECKS,
    LOSS_CHECKS,
    examined,
)
from aucbench.testing.features import FeatureSubject
from aucbench.testing.findings import Check, CheckFailure, Finding, Status, conclude
from aucbench.testing.patience import PATIENCE
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


def check_algorithm(
    plugin: Any, *, loss: Any = None, raise_on_failure: bool = True, patience: float = PATIENCE
) -> tuple[Finding, ...]:
    """Run every check of algorithms on a method.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameters.
    loss : Loss, optional
        An instance to train with; the first registered one that the method accepts when left out.
    raise_on_failure : bool
        Whether a broken rule is an error; otherwise it is only among the findings.
    patience : float
        Seconds for all checks. A slow method is tried on smaller problems; what there is no time for has the
        status untried.

    Returns
    -------
    tuple of Finding
        One for each of `ALGORITHM_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken; the text lists every failing check in words, with the smallest input that shows it.
    """
    return conclude(plugin, examined(Family.algorithms, plugin, patience, loss=loss), raise_on_failure)


def check_loss(
    plugin: Any, *, raise_on_failure: bool = True, patience: float = PATIENCE
) -> tuple[Finding, ...]:
    """Run every check of losses, as `check_algorithm` does for algorithms.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameter.
    raise_on_failure : bool
        Whether a broken rule is an error; otherwise it is only among the findings.
    patience : float
        Seconds for all checks. What there is no time for has the status untried.

    Returns
    -------
    tuple of Finding
        One for each of `LOSS_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken; the text names the smallest margin that shows it.
    """
    return conclude(plugin, examined(Family.losses, plugin, patience), raise_on_failure)


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
    return conclude(plugin, examined(Family.datasets, plugin), raise_on_failure)


def check_features(
    plugin: Any, *, raise_on_failure: bool = True, patience: float = PATIENCE
) -> tuple[Finding, ...]:
    """Run every check of feature maps, as `check_algorithm` does for algorithms.

    Parameters
    ----------
    plugin : class or instance
        A class is tried with its default parameters.
    raise_on_failure : bool
        Whether a broken rule is an error; otherwise it is only among the findings.
    patience : float
        Seconds for all checks. What there is no time for has the status untried.

    Returns
    -------
    tuple of Finding
        One for each of `FEATURE_CHECKS`.

    Raises
    ------
    CheckFailure
        A rule is broken; the text shows the smallest input that it was found for.
    """
    return conclude(plugin, examined(Family.features, plugin, patience), raise_on_failure)


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
