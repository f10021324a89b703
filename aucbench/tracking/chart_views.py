"""Views of MLflow's own pages that compare the runs of a study: curves over training time."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from aucbench.errors import TrackingError
from aucbench.tracking.client import Connection, reads, shown

DEFAULT_PORT = 5000
VIEW = "mlflow.sharedViewState."  # MLflow keeps a view that is shared as a tag of the experiment
CLOCK = "cost/train_seconds"
LINES = (("test/auc", True), ("test/auc_gap", True), ("test/auc", False))  # over training time, or iterations
COLUMNS, CARD_HEIGHT = 2, 480  # of the charts on a page
BARS = ("cost/ns_per_iteration", "cost/state_bytes")


@dataclass(frozen=True)
class View:
    """The page of one data set."""

    title: str  # of the data set
    runs: int  # how many it shows
    url: str


def views(uri: str, study: str | None) -> list[View]:
    """One page for each data set on which a study, or anything, was logged.

    What a page shows is kept at the address, as MLflow does with views that are shared: the runs of the
    study, in charts with the training clock as their axis.
    """
    with reads(uri, "The runs") as connection:
        found = list(_experiments(connection, study))
    if not found:
        what = f"no run of a study '{study}'" if study else "no run of aucbench"
        raise TrackingError(f"{shown(uri)} has {what} yet: log some by tracking.uri, or by aucbench sync.")
    is_server = uri.startswith(("http://", "https://"))
    host = uri.rstrip("/") if is_server else f"http://127.0.0.1:{DEFAULT_PORT}"
    return [View(name, runs, _page(connection, host, number, study)) for number, name, runs in found]


def _condition(study: str | None) -> str:
    """MLflow's words for the runs of a study."""
    if study is None:
        return "tags.key != ''"
    if "'" not in study:
        return f"tags.study = '{study}'"
    if '"' not in study:
        return f'tags.study = "{study}"'
    any_letter = study.replace("'", "_")  # nothing there escapes a quotation mark
    return f"tags.study LIKE '{any_letter}'"


def _experiments(connection: Connection, study: str | None) -> Iterable[tuple[str, str, int]]:
    for experiment in connection.client.search_experiments():
        runs = connection.runs(experiment.experiment_id, _condition(study))
        runs = [run for run in runs if "key" in run.data.tags]
        if runs:
            yield experiment.experiment_id, experiment.name, len(runs)


def _page(connection: Connection, host: str, experiment: str, study: str | None) -> str:
    state = json.dumps(_state(study), sort_keys=True)
    key = sha256(state.encode()).hexdigest()
    connection.client.set_experiment_tag(experiment, VIEW + key, state)
    # Without the first word MLflow shows the menu of language models beside the page.
    words = f"workflowType=machine_learning&viewStateShareKey={key}&compareRunsMode=CHART"
    return f"{host}/#/experiments/{quote(experiment)}/runs?{words}"


def _state(study: str | None) -> dict[str, Any]:
    """What MLflow's page remembers of a view; fields it does not know are left out by it."""
    lines = [_line(name, over_time) for name, over_time in LINES]
    bars = [_card("BAR", name, "cost") for name in BARS]
    return {
        "searchFilter": _condition(study),
        "orderByKey": "attributes.start_time",
        "orderByAsc": False,
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "compareRunCharts": lines + bars,
        "compareRunSections": [
            _section("auc", "AUC over time and over iterations"),
            _section("cost", "Cost"),
        ],
        "globalLineChartConfig": {"xAxisKey": "metric", "selectedXAxisMetricKey": CLOCK, "lineSmoothness": 0},
        "runsHiddenMode": "SHOWALL",
        "selectedColumns": ["params.`algo`", "metrics.`test/auc`", f"metrics.`{CLOCK}`"],
    }


def _section(key: str, name: str) -> dict[str, Any]:
    return {
        "uuid": key,
        "name": name,
        "display": True,
        "isReordered": False,
        "deleted": False,
        "isGenerated": False,
        "columns": COLUMNS,
        "cardHeight": CARD_HEIGHT,
    }


def _line(name: str, over_time: bool) -> dict[str, Any]:
    over = "metric" if over_time else "step"
    return _card("LINE", name, "auc", over) | {
        "selectedMetricKeys": [name],
        "xAxisKey": over,
        "selectedXAxisMetricKey": CLOCK if over_time else "",
        "xAxisScaleType": "linear" if over_time else "log",  # MLflow has logarithms for steps alone
        "scaleType": "log" if name.endswith("gap") else "linear",
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "range": {},
        "ignoreOutliers": False,
        "lineSmoothness": 0,
        "useGlobalXaxisKey": False,
        "useGlobalLineSmoothing": False,
    }


def _card(kind: str, name: str, section: str, over: str = "") -> dict[str, Any]:
    return {
        "uuid": f"{kind}-{name}-{over}",
        "type": kind,
        "metricKey": name,
        "metricSectionId": section,
        "deleted": False,
        "isGenerated": False,
        "runsCountToCompare": 100,
    }
