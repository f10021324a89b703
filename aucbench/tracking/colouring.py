"""The colour of an algorithm, the same in MLflow, on leaderboards and in pictures."""

import colorsys
import re
from hashlib import sha256

from aucbench.tracking import installed

COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def colour(name: str, variant: str = "") -> str:
    """The colour that the method declares, else one that its name gives, as ``#rrggbb``.

    What differs from the method's defaults changes how light and how strong it is, not its hue.
    """
    declared = getattr(installed.plugin("algo", name), "colour", None)
    if not isinstance(declared, str) or not COLOUR.fullmatch(declared):
        declared = _hashed(name)
    if not variant:
        return declared.lower()
    hue, _, _ = colorsys.rgb_to_hls(*(int(declared[at : at + 2], 16) / 255 for at in (1, 3, 5)))
    light, strong = sha256(variant.encode()).digest()[:2]
    return _shade(hue, light / 255, strong / 255)


def _hashed(name: str) -> str:
    digest = sha256(name.encode()).digest()
    return _shade(int.from_bytes(digest[:2]) / 65536, digest[2] / 255, digest[3] / 255)


def _shade(hue: float, light: float, strong: float) -> str:
    parts = colorsys.hls_to_rgb(hue, 0.28 + 0.34 * light, 0.55 + 0.4 * strong)
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)
