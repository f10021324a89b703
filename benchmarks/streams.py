"""`aucbench.river.AUCClassifier` beside river's logistic regression, on the rows of river's Phishing data.

The models go on from round to round, as on a stream without an end: the warm-up is not in the figures.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
from river import datasets, linear_model

from aucbench.river import AUCClassifier
from benchmarks.measuring import Measure, alternate

REPEATS = 8
FRAMES = (32, 100, 1000)  # rows of a frame
WANTED = {32: 5.0, 100: 5.0, 1000: 1.0}  # beside one step of river for the whole frame
WANTED_BY_ROWS = {32: 2.0, 100: 4.0, 1000: 10.0}  # beside one step of river for each row


def _learn(model: Any, rows: list[Any]) -> None:
    for x, y in rows:
        model.learn_one(x, y)


def _predict_and_learn(model: Any, rows: list[Any]) -> None:
    for x, y in rows:
        model.predict_proba_one(x)
        model.learn_one(x, y)


def _learn_frames(model: Any, frames: list[Any]) -> None:
    for X, y in frames:
        model.learn_many(X, y)


def _microseconds(loop: Callable[[Any, list[Any]], None], data: list[Any], **keywords: Any) -> list[float]:
    """Microseconds for a row or a frame, ours first."""
    ours, theirs = AUCClassifier("solam", **keywords), linear_model.LogisticRegression()
    times = alternate(lambda: loop(ours, data), lambda: loop(theirs, data))
    return [1e6 * seconds / len(data) for seconds in times]


def _microseconds_by_rows(frames: list[Any], rows: list[Any]) -> list[float]:
    """Microseconds for a row, our frames first: both sides take a gradient step for each row."""
    ours, theirs = AUCClassifier("solam"), linear_model.LogisticRegression()
    times = alternate(lambda: _learn_frames(ours, frames), lambda: _learn(theirs, rows))
    return [1e6 * seconds / len(rows) for seconds in times]


def streams() -> Iterator[Measure]:
    """Rows and frames of nine features."""
    rows = list(datasets.Phishing()) * REPEATS
    ours, theirs = _microseconds(_learn, rows)
    note = f"{ours:.1f} against {theirs:.1f} us a row"
    yield Measure("learn_one of solam, times as fast as river's", theirs / ours, 1.0, note=note)
    for chunk, limit in ((1, 6.0), (32, 1.5)):
        ours, theirs = _microseconds(_predict_and_learn, rows, chunk=chunk)
        note, name = (
            f"{ours:.1f} against {theirs:.1f} us a row",
            f"predict_proba_one and learn_one, chunk={chunk}",
        )
        yield Measure(f"{name}, times river's time", ours / theirs, limit, at_most=True, note=note)
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([y for _, y in rows])
    for size in FRAMES:
        frames = [(X[start : start + size], y[start : start + size]) for start in range(0, len(y), size)]
        ours, theirs = _microseconds(_learn_frames, frames)
        note = f"{ours:.0f} against {theirs:.0f} us a frame"
        yield Measure(
            f"learn_many, {size} rows, times as fast as river's", theirs / ours, WANTED[size], note=note
        )
        name = f"learn_many, {size} rows, times as fast as river's learn_one"
        ours, theirs = _microseconds_by_rows(frames, rows)
        note = f"{ours:.2f} against {theirs:.2f} us a row"
        yield Measure(name, theirs / ours, WANTED_BY_ROWS[size], note=note)


MEASURES = {"streams": streams}
