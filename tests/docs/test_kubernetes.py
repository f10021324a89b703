"""The manifest for Kubernetes fits the schema of the operator, and its commands accept their options."""

from pathlib import Path

import pytest
import yaml
from distributed.cli import dask_scheduler, dask_worker

MANIFEST = Path(__file__).resolve().parents[2] / "docs" / "kubernetes" / "cluster.yaml"
COMMANDS = {"scheduler": dask_scheduler.main, "worker": dask_worker.main}


@pytest.mark.parametrize("kind", COMMANDS)
def test_commands_have_options_that_dask_knows(kind, tmp_path):
    manifest = yaml.safe_load(MANIFEST.read_text())
    assert (manifest["apiVersion"], manifest["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    assert set(manifest["spec"]) == set(COMMANDS)
    for name in ("ca", "cert", "key"):
        (tmp_path / f"{name}.pem").touch()
    (container,) = manifest["spec"][kind]["spec"]["containers"]
    assert all(isinstance(argument, str) for argument in container["args"])
    assert container["args"][:2] == ["dask", kind]
    address = ["tls://127.0.0.1:8786"] if kind == "worker" else []
    args = [argument.replace("/certificates", str(tmp_path)) for argument in container["args"][2:]]
    options = COMMANDS[kind].make_context(kind, [*args, *address]).params
    assert options["protocol"] == "tls"
    assert kind != "worker" or (options["nthreads"], options["memory_limit"]) == (1, "0")
