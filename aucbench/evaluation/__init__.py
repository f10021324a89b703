"""Measures of scores: how well they rank positives above negatives. Imports contracts and kernels only.

Public names are imported on first use, so that measures can be listed without compiling kernels;
`__init__.pyi` lists the names.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
