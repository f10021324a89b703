"""The commands, one module each; a module is imported when its command is called."""

from typing import NamedTuple

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit statuses beside 0


class Command(NamedTuple):
    """A command: its line in the help, its module in this folder, and the function or click command in it."""

    summary: str
    module: str
    function: str


def _alone(summary: str, module: str) -> Command:
    """A command whose function has the name of its module."""
    return Command(summary, module, module)


COMMANDS = {
    "run": _alone("train and measure; Hydra overrides follow (run --help)", "run"),
    "list": _alone("list methods, data sets, losses, feature maps and suites", "list_plugins"),
    "fetch": Command("download data sets, or check that the mirror has them", "data", "fetch"),
    "data": Command("describe a file (data describe FILE); show or remove data", "data", "show_data"),
    "new": _alone("write a package with a working method, data set, loss or map", "new"),
    "check": _alone("check plugins against the rules of the contract", "check"),
    "audit": _alone("test a claimed AUC loss function against exact sums over pairs", "audit"),
    "try": _alone("compare a method with others on small data: table and verdict", "try_method"),
    "optimum": _alone("find the certified minimum of a method's objective", "optimum"),
    "claims": _alone("compare claimed and measured rates and costs of methods", "claims"),
    "status": _alone("show the progress and failures of the studies in a store", "status"),
    "leaderboard": _alone("compare methods: verdicts, tables, curves, one page", "leaderboard"),
    "suggest": _alone("suggest methods for a data set from results on similar data", "suggest"),
    "rescore": _alone("compute more measures from stored weights, without training", "rescore"),
    "results": _alone("export, import, check, merge and verify results", "results"),
    "compare": Command("compare results with a paper's published table", "leaderboard", "compare"),
    "sync": Command("log results of the store that MLflow does not have", "mlflow", "sync"),
    "charts": Command("print the addresses of MLflow's curves of a study", "mlflow", "charts"),
    "export-model": Command(
        "write the weights of a linear method as an MLflow model", "mlflow", "export_model"
    ),
}
