"""Workers behind TLS, and on other machines, as far as one machine can play several: network namespaces."""

import contextlib
import subprocess

import dask
import pytest
from distributed import Security

from aucbench.studies.execution.dask_executor import DaskExecutor
from aucbench.studies.store import Store
from tests.helpers.studies import ROOT, contents, entry, process_environment, run_entries
from tests.helpers.study_methods import Gentle, Other, Slow
from tests.studies.execution.test_dask_executor import running_scheduler, wait_until

pytestmark = pytest.mark.usefixtures("process")
STUDY = (entry(Gentle(), runs=2), entry(Other(), runs=2))
BRIDGE, NETWORK = "aucbench0", "10.203.77"  # of a private network that nobody else is likely to have


def test_workers_behind_tls_give_what_one_process_gives(tmp_path):
    made, words = Security.temporary(), ["--protocol", "tls"]
    settings = {"distributed.comm.require-encryption": True}
    for name, key in {"ca-file": "ca-file", "cert": "client.cert", "key": "client.key"}.items():
        (tmp_path / name).write_text(getattr(made, f"tls_{key.replace('-', '_').replace('.', '_')}"))
        words += [f"--tls-{name}", str(tmp_path / name)]
        settings[f"distributed.comm.tls.{key}"] = str(tmp_path / name)
    with running_scheduler(tmp_path, process_environment(ROOT), security=words) as scheduler:
        scheduler.worker()
        assert scheduler.address.startswith("tls://")
        run_entries(STUDY, Store(tmp_path / "here"))
        with dask.config.set(settings), contextlib.closing(DaskExecutor(scheduler.address)) as cluster:
            run_entries(STUDY, Store(tmp_path / "there"), cluster)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def machines():
    """Prefixes of commands that run them on one of two machines, by the address of that machine."""
    found = {f"{NETWORK}.{number}": f"aucbench{number}" for number in (2, 3)}
    with contextlib.ExitStack() as stack:
        try:
            for name in found.values():
                ip("netns", "add", name)
                stack.callback(ip, "netns", "del", name)
            ip("link", "add", BRIDGE, "type", "bridge")
            stack.callback(ip, "link", "del", BRIDGE)
            ip("address", "add", f"{NETWORK}.1/24", "dev", BRIDGE)
            ip("link", "set", BRIDGE, "up")
            for address, name in found.items():
                ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
                ip("link", "set", name, "master", BRIDGE, "up")
                ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
                for device in ("eth0", "lo"):
                    ip("-n", name, "link", "set", device, "up")
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"network namespaces need root ({error})")
        yield {address: ("ip", "netns", "exec", name) for address, name in found.items()}


@pytest.mark.faults
def test_a_machine_whose_network_is_cut_costs_no_cell(machines, tmp_path):
    quick = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "3s"}
    cut, calls = [], []
    with running_scheduler(tmp_path, process_environment(ROOT) | quick, f"{NETWORK}.1") as scheduler:
        for address, before in machines.items():
            scheduler.worker(address, before)
        store = Store(tmp_path / "store")
        with contextlib.closing(DaskExecutor(scheduler.address)) as cluster:
            wait_until(lambda: len(cluster.workers()) == 2)
            submit = cluster.submit

            def counted(worker, unit, alone=False):
                calls.append((worker, unit))
                future = submit(worker, unit, alone)
                if len(calls) == 4:
                    cut.append(worker)
                    host = worker.rpartition(":")[0].rpartition("/")[2]
                    ip("link", "set", f"aucbench{host.rpartition('.')[2]}", "down")
                return future

            cluster.submit = counted
            outcome = run_entries([entry(Slow(nap=0.02), runs=8)], store, cluster)
            assert len(cluster.workers()) == 1
    assert cut
    assert (outcome.failures, outcome.finished, len(list(store))) == ([], 8, 8)
    alone = Store(tmp_path / "alone")
    run_entries([entry(Slow(nap=0.0), runs=8)], alone)
    assert sorted(cell.auc for cell in store) == sorted(cell.auc for cell in alone)
    assert len(calls) == 8  # Dask ran the unit that was lost again
