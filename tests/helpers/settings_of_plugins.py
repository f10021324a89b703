"""Strategies for the fields of plugins, by the types that these declare."""

from enum import StrEnum

import numpy as np
from hypothesis import strategies as st

from aucbench.contracts import field_types


def values(kind, choice=None):
    """A strategy for a field: a list of values, a range drawn by the logarithm, or all words or flags.

    None stands for a field of numbers of which no choice is named.
    """
    if isinstance(choice, list):
        return st.sampled_from(choice)
    if isinstance(choice, tuple):
        return st.floats(*np.log(choice)).map(lambda power: float(np.exp(power)))
    if kind.base is bool:
        return st.booleans()
    if isinstance(kind.base, type) and issubclass(kind.base, StrEnum):
        return st.sampled_from(list(kind.base))
    return None


def fields_of(cls, choices):
    """A strategy for dictionaries of fields of a plugin; fields of numbers without a choice are left out."""
    table = {name: values(kind, choices.get(name)) for name, kind in field_types(cls).items()}
    return st.fixed_dictionaries({name: strategy for name, strategy in table.items() if strategy is not None})
