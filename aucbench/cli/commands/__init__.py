"""The commands, one module each; a module is imported when its command is called."""

from typing import NamedTuple


class Command(NamedTuple):
    """What the help says of a command, its module in this folder, and the function or click command in it."""

    summary: str
    module: str
    function: str


COMMANDS = {
    "run": Command("train and measure; Hydra overrides follow (run --help)", "run", "run"),
    "list": Command(
        "show the registered algorithms, data sets, losses and feature maps", "list_plugins", "list_plugins"
    ),
    "fetch": Command("download data sets, or check that the mirror has them", "data", "fetch"),
    "data": Command(
        "show how a file of one's own is read (data describe FILE), or what is cached; remove data",
        "data",
        "show_data",
    ),
    "new": Command("write a package with a working algorithm, dataset, loss or features", "new", "new"),
    "check": Command("try plugins against the rules of the contract", "check", "check"),
    "audit": Command("try a function that claims to be an AUC loss against exact sums", "audit", "audit"),
    "try": Command(
        "run a method against others on small data: curves and a verdict", "try_method", "try_method"
    ),
    "optimum": Command(
        "find the certified minimum of the objective of a method on a data set", "optimum", "optimum"
    ),
    "claims": Command(
        "show the rates and costs that methods claim, as claimed and as measured", "claims", "claims"
    ),
    "status": Command("show how far the studies of a store are, and what failed", "status", "status"),
    "leaderboard": Command("compare methods: tables, tests, curves, one page", "leaderboard", "leaderboard"),
    "suggest": Command(
        "suggest methods for a data set, from what did best on similar ones", "suggest", "suggest"
    ),
    "rescore": Command("compute more measures from stored weights, without training", "rescore", "rescore"),
    "results": Command(
        "export, import, check, merge and verify results of several machines", "results", "results"
    ),
    "compare": Command("put our results beside a paper's table", "leaderboard", "compare"),
    "sync": Command("log to MLflow what the store has and MLflow has not", "mlflow", "sync"),
    "charts": Command("print where MLflow shows the curves of a study", "mlflow", "charts"),
    "export-model": Command(
        "write the weights of a linear method as an MLflow model", "mlflow", "export_model"
    ),
}
