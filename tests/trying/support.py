"""What the tests of trials share."""

import io

from aucbench.trying import show


def printed(found):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    show(found, out)
    out.seek(0)
    return out.read()
