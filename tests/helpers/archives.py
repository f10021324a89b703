"""Archives as others would have made them: other cells, keys and plans under digests that are right."""

from dataclasses import replace

from msgspec import structs


def altered(archive, cell=lambda each: each, entry=lambda each: each, key=str, keep=lambda key: True):
    """The archive with its cells and the entries of its plans changed, some keys kept, under other keys."""

    def planned(each):
        cells = {key(one): seeds for one, seeds in each.cells.items() if keep(one)}
        return entry(structs.replace(each, cells=cells))

    kept = {key(one): own for one, own in archive.cells.items() if keep(one)}
    cells = {one: cell(with_record(own, key=one)) for one, own in kept.items()}
    plans = [structs.replace(plan, entries=tuple(map(planned, plan.entries))) for plan in archive.studies]
    return replace(archive, cells=cells, studies=tuple(plans))


def with_record(cell, part=None, **fields):
    """The cell with other fields of its record, or of a part of it."""
    if part is not None:
        fields = {part: structs.replace(getattr(cell.record, part), **fields)}
    return replace(cell, record=structs.replace(cell.record, **fields))


def moved(auc=0.0, **environment):
    """A change of a cell: its final AUC moved, from another machine."""

    def change(cell):
        curve = cell.curve["auc"].copy()
        curve[-1] += auc
        cell = with_record(cell, "environment", **{"machine": "there", **environment})
        cell = with_record(cell, "result", auc=cell.record.result.auc + auc)
        return replace(cell, curve=cell.curve | {"auc": curve})

    return change
