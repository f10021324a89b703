"""The reference: the method that the gains of the others are relative to."""

from collections.abc import Sequence

from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.reports.cells import Group
from aucbench.suggestions import suggest

REFERENCE, TUNED_REFERENCE = "log_reg", "log_reg_cv"  # the second chooses its C itself


def default_reference(groups: Sequence[Group], planned: str | None = None) -> str:
    """The planned one if it was run; else `log_reg_cv` if methods are tuned and it was run, or `log_reg`."""
    if planned and any(reference_of(group, planned) for group in groups):
        return planned
    cells = [cell for group in groups for board in group.boards.values() for cell in board]
    was_run = any(cell.described.algorithm.name == TUNED_REFERENCE for cell in cells)
    tuned = any(group.tuned for group in groups)
    return TUNED_REFERENCE if tuned and was_run else REFERENCE


def check_reference(name: str, groups: Sequence[Group]) -> None:
    """Raise ParameterError for a reference that is neither installed nor among the results."""
    from aucbench.registry import catalog

    known = {label for group in groups for label in group.labels.values()}
    boards = [cells for group in groups for cells in group.boards.values()]
    known |= {cell.described.algorithm.name for cells in boards for cell in cells}
    if name == REFERENCE or name in known:
        return
    known |= set(catalog().plugins[Family.algorithms])
    if name not in known:
        raise ParameterError(f"Unknown reference '{name}'. {suggest(name, sorted(known))}")


def reference_of(group: Group, name: str) -> str | None:
    """The label of the reference on the data sets of a group, None where it was not run.

    A label that is named in full is taken. Of several variants of a method, that without feature map and
    limit of the training rows is taken; then that on most data sets; then the first in alphabetical order.
    """
    boards: dict[str, set[str]] = {}
    special: dict[str, bool] = {}
    for dataset, cells in group.boards.items():
        for cell in cells:
            label = group.label(cell)
            if name in (label, cell.described.algorithm.name):
                boards.setdefault(label, set()).add(dataset)
                described = cell.described
                mapped = described.features.name != "identity"
                special[label] = mapped or described.max_train_rows is not None
    return min(boards, key=lambda each: (each != name, special[each], -len(boards[each]), each), default=None)
