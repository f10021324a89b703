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
        if nodes > MOST_NODES:
            raise ParameterError(f"{file} has {nodes:,} values with its aliases, more than {MOST_NODES:,}.")
        content = yaml.safe_load(text)
    except ParameterError:
        raise
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as error:
        raise ParameterError(f"{file} cannot be read as YAML: {' '.join(str(error).split())}.") from None
    # Hydra would refuse such defaults without naming the file.
    defaults = content.get("defaults", []) if isinstance(content, dict) else []
    for each in defaults if isinstance(defaults, list) else [defaults]:
        values = list(each.values()) if isinstance(each, dict) else [each]
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
