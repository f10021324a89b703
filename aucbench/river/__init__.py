"""The methods as river classifiers: `AUCClassifier`.

This package needs river, an optional dependency: ``pip install aucbench[river]``.
"""

try:
    import river  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("aucbench.river needs river: pip install 'aucbench[river]'") from error

from aucbench.river.classifier import AUCClassifier

__all__ = ["AUCClassifier"]
