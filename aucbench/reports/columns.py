"""The columns of a report's frames, each described once: its heading, what it means, and its format."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aucbench.humanize import duration, filesize

NONE = "-"


def line(value: Any) -> str:
    """Text in one line, without characters that command a terminal."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)).split())


def text(value: Any) -> str:
    """Text in one line; a dash where there is none."""
    return line(value) or NONE


def fixed(value: float, digits: int = 4) -> str:
    """A number with so many decimals."""
    return f"{value:.{digits}f}"


def signed(value: float) -> str:
    """A difference with its sign and four decimals, never -0.0000."""
    return f"{round(value, 4) + 0.0:+.4f}"


def number(value: float) -> str:
    """A number with three significant digits."""
    return "never" if math.isinf(value) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def nanoseconds(value: float) -> str:
    """A time that is given in nanoseconds."""
    return duration(1e-9 * value)


def percent(share: float) -> str:
    """A share from 0 to 1, with three significant digits."""
    return f"{100 * share:.3g} %"


def whole(value: float) -> str:
    """A count."""
    return f"{value:,.0f}"


def tiny(value: float) -> str:
    """A relative suboptimality."""
    return f"{value:.1e}"


@dataclass(frozen=True)
class Column:
    """A column of a frame as every view shows it.

    Where `bounds` are given the value is shown with its interval, where `spread` is given with its standard
    deviation, with an asterisk where the column `mark` is not empty, and with the text of the column `per`;
    all name columns of the same frame.
    """

    name: str
    heading: str  # {measure} and {reference} stand for the symbol of the measure and for the reference
    hint: str
    form: Callable[[Any], str] = text
    bounds: tuple[str, str] | None = None
    spread: str = ""
    mark: str = ""  # name of a column; an asterisk is added where that is not empty
    per: str = ""  # name of a column; its text follows after a stroke
    descending: bool = False  # the best, or the largest, comes first

    def shown(self, row: Mapping[Any, Any]) -> str:
        """The value of a row in words, with its interval or deviation; a dash where there is none."""
        value = row[self.name]
        if _is_none(value):
            return NONE
        words = self.form(value)
        if self.bounds and not any(_is_none(row[name]) for name in self.bounds):
            low, high = (self.form(row[name]) for name in self.bounds)
            words += f" ({low} to {high})"
        if self.spread and not _is_none(row[self.spread]):
            words += f" ± {self.form(row[self.spread])}"
        per = row.get(self.per)
        return words + "*" * (not _is_none(row.get(self.mark))) + (f"/{per}" if per else "")

    @property
    def is_text(self) -> bool:
        """Whether it is text, which is aligned to the left."""
        return self.form is text


def _is_none(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def described(*columns: Column) -> dict[str, Column]:
    """Columns by their names."""
    return {column.name: column for column in columns}


VERDICTS = described(
    Column("method", "Method", "Label of the method; words in brackets tell variants of one method apart"),
    Column("class_of_model", "Model", "Class of model: linear, kernel, trees, network or other"),
    Column("group", "Data", "The group of data sets"),
    Column("gain", "Gain over {reference}",
        "Mean over families of data sets of the difference in {measure}, method - {reference}, with a 95 % "
        "interval over the families that holds for all methods at once",
        signed, bounds=("low", "high"), descending=True),
    Column("verdict", "Verdict",
        "By the interval and the rope, the region of practical equivalence: better or worse beyond it, "
        "equivalent inside it, slightly better or slightly worse without 0, not worse above its lower end"),
    Column("time_ratio", "Time", "Training time, tuning included, over that of {reference}: geometric mean "
        "over the data sets", number, mark="time_note"),
    Column("mean", "Mean {measure}", "Mean {measure} over families of data sets", fixed, descending=True),
    Column("worse", "Worse", "Share of the families on which it loses more than the rope", percent),
    Column("same", "Same", "Share of the families on which it is within the rope", percent),
    Column("better", "Better", "Share of the families on which it gains more than the rope", percent,
        descending=True),
    Column("median", "Median gain", "Hodges and Lehmann's median of the families' gains", signed,
        descending=True),
    Column("families", "Families", "Families of data sets that the gain is a mean over", whole),
    Column("data_sets", "Data sets", "Data sets that the gain is a mean over", whole),
    Column("gaps", "Gaps", "Data sets left out, since a run diverged, failed or is missing", whole),
    Column("more_families", "Families more", "How many more families would decide, with this mean and spread",
        whole),
    Column("without", "Without one", "What changes when any one family is left out"),
    Column("reference", "Reference", "The method that the gain is relative to"),
    Column("own_setting", "Own setting", "Of scaling, budget and the like, what not all methods share"),
    Column("setting", "Setting", "Methods are compared within one setting"),
)  # fmt: skip

SLOPES = described(
    Column("method", "Method", "Label of the method"),
    Column("covariate", "Property", "Of the data: imbalance (rows of the more frequent class over those of "
        "the rarer), rows, or columns"),
    Column("slope", "Change of the gain", "How the gain over {reference} changes when the property is ten "
        "times as large and the others stay as they are, with its 95 % interval", signed,
        bounds=("low", "high")),
    Column("families", "Families", "Families of data sets that the slope is fitted to", whole),
)  # fmt: skip

VERDICT_COLOURS = {  # on light and on dark background; opposites differ for colour-blind readers, too
    "better": ("#0b57b0", "#7fb4ff"),
    "slightly better": ("#4a86c8", "#a9cdfb"),
    "equivalent": ("#2f6f4f", "#86d1a8"),
    "not worse": ("#5d7a8c", "#a8c3d4"),
    "undecided": ("#767676", "#a8a8a8"),
    "slightly worse": ("#c77a3a", "#f0b27d"),
    "worse": ("#a83a08", "#ff9a63"),
}

RESULTS = described(
    Column("data_set", "Data set", "The data set"),
    Column("method", "Method", "Label of the method; words in brackets tell variants of one method apart"),
    Column("class_of_model", "Model", "Class of model: linear, kernel, trees, network or other"),
    Column("mean", "Test {measure}", "Mean test {measure} over the runs, and their standard deviation", fixed,
        spread="std", descending=True),
    Column("low", "Low", "Lower end of the 95 % interval of the mean {measure}", fixed),
    Column("high", "High", "Upper end of the 95 % interval of the mean {measure}", fixed),
    Column("gain", "Gain over {reference}",
        "Mean difference over the common runs, method - {reference}, with its 95 % interval",
        signed, bounds=("gain_low", "gain_high"), descending=True),
    Column("verdict", "Verdict", "By the interval of the gain and the rope", text),
    Column("train_seconds", "Training", "Mean training time of a run", duration, mark="time_note"),
    Column("ns_per_iteration", "Iteration", "Mean training time of an iteration; /pass marks iterations over "
        "all training rows, such as Newton steps", nanoseconds, mark="time_note", per="iteration"),
    Column("target_seconds", "Time to target", "Median training time until the target {measure}", duration,
        mark="time_note"),
    Column("target_share", "Reached", "Share of the runs that reached the target {measure}", percent,
        descending=True),
    Column("anytime", "Anytime {measure}", "Mean {measure} over the logarithm of the rows seen", fixed,
        descending=True),
    Column("calibrated", "Calibrated, M nonzeros",
        "Mean training time in millions of non-zeros that the bare kernel of the machine would have gone "
        "through; compares times of several machines", number),
    Column("state_bytes", "State", "Memory that the method keeps between iterations", filesize),
    Column("tuning_seconds", "Tuning", "Mean time of the tuning of a run", duration),
    Column("tuning_passes", "Tuning passes", "Mean passes over the training rows of the tuning", number),
    Column("runs", "Runs", "Runs that finished", whole),
    Column("gaps", "Gaps", "What became of the other runs"),
    Column("own_setting", "Own setting", "Of scaling, budget and the like, what not all methods share"),
    Column("suboptimality", "Suboptimality",
        "Mean relative suboptimality at the end: (objective - minimum) / minimum", tiny),
    Column("chosen", "Chosen", "Values that the tunings chose"),
    Column("edges", "Edges", "Chosen values at an edge of the values tried: the optimum may lie beyond"),
    Column("reported", "Reported", "Self-reported, or replicated on other machines"),
    Column("parameters", "Parameters", "Hyperparameters, loss and feature map"),
    Column("command", "Command", "The command that runs it again"),
)  # fmt: skip

DATA_SETS = described(
    Column("data_set", "Data set", "The data set"),
    Column("family", "Family", "Data sets of one origin are a family, and count once"),
    Column("rows", "Rows", "Training and test rows of a run", whole),
    Column("train_rows", "Training rows", "Training rows of a run", whole),
    Column("features", "Columns", "Columns as the methods see them", whole),
    Column("positive_share", "Positives", "Share of positive rows", percent),
    Column("duplicates", "Seen", "Share of the test rows that equal a training row", percent),
    Column("best", "Best {measure}", "The highest mean test {measure} of a method without gaps", fixed),
    Column("target", "Target", "The {measure} of the time to target", fixed),
    Column("licence", "Licence", "Licence of the data"),
    Column("setting_text", "Setting", "What all methods share on the data set"),
)  # fmt: skip
