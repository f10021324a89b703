"""The public names: each has a docstring that names its parameters."""

import ast
import inspect
import re
import textwrap
from importlib import import_module
from importlib.metadata import version

from numpydoc.validate import validate

import aucbench

MODULES = ("", ".evaluation", ".kernels", ".objectives", ".river", ".sklearn", ".testing")
CASES = [
    (f"aucbench{module}", name) for module in MODULES for name in import_module(f"aucbench{module}").__all__
]
IN_KERNELS = [
    (module.__name__, name)
    for module in map(aucbench.kernels.__getattribute__, aucbench.kernels.__all__)
    if inspect.ismodule(module)
    for name, value in vars(module).items()
    if not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__
]


def documented(module, name):
    """The object of a public name; for a compiled or cached one, its function."""
    value = getattr(import_module(module), name)
    value = getattr(value, "py_func", getattr(value, "_defn", value))
    return inspect.unwrap(value) if inspect.isfunction(value) or hasattr(value, "__wrapped__") else value


def test_every_public_name_has_a_docstring():
    assert len(IN_KERNELS) > 60
    assert [name for name in (*CASES, *IN_KERNELS) if not inspect.getdoc(documented(*name))] == []


def test_public_functions_and_classes_document_parameters_results_and_errors():
    problems = []
    for module, name in CASES:
        value = documented(module, name)
        text = inspect.getdoc(value)
        if inspect.isfunction(value):
            # A number is described by the first line, and a sibling's parameters by the sibling.
            is_number = inspect.signature(value).return_annotation is float
            codes = {"PR01", "PR02", "YD01"} if is_number else {"PR01", "PR02", "YD01", "RT01"}
            errors = [] if text.startswith("As `") else validate(f"{module}.{name}")["errors"]
            problems += [(name, message) for code, message in errors if code in codes]
            tree = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(value))))
            if any(isinstance(node, ast.Raise) for node in tree) and "Raises\n------" not in text:
                problems.append((name, "Raises"))
        elif inspect.isclass(value) and not issubclass(value, tuple | BaseException | str):
            # Fields of a NamedTuple have comments, members of an enum names.
            parameters = () if getattr(value, "_is_protocol", False) else inspect.signature(value).parameters
            problems += [(name, param) for param in parameters if not re.search(rf"\b{param}\b", text)]
    # numba hands the first argument of an intrinsic.
    assert problems == [("call", "Parameters {'typingctx'} not documented")]


def test_the_package_says_its_version():
    assert aucbench.__version__ == version("aucbench")
