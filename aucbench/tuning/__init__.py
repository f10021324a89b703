"""Choosing hyper-parameters: the tunings a run can name, their trials, the choice. Never sees test rows."""

from aucbench.tuning.choices import TUNINGS, Grid, NoTuning, Optuna, Random, Tuning

__all__ = ["TUNINGS", "Grid", "NoTuning", "Optuna", "Random", "Tuning"]
