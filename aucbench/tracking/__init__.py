"""MLflow: logging of results, export of models, chart views. No other package imports MLflow."""

from aucbench.tracking.client import check_address
from aucbench.tracking.tracker import StudyTracker, Tracker

__all__ = ["StudyTracker", "Tracker", "check_address"]
