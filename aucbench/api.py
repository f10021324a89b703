"""The Python interface: run, replay, catalog."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucbench.registry import accepted_loss
from aucbench.registry import catalog as catalog
from aucbench.result import Result

if TYPE_CHECKING:
    from aucbench.studies.conducting import Conducted, Executed


def run(*overrides: str) -> Result:
    """Run an entry as the command line does; prints nothing.

    Parameters
    ----------
    *overrides : str
        Hydra overrides, such as ``"algo=psam"``, ``"dataset=a9a"``, ``"budget.epochs=5"``. Nothing is
        written to MLflow unless ``"tracking=mlflow"`` is among them, and finished cells are neither looked
        up nor kept unless ``"store.path=FOLDER"`` is.

    Returns
    -------
    Result
        With `auc`, `curve`, `weights` and `record`.

    Raises
    ------
    AucbenchError
        What the command line would say in one sentence.

    Examples
    --------
    >>> import aucbench
    >>> result = aucbench.run("algo=ls_svm", "dataset=breast_cancer")
    >>> result.auc > 0.95
    True
    """
    from aucbench import tracking
    from aucbench.config import binding, composing
    from aucbench.config.explaining import explain
    from aucbench.config.words import check_overrides
    from aucbench.errors import AucbenchError, ParameterError
    from aucbench.studies.running import Study, opened_store, run_study

    check_overrides(overrides)
    keys = [override.split("=")[0] for override in overrides]
    quiet = [] if any(key.startswith("tracking") for key in keys) else ["tracking=none"]
    unkept = [] if "store.path" in keys else ["store.path=null"]
    try:
        cfg = composing.compose(catalog(), [*overrides, *quiet, *unkept])
        entry, running = binding.bind(catalog(), cfg), binding.running(cfg)
    except AucbenchError:
        raise
    except Exception as error:
        sentence = explain(error)
        if sentence is None:
            raise
        raise ParameterError(sentence) from error
    path, uri = binding.store_path(cfg), binding.tracking_uri(cfg)
    if uri:
        tracking.check_address(uri)
    found: list[Executed] = []
    with opened_store(path) as store:
        _, conducted = run_study(Study([entry], running, entry.settings.study), store, on_entry=found.append)
        _raise_for(conducted)
        if uri:
            tracking.log_entry(tracking.LoggedEntry.of(found[0]), uri, store if path else None)
    return Result(found[0].cells)


def _raise_for(conducted: "Conducted") -> None:
    from aucbench.errors import CellError

    if conducted.refused:
        raise conducted.refused[0].error
    if conducted.failures:
        failure = conducted.failures[0]
        raise CellError(f"{failure['reason']} (seed {failure['seed']}): {failure['message']}")


def replay(
    algorithm: Any,
    X: Any,
    y: Any,
    rows: Any,
    *,
    loss: Any = None,
    seed: int = 0,
    checkpoints: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Run a method over explicitly given rows, untimed, and return its weights.

    Parameters
    ----------
    algorithm : Algorithm
        An instance, such as ``catalog().algorithm("solam")(zeta=0.5)``.
    X : (n, d) ndarray or scipy CSR
        All rows; float32 is kept, other types become float64.
    y : (n,) array
        Labels in {-1, 1}.
    rows : array of int
        In the shape the method's access says: (k,) stream, (k, 2) pairs, (k, m) minibatch, (k, 0) full. The
        planned number of iterations is k.
    loss : Loss or str, optional
        An instance or a name; the method's first when left out.
    seed : int
        Of the method's own generator.
    checkpoints : sequence of int, optional
        Iterations, ascending, from 0 to k.

    Returns
    -------
    ndarray
        (d,) weights at the end, or (len(checkpoints), d).

    Raises
    ------
    TypeError
        The method has no `weights`.
    DataError
        X, y and rows do not fit together.
    """
    from aucbench.runner.replay import replay_rows

    if loss is None or isinstance(loss, str):
        name = accepted_loss(catalog(), algorithm, loss)
        loss = None if name is None else catalog().loss(name)()
    else:
        accepted_loss(catalog(), algorithm, loss.name)
    return replay_rows(algorithm, X, y, rows, loss=loss, seed=seed, checkpoints=checkpoints)
