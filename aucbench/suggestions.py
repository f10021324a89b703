"""Suggestions for a misspelt name: the nearest known ones. Imported by all rooms."""

import difflib
from collections.abc import Mapping
from typing import Any


def suggest(name: str, known: Mapping[str, Any] | list[str]) -> str:
    """A sentence with the nearest known names, or with all of them."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return f"Known: {', '.join(sorted(known)) or 'none'}."
