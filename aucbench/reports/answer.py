"""The answer of a report in a sentence or two: the best methods, their gain and their cost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aucbench.contracts import ModelClass
from aucbench.humanize import counted
from aucbench.reports.columns import number, signed
from aucbench.reports.report import FEWEST, Report

if TYPE_CHECKING:
    import pandas as pd

BETTER = ("better", "slightly better")
NOUNS = {
    "linear": "linear method", "kernel": "kernel method", "trees": "tree model",
    "network": "neural network", "other": "other model",
}  # fmt: skip


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names joined as in a sentence: ``a, b and c``; beyond `most` names, a count of the others."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _names_or_count(names: Sequence[str]) -> str:
    """The names, or their number if there are more than three."""
    return listed(names) if len(names) <= 3 else str(len(names))


def answer(report: Report, setting: str) -> str:
    """The answer for one setting of a report: over families, or over the runs of a single data set."""
    reference, best = report.references[setting], _best(report, setting)
    facts = report.part("data_sets", setting)
    if not reference:
        return f"{best} There are no gains: the reference was not run."
    families, is_single = int(facts["family"].nunique()), len(facts) == 1
    ranking = report.ranking(setting)
    judged = ranking[(ranking["method"] != reference) & (ranking["verdict"].fillna("") != "")]
    if not len(judged):
        reason = f" A verdict over data sets needs {FEWEST} families; there are {families}."
        return best + reason * (not is_single and families < FEWEST)
    if not is_single:
        return _verdict(report, setting, judged, f"Over {counted(families, 'family')} of data sets, ")
    text = f"{best} {_verdict(report, setting, judged, 'On this data set, ')}"
    return f"{text} One data set cannot show which method is better in general."


def _verdict(report: Report, setting: str, judged: "pd.DataFrame", scope: str) -> str:
    """A sentence for each class of model that has a verdict."""
    reference = report.references[setting]
    classes = [str(model) for model in ModelClass if (judged["class_of_model"] == model).any()]
    model_class = report.part("methods", setting).set_index("method")["class_of_model"][reference]
    baseline = reference if model_class in classes else f"{reference} ({model_class})"
    texts = [
        _verdicts(judged[judged["class_of_model"] == model], baseline, NOUNS[model], classes != [model_class])
        for model in classes
    ]
    return " ".join([f"{scope}{texts[0]}.", *(f"{text[0].upper()}{text[1:]}." for text in texts[1:])])


def _verdicts(judged: "pd.DataFrame", reference: str, noun: str, with_noun: bool) -> str:
    """The better, equivalent, worse and undecided methods of a class; `with_noun` names the class."""
    parts = []
    better, equal = judged[judged["verdict"].isin(BETTER)], judged[judged["verdict"] == "equivalent"]
    if len(better):
        verb, least = ("is", "") if len(better) == 1 else ("are", "up to ")
        gain = signed(float(better["gain"].max()))
        subject = f"of the {noun}s, " * with_noun + listed(list(better["method"]))
        parts.append(f"{subject} {verb} better than {reference}, by {least}{gain}")
    else:
        parts.append(f"no {noun} is better than {reference}")
    if len(equal):
        timed = equal.dropna(subset=["time_ratio"]).sort_values("time_ratio")
        text = f"{_names_or_count(list(equal['method']))} {'is' if len(equal) == 1 else 'are'} equivalent"
        if len(timed):
            cheapest = "" if len(equal) == 1 else f", and {timed['method'].iloc[0]} is the cheapest of these"
            text += f"{cheapest}, at {number(float(timed['time_ratio'].iloc[0]))} times the training time"
        parts.append(text)
    for verdict, values in (
        ("worse", ("worse", "slightly worse")), ("not worse", ("not worse",)), ("undecided", ("undecided",)),
    ):  # fmt: skip
        if methods := list(judged.loc[judged["verdict"].isin(values), "method"]):
            parts.append(f"{_names_or_count(methods)} {'is' if len(methods) == 1 else 'are'} {verdict}")
    return "; ".join(parts)


def _best(report: Report, setting: str) -> str:
    """The highest mean over families in each class of model, among methods with results on all data sets."""
    table = report.over_all(setting).dropna(subset=["mean"])
    if not len(table):
        return "No run has finished."
    table = table[table["mean_note"] == ""]
    if not len(table):
        return "No method has a result on every data set."
    families = report.part("data_sets", setting)["family"]
    ranked = table.sort_values("mean", ascending=False, kind="stable")
    leaders: list[Any] = list(ranked.groupby("class_of_model", sort=False).head(1).itertuples())
    best, *others = leaders
    data = counted(len(families), "data set")
    if (n_families := families.nunique()) < len(families):
        data += f" of {counted(n_families, 'family')}"
    scope, text = f" over {data}" * (len(families) > 1), best.method
    if others:
        text += f" ({best.class_of_model})"
    clauses = [f"; of the {NOUNS[row.class_of_model]}s, {row.method} has {row.mean:.4f}" for row in others]
    return f"{text} has the highest mean {report.measure.title}{scope}, {best.mean:.4f}{''.join(clauses)}."
