"""Run the measures named on the command line, all of them when none is named; exit status 1 after a miss."""

import sys

from benchmarks import dense, overhead, sparse, together
from benchmarks.measuring import Measure

MEASURES = {**dense.MEASURES, **sparse.MEASURES, **together.MEASURES, **overhead.MEASURES}


def main(names: list[str]) -> int:
    """Print one line a measure; returns the exit status."""
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        print(f"Unknown measure {unknown[0]}; known: {', '.join(MEASURES)}.", file=sys.stderr)
        return 2
    found: list[Measure] = []
    for name in names or MEASURES:
        for measure in MEASURES[name]():
            print(measure, flush=True)
            found.append(measure)
    missed = sum(not measure.reached for measure in found)
    print(f"{len(found) - missed} of {len(found)} measures reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
