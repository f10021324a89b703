"""Run the measures named on the command line; exit status 1 after a miss.

When none is named, all measures of speed run. `defaults` and `estimator`, which measure AUCs and take long,
and `estimates`, which needs real data, run when they are named.
"""

import sys

from benchmarks import defaults, dense, estimates, overhead, sparse, together
from benchmarks.measuring import Measure

SPEED = {**dense.MEASURES, **sparse.MEASURES, **together.MEASURES, **overhead.MEASURES}
MEASURES = {**SPEED, **defaults.MEASURES, **estimates.MEASURES}


def main(names: list[str]) -> int:
    """Print one line a measure; returns the exit status."""
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        print(f"Unknown measure {unknown[0]}; known: {', '.join(MEASURES)}.", file=sys.stderr)
        return 2
    found: list[Measure] = []
    for name in names or SPEED:
        for measure in MEASURES[name]():
            print(measure, flush=True)
            found.append(measure)
    missed = sum(not measure.reached for measure in found)
    print(f"{len(found) - missed} of {len(found)} measures reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
