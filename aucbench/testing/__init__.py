"""Checks that every plugin must pass, for your test suite and for ``aucbench check``.

One line is a test::

    import aucbench.testing

    def test_my_method():
        aucbench.testing.check_algorithm(PairSgd)

and one test per rule is::

    @pytest.mark.parametrize("check", aucbench.testing.ALGORITHM_CHECKS, ids=str)
    def test_my_method(check):
        check(PairSgd)

A plugin that breaks a rule for a good reason declares it: ``exempt: ClassVar = {"pickling": "its state holds
an open file"}``. A method that cannot take CSR or float32 rows declares ``requires = {"dense": reason}`` or
``{"float64": reason}``.

The first failure often explains others: a check that depends on a failed one, or that stops at the same line
of the plugin, is skipped and names the failed check (`Status.untried`, `Finding.follows`).
"""

from aucbench.testing.check_plugin import check_algorithm, check_dataset, check_features, check_loss
from aucbench.testing.checks import ALGORITHM_CHECKS, CHECKS, DATASET_CHECKS, FEATURE_CHECKS, LOSS_CHECKS
from aucbench.testing.examine import Check
from aucbench.testing.findings import CheckFailure, Finding, Status

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
]
