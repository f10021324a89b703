"""Sending results to MLflow and getting models and views back: the only package that imports mlflow.

A finished entry is one flat run, in one experiment for each data set; it is made of the records of its cells,
so that it can be sent later from the store alone.
"""

from aucbench.tracking.artifacts import read_cells
from aucbench.tracking.client import check_address
from aucbench.tracking.tracker import StudyTracker, Tracker

__all__ = ["StudyTracker", "Tracker", "check_address", "read_cells"]
