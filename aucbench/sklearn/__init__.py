"""The methods as scikit-learn estimators: `AUCClassifier`.

Importing it imports scikit-learn, which the rest of the framework does where it is used.
"""

from aucbench.sklearn.classifier import AUCClassifier

__all__ = ["AUCClassifier"]
