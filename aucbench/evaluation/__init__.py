"""Measures of scores: how well they rank positives above negatives. Imports contracts and kernels only.

Public names are imported when first used, so that the names of measures are known without compiling;
`__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
