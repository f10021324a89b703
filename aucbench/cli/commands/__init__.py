"""The commands, one module each; a module is imported when its command is called."""

from typing import NamedTuple

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit statuses beside 0


class Command(NamedTuple):
    """A command: its line in the help, its module in this folder, and the function or click command in it."""

    summary: str
    module: str
    function: str


COMMANDS = {
    "run": Command("train and measure; Hydra overrides follow (run --help)", "run", "run"),
    "list": Command(
        "list methods, data sets, losses, feature maps and suites", "list_plugins", "list_plugins"
    ),
    "fetch": Command("download data sets, or check that the mirror has them", "data", "fetch"),
    "data": Command("describe a file (data describe FILE); show or remove data", "data", "show_data"),
    "new": Command("write a package with a working method, data set, loss or map", "new", "new"),
    "check": Command("try plugins against the rules of the contract", "check", "check"),
    "audit": Command("try a function that claims to be an AUC loss against exact sums", "audit", "audit"),
    "try": Command(
        "run a method against others on small data: a table and a verdict", "try_method", "try_method"
    ),
    "optimum": Command("find the certified minimum of a method's objective", "optimum", "optimum"),
    "claims": Command("compare claimed with measured rates and costs of methods", "claims", "claims"),
    "status": Command("show how far the studies of a store are, and what failed", "status", "status"),
    "leaderboard": Command("compare methods: tables, tests, curves, one page", "leaderboard", "leaderboard"),
    "suggest": Command("suggest methods for a data set by results on similar ones", "suggest", "suggest"),
    "rescore": Command("compute more measures from stored weights, without training", "rescore", "rescore"),
    "results": Command("export, import, check, merge and verify results", "results", "results"),
    "compare": Command("compare results with a paper's published table", "leaderboard", "compare"),
    "sync": Command("log to MLflow what the store has and MLflow has not", "mlflow", "sync"),
    "charts": Command("print where MLflow shows the curves of a study", "mlflow", "charts"),
    "export-model": Command(
        "write the weights of a linear method as an MLflow model", "mlflow", "export_model"
    ),
}
