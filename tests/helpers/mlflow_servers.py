"""MLflow's server on loopback, in a thread: as a process it would take ten seconds to start."""

import contextlib
import threading

import pytest


@contextlib.contextmanager
def mlflow_server(folder, backend):
    """The address of a server over a store, with its artifacts in a folder; ended afterwards."""
    import mlflow
    from mlflow.server import app, handlers
    from werkzeug.serving import make_server

    settings = {"FILE_STORE": backend, "ARTIFACT_ROOT": "mlflow-artifacts:/", "SERVE_ARTIFACTS": "true"}
    settings |= {"ARTIFACT_DESTINATION": str(folder)}
    server = make_server("127.0.0.1", 0, app, threaded=True)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(f"_MLFLOW_SERVER_{name}", value)
        for name in ("_tracking_store", "_model_registry_store"):  # set by an earlier server
            patch.setattr(handlers, name, None)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.port}"
        finally:
            server.shutdown()
            # With its first request the server made its store the default address of the whole process.
            mlflow.set_tracking_uri(None)
            mlflow.set_registry_uri(None)
