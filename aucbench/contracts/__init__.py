"""The contract between the framework and its plugins. It imports no other part of the framework."""

from aucbench.contracts.batch import Access, Batch, CsrRows, Matrix, csr_rows
from aucbench.contracts.declarations import (
    BatchSolver,
    DatasetFacts,
    LinearMethod,
    LossFacts,
    Method,
    MethodFacts,
)
from aucbench.contracts.hyperparameters import (
    Count,
    FieldType,
    Index,
    Interval,
    NonNegative,
    OpenUnit,
    Positive,
    check_fields,
    field_types,
)
from aucbench.contracts.interfaces import (
    Algorithm,
    Claims,
    Dataset,
    FeatureMap,
    File,
    Grid,
    Grouping,
    Lockstep,
    Loss,
    Samples,
    Table,
)
from aucbench.contracts.objective import Norm, Objective
from aucbench.contracts.problem import Problem

__all__ = [
    "Access",
    "Algorithm",
    "Batch",
    "BatchSolver",
    "Claims",
    "Count",
    "CsrRows",
    "Dataset",
    "DatasetFacts",
    "FeatureMap",
    "FieldType",
    "File",
    "Grid",
    "Grouping",
    "Index",
    "Interval",
    "LinearMethod",
    "Lockstep",
    "Loss",
    "LossFacts",
    "Matrix",
    "Method",
    "MethodFacts",
    "NonNegative",
    "Norm",
    "Objective",
    "OpenUnit",
    "Positive",
    "Problem",
    "Samples",
    "Table",
    "check_fields",
    "csr_rows",
    "field_types",
]
