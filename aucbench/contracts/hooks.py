"""The hooks a plugin module may implement, each returning a tuple of classes."""

import pluggy

PROJECT = "aucbench"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def aucbench_algorithms() -> tuple[type, ...]:  # type: ignore[empty-body]  # a specification has no body
    """Algorithm classes."""


@hookspec
def aucbench_losses() -> tuple[type, ...]:  # type: ignore[empty-body]
    """Surrogate-loss classes."""


@hookspec
def aucbench_datasets() -> tuple[type, ...]:  # type: ignore[empty-body]
    """Data-set classes."""


@hookspec
def aucbench_features() -> tuple[type, ...]:  # type: ignore[empty-body]
    """Feature-map classes."""
