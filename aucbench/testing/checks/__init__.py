"""The checks of each family of plugins, in order. Imported by `testing`."""

from aucbench.contracts.validation import Family
from aucbench.testing.checks import (
    cost,
    datasets,
    declarations,
    features,
    interface,
    learned_model,
    losses,
    reproducibility,
)
from aucbench.testing.examine import in_stages
from aucbench.testing.trainee import Trainee

SHARED = (reproducibility.same_seed, reproducibility.companions, reproducibility.reading)
ALGORITHM_CHECKS = in_stages(
    Trainee,
    (declarations.declared,),
    (declarations.grid, declarations.batch_size),
    (interface.runs,),
    (interface.scores,),
    (reproducibility.inputs_untouched,),
    (
        interface.compiled_once, reproducibility.chunks, reproducibility.pickling, reproducibility.resumable,
        reproducibility.together, interface.waits, *SHARED, interface.weights, interface.objective,
        learned_model.sparse_rows, learned_model.float32_rows, learned_model.one_class_first,
        learned_model.weighted, learned_model.converges, learned_model.auc, cost.cost,
    ),
)  # fmt: skip
LOSS_CHECKS = in_stages(
    losses.LossSubject,
    (declarations.declared,),
    (losses.form,),
    (losses.finite,),
    (losses.derivative, losses.compiled, losses.prox, losses.facts, losses.structure),
)
DATASET_CHECKS = in_stages(
    datasets.DatasetSubject,
    (declarations.declared,),
    (datasets.rows,),
    (datasets.same_twice, datasets.facts),
)
FEATURE_CHECKS = in_stages(
    features.FeatureSubject,
    (declarations.declared,),
    (features.mapped,),
    (reproducibility.inputs_untouched,),
    (features.dtype, *SHARED, features.pickling),
)
CHECKS = {
    Family.algorithms: ALGORITHM_CHECKS,
    Family.datasets: DATASET_CHECKS,
    Family.losses: LOSS_CHECKS,
    Family.features: FEATURE_CHECKS,
}
