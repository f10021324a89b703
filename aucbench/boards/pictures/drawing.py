"""All pictures of a report, written in three formats with their sentences."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aucbench.boards.documents import plain
from aucbench.boards.pictures import across, boards
from aucbench.boards.pictures.styling import look, styles, wrapped
from aucbench.boards.report import Report

FORMATS = ("png", "svg", "pdf")
CAPTIONS = "pictures.md"  # the sentences once more, as text


def draw_all(report: Report, folder: Path, formats: tuple[str, ...] = FORMATS) -> list[Path]:
    """Draw and write every picture that the report has numbers for; returns the files.

    Parameters
    ----------
    report : Report
        What is drawn.
    folder : Path
        Made where there is none.
    formats : tuple of str
        Among ``png``, ``svg`` and ``pdf``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    captions: list[str] = []
    taken: set[str] = set()
    with look():
        for title, figure, sentence in _pictures(report):
            name = _file_name(title, taken)
            captions.append(f"- `{name}` ({plain(title)}): {plain(sentence)}")
            figure.supxlabel(wrapped(sentence, figure.get_figwidth()), fontsize="x-small", color="0.25")
            for form in formats:
                file = folder / f"{name}.{form}"
                figure.savefig(file, dpi=150, metadata={"Date": None} if form == "svg" else None)
                files.append(file)
    (folder / CAPTIONS).write_text("\n".join(captions) + "\n", encoding="utf-8")
    return [*files, folder / CAPTIONS]


def _pictures(report: Report) -> Iterator[tuple[str, Any, str]]:
    style = styles(report)
    for overall in report.overall:
        if overall.boards < 2:
            continue
        kind = "tuned" if overall.tuned else "untuned"
        for name, picture in (
            ("ranks", across.ranks(overall, style)),
            ("gains", across.gains(overall, style, report.baseline)),
            ("critical-difference", across.critical_difference(overall, style)),
            ("profile", across.profile(overall, style)),
            ("tests", across.tests(overall)),
        ):
            if picture is not None:
                yield f"{name}-{kind}", *picture
    for board in report.boards:
        where = f"{board.number}-{board.dataset}"
        for name, picture in (
            ("auc-samples", boards.curves(board, style, "samples")),
            ("auc-seconds", boards.curves(board, style, "seconds")),
            ("auc-cost", boards.pareto(board, style)),
            ("runs", boards.runs(board, style)),
            ("tests", boards.tests(board)),
        ):
            if picture is not None:
                yield f"{where}-{name}", *picture
        for name, picture in boards.sensitivity(board, style):
            yield f"{where}-sensitivity-{name}", *picture


def _file_name(title: str, taken: set[str]) -> str:
    """A name that every file system takes, and no other picture has."""
    plain = re.sub(r"[^A-Za-z0-9.=_-]+", "-", title).strip("-.")[:100] or "picture"
    name, number = plain, 2
    while name.lower() in taken:
        name, number = f"{plain}-{number}", number + 1
    taken.add(name.lower())
    return name
