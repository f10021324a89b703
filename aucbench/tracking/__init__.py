"""MLflow: logging of results, export of models, chart views. No other package imports MLflow."""

from aucbench.tracking.client import check_address
from aucbench.tracking.tracker import Tracker

__all__ = ["Tracker", "check_address"]
