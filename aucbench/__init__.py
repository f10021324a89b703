"""aucbench: which stochastic method for maximising the AUC is best, on which data, at what cost.

Public names are imported when first used, so that `import aucbench` is cheap; `__init__.pyi` lists them.
"""

import sys

if sys.platform == "linux":
    import os
    import resource

    if resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY:
        # Arrow's own allocator reserves 1 GB at once, all of which counts; it is chosen at the first import.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("aucbench")
    import lazy_loader

    public_name, _, names = lazy_loader.attach_stub(__name__, __file__)
    return names if name == "__all__" else public_name(name)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))  # type: ignore[call-overload]
