"""The types of a fitted classifier that must be trusted when skops or MLflow loads it."""

import sys

from aucbench.contracts.validation import Family
from aucbench.registry import catalog

OTHERS = (
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.model_selection._split.StratifiedKFold",
)  # types in scikit-learn's calibration and trees


def trusted_types() -> list[str]:
    """Every class of the framework, and of the packages whose plugins are installed."""
    plugins = catalog().plugins
    families = (Family.algorithms, Family.losses, Family.features)
    packages = {"aucbench"} | {
        plugin.cls.__module__.partition(".")[0] for family in families for plugin in plugins[family].values()
    }
    classes = {
        f"{name}.{value.__qualname__}"
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in packages
        for value in list(vars(module).values())
        if isinstance(value, type) and value.__module__ == name
    }
    return sorted({*OTHERS, *classes})
