"""Checks of a user's YAML files before Hydra reads them."""

from pathlib import Path
from typing import Any

import yaml

from aucbench.errors import ParameterError

MOST_NODES = 100_000  # with every alias written out, as OmegaConf does
MOST_BYTES = 1_000_000


def check_yaml(file: Path) -> None:
    """Raise a ParameterError for a file that is damaged, or that would not fit into memory."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise ParameterError(f"{file} is larger than {MOST_BYTES:,} bytes, the most for a configuration.")
        text = file.read_text("utf-8")
        nodes = _written_out(yaml.compose(text, Loader=yaml.SafeLoader), {})
        if nodes <= MOST_NODES:
            _check_defaults(file, yaml.safe_load(text))
    except ParameterError:
        raise
    except OSError as error:
        raise ParameterError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{file} is no text in UTF-8.") from None
    except RecursionError:
        raise ParameterError(f"{file} is nested too deeply, or contains itself.") from None
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ParameterError(f"{file} is no YAML: {error.problem}{line}.") from None
    except yaml.YAMLError as error:
        raise ParameterError(f"{file} is no YAML: {' '.join(str(error).split())}.") from None
    except ValueError as error:  # of a date, or of a number with thousands of digits
        raise ParameterError(f"{file} has a value that cannot be read: {error}.") from None
    if nodes > MOST_NODES:
        raise ParameterError(f"{file} has {nodes:,} values with its aliases, more than {MOST_NODES:,}.")


def _check_defaults(file: Path, content: Any) -> None:
    """Refuse a list of defaults that Hydra would refuse without naming the file."""
    defaults = content.get("defaults", []) if isinstance(content, dict) else []
    if not isinstance(defaults, list):
        raise ParameterError(f"{file}: defaults must be a list, got {defaults!r}.")
    for each in defaults:
        values = each.values() if isinstance(each, dict) else ()
        if not isinstance(each, dict | str) or any(isinstance(value, dict) for value in values):
            raise ParameterError(f"{file}: {each!r} cannot be one of the defaults; expected GROUP: CHOICE.")


def _written_out(node: Any, known: dict[int, int]) -> int:
    """The number of values of a node; each node is visited once."""
    if id(node) not in known:
        children = getattr(node, "value", ())
        pairs = isinstance(node, yaml.MappingNode)
        inner = [each for pair in children for each in pair] if pairs else children
        inner = inner if isinstance(inner, list) else ()  # text of a scalar
        known[id(node)] = 1 + sum(_written_out(each, known) for each in inner)
    return known[id(node)]
