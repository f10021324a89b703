"""The columns of a report's tables, the same in every view: terminal, Markdown, the page, CSV and Parquet."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

from aucbench.reports.origins import SELF_REPORTED
from aucbench.reports.render import display, leaders
from aucbench.reports.report import (
    RANKED_BY,
    Board,
    Estimate,
    MeasureText,
    Overall,
    Report,
    Row,
    Suboptimality,
)
from aucbench.reports.statistics.target_suboptimality import TARGETS

NO_RUN = "no run has finished"
NO_SPEED = "the speed of a machine is not recorded"
Item = TypeVar("Item")
Whole = TypeVar("Whole")


@dataclass(frozen=True)
class Column(Generic[Item, Whole]):
    """A column of a table in every view: terminal, Markdown, the page, CSV and Parquet."""

    key: str  # its name in the address of a page
    header: str  # in which {baseline} stands for the baseline
    hint: str  # what it means
    fields: tuple[str, ...]  # its numbers and texts in CSV and Parquet: names in the fields of a line
    # What is shown of a line, - where there is nothing; the first field in the form `form` where left out.
    text: Callable[[Item, Whole], str] | None = None
    form: Callable[[Any], str] = display.number
    reason: Callable[[Item, Whole], str] = lambda item, whole: NO_RUN  # why there is nothing
    order: str = ""  # the field that the table is sorted by; the first where empty
    usual: bool = False  # shown unless other columns are asked for
    left: bool = False  # text, which is aligned to the left
    descending: bool = False  # the largest comes first when it is sorted
    timed: bool = False  # a time, which `Row.timing_mark` may qualify

    def shown(self, item: Item, whole: Whole, fields: Mapping[str, Any]) -> str:
        """What every view shows of a line, whose fields are those of `row_fields` or `method_fields`."""
        if self.text is not None:
            return self.text(item, whole)
        value = fields[self.fields[0]]
        return (value if isinstance(value, str) else self.form(value)) or display.NONE

    def heading(self, report: Report) -> str:
        """The heading in one line."""
        return display.line(self.header.format(baseline=report.baseline))


def row_fields(row: Row, board: Board) -> dict[str, Any]:
    """All that is exported of a row, and what columns are sorted by."""
    return vars(row) | {
        "dataset": board.dataset,
        "setting": board.setting,
        "positive": ", ".join(board.facts.positive),
        "target": board.target,
        "procedure": board.procedure,
        "baseline": board.baseline_reason or board.baseline,
        **_bounds(board.measure.name, row.auc, "mean"),
        f"{board.measure.name}_std": row.std,
        f"{board.measure.name}_width": row.auc.high - row.auc.low,
        **{f"{name}_mean": own.mean for name, own in row.others.items()},
        **{f"{name}_std": own.std for name, own in row.others.items()},
        **_bounds("gain", row.gain, "mean"),
        **_suboptimality_fields(row.suboptimality),
        "net_wins": row.wins - row.losses if row.wins + row.ties + row.losses else math.nan,
    }


def _suboptimality_fields(own: Suboptimality | None) -> dict[str, Any]:
    """Costs are inf where a target was not reached within the budget."""
    if own is None:
        return {}
    fields = {"suboptimality": own.final, "objective": own.objective, "suboptimality_reason": own.reason}
    fields |= {"objective_minimum": own.minimum, "objective_gap": own.gap}
    fields |= {"budget_passes": own.budget_passes, "budget_seconds": own.budget_seconds}
    for name, costs in (("passes", own.passes), ("seconds", own.seconds)):
        fields |= {f"{name}_to_{target:.0e}": cost for target, cost in zip(TARGETS, costs, strict=False)}
    return fields


def method_fields(method: str, overall: Overall) -> dict[str, Any]:
    """All that is exported of a method over all boards, and what columns are sorted by."""
    wins, ties, losses = (each.get(method, 0) for each in (overall.wins, overall.ties, overall.losses))
    cost = overall.costs.get(method)
    return {
        "method": method,
        **_bounds("rank", overall.ranks.get(method), ""),
        "rank_with_gaps": overall.ranks_with_gaps.get(method, _UNKNOWN).value,
        "gaps": ", ".join(overall.incomplete.get(method, [])),
        "groups": overall.groups.get(method, ""),
        "wins": wins,
        "ties": ties,
        "losses": losses,
        "baseline": overall.baseline_reason or overall.baseline,
        **_bounds("gain", overall.gains.get(method), "mean"),
        "gain_boards": overall.gain_boards.get(method, 0),
        "on_front": cost is not None and cost.on_front,
        "procedure": overall.procedure,
    }


_UNKNOWN = Estimate(math.nan)


def _bounds(name: str, value: Estimate | None, centre: str) -> dict[str, float]:
    value = value or _UNKNOWN
    return {f"{name}_{centre}".rstrip("_"): value.value, f"{name}_low": value.low, f"{name}_high": value.high}


def _no_spread(row: Row, board: Board) -> str:
    return {0: NO_RUN, 1: "one run has no spread"}.get(row.runs, "not computed")


def _no_group(row: Row, board: Board) -> str:
    return NO_RUN if math.isnan(row.auc.value) else "not compared with others"


def _no_tie(row: Row, board: Board) -> str:
    lead = leaders.leader(board)
    return f"significantly worse than {lead.method}" if lead and row.groups else _no_group(row, board)


def _no_gain(row: Row, board: Board) -> str:
    return board.baseline_reason or display.trouble(row) or "no run in common with the baseline"


def _no_target(row: Row, board: Board) -> str:
    return "this board has no target" if math.isnan(board.target) else "no run reached the target"


def _no_tuning(row: Row, board: Board) -> str:
    return "not recorded" if board.tuned else "nothing was tuned"


def not_recorded(item: Any, whole: Any) -> str:
    """Why older records have nothing."""
    return "not recorded"


# As they are for the AUC; `row_columns` has them for the measure of a report.
ROW_COLUMNS: tuple[Column[Row, Board], ...] = (
    Column("data", "Data set", "Data set of the board", ("dataset",), left=True),
    Column("method", "Method",
        "Name of the method; parameters in brackets distinguish variants of one method",
        ("method", "algorithm", "linear", "exempt"), left=True, usual=True),
    Column("rank", "Rank", "By mean test AUC on this board; 1 is best, ties share the mean", ("rank",),
        form=display.rank, reason=lambda row, _: f"no rank: {display.trouble(row) or NO_RUN}", usual=True),
    Column("auc", "Test AUC", "Mean test AUC over the runs, and their standard deviation",
        ("auc_mean", "auc_std", "advice"), lambda row, _: display.auc(row), usual=True, descending=True),
    Column("interval", "95 % interval", "Confidence interval of the mean test AUC; sorts by its width",
        ("auc_low", "auc_high"), lambda row, _: display.interval(row.auc), reason=_no_spread,
        order="auc_width", usual=True),
    Column("groups", leaders.TIED, "Not significantly different from the best; the test is named below",
        ("groups",), leaders.board_tie, reason=_no_tie, usual=True, left=True),
    Column("wtl", "W/T/L",
        "Wins, ties and losses against the other methods of the board, by the test named below",
        ("wins", "ties", "losses"), lambda row, _: display.outcomes(row.wins, row.ties, row.losses),
        reason=_no_group, order="net_wins", usual=True, descending=True),
    Column("gain", "Gain over {baseline}",
        "Mean difference of the AUCs of the same runs, method - {baseline}, with its corrected 95 % interval",
        ("gain_mean", "gain_low", "gain_high", "baseline"), lambda row, board: display.row_gain(row, board),
        reason=_no_gain, usual=True, descending=True),
    Column("train", "Training s", "Mean training time of a run in seconds",
        ("train_seconds", "timing_mark", "on_front"), usual=True, timed=True),
    Column("calibrated", "Calibrated, M nonzeros",
        "Mean training time in millions of non-zeros that the bare dot and axpy of the machine that ran it "
        "would have gone through; compares times of several machines",
        ("calibrated",), reason=lambda row, _: NO_SPEED if row.runs else NO_RUN),
    Column("ns", "ns/iteration", "Mean training time of one iteration in nanoseconds", ("ns_per_iteration",),
        usual=True, timed=True),
    Column("bytes", "State", "Memory that the method keeps between iterations", ("state_bytes",),
        form=display.size, reason=not_recorded),
    Column("tsam", "Target samples", "Median number of samples until the target AUC of the board",
        ("target_samples",), reason=_no_target),
    Column("tshare", "Reached", "Share of the runs that reached the target AUC", ("target_share",),
        form=display.percent, reason=_no_target, descending=True),
    Column("asam", "Anytime, samples", "Area under the AUC curve against log samples, from 0 to 1",
        ("anytime_samples",), form=display.mean, reason=not_recorded, descending=True),
    Column("asec", "Anytime, seconds", "Area under the AUC curve against log seconds, from 0 to 1",
        ("anytime_seconds",), form=display.mean, reason=not_recorded, descending=True, timed=True),
    Column("csec", "Tuning s", "Mean time of the tuning of a run in seconds", ("tuning_seconds",),
        reason=_no_tuning, timed=True),
    Column("cpass", "Tuning passes", "Mean number of passes over the training data that the tuning took",
        ("tuning_passes",), reason=_no_tuning),
    Column("runs", "Runs", "Finished runs, and what became of the others",
        ("runs", "diverged", "failed", "missing", "unplanned", "unconverged"),
        lambda row, _: display.runs(row), usual=True, descending=True),
    Column("reported", "Reported",
        "Self-reported, replicated on so many machines with the same AUC, or confirmed by its author",
        ("reported",), left=True, reason=not_recorded),
    Column("tsec", "Target s", "Median training seconds until the target AUC of the board",
        ("target_seconds", "target"), reason=_no_target, usual=True, timed=True),
    Column("chosen", "Chosen", "Values that the tunings of the runs chose", ("chosen",), reason=_no_tuning,
        left=True),
    Column("edges", "Edges", "Chosen values at an edge of the values tried: the optimum may lie beyond",
        ("edges",), reason=lambda row, board: "none" if row.chosen else _no_tuning(row, board), left=True),
    Column("parameters", "Parameters", "Hyperparameters, loss and feature map of the method", ("parameters",),
        reason=not_recorded, left=True),
    Column("command", "Command", "The command that runs it again", ("command",), reason=not_recorded,
        left=True),
    Column("setting", "Setting", "Settings shared by all methods of the board",
        ("setting", "procedure", "positive"), left=True),
)  # fmt: skip


def _no_suboptimality(row: Row, board: Board) -> str:
    if row.suboptimality is None:
        return "the objective was not measured" if row.runs else NO_RUN
    return row.suboptimality.reason or NO_RUN


def _to_target(name: str, target: int) -> Column[Row, Board]:
    def text(row: Row, board: Board) -> str:
        own = row.suboptimality
        costs = getattr(own, name) if own else ()
        return display.cost(costs[target], getattr(own, f"budget_{name}")) if costs else display.NONE

    near = f"{TARGETS[target]:.0e}".replace("e-0", "e-")
    field = f"{name}_to_{TARGETS[target]:.0e}"
    hint = f"Median {'training ' * (name == 'seconds')}{name} until a relative suboptimality of {near}"
    return Column(
        f"{name}-{near}", f"{name.capitalize()} to {near}", f"{hint}; > is followed by the whole budget",
        (field, f"budget_{name}") if target == 0 else (field,), text, reason=_no_suboptimality, usual=True,
        timed=name == "seconds",
    )  # fmt: skip


SUBOPTIMALITY_COLUMNS: tuple[Column[Row, Board], ...] = (
    Column("suboptimality", "Suboptimality",
        "Mean relative suboptimality at the end of training: (objective - minimum) / minimum",
        ("suboptimality", "objective", "objective_minimum", "objective_gap", "suboptimality_reason"),
        lambda row, _: display.formatted(row.suboptimality.final if row.suboptimality else math.nan, ".1e"),
        reason=_no_suboptimality, usual=True),
    *(_to_target(name, target) for name in ("passes", "seconds") for target in range(len(TARGETS))),
)  # fmt: skip


def row_columns(report: Report) -> tuple[Column[Row, Board], ...]:
    """The columns of boards in the words of the measure that ranks them, and those of the other measures.

    Where the objective was measured there are columns of the suboptimality.
    """
    named = [of_measure(column, report) for column in ROW_COLUMNS]
    wanted = {
        "calibrated": any(board.several_machines for board in report.boards),
        "reported": any(
            row.reported not in ("", SELF_REPORTED) or board.several_machines
            for board in report.boards
            for row in board.rows
        ),
    }
    named = [replace(each, usual=wanted.get(each.key, each.usual)) for each in named]
    at = 1 + next(at for at, column in enumerate(named) if column.key == "interval")
    last = 1 + next(at for at, column in enumerate(named) if column.key == "tsec")
    own = SUBOPTIMALITY_COLUMNS if report.has_suboptimality else ()
    return (*named[:at], *map(_other, report.others), *named[at:last], *own, *named[last:])


def of_measure(column: Column[Item, Whole], report: Report) -> Column[Item, Whole]:
    """A column in the words of the measure that a report ranks by, which are those of the AUC by default."""
    measure = report.measure
    if measure == RANKED_BY:
        return column

    def field(name: str) -> str:
        return f"{measure.name}_{name.removeprefix('auc_')}" if name.startswith("auc_") else name

    return replace(
        column,
        header=column.header.replace("AUC", measure.symbol),
        hint=column.hint.replace("AUC", measure.title),
        fields=tuple(map(field, column.fields)),
        order=field(column.order),
    )


def _other(measure: MeasureText) -> Column[Row, Board]:
    def text(row: Row, board: Board) -> str:
        own = row.others.get(measure.name)
        return display.with_std(own.mean, own.std) if own else display.NONE

    return Column(
        f"measure-{measure.name}", f"Test {measure.symbol}",
        f"Mean test {measure.title} over the runs, and their standard deviation",
        (f"{measure.name}_mean", f"{measure.name}_std"), text,
        reason=lambda row, _: "not measured in all finished runs" if row.runs else NO_RUN, usual=True,
        descending=True,
    )  # fmt: skip


def _no_rank(method: str, overall: Overall) -> str:
    gaps = overall.incomplete.get(method)
    return f"gaps on {', '.join(gaps)}" if gaps else "no board is complete for it"


def _outcomes(method: str, overall: Overall) -> str:
    return display.outcomes(*(each.get(method, 0) for each in (overall.wins, overall.ties, overall.losses)))


METHOD_COLUMNS: tuple[Column[str, Overall], ...] = (
    Column("method", "Method", "", ("method",), left=True, usual=True),
    Column("rank", "Mean rank", "Over the data sets on which every ranked method has all runs; 1 is best",
        ("rank",), form=display.two_decimals, reason=_no_rank, usual=True),
    Column("interval", "95 % interval", "Bootstrapped over data sets and runs", ("rank_low", "rank_high"),
        lambda method, overall: display.interval(overall.ranks.get(method, _UNKNOWN), 2), reason=_no_rank,
        usual=True),
    Column("groups", leaders.TIED, "Not significantly different from the best; the test is named below",
        ("groups",), leaders.overall_tie, reason=leaders.overall_no_tie, left=True, usual=True),
    Column("wtl", "W/T/L", "Wins, ties and losses summed over the data sets", ("wins", "ties", "losses"),
        _outcomes, reason=lambda method, _: "not compared with others", usual=True),
    Column("gain", "Mean gain over {baseline}",
        "Mean over the data sets, with its 95 % interval over the data sets",
        ("gain_mean", "gain_low", "gain_high", "baseline", "gain_boards", "on_front", "procedure"),
        lambda method, overall: display.overall_gain(overall, method),
        reason=lambda method, _: "no data set on which neither has gaps", usual=True),
    Column("gapped", "Rank on available data sets", "Mean over the data sets that the method has",
        ("rank_with_gaps",), form=display.two_decimals,
        reason=lambda method, _: "it has all runs on no data set", usual=True),
    Column("missing", "Missing data sets", "Data sets on which the method has no or not all runs", ("gaps",),
        lambda method, overall: str(len(overall.incomplete.get(method, ())) or display.NONE),
        reason=lambda method, _: "none"),
)  # fmt: skip


class TextTable(NamedTuple):
    """A table as text: headings, whether each column is aligned to the left, and lines."""

    head: list[str]
    left: list[bool]
    lines: list[list[str]]


def board_table(report: Report, board: Board, keys: Sequence[str] = ()) -> TextTable:
    """The rows of a board, in the usual columns or those of the given keys.

    † marks times that do not compare, ° models that are not linear, * exemptions.
    """
    columns = _chosen(row_columns(report), keys, board)
    lines = []
    for row in board.rows:
        fields = row_fields(row, board)
        lines.append([_marked(column, row, column.shown(row, board, fields)) for column in columns])
    return _table(report, columns, lines)


def overall_table(report: Report, overall: Overall, keys: Sequence[str] = ()) -> TextTable:
    """The methods over all boards of a group, in the usual columns or those of the given keys."""
    columns = _chosen(METHOD_COLUMNS, keys, overall)
    lines = []
    for method in overall.methods:
        fields = method_fields(method, overall)
        lines.append([column.shown(method, overall, fields) for column in columns])
    return _table(report, columns, lines)


def _chosen(
    columns: Sequence[Column[Any, Any]], keys: Sequence[str], whole: Board | Overall
) -> list[Column[Any, Any]]:
    """The usual columns, or those of the given keys; there are no gains without a baseline."""
    found = [column for column in columns if (column.key in keys if keys else column.usual)]
    return [column for column in found if column.key != "gain" or whole.baseline]


def _table(report: Report, columns: Sequence[Column[Any, Any]], lines: list[list[str]]) -> TextTable:
    return TextTable(
        [column.heading(report) for column in columns],
        [column.left for column in columns],
        [[display.line(text) for text in line] for line in lines],
    )


def _marked(column: Column[Row, Board], row: Row, text: str) -> str:
    if column.timed and row.timing_mark and text != display.NONE:
        return text + "†"
    if column.key != "method":
        return text
    return f"{text}{'' if row.linear else '°'}{'*' if row.exempt else ''}"
