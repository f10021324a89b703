"""Measures the rates of convergence and the costs of an iteration that methods claim."""
