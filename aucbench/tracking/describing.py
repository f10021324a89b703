"""The description of a run, in Markdown: who proposed the method, what its curve shows, how to repeat it."""

import shlex

from aucbench.studies.plugin_metadata import citation, plugin
from aucbench.studies.rerun_command import words
from aucbench.studies.result import FinishedEntry, diverged_in_words

LIMIT = 7500  # characters; MLflow keeps 8,000
LABELS = 200  # characters of the list of positive labels


def note(entry: FinishedEntry) -> str:
    """What stands above the charts of a run."""
    record = entry.record
    method, data = record.algorithm.name, record.dataset.name
    parts = [f"**{method}** on **{entry.title}**", *_method(method), *_data(entry, data), *_curve(entry)]
    seeds = [cell.record.seeds for cell in entry.cells]
    command = shlex.join(["aucbench", *words(record, seeds, entry.study)])
    text = "\n\n".join(parts)[:LIMIT]
    again = f"Run it again:\n\n    {command}"
    return f"{text}\n\n{again}" if len(text) + len(again) < LIMIT else text


def _method(name: str) -> list[str]:
    cls = plugin("algo", name)
    parts = []
    cited = citation("algo", name)
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


def _data(entry: FinishedEntry, name: str) -> list[str]:
    facts = entry.record.data
    cited = citation("dataset", name)
    positive = ", ".join(facts.positive)[:LABELS]
    size = (
        f"Data: {facts.train_rows:,} training rows ({facts.train_positives:,} positive), "
        f"{facts.test_rows:,} test rows, {facts.features:,} features."
    ) + (f" Positive: {positive}." if positive else "")
    return [f"{size} {cited}" if cited else size]


def _curve(entry: FinishedEntry) -> list[str]:
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
    if entry.failures or entry.missing:
        parts.append(f"Incomplete: {len(entry.failures)} runs failed, {entry.missing} have not been run.")
    return parts
