"""The frame of cells: one line a cell with its setting, data set and method; and the reference among them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import asdict

from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.evaluation.measures import MEASURES
from aucbench.reports.cells import BoardCell
from aucbench.reports.labels import dataset_names, dataset_of, is_tuned, labels, method_of, setting_of
from aucbench.reports.report import DEFAULTS, TUNED
from aucbench.studies.codec import canonical, subset
from aucbench.studies.record import SEEDS, EntryDescription
from aucbench.suggestions import suggest

if TYPE_CHECKING:
    import pandas as pd

REFERENCE, TUNED_REFERENCE = "log_reg", "log_reg_cv"  # the second chooses its C itself
PLACE = ["setting", "data_set", "method"]
_DESCRIBED = (
    "dataset", "loss", "features", "scaling", "rescale", "regularisation", "protocol", "tuning",
    "max_train_rows", "budget", "order", "dtype",
)  # fmt: skip
_MEASURED = (
    "auc", "iterations", "train_seconds", "train_cpu_seconds", "ns_per_iteration", "state_bytes",
    "stop_reason",
)  # fmt: skip
_ENVIRONMENT = ("concurrency", "cpu", "finished_at")
_ROWS = ("train_rows", "test_rows", "train_positives", "test_positives")
CELL = (
    "setting", "data_set", "family", "method", "algorithm", "status", "seed", "split_seed", "order_seed",
    "fold",
    *_MEASURED, "tuning_passes", "tuning_seconds", "chosen", "edges", *_ROWS, *_ENVIRONMENT, "parameters",
    "described", "source", "key",
)  # fmt: skip


def cell_frame(cells: Sequence[BoardCell], one_study: bool) -> "pd.DataFrame":
    """One line a cell, from which all but what is read off curves can be computed again; and the `cell`.

    In one study methods are compared on a data set whatever their budget. Otherwise they are compared only
    when all but the method agrees, and data sets share a setting only when all but the data set agrees. Of
    cells that were run with several versions of the code, or with several numbers of checkpoints, those of
    the version that finished last count: `setting`, `data_set` and `method` are null for the others. The last
    columns are the other measures that some cell has, and their parameters in it.
    """
    import pandas as pd

    entries = _entries({id(cell.described): cell.described for cell in cells}, one_study)
    others = [name for name in MEASURES if name not in CELL]
    measured = [name for name in others if any(cell.value(name) is not None for cell in cells)]
    rows = []
    for cell in cells:  # cells of an entry share its description
        row = entries[id(cell.described)] | _cell(cell)
        for name in measured:
            row[name] = cell.value(name)
            own = cell.record.measures.get(name) if cell.record else None
            row |= {f"{name}_{key}": value for key, value in own.parameters.items()} if own else {}
        rows.append(row)
    names = dict.fromkeys([*CELL, *measured, *(name for row in rows for name in row)])
    frame = pd.DataFrame(rows, columns=list(names)).assign(cell=pd.Series(list(cells), dtype=object))
    return frame.assign(**frame[PLACE].where(_counts(frame)))


def _entries(entries: Mapping[int, EntryDescription], one_study: bool) -> dict[int, dict[str, str]]:
    """Setting, data set, method and description of entries, by any identifiers of these."""
    groups: dict[str, dict[str, list[int]]] = {}
    for at, each in entries.items():
        group = str(is_tuned(each)) if one_study else setting_of(each)
        groups.setdefault(group, {}).setdefault(dataset_of(each), []).append(at)
    found: dict[int, dict[str, str]] = {}
    settings: list[str] = []
    for members in groups.values():
        by_data = [[entries[at] for at in own] for own in members.values()]
        plain = TUNED if is_tuned(by_data[0][0]) else DEFAULTS
        alike = sum(name.startswith(plain) for name in settings)
        settings.append(f"{plain} {alike + 1}" if alike else plain)
        methods, names = labels(by_data, one_study), dataset_names([own[0] for own in by_data])
        for name, at in ((name, at) for name, own in zip(names, members.values(), strict=True) for at in own):
            described = entries[at]
            found[at] = {
                "setting": settings[-1],
                "data_set": name,
                "method": methods[method_of(described, one_study)],
                "family": described.dataset.family or described.dataset.name,
                "algorithm": described.algorithm.name,
                "parameters": json.dumps(described.algorithm.parameters, default=str),
                "described": canonical(subset(described, _DESCRIBED)),
            }
    return found


def _counts(frame: "pd.DataFrame") -> "pd.Series[bool]":
    """Whether a cell is the one of its method and run: of the method's last version, or of none."""
    records = [cell.record for cell in frame["cell"]]
    every = frame[[*PLACE, *SEEDS]].assign(
        done=[record is not None for record in records],
        time=frame["finished_at"].astype(object).fillna(""),
        # Cells of one line of results have equal checkpoints, code and data.
        version=[
            canonical([record.budget.checkpoints, record.source, record.data.sha256]) if record else ""
            for record in records
        ],
    )
    order = every.sort_values(["done", "time", "version"], ascending=False, kind="stable")
    is_last = order["version"] == order.groupby(PLACE)["version"].transform("first")
    kept = order[is_last | ~order["done"]].drop_duplicates([*PLACE, *SEEDS])
    return every.index.to_series().isin(kept.index)


def _cell(cell: BoardCell) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(("source", "tuning_passes", "tuning_seconds", "chosen", "edges"))
    row |= {"status": str(cell.status), "key": cell.key, **asdict(cell.run)}
    if (record := cell.record) is None:
        return row
    row["source"] = record.source
    if tuned := record.tuned:
        row |= {"tuning_passes": tuned.cost.passes, "tuning_seconds": tuned.cost.train_seconds}
        row["chosen"] = json.dumps(tuned.parameters, default=str)
        row["edges"] = json.dumps(tuned.edges) if tuned.edges is not UNSET else None
    parts = (record.environment, _ENVIRONMENT), (record.data, _ROWS), (record.result, _MEASURED)
    for part, names in parts:
        row |= {name: None if (own := getattr(part, name, None)) is UNSET else own for name in names}
    if record.result.placements is not UNSET:
        row["placements"] = list(record.result.placements)
    return row


def default_reference(cells: "pd.DataFrame", planned: str | None = None) -> str:
    """The planned one if it was run; else `log_reg_cv` if methods are tuned and it was run, or `log_reg`."""
    if planned and planned in {*cells["method"], *cells["algorithm"]}:
        return planned
    was_run = cells["algorithm"].eq(TUNED_REFERENCE).any()
    return TUNED_REFERENCE if was_run and cells["setting"].str.startswith(TUNED).any() else REFERENCE


def check_reference(name: str, known: Iterable[str] = ()) -> None:
    """Raise ParameterError for a reference that is neither installed nor among the known names."""
    from aucbench.registry import catalog

    if name in (every := {REFERENCE, *known}):
        return
    every |= set(catalog().plugins[Family.algorithms])
    if name not in every:
        raise ParameterError(f"Unknown reference '{name}'. {suggest(name, sorted(every))}")


def reference_of(cells: "pd.DataFrame", name: str) -> str:
    """The label of the reference among the cells of a setting, "" where it was not run.

    A label that is named in full is taken. Of several variants of a method, that without feature map and
    limit of the training rows is taken; then that on most data sets; then the first in alphabetical order.
    """
    own = cells[(cells["method"] == name) | (cells["algorithm"] == name)]
    described = [cell.described for cell in own["cell"]]
    special = [each.features.name != "identity" or each.max_train_rows is not None for each in described]
    variants = own.assign(special=special).groupby("method").agg({"special": "any", "data_set": "nunique"})
    order = [(label != name, row.special, -row.data_set, str(label)) for label, row in variants.iterrows()]
    return min(order)[-1] if order else ""
