"""Refusing matrices that the machine cannot hold, before they are made."""

import psutil

from aucbench import ParameterError


def require(algorithm: str, matrices: int, rows: int, columns: int, advice: str) -> None:
    """Refuse float64 matrices beyond the available memory.

    Parameters
    ----------
    algorithm : str
        Name of the method that asks.
    matrices, rows, columns : int
        How many matrices of which shape.
    advice : str
        What to do instead.

    Raises
    ------
    ParameterError
        Says what is needed and available, in GB.
    """
    needed, available = 8 * matrices * rows * columns, psutil.virtual_memory().available
    if needed > available:
        raise ParameterError(
            f"{algorithm}: {matrices} x {rows} x {columns} numbers need {needed / 1e9:.1f} GB, "
            f"{available / 1e9:.1f} GB are available; {advice}."
        )
