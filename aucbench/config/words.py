"""Overrides that Hydra would answer with an inner error are refused in a sentence first."""

from collections.abc import Iterable, Sequence

from aucbench.config import twins
from aucbench.errors import ParameterError

FIELDS_OF = ("algo.", "dataset.", "loss.", "features.", "protocol.", "tuning.")
SWEEPS = ("choice(", "range(", "interval(", "glob(", "shuffle(", "sort(", "tag(")


def for_each_run(words: Sequence[str]) -> list[str]:
    """The words of a sweep, in which a field of a group is a sweep over its one value.

    Hydra composes a sweep's common words with the default choices first, where ``algo.radius=3`` would be
    refused although every method of the sweep has a radius.
    """
    multirun = any(word in ("-m", "--multirun") or word.startswith("+experiment=") for word in words)
    return [_as_choice(word) if multirun else word for word in words]


def _as_choice(word: str) -> str:
    name, sign, value = word.partition("=")
    plain = sign and name.startswith(FIELDS_OF) and value and not value.startswith(SWEEPS)
    return f"{name}=choice({value})" if plain and not _is_swept(value) else word


def _is_swept(value: str) -> bool:
    """Whether there is a comma outside of brackets and quotes."""
    depth, quoted = 0, ""
    for letter in value:
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "\"'":
            quoted = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            return True
    return False


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
