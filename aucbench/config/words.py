"""Overrides that Hydra would answer with an inner error are refused in a sentence first."""

from collections.abc import Iterable

from aucbench.config import twins
from aucbench.errors import ParameterError


def check_overrides(words: Iterable[str]) -> None:
    """Refuse what is not NAME=VALUE, a deletion, and several names where one is wanted.

    Raises
    ------
    ParameterError
        Names the word.
    """
    for word in words:
        if not isinstance(word, str):
            raise ParameterError(f"An override is text, NAME=VALUE, got {word!r}.")
        name, sign, value = word.partition("=")
        if word.startswith("~"):
            raise ParameterError(f"'{word}': a setting cannot be deleted; give it another value.")
        if not sign or not name.strip("+"):
            raise ParameterError(f"The override '{word}' cannot be read; expected NAME=VALUE.")
        if name in twins.GROUPS and value.startswith(("[", "{")):
            raise ParameterError(
                f"{name} is one name, got {value}; several are swept by --multirun {name}=ONE,OTHER."
            )
