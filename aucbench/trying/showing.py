"""A trial in the terminal or in a pipe: a picture for each data set, a table, the verdict."""

import os
import textwrap
from typing import TextIO

import numpy as np

from aucbench.trying.contest import BATCH, STOCHASTIC, TUNED, Contest
from aucbench.trying.drawing import WIDTH, Series, draw, shortened
from aucbench.trying.verdict import verdict

MARKS = {"solam": ("s", 34, (4, 6)), "fsauc": ("f", 35, (2, 4)), "psam": ("p", 32, (1, 3))}
OWN, OWN_DEFAULT, LEVEL = ("*", 31, (1, 1)), ("o", 33, (3, 4)), ("-", 36, (1, 6))
NAME = 20  # columns of a method's name
PROBE = "⣿│"


def show(contest: Contest, out: TextIO) -> None:
    """Print it; in colours on a terminal, with letters where the output's encoding knows no braille."""
    colours = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    braille = _knows(out, PROBE)
    for dataset in contest.datasets:
        lines = draw(series(contest, dataset), braille=braille, colours=colours)
        if lines:
            print(f"test AUC on {dataset}", file=out)
            print("\n".join(lines), file=out)
            print(file=out)
    print("\n".join(table(contest)), file=out)
    print(file=out)
    for sentence in verdict(contest):
        if not _knows(out, sentence):
            sentence = sentence.encode("ascii", "replace").decode()
        print(textwrap.fill(sentence, WIDTH, subsequent_indent="  ", break_long_words=False), file=out)


def series(contest: Contest, dataset: str) -> list[Series]:
    """The curves of a data set; the tried method first, the optimum as a level."""
    styles = {
        contest.name + TUNED: OWN,
        contest.name: OWN if contest.own(dataset) is contest.at(contest.name, dataset) else OWN_DEFAULT,
    }
    found: list[Series] = []
    for label in (contest.name + TUNED, contest.name, *STOCHASTIC):
        standing = contest.at(label, dataset)
        if standing is None or (label in STOCHASTIC and label in [each.label for each in found]):
            continue
        samples, auc = standing.curve
        if len(samples):
            mark, colour, dash = styles.get(label) or MARKS[label]
            found.append(Series(label, samples, auc, mark, colour, dash))
    optimum = contest.level(dataset)
    if optimum is not None and np.isfinite(optimum.auc):
        mark, colour, dash = LEVEL
        found.append(Series(optimum.label, np.empty(0), np.array([optimum.auc]), mark, colour, dash))
    return found


def table(contest: Contest) -> list[str]:
    """Mean test AUC and nanoseconds per iteration of all methods, in 80 columns."""
    lines = [" " * NAME + "".join(f"{dataset[:19]:>20}" for dataset in contest.datasets)]
    lines.append(f"{'method':<{NAME}}" + f"{'AUC':>9}{'ns/iter':>11}" * len(contest.datasets))
    for label in contest.labels:
        line = f"{shortened(label, NAME - 1):<{NAME}}"
        for dataset in contest.datasets:
            standing = contest.standings.get((label, dataset))
            if standing is None or not standing.cells:
                failed = "failed" if standing is not None and standing.failed else "-"
                line += f"{failed:>9}{'-':>11}"
                continue
            auc = "diverged" if standing.diverged_at is not None else f"{standing.auc:.4f}"
            line += f"{auc:>9}{_nanoseconds(standing.nanoseconds, label):>11}"
        lines.append(line)
    return lines


def _nanoseconds(value: float, label: str) -> str:
    if label in BATCH:
        return "batch"  # an iteration is a pass over everything
    return f"{value:,.0f}" if value < 1e8 else f"{value:.1e}"


def _knows(out: TextIO, text: str) -> bool:
    try:
        text.encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
