"""The description of a run, in Markdown: who proposed the method, what its curve shows, how to repeat it."""

import shlex

from aucbench.result import diverged_in_words
from aucbench.tracking import installed
from aucbench.tracking.commanding import words
from aucbench.tracking.content import LoggedEntry

LIMIT = 7500  # characters; MLflow keeps 8,000
LABELS = 200  # characters of the list of positive labels


def note(entry: LoggedEntry) -> str:
    """What stands above the charts of a run."""
    record = entry.record
    method, data = record["algorithm"]["name"], record["dataset"]["name"]
    parts = [f"**{method}** on **{entry.title}**", *_method(method), *_data(entry, data), *_curve(entry)]
    command = shlex.join(["aucbench", *words(entry)])
    text = "\n\n".join(parts)[:LIMIT]
    again = f"Run it again:\n\n    {command}"
    return f"{text}\n\n{again}" if len(text) + len(again) < LIMIT else text


def _method(name: str) -> list[str]:
    cls = installed.plugin("algo", name)
    parts = []
    cited = installed.citation("algo", name)
    if cited:
        parts.append(f"Method: {cited}")
    claims = getattr(cls, "claims", None)
    if claims:
        parts.append(f"Claims: convergence rate {claims.rate}, cost per iteration {claims.cost}.")
    deviations = getattr(cls, "deviations", ())
    if deviations:
        listed = (deviations,) if isinstance(deviations, str) else deviations
        parts.append("Where we differ:\n\n" + "\n".join(f"- {sentence}" for sentence in listed))
    return parts


def _data(entry: LoggedEntry, name: str) -> list[str]:
    facts = entry.record["data"]
    cited = installed.citation("dataset", name)
    positive = ", ".join(facts.get("positive", ()))[:LABELS]
    size = (
        f"Data: {facts['train_rows']:,} training rows ({facts['train_positives']:,} positive), "
        f"{facts['test_rows']:,} test rows, {facts['features']:,} features."
    ) + (f" Positive: {positive}." if positive else "")
    return [f"{size} {cited}" if cited else size]


def _curve(entry: LoggedEntry) -> list[str]:
    runs = len(entry.cells)
    mean = (
        f"the mean of {runs} runs; `test/auc_std` is their standard deviation" if runs > 1 else "of one run"
    )
    parts = [
        f"`test/auc` is the exact AUC on the test rows at log-spaced checkpoints, {mean}. Steps are "
        "iterations. Choose the relative time axis to see it against training time: the clock runs while "
        "the method trains and stops while it is measured. `cost/train_seconds` is that time, exactly."
    ]
    if diverged := diverged_in_words(entry.cells):
        parts.append(f"The method {diverged}: there is no final AUC, and the curve ends before that.")
    if entry.failed or entry.missing:
        parts.append(f"Incomplete: {entry.failed} runs failed, {entry.missing} have not been run.")
    return parts
