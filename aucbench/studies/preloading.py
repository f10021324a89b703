"""Imported once, where workers are forked from: the plugins, so that no worker imports them again."""

import contextlib
import warnings

from aucbench.errors import AucbenchError

# What fails to load is said by the process that plans the study.
with contextlib.suppress(AucbenchError), warnings.catch_warnings(action="ignore"):
    from aucbench.api import catalog

    catalog()
