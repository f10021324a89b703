"""The methods as scikit-learn estimators: `AUCClassifier`.

Importing this package imports scikit-learn; the rest of the framework imports scikit-learn on first use.

``TRUSTED_TYPES`` lists the types of a fitted classifier, from the framework and installed plugins. Pass it to
``mlflow.sklearn.save_model`` as ``skops_trusted_types`` and to ``skops.io.load`` as ``trusted``.
"""

from typing import Any

from aucbench.sklearn.classifier import AUCClassifier

__all__ = ["TRUSTED_TYPES", "AUCClassifier"]

TRUSTED_TYPES: list[str]


def __getattr__(name: str) -> Any:
    """Compute ``TRUSTED_TYPES`` when it is used: only then are the plugins loaded."""
    if name == "TRUSTED_TYPES":
        from aucbench.sklearn.trusted_types import trusted_types

        return trusted_types()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
