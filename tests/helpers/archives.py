"""Archives as made elsewhere: other cells, keys and plans under correct digests."""

from dataclasses import replace

from msgspec import structs


def altered(archive, cell=lambda value: value, entry=lambda value: value, key=str, keep=lambda key: True):
    """The archive with its cells and the entries of its plans changed, some keys kept, under other keys."""

    def planned(item):
        cells = {key(old_key): seeds for old_key, seeds in item.cells.items() if keep(old_key)}
        return entry(structs.replace(item, cells=cells))

    chosen = {key(old_key): result for old_key, result in archive.cells.items() if keep(old_key)}
    cells = {new_key: cell(with_record(result, key=new_key)) for new_key, result in chosen.items()}
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
