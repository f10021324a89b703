"""The answer of a report in a sentence or two: which method, by how much, at what cost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aucbench.humanize import counted
from aucbench.reports.columns import number, signed
from aucbench.reports.report import FEWEST, Report

if TYPE_CHECKING:
    import pandas as pd

BETTER = ("better", "slightly better")


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names as a sentence has them: ``a, b and c``; a count instead of the rest of many."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def answer(report: Report, setting: str) -> str:
    """What one setting of a report says."""
    reference = report.references[setting]
    facts = report.part("data_sets", setting)
    if not reference:
        return _best(report, setting) + " There are no gains: the reference was not run."
    families = int(facts["family"].nunique())
    if len(facts) == 1:
        return _on_one(report, setting, reference)
    own = report.over_all(setting)
    own = own[own["method"] != reference]
    judged = own[own["verdict"].fillna("") != ""]
    if not len(judged):
        text = _best(report, setting)
        if families >= FEWEST:
            return text
        return f"{text} A verdict over data sets needs {FEWEST} families of them; there are {families}."
    return _verdict(report, setting, judged, reference, families)


def _verdict(report: Report, setting: str, judged: "pd.DataFrame", reference: str, families: int) -> str:
    """Sentences on the linear methods, and on the other models, with a verdict over families."""
    linear = report.part("methods", setting).set_index("method")["linear"]
    is_linear = judged["method"].map(linear).astype(bool)
    text = ""
    if is_linear.any():
        told = _told(judged[is_linear], reference, "linear method")
        text = f"Over {counted(families, 'family')} of data sets, {told}."
    if not is_linear.all():
        others = _told(judged[~is_linear], reference, "" if text else "method")
        text += f" Of the models that are not linear, {others}." if text else f"{others}."
    return text[0].upper() + text[1:]


def _told(own: "pd.DataFrame", reference: str, noun: str) -> str:
    """Which methods are better, equivalent, worse or undecided; with a `noun`, also that none is better."""
    parts = []
    better, equal = own[own["verdict"].isin(BETTER)], own[own["verdict"] == "equivalent"]
    if len(better):
        verb, least = ("is", "") if len(better) == 1 else ("are", "up to ")
        gain = signed(float(better["gain"].max()))
        parts.append(f"{listed(list(better['method']))} {verb} better than {reference}, by {least}{gain}")
    elif noun:
        parts.append(f"no {noun} is better than {reference}")
    if len(equal):
        paid = equal.dropna(subset=["time_ratio"]).sort_values("time_ratio")
        names = listed(list(equal["method"])) if len(equal) == 1 else str(len(equal))
        cheapest = paid.iloc[0] if len(paid) else None
        text = f"{names} {'is' if len(equal) == 1 else 'are'} equivalent"
        if cheapest is not None:
            who = "" if len(equal) == 1 else f", and {cheapest['method']} is the cheapest of these"
            text += f"{who}: {number(float(cheapest['time_ratio']))} times the training time"
        parts.append(text)
    for verdict, words in (("worse", ("worse", "slightly worse")), ("undecided", ("undecided", "not worse"))):
        alike = list(own.loc[own["verdict"].isin(words), "method"])
        if alike:
            who = alike[0] if len(alike) == 1 else str(len(alike))
            parts.append(f"{who} {'is' if len(alike) == 1 else 'are'} {verdict}")
    return "; ".join(parts)


def _on_one(report: Report, setting: str, reference: str) -> str:
    """What the runs on a single data set say."""
    own = report.part("gains", setting)
    text = _best(report, setting)
    if not len(own):
        return text
    told = own[own["verdict"] != ""]
    words = []
    for verdict in dict.fromkeys(told["verdict"]):
        names = list(told.loc[told["verdict"] == verdict, "method"])
        words.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {verdict}")
    against = f" Against {reference}, {'; '.join(words)}." if words else ""
    return f"{text}{against} One data set cannot tell which method is better in general."


def _best(report: Report, setting: str) -> str:
    """The highest mean over the data sets that a method has without gaps."""
    own = report.part("results", setting).query("gaps == ''").dropna(subset=["mean"])
    if not len(own):
        return "No run has finished."
    count = own.groupby("method")["data_set"].nunique()
    means = own[own["method"].map(count) == count.max()].groupby("method")["mean"].mean()
    best, value = means.idxmax(), means.max()
    where = "" if count.max() == 1 else f" over {counted(int(count.max()), 'data set')}"
    return f"{best} has the highest mean {report.measure.title}{where}, {value:.4f}."
