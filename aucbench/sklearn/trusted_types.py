"""The types of a fitted classifier that skops, and MLflow with it, must be told to trust."""

import sys

from aucbench.contracts.validation import Family
from aucbench.registry import catalog

OWN = (
    "aucbench.data.preprocess.Rescaling",
    "aucbench.data.scaler.Scaler",
    "aucbench.evaluation.measures.AUC",
    "aucbench.kernels.rule_loops.Scaled",
    "aucbench.kernels.rule_method.RuleState",
    "aucbench.kernels.saddle.Variables",
    "aucbench.runner.budget_and_checkpoints.IterationBudget",
    "aucbench.runner.scorer.Scorer",
    "aucbench.runner.task.Task",
    "aucbench.runner.trainer.Clock",
    "aucbench.runner.trainer._no_wait",
    "aucbench.sklearn._threshold.Sample",
    "aucbench.sklearn._trained_model.Fitted",
    "aucbench.sklearn._trained_model.Ingredients",
    "aucbench.sklearn._trained_model.Model",
    "aucbench.sklearn._trained_model.ModelTrainer",
    "aucbench.sklearn._training_rows.Representation",
    "aucbench.sklearn.classifier.AUCClassifier",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.model_selection._split.StratifiedKFold",
)  # types of the framework and of scikit-learn's calibration and trees


def trusted_types() -> list[str]:
    """The types of the framework, and every class of the packages whose plugins are installed."""
    plugins = catalog().plugins
    families = (Family.algorithms, Family.losses, Family.features)
    packages = {
        each.cls.__module__.partition(".")[0] for family in families for each in plugins[family].values()
    }
    classes = {
        f"{name}.{value.__qualname__}"
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in packages
        for value in list(vars(module).values())
        if isinstance(value, type) and value.__module__ == name
    }
    return sorted({*OWN, *classes})
