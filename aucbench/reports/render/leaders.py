"""Who leads on a board and over all boards, who is tied with the best, and in words how sure that is."""

import math
from collections.abc import Sequence

from aucbench.reports.render import display
from aucbench.reports.report import Board, Overall, Row

TIED = "Tied with best"  # the heading of the column


def leader(board: Board) -> Row | None:
    """The row with the highest mean AUC, with gaps or without."""
    ranked = [row for row in board.rows if not math.isnan(row.auc.value)]
    return max(ranked, key=lambda row: row.auc.value, default=None)


def tied_with(lead: Row, board: Board) -> list[str]:
    """The other methods of a board that share a letter with a row."""
    return [row.method for row in board.rows if row is not lead and _share(row.groups, lead.groups)]


def is_best(row: Row, board: Board) -> bool:
    """Whether it is ranked, and first or not significantly different from the first by the board's tests."""
    first = board.rows[0]
    if math.isnan(row.rank) or math.isnan(first.rank):
        return False
    return row.rank == first.rank or _share(row.groups, first.groups)


def board_tie(row: Row, board: Board) -> str:
    """Whether a method is the best of a board or tied with it; a dash where it is neither."""
    lead = leader(board)
    if lead is None or not (row.groups and lead.groups):
        return display.NONE
    return _tie(row.method, row.groups, lead.method, lead.groups)


def overall_tie(method: str, overall: Overall) -> str:
    """Whether a method is the best over all boards or tied with it; a dash where it is neither."""
    own, best = overall.groups.get(method, ""), first(overall)
    if not (own and overall.groups.get(best)):
        return display.NONE
    return _tie(method, own, best, overall.groups[best])


def overall_no_tie(method: str, overall: Overall) -> str:
    """Why a method is not tied with the best over all boards."""
    return f"significantly worse than {first(overall)}" if overall.groups.get(method) else "not compared"


def _tie(method: str, letters: str, best: str, of_best: str) -> str:
    return "best" if method == best else "tied" if _share(letters, of_best) else display.NONE


def _share(letters: str, others: str) -> bool:
    return not set(letters).isdisjoint(others)


def first(overall: Overall) -> str:
    """The method with the best average rank; empty where none has a rank."""
    ranks = overall.ranks or overall.ranks_with_gaps
    return next((method for method in overall.methods if method in ranks), "")


def board_verdict(board: Board) -> tuple[str, str]:
    """Who has the highest mean AUC on a board, and in words how sure that is."""
    lead = leader(board)
    if lead is None:
        return "", "No run has finished on this board."
    bounds = "" if math.isnan(lead.auc.low) else f" ({display.interval(lead.auc)})"
    value = f"{board.measure.title}, {display.mean(lead.auc.value)}{bounds}"
    start = f" has the highest mean test {value} over {display.plural(lead.runs, 'run')}"
    rivals = [row for row in board.rows if row is not lead and not math.isnan(row.auc.value)]
    near = tied_with(lead, board)
    if not rivals:
        return lead.method, f"{start}; it is alone on this board."
    if not lead.groups:
        return lead.method, f"{start}; whether that is more than chance was not tested."
    if not near:
        others = "the other" if len(rivals) == 1 else f"all {len(rivals)} others"
        results = " that have results" if len(rivals) + 1 < len(board.rows) else ""
        return lead.method, f"{start}, significantly above {others}{results}."
    if len(near) == len(rivals):
        return lead.method, f"{start}, but no method is significantly below it."
    return lead.method, f"{start}; not significantly below it: {_some(near)}."


def overall_verdict(overall: Overall, level: float) -> tuple[str, str]:
    """Who leads over all boards of a group, and in words how sure that is."""
    ranks = overall.ranks or overall.ranks_with_gaps
    order = [method for method in overall.methods if method in ranks]
    if not order:
        return "", "No method has a rank yet: no board has finished runs of two methods."
    best = ranks[order[0]]
    lead = [method for method in order if ranks[method].value == best.value]
    rivals = order[len(lead) :]
    alone = "One data set cannot say which method is better in general."
    if overall.boards == 1 and len(lead) == 1 and rivals:
        return lead[0], f" is first on the only data set. {alone}"
    used = (overall.ranks and overall.ranked_boards) or overall.boards
    where = "on the only data set" if overall.boards == 1 else f"over {display.plural(used, 'data set')}"
    bounds = "" if math.isnan(best.low) else f" ({display.interval(best, 2)})"
    verb = "leads" if len(lead) == 1 else "share the lead"
    text = f" {verb} with an average rank of {display.mean_rank(best)}{bounds} {where}"
    text += f". {alone}" if overall.boards == 1 and rivals else _sureness(overall, lead, rivals, level)
    return display.listed(lead), text + _unranked(overall, best.value)


def _sureness(overall: Overall, lead: Sequence[str], rivals: Sequence[str], level: float) -> str:
    """How sure the lead is, by Wilcoxon's tests."""
    if not rivals:
        return "." if len(lead) > 1 else "; there is nobody to compare it with."
    letters = overall.groups.get(lead[0], "")
    if not letters:
        return ". Whether that is more than chance was not tested."
    near = [method for method in rivals if _share(letters, overall.groups.get(method, ""))]
    if not near:
        return f", significantly ahead of {rivals[0] if len(rivals) == 1 else f'all {len(rivals)} others'}."
    p = overall.pairwise.get((lead[0], rivals[0]), math.nan)
    text = ""
    if rivals[0] in near and p >= level:
        text = f" Against {rivals[0]}, the next, Wilcoxon's test gives p = {p:.3f} after Holm's correction."
    if len(near) == len(rivals):
        return f", but no method is significantly behind it: the order may be chance.{text}"
    return f"; not significantly behind it: {_some(near)}.{text}"


def _unranked(overall: Overall, best: float) -> str:
    """Methods with gaps that are no worse where they have results: nobody leads over them."""
    if not overall.ranks:
        return " No board is complete for all, so these ranks have gaps."
    found = [
        f"{method} ({display.mean_rank(rank)} with gaps)"
        for method, rank in overall.ranks_with_gaps.items()
        if method not in overall.ranks and rank.value <= best
    ]
    if not found:
        return ""
    many = len(found) > 1
    why = (
        "their gaps, and no worse on the boards they are on"
        if many
        else "its gaps, and no worse on the boards it is on"
    )
    return f" Left out for {why}: {display.listed(found)}."


def _some(names: Sequence[str]) -> str:
    return display.listed(names) if len(names) <= 4 else f"{len(names)} methods ({', '.join(names[:3])} …)"
