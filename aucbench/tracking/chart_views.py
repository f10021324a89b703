"""Saved views for MLflow's pages: a table of AUC, cost and divergence, and curves over training time."""

import contextlib
import json
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import quote

from aucbench.errors import TrackingError
from aucbench.humanize import without_secrets
from aucbench.tracking.client import reads
from aucbench.tracking.run_data import CLOCK, ERROR, SAMPLES

DEFAULT_PORT = 5000
VIEW = "mlflow.sharedViewState."  # prefix of the experiment tag in which MLflow stores a shared view
TRAINING = "workflowType=machine_learning"  # otherwise MLflow shows the menu for language models
USUAL, USUAL_NAME = "aucbench", "AUC and cost"  # key and name of the view of every experiment
# Columns of the table. MLflow sorts them by name, and shows about five beside its open side panels.
SHOWN = (CLOCK, "standing/gain", "standing/rank", "test/auc", "test/auc_std")
LINES = (("test/auc", CLOCK), (ERROR, CLOCK), ("test/auc", SAMPLES))  # a metric, and the metric of its x axis
NOTE = "mlflow.note.content"  # the tag that MLflow shows as a description
DESCRIPTION = "Runs of aucbench on one data set."
PAGE = "leaderboard.html"  # file name of a study's leaderboard
COLUMNS, CARD_HEIGHT = 2, 480  # columns of charts on a page, and pixels of a chart
BARS = (CLOCK, "cost/state_bytes")


class View(NamedTuple):
    """The page of one data set."""

    title: str  # title of the data set
    runs: int  # number of runs
    url: str


def experiment_tags(experiment: str) -> dict[str, str]:
    """The tags of an experiment, given its id: a description and a view of its runs.

    MLflow's table shows neither metrics nor tags until a user chooses columns; the saved view chooses them.
    """
    state = _state(None)
    # The menu of views reads `state`; the link in the description reads the other fields.
    view = {key: state[key] for key in ("selectedColumns", "orderByKey", "orderByAsc")}
    view |= {"name": USUAL_NAME, "createdAt": 0, "updatedAt": 0, "state": _compact(state)}
    text = (
        f"{DESCRIPTION} [{USUAL_NAME}](#{_usual(experiment)})\n\n"
        f"The view is also in the menu *Views*. The steps of `test/auc` are iterations; `{CLOCK}` is the "
        f"training time and `{SAMPLES}` the number of rows seen at the same checkpoints. `{ERROR}` is "
        "1 - AUC. A run with the status *failed* diverged, so it has no final AUC."
    )
    return {VIEW + USUAL: _compact(view), NOTE: text}


def _usual(experiment: str) -> str:
    return f"/experiments/{quote(experiment)}/runs?{TRAINING}&viewStateShareKey={USUAL}"


def _compact(value: dict[str, Any]) -> str:
    """JSON without blanks, because MLflow accepts at most 5,000 characters."""
    return json.dumps(value, separators=(",", ":"))


def comparison(uri: str, data_set: str) -> str:
    """The address of MLflow's comparison of runs on a data set; MLflow's address if it does not answer."""
    if uri.startswith("databricks"):
        return uri
    with contextlib.suppress(TrackingError), reads(uri) as connection:
        if experiment := connection.client.get_experiment_by_name(data_set):
            return f"{_host(uri)}/#{_usual(str(experiment.experiment_id))}"
    return _host(uri)


def _host(uri: str) -> str:
    is_server = uri.startswith(("http://", "https://"))
    return uri.rstrip("/") if is_server else f"http://127.0.0.1:{DEFAULT_PORT}"


def with_board(description: str, study: str, experiment: str, run_id: str) -> str:
    """A description whose first line, which MLflow shows unfolded, has one link to the page of a study."""
    address = f"#/experiments/{quote(experiment)}/runs/{run_id}/artifacts/{PAGE}?{TRAINING}"
    if address in description:
        return description
    first, *rest = description.split("\n")
    name = study.replace("[", "(").replace("]", ")")
    return "\n".join([f"{first} [Leaderboard of {name}]({address})", *rest])


def views(uri: str, study: str | None) -> list[View]:
    """A page for each data set with runs of a study, or with any runs.

    The state of a page is stored as a shared view of MLflow: the runs of the study, in charts with the
    training time as their axis.
    """
    state = json.dumps(_state(study), sort_keys=True)
    key = sha256(state.encode()).hexdigest()
    query = f"{TRAINING}&viewStateShareKey={key}&compareRunsMode=CHART"
    pages = []
    with reads(uri) as connection:
        for experiment in connection.client.search_experiments():
            number = experiment.experiment_id
            runs = sum("key" in run.data.tags for run in connection.runs(number, condition(study)))
            if runs:
                connection.client.set_experiment_tag(number, VIEW + key, state)
                url = f"{_host(uri)}/#/experiments/{quote(number)}/runs?{query}"
                pages.append(View(experiment.name, runs, url))
    if not pages:
        subject = f"no run of a study '{study}'" if study else "no run of aucbench"
        raise TrackingError(
            f"{without_secrets(uri)} has {subject} yet: log some by tracking.uri, or by aucbench sync."
        )
    return pages


def condition(study: str | None) -> str:
    """MLflow's search filter for the runs of a study."""
    if study is None:
        return "tags.key != ''"
    # MLflow cannot escape a quote; "_" in LIKE matches any letter.
    return f"tags.study LIKE '{study.replace(chr(39), '_')}'" if "'" in study else f"tags.study = '{study}'"


def _state(study: str | None) -> dict[str, Any]:
    """The state of an MLflow view; MLflow ignores unknown fields."""
    lines = [_line(*pair) for pair in LINES]
    bars = [_card("BAR", name, "cost") for name in BARS]
    return {
        "searchFilter": condition(study),
        "orderByKey": "metrics.`test/auc`",
        "orderByAsc": False,
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "compareRunCharts": lines + bars,
        "compareRunSections": [
            {"uuid": key, "name": name, "display": True, "columns": COLUMNS, "cardHeight": CARD_HEIGHT}
            for key, name in (("auc", "AUC over training time and over rows seen"), ("cost", "Cost"))
        ],
        "globalLineChartConfig": {"xAxisKey": "metric", "selectedXAxisMetricKey": CLOCK, "lineSmoothness": 0},
        "runsHiddenMode": "SHOWALL",
        "selectedColumns": [*(f"metrics.`{name}`" for name in SHOWN), "tags.`verdict`"],
    }


def _line(name: str, over: str) -> dict[str, Any]:
    return _card("LINE", name, "auc", over) | {
        "selectedMetricKeys": [name],
        "xAxisKey": "metric",
        "selectedXAxisMetricKey": over,
        "xAxisScaleType": "linear",  # MLflow supports "log" for steps only
        "scaleType": "log" if name == ERROR else "linear",
        "yAxisKey": "metric",
        "range": {},
        "lineSmoothness": 0,
    }


def _card(kind: str, name: str, section: str, over: str = "") -> dict[str, Any]:
    return {
        "uuid": f"{kind}-{name}-{over}",
        "type": kind,
        "metricKey": name,
        "metricSectionId": section,
        "runsCountToCompare": 100,
    }
