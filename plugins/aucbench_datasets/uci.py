"""Data sets of the UCI Machine Learning Repository."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench import File, Table

UCI = "https://archive.ics.uci.edu"


@dataclass(frozen=True)
class Spambase:
    """E-mail that is spam (positive), or not: 4,601 rows, 57 features, 39% positive."""

    name: ClassVar[str] = "spambase"
    features: ClassVar[int] = 57
    files: ClassVar[tuple[File, ...]] = (
        File(
            "uci/spambase.data",
            rows=4601,
            labels={0: 2788, 1: 1813},
            urls=(
                f"{UCI}/ml/machine-learning-databases/spambase/spambase.data",
                f"{UCI}/static/public/94/spambase.zip#spambase.data",
            ),
            kind="csv",
            table=Table(header=False),
        ),
    )
    citation: ClassVar[str] = (
        "M. Hopkins, E. Reeber, G. Forman, J. Suermondt: Spambase. UCI Machine Learning Repository 1999. "
        "https://doi.org/10.24432/C53G6X"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class Magic04:
    """Showers seen by a gamma telescope, hadrons are positive: 19,020 rows, 10 features, 35% positive."""

    name: ClassVar[str] = "magic04"
    features: ClassVar[int] = 10
    files: ClassVar[tuple[File, ...]] = (
        File(
            "uci/magic04.data",
            rows=19020,
            labels={"g": 12332, "h": 6688},
            urls=(
                f"{UCI}/ml/machine-learning-databases/magic/magic04.data",
                f"{UCI}/static/public/159/magic+gamma+telescope.zip#magic04.data",
            ),
            kind="csv",
            table=Table(header=False),
        ),
    )
    citation: ClassVar[str] = (
        "R. Bock: MAGIC gamma telescope. UCI Machine Learning Repository 2007. "
        "https://doi.org/10.24432/C52C8B"
    )
    licence: ClassVar[str] = "CC BY 4.0"


@dataclass(frozen=True)
class FarmAds:
    """Advertisements on farm animals, approved (positive) or not: 4,143 rows, 54,877 features."""

    name: ClassVar[str] = "farm_ads"
    features: ClassVar[int] = 54877
    files: ClassVar[tuple[File, ...]] = (
        File(
            "uci/farm-ads-vect",
            rows=4143,
            urls=(
                f"{UCI}/ml/machine-learning-databases/00218/farm-ads-vect",
                f"{UCI}/static/public/218/farm+ads.zip#farm-ads-vect",
            ),
        ),
    )
    citation: ClassVar[str] = (
        "C. Mesterharm, M. J. Pazzani: Active learning using on-line algorithms. KDD 2011. "
        "https://doi.org/10.24432/C5DS5J"
    )
    licence: ClassVar[str] = "CC BY 4.0"
