"""aucbench: which stochastic method for maximising the AUC is best, on which data, at what cost.

Public names are imported when first used, so that `import aucbench` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucbench.api import catalog, replay, run
    from aucbench.contracts import (
        Access,
        Algorithm,
        Batch,
        Claims,
        Count,
        CsrRows,
        Dataset,
        FeatureMap,
        File,
        Grouping,
        Index,
        Interval,
        Loss,
        NonNegative,
        OpenUnit,
        Positive,
        Problem,
        Samples,
        Table,
        check_fields,
    )
    from aucbench.data.memory import require_memory
    from aucbench.errors import (
        AucbenchError,
        CellError,
        DataError,
        FetchError,
        ParameterError,
        PluginError,
        TrackingError,
    )
    from aucbench.hookspecs import hookimpl
    from aucbench.studies.result import Result

_HOMES = {
    "aucbench.api": ("catalog", "replay", "run"),
    "aucbench.contracts": (
        "Access",
        "Algorithm",
        "Batch",
        "Claims",
        "Count",
        "CsrRows",
        "Dataset",
        "FeatureMap",
        "File",
        "Grouping",
        "Index",
        "Interval",
        "Loss",
        "NonNegative",
        "OpenUnit",
        "Positive",
        "Problem",
        "Samples",
        "Table",
        "check_fields",
    ),
    "aucbench.data.memory": ("require_memory",),
    "aucbench.errors": (
        "AucbenchError",
        "CellError",
        "DataError",
        "FetchError",
        "ParameterError",
        "PluginError",
        "TrackingError",
    ),
    "aucbench.hookspecs": ("hookimpl",),
    "aucbench.studies.result": ("Result",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Access",
    "Algorithm",
    "AucbenchError",
    "Batch",
    "CellError",
    "Claims",
    "Count",
    "CsrRows",
    "DataError",
    "Dataset",
    "FeatureMap",
    "FetchError",
    "File",
    "Grouping",
    "Index",
    "Interval",
    "Loss",
    "NonNegative",
    "OpenUnit",
    "ParameterError",
    "PluginError",
    "Positive",
    "Problem",
    "Result",
    "Samples",
    "Table",
    "TrackingError",
    "catalog",
    "check_fields",
    "hookimpl",
    "replay",
    "require_memory",
    "run",
]


_SUBMODULES = ("kernels", "sklearn", "testing")


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("aucbench")
    if name in _SUBMODULES:
        return import_module(f"aucbench.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'aucbench' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
