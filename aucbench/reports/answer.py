"""The answer of a report in a sentence or two: which method, by how much, at what cost."""

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
    """Names as a sentence has them: ``a, b and c``; a count instead of the rest of many."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _few(names: Sequence[str]) -> str:
    """The names, or how many there are of more than three."""
    return listed(names) if len(names) <= 3 else str(len(names))


def answer(report: Report, setting: str) -> str:
    """The answer of one setting of a report: over families of data sets, or over the runs of a single one."""
    reference, best = report.references[setting], _best(report, setting)
    facts = report.part("data_sets", setting)
    if not reference:
        return f"{best} There are no gains: the reference was not run."
    families, is_single = int(facts["family"].nunique()), len(facts) == 1
    own = report.ranking(setting)
    judged = own[(own["method"] != reference) & (own["verdict"].fillna("") != "")]
    if not len(judged):
        few = f" A verdict over data sets needs {FEWEST} families of them; there are {families}."
        return best + few * (not is_single and families < FEWEST)
    if not is_single:
        return _verdict(report, setting, judged, f"Over {counted(families, 'family')} of data sets, ")
    text = f"{best} {_verdict(report, setting, judged, 'On this data set, ')}"
    return f"{text} One data set cannot tell which method is better in general."


def _verdict(report: Report, setting: str, judged: "pd.DataFrame", scope: str) -> str:
    """A sentence for each class of model that has a verdict."""
    reference = report.references[setting]
    classes = [str(model) for model in ModelClass if (judged["class_of_model"] == model).any()]
    home = report.part("methods", setting).set_index("method")["class_of_model"][reference]
    who = reference if home in classes else f"{reference} ({home})"
    texts = [
        _told(judged[judged["class_of_model"] == model], who, NOUNS[model], classes != [home])
        for model in classes
    ]
    return " ".join([f"{scope}{texts[0]}.", *(f"{text[0].upper()}{text[1:]}." for text in texts[1:])])


def _told(own: "pd.DataFrame", reference: str, noun: str, apart: bool) -> str:
    """Which methods of a class are better, equivalent, worse or undecided; `apart` from other classes."""
    parts = []
    better, equal = own[own["verdict"].isin(BETTER)], own[own["verdict"] == "equivalent"]
    if len(better):
        verb, least = ("is", "") if len(better) == 1 else ("are", "up to ")
        gain = signed(float(better["gain"].max()))
        which = f"of the {noun}s, " * apart + listed(list(better["method"]))
        parts.append(f"{which} {verb} better than {reference}, by {least}{gain}")
    else:
        parts.append(f"no {noun} is better than {reference}")
    if len(equal):
        paid = equal.dropna(subset=["time_ratio"]).sort_values("time_ratio")
        text = f"{_few(list(equal['method']))} {'is' if len(equal) == 1 else 'are'} equivalent"
        if len(paid):
            who = "" if len(equal) == 1 else f", and {paid['method'].iloc[0]} is the cheapest of these"
            text += f"{who}: {number(float(paid['time_ratio'].iloc[0]))} times the training time"
        parts.append(text)
    for verdict, words in (
        ("worse", ("worse", "slightly worse")), ("not worse", ("not worse",)), ("undecided", ("undecided",)),
    ):  # fmt: skip
        if alike := list(own.loc[own["verdict"].isin(words), "method"]):
            parts.append(f"{_few(alike)} {'is' if len(alike) == 1 else 'are'} {verdict}")
    return "; ".join(parts)


def _best(report: Report, setting: str) -> str:
    """The highest mean over families, of methods with results on all data sets, in each class of model."""
    own = report.over_all(setting).dropna(subset=["mean"])
    if not len(own):
        return "No run has finished."
    own = own[own["mean_note"] == ""]
    if not len(own):
        return "No method has a result on every data set."
    families = report.part("data_sets", setting)["family"]
    ranked = own.sort_values("mean", ascending=False, kind="stable")
    firsts: list[Any] = list(ranked.groupby("class_of_model", sort=False).head(1).itertuples())
    best, *others = firsts
    data = counted(len(families), "data set")
    if (number := families.nunique()) < len(families):
        data += f" of {counted(number, 'family')}"
    where, who = f" over {data}" * (len(families) > 1), best.method
    if others:
        who += f" ({best.class_of_model})"
    rest = [f"; of the {NOUNS[each.class_of_model]}s, {each.method} has {each.mean:.4f}" for each in others]
    return f"{who} has the highest mean {report.measure.title}{where}, {best.mean:.4f}{''.join(rest)}."
