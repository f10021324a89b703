"""aucbench: which stochastic method for maximising the AUC is best, on which data, at what cost.

Public names are imported when first used, so that `import aucbench` is cheap; `__init__.pyi` lists them.
"""

from typing import Any

import lazy_loader

_public_name, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("aucbench")
    return _public_name(name)
