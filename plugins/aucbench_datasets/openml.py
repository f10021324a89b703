"""Any data set of OpenML, by its number or name."""

from dataclasses import dataclass, field
from typing import Any

from aucbench import File, ParameterError
from aucbench_datasets.user_files import Columns


@dataclass(frozen=True)
class Openml(Columns):
    """Any data set of OpenML, by number or name: ``dataset=openml dataset.path=310``.

    Parameters
    ----------
    path : int or str
        The number or the name, required. Of several versions of a name, the first active one is used.
    target : str, optional
        The column of labels; by default the one that OpenML names.
    drop : list of str
        Columns that are not features, in addition to those that OpenML names.
    """

    name = "openml"
    path: Any = None
    target: str | None = field(default=None, kw_only=True)

    @property
    def title(self) -> str:
        """The number or the name, which identifies results."""
        return f"openml {self.path}"

    @property
    def files(self) -> tuple[File, ...]:
        """The description at OpenML.

        Raises
        ------
        ParameterError
            No number or name is given.
        """
        identifier = str("" if self.path is None else self.path).strip()
        if not identifier or "/" in identifier:
            raise ParameterError(
                f"openml: path must be the number or the name of a data set, got {self.path!r}."
            )
        return (File(f"openml/{identifier}", kind="openml", **self._reading()),)
