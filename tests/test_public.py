"""The public names: those and no others, each with a docstring that names its parameters."""

import ast
import inspect
import re
import textwrap
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
from numpydoc.validate import validate

import aucbench

# What a plugin or a user may rely on. A name that comes or goes is a change of the interface: change it here,
# and say so in the changelog.
PUBLIC = {
    "aucbench": """
        Access Algorithm AucbenchError Batch BatchSolver CellError Claims Count CsrRows DataError Dataset
        FeatureMap FetchError File Grouping Index Interval LinearMethod Lockstep Loss Method ModelClass
        NonNegative Norm Objective Observer OpenUnit ParameterError PluginError Positive Problem
        Result Samples Table TrackingError ValidationRows catalog check_fields hookimpl kernels leaderboard
        optimum pair_loss plan_study replay require_memory run run_study sklearn suggest testing utf8_path
        """,
    "aucbench.evaluation": """
        AucInterval auc_difference auc_interval average_precision difference_interval exact_auc partial_auc
        precision_at recall_at two_way_partial_auc
        """,
    "aucbench.kernels": """
        CompiledLoss Layout Move Row Rule RuleMethod RuleState buffers call compile_loss fast_kernel
        kernel lanes layout loss_pieces pair_loss pairs rows rule saddle scalar sorted_pairs source_hash
        symmetric theta thresholded two_vectors vectors weights
        """,
    "aucbench.objectives": """
        PairLoss jax_pair_loss lightgbm_objective pair_loss torch_pair_loss xgboost_objective
        """,
    "aucbench.river": "AUCClassifier",
    "aucbench.sklearn": "AUCClassifier TRUSTED_TYPES",
    "aucbench.testing": """
        ALGORITHM_CHECKS CHECKS Check CheckFailure DATASET_CHECKS FEATURE_CHECKS Finding LOSS_CHECKS Status
        check_algorithm check_dataset check_features check_loss reproduce
        """,
}
# The functions of the modules that aucbench.kernels offers, for use in compiled code.
IN_KERNELS = {
    "buffers": "clear difference longest products scatter",
    "lanes": "any_moves array joined room root separate where_less zeros",
    "loss_pieces": "Knot Piece Smoothed as_pieces kinks knots pieces rate",
    "pair_loss": "Curvature PairMean class_shares mean_of_pieces pair_mean",
    "pairs": "difference prefetch room subtract visit",
    "rows": "axpy axpy2 dot dot_norm dot_norms extent is_csr is_dense norm prefetch visit",
    "saddle": "Variables gradients",
    "sorted_pairs": """
        Ranking Window count degrees dense laplacian members near_zero rank scatter slope_sums
        value_sums window
        """,
    "symmetric": "product rank_one",
    "thresholded": """
        Thresholded accumulate accumulated current fold project replace score shrink step thresholded tidy
        """,
    "vectors": "add clip distance dot norm1 project_l1 pull scale square",
    "weights": "Layout average fold into_ball is_out_of_range layout mean two_vectors",
}
CASES = [(module, name) for module, names in PUBLIC.items() for name in names.split()]


def documented(module, name):
    """What a public name stands for; the function behind a compiled or cached one."""
    value = getattr(import_module(module), name)
    value = getattr(value, "py_func", getattr(value, "_defn", value))
    return inspect.unwrap(value) if inspect.isfunction(value) or hasattr(value, "__wrapped__") else value


def defined(module):
    """Names without an underscore that a module's source defines, or re-exports as themselves."""
    found = set()
    for node in ast.parse(Path(inspect.getsourcefile(module)).read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_names_are_those_of_the_list(name):
    module = import_module(name)
    assert sorted(module.__all__) == sorted(PUBLIC[name].split())
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize("name", PUBLIC)
def test_nothing_public_is_defined_beside_the_list(name):
    module = import_module(name)
    assert defined(module) <= set(module.__all__)


@pytest.mark.parametrize("name", IN_KERNELS)
def test_modules_of_kernels_define_what_the_list_says(name):
    found = defined(import_module(f"aucbench.kernels.{name}"))
    assert sorted(found - {constant for constant in found if constant.isupper()}) == IN_KERNELS[name].split()


def test_every_module_of_kernels_is_in_the_list():
    import aucbench.kernels

    modules = [name for name in aucbench.kernels.__all__ if inspect.ismodule(getattr(aucbench.kernels, name))]
    assert modules == list(IN_KERNELS)


def test_every_public_name_has_a_docstring():
    in_kernels = [(f"aucbench.kernels.{m}", n) for m, names in IN_KERNELS.items() for n in names.split()]
    assert [name for name in (*CASES, *in_kernels) if not inspect.getdoc(documented(*name))] == []


def test_public_functions_and_classes_document_parameters_results_and_errors():
    lacking = []
    for module, name in CASES:
        value = documented(module, name)
        text = inspect.getdoc(value)
        if inspect.isfunction(value):
            found = validate(f"{module}.{name}")["errors"]
            lacking += [(name, words) for code, words in found if code in ("PR01", "PR02", "RT01", "YD01")]
            tree = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(value))))
            if any(isinstance(node, ast.Raise) for node in tree) and "Raises\n------" not in text:
                lacking.append((name, "Raises"))
        elif inspect.isclass(value) and not issubclass(value, tuple | BaseException | str):
            # Fields of a NamedTuple have comments, members of an enum names.
            parameters = () if getattr(value, "_is_protocol", False) else inspect.signature(value).parameters
            lacking += [(name, each) for each in parameters if not re.search(rf"\b{each}\b", text)]
    # numba hands the first argument of an intrinsic.
    assert lacking == [("call", "Parameters {'typingctx'} not documented")]


def test_the_package_says_its_version():
    assert aucbench.__version__ == version("aucbench")
