"""Composing a run from overrides with Hydra, outside of a Hydra application."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from aucbench.config import twins
from aucbench.registry import Catalog

CONFIG_NAME = "config"
VERSION_BASE = "1.3"


def config_folder() -> str:
    """Absolute path of the packaged `aucbench/conf`, else of the checkout's `conf`."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "conf"
    return str(packaged if packaged.is_dir() else package.parent / "conf")


def experiment_jobs(catalog: Catalog, words: Sequence[str]) -> list[list[str]]:
    """The words of every run of an experiment's sweep; ``algo=NAME`` among the words replaces its methods."""
    experiment = [word for word in words if word.startswith("+")]
    params = dict(compose(catalog, experiment, with_hydra=True).hydra.sweeper.params)
    params |= {name: value for name, _, value in (word.partition("=") for word in words) if name in params}
    common = [word for word in words if word.partition("=")[0] not in params]
    values = [[f"{name}={value}" for value in text.split(",")] for name, text in params.items()]
    return [[*common, *job] for job in product(*values)]


def compose(catalog: Catalog, overrides: Sequence[str], with_hydra: bool = False) -> DictConfig:
    """The composed run, without Hydra's own settings unless asked for; works in a Hydra application, too."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.initialize import get_gh_backup, restore_gh_from_backup

    twins.register(catalog)
    backup = get_gh_backup()
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(config_folder(), version_base=VERSION_BASE):
            return hydra_compose(CONFIG_NAME, list(overrides), return_hydra_config=with_hydra)
    finally:
        restore_gh_from_backup(backup)


def choices(cfg: DictConfig) -> dict[str, str | None]:
    """The name chosen for each group; a node's twin carries its plugin's name."""
    names: dict[str, str | None] = {}
    for group in (*twins.GROUPS, *twins.FIXED_GROUPS):
        node = cfg.get(group)
        kind: Any = None if node is None else OmegaConf.get_type(node)
        names[group] = None if kind is None else kind.__name__
    return names


def parameters(node: DictConfig | None) -> dict[str, Any]:
    """A node as a plain dict."""
    if node is None:
        return {}
    plain = OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}
