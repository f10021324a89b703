"""Any data set of OpenML, by its number or name."""

from dataclasses import dataclass, field
from typing import Any

from aucbench import File, Grouping, Index, ParameterError, Table, check_fields
from aucbench_datasets._several_classes import checked_positive
from aucbench_datasets.user_files import (
    LATER,
    Missing,
    check_columns,
    checked_types,
    columns,
    target_column,
)


@dataclass(frozen=True)
class Openml:
    """Any data set of OpenML, by number or name: ``dataset=openml dataset.path=310``.

    Parameters
    ----------
    path : int or str
        The number or the name; of several versions of a name the first active one. Needed.
    target : str, optional
        The column of labels; the one that OpenML names when left out.
    drop : list of str
        Columns that are no features, besides those that OpenML names.
    missing : Missing
        ``refuse``, or ``median`` of the column.
    positive, grouping, grouping_seed, types
        As for a file of one's own.
    """

    name = "openml"
    path: Any = None
    target: str | None = None
    drop: Any = ()
    missing: Missing = Missing.refuse
    positive: Any = None
    grouping: Grouping | None = None
    grouping_seed: Index = 0
    types: Any = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "positive", checked_positive(self.name, self.positive))
        check_columns(self.name, self.target, self.drop)
        object.__setattr__(self, "drop", columns(self.drop))
        object.__setattr__(self, "types", checked_types(self.name, self.types))

    @property
    def title(self) -> str:
        """The number or the name, by which results are told apart."""
        return f"openml {self.path}"

    @property
    def files(self) -> tuple[File, ...]:
        """The description at OpenML.

        Raises
        ------
        ParameterError
            No number or name is given.
        """
        wanted = str("" if self.path is None else self.path).strip()
        if not wanted or "/" in wanted:
            raise ParameterError(
                f"openml: path must be the number or the name of a data set, got {self.path!r}."
            )
        target, types = target_column(self.target), self.types or ()
        table = Table(target, columns(self.drop), missing=str(self.missing), types=types)
        return (File(f"openml/{wanted}", kind="openml", table=table),)
