"""Suggestions for a misspelt name: the nearest known names. Imported by all packages."""

import difflib
from collections.abc import Mapping
from typing import Any

MOST_NAMES = 60  # most known names in a sentence
LEAST_LIKENESS = 0.65  # least likeness of a suggested name


def suggest(name: str, known: Mapping[str, Any] | list[str]) -> str:
    """A sentence with the nearest known names, or with all known names unless there are many."""
    matches = difflib.get_close_matches(name, list(known), n=3, cutoff=LEAST_LIKENESS)
    if matches:
        return f"Did you mean {' or '.join(matches)}?"
    names = sorted(known)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"Known: {', '.join(names[:MOST_NAMES]) or 'none'}{more}."
