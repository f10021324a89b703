"""A file of one's own in LIBSVM format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from aucbench import Count, File, ParameterError, check_fields


@dataclass(frozen=True)
class Libsvm:
    """Any file in LIBSVM format (plain, .bz2, .xz or .gz): ``dataset=libsvm dataset.path=FILE``.

    Parameters
    ----------
    path : str
        The file; needed.
    test_path : str, optional
        A file with the test part.
    positive : number or list of numbers, optional
        The labels that become +1. Needed for more than two classes; otherwise the larger of -1/+1 or 0/1, and
        the rarer of any other two.
    features : int, optional
        The number of features; the largest index when left out.
    """

    name: ClassVar[str] = "libsvm"
    path: str | None = None
    test_path: str | None = None
    positive: Any = None
    features: Count | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.positive is not None:
            many = self.positive if isinstance(self.positive, list | tuple) else (self.positive,)
            if not many or not all(isinstance(label, int | float) for label in many):
                raise ParameterError(
                    f"libsvm: positive must be a number or a list of numbers, got {self.positive!r}."
                )
            object.__setattr__(self, "positive", tuple(float(label) for label in many))

    @property
    def title(self) -> str:
        """The file's name, by which results are told apart."""
        return Path(self.path or self.name).name

    @property
    def files(self) -> tuple[File, ...]:
        """The declared files, by absolute paths.

        Raises
        ------
        ParameterError
            No path is given.
        """
        if not self.path:
            raise ParameterError("libsvm: path is missing; name your file with dataset.path=FILE.")
        train = File(str(Path(self.path).expanduser().absolute()))
        if not self.test_path:
            return (train,)
        return (train, File(str(Path(self.test_path).expanduser().absolute()), part="test"))
