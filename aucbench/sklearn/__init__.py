"""The methods as scikit-learn estimators: `AUCClassifier`.

Importing this package imports scikit-learn; the rest of the framework imports scikit-learn on first use.
"""

from aucbench.sklearn.classifier import AUCClassifier

__all__ = ["AUCClassifier"]
