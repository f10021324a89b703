"""A report as text: tables and sentences for the terminal, and Markdown."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aucbench.humanize import counted
from aucbench.reports.answer import answer
from aucbench.reports.columns import DATA_SETS, RESULTS, VERDICTS, Column, line
from aucbench.reports.labels import SELF_REPORTED
from aucbench.reports.report import Report

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

WIDTH = 200  # width of output to a pipe
FRAME = 3  # characters around the text of a column
SHORTEST = 12  # least width of folded names in characters
MARKUP = "\\|*_<>`[]#~$&"
OVERALL = (
    "method", "class_of_model", "gain", "verdict", "more_families", "time_ratio", "mean", "worse", "same",
    "better", "gaps", "own_setting",
)  # fmt: skip
BRIEF = ("method", "class_of_model", "gain", "verdict", "time_ratio", "mean", "own_setting")
ON_DATA = (
    "method", "class_of_model", "mean", "suboptimality", "gain", "verdict", "train_seconds",
    "ns_per_iteration", "target_seconds", "runs", "gaps", "own_setting", "reported",
)  # fmt: skip
BRIEF_ON_DATA = ("method", "class_of_model", "mean", "gain", "verdict", "gaps", "own_setting")
OPTIONAL = {  # columns that are shown only if they have a value
    "class_of_model", "suboptimality", "gain", "verdict", "more_families", "worse", "same", "better", "gaps",
    "own_setting", "reported",
}  # fmt: skip


class TextTable(NamedTuple):
    """A table as text: headings, whether each column is aligned to the left, and lines."""

    head: list[str]
    left: list[bool]
    lines: list[list[str]]


def text_table(
    frame: "pd.DataFrame", columns: Iterable[Column], measure: str = "AUC", reference: str = ""
) -> TextTable:
    """The lines of a frame, formatted by its columns."""
    chosen = list(columns)
    fill = {"measure": measure, "reference": reference or "the reference"}
    return TextTable(
        [column.heading.format(**fill) for column in chosen],
        [column.is_text for column in chosen],
        [[column.shown(row) for column in chosen] for row in frame.to_dict("records")],
    )


def board_table(report: Report, setting: str, data_set: str = "", brief: bool = False) -> TextTable:
    """The methods over all data sets of a setting, the best gain first, or on one, the best mean first.

    On one data set, methods with gaps come last. A `brief` table has fewer columns.
    """
    if data_set:
        frame = results_on(report, setting, data_set)
        formats, names = RESULTS, list(BRIEF_ON_DATA if brief else ON_DATA)
    else:
        settings = report.part("methods", setting).set_index("method")["own_setting"]
        frame = report.over_all(setting).assign(own_setting=lambda rows: rows["method"].map(settings))
        formats, names = VERDICTS, list(BRIEF if brief else OVERALL)
    columns = [formats[name] for name in names if _is_shown(frame, name)]
    return text_table(frame, columns, report.measure.symbol, report.references[setting])


def _is_shown(frame: "pd.DataFrame", name: str) -> bool:
    """Whether a column is shown: always, unless it is optional and has no value or one class of model."""
    if name not in OPTIONAL or name not in frame:
        return name in frame
    nothing = {0, ""} if name == "gaps" else {"", SELF_REPORTED}
    return len(set(frame[name].dropna()) - nothing) > (name == "class_of_model")


def results_on(report: Report, setting: str, data_set: str) -> "pd.DataFrame":
    """The results on one data set with the gains over the reference."""
    rows = report.part("results", setting, data_set)
    gains = report.part("gains", setting, data_set)
    gains = gains.rename(columns={"low": "gain_low", "high": "gain_high"})
    rows = rows.merge(gains[["method", "gain", "gain_low", "gain_high", "verdict"]], on="method", how="left")
    rows = rows.assign(verdict=rows["verdict"].fillna(""), whole=rows["gaps"] == "")
    return rows.sort_values(["whole", "mean"], ascending=[False, False], kind="stable").drop(columns="whole")


def marks(report: Report, setting: str, data_set: str) -> list[str]:
    """Remarks on the methods on a data set: timing, exemptions, tuning, divergence."""
    frame = results_on(report, setting, data_set)
    exempt = report.part("methods", setting).set_index("method")["exempt"]
    sentences = []
    for row in frame.to_dict("records"):
        name = row["method"]
        facts = {
            "": row["timing_mark"],
            "was ": row["time_note"],
            "is exempt from some checks of `aucbench check`: ": exempt.get(name, ""),
            "has the parameters ": "" if row["class_of_model"] == "linear" else row["parameters"],
            "chose ": row["chosen"],
            "has ": row["edges"],
            "diverged: ": row["advice"],
            "did not converge in ": counted(row["unconverged"], "run") if row["unconverged"] else "",
        }
        sentences += [f"{name} {prefix}{text}".rstrip(".") + "." for prefix, text in facts.items() if text]
    return sentences


def show(report: Report, data_sets: Sequence[str] = (), notes: bool = False) -> None:
    """Print the answer and methods over all data sets or on each of `data_sets`; and the notes if `notes`."""
    for setting in report.settings:
        names = list(report.part("data_sets", setting)["data_set"])
        selected = [name for name in names if name in data_sets or len(names) == 1]
        for name in selected:
            facts = report.part("data_sets", setting, name).iloc[0]
            title = f"{name}: {facts['setting_text']}"
            show_table(title, board_table(report, setting, name), marks(report, setting, name))
        if len(names) > 1 and not data_sets:
            show_table(f"{len(names)} data sets, {setting}", board_table(report, setting))
        console().print(line(answer(report, setting)))
    console().print(counts(report))
    if notes:
        for note in report.notes:
            console().print(f"  {note}", style="dim")


def show_best(report: Report, most: int = 10) -> None:
    """Print the first `most` methods of a sweep, over its data sets or on its only data set."""
    for setting in report.settings:
        name, *others = report.part("data_sets", setting)["data_set"]
        table = board_table(report, setting, "" if others else name, brief=True)
        scope = f"{1 + len(others)} data sets" if others else name
        title = f"{len(table.lines)} methods on {scope}, {setting}"
        title += f", the first {most}" if len(table.lines) > most else ""
        show_table(title, table._replace(lines=table.lines[:most]), [answer(report, setting)])


def counts(report: Report) -> str:
    """The number of cells of each status, as a sentence."""
    totals = report.counts
    failed = sum(totals.get(name, 0) for name in ("failed", "timeout", "out-of-memory"))
    finished = counted(totals.get("finished", 0), "cell")
    gaps = f"{totals.get('diverged', 0):,} diverged, {failed:,} failed, {totals.get('missing', 0):,} missing"
    return f"{finished} done, {gaps}"


def markdown(report: Report) -> str:
    """The answer, the methods over all data sets, each data set, and the notes."""
    origin = f"aucbench {report.version}, {report.made}, {report.machines}; {counts(report)}."
    blocks = [f"# {plain(report.title)}", plain(origin)]
    for setting in report.settings:
        facts = report.part("data_sets", setting)
        blocks += [f"## {len(facts)} data sets, {plain(setting)}", plain(answer(report, setting))]
        if len(facts) > 1:
            blocks.append(table(board_table(report, setting)))
        chosen = [column for name, column in DATA_SETS.items() if name in facts and facts[name].notna().any()]
        blocks.append(table(text_table(facts, chosen, report.measure.symbol)))
        for name in facts["data_set"]:
            remarks = "\n".join(f"- {plain(text)}" for text in marks(report, setting, name))
            blocks += [f"### {plain(name)}", table(board_table(report, setting, name)), remarks]
    blocks.append("\n".join(f"- {plain(note)}" for note in report.notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def plain(text: str) -> str:
    """Text in one line, escaped for Markdown and its tables."""
    return "".join(f"\\{letter}" if letter in MARKUP else letter for letter in line(text))


def table(content: TextTable) -> str:
    """A table in Markdown: texts to the left, numbers to the right."""
    lines = [[plain(text) for text in row] for row in content.lines]
    rule = ["---" if is_left else "---:" for is_left in content.left]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(map(plain, content.head)), rule, *lines])


def console() -> "Console":
    """The console of tables, as wide as the terminal, or `WIDTH` without a terminal."""
    from rich.console import Console

    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDTH)


def show_table(title: str, content: TextTable, remarks: Iterable[str] = (), is_framed: bool = True) -> None:
    """Print a table with names in the first column, and remarks.

    Columns that do not fit into the width follow in further parts, with the names.
    """
    from rich.table import Table

    options: dict[str, Any] = {} if is_framed else {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0)}
    out = console()
    names, parts = _parts(content, out.width, FRAME if is_framed else 2)
    for number, columns in enumerate(parts):
        view = Table(title=line(title) if title and number == 0 else None, title_justify="left", **options)
        view.add_column(content.head[0], overflow="fold", width=names)
        for at in columns[1:]:
            view.add_column(content.head[at], justify="left" if content.left[at] else "right", no_wrap=True)
        for row in content.lines:
            view.add_row(*(row[at] for at in columns))
        out.print(view)
    for remark in remarks:
        out.print(line(remark))


def _parts(content: TextTable, width: int, frame: int) -> tuple[int, list[list[int]]]:
    """The width of the names, and the columns of each part: names in all, two values in the first."""
    from rich.cells import cell_len

    names, *widths = (
        frame + max(map(cell_len, column)) for column in zip(content.head, *content.lines, strict=True)
    )
    room = width - 1 - max([sum(widths[:2]), *widths])
    names = min(names, max(room, frame + SHORTEST))
    parts, remaining = [[0]], width - 1 - names
    for at, needed in enumerate(widths, 1):
        if needed > remaining and at > 2:
            parts.append([0])
            remaining = width - 1 - names
        parts[-1].append(at)
        remaining -= needed
    return names - frame, parts
