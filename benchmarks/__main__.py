"""Run the measures named on the command line; exit status 1 after a miss.

When none is named, all measures of speed run. `defaults` and `estimator`, which measure AUCs and take long,
`estimates`, which needs real data, `attacks`, which harms processes, and `mutations`, which runs the tests on
changed lines, run when they are named.
"""

import sys

from benchmarks import attacks, defaults, dense, estimates, mutations, overhead, sparse, streams, together
from benchmarks.attacks import Attacked
from benchmarks.measuring import Measure
from benchmarks.mutations import Mutated

SPEED = {**dense.MEASURES, **sparse.MEASURES, **together.MEASURES, **streams.MEASURES, **overhead.MEASURES}
MEASURES = {**SPEED, **defaults.MEASURES, **estimates.MEASURES, **attacks.MEASURES, **mutations.MEASURES}


def main(names: list[str]) -> int:
    """Print one line a measure; returns the exit status."""
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        print(f"Unknown measure {unknown[0]}; known: {', '.join(MEASURES)}.", file=sys.stderr)
        return 2
    found: list[Measure | Attacked | Mutated] = []
    for name in names or SPEED:
        for measure in MEASURES[name]():
            print(measure, flush=True)
            found.append(measure)
    missed = sum(not measure.reached for measure in found)
    print(f"{len(found) - missed} of {len(found)} measures reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
