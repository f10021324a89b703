"""Run the measures named on the command line; exit status 1 after a miss.

When none is named, all measures of speed run. `defaults` and `estimator`, which measure AUCs and take long,
`estimates`, which needs real data, `reference`, which computes the figures of README from the archives,
`families`, which compares the rows of all data sets at hand, `parsing` and `beyond_memory`, which write
gigabytes to the cache folder, `pair_loss`,
which needs LightGBM and JAX, `attacks`, which harms processes, `mutations`, which runs the tests on changed
lines, and `verdicts` and `intervals`, which simulate studies, run when they are named. The options are for
`defaults` and `estimator`; `families` takes the data sets.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from functools import partial

from benchmarks import (
    attacks,
    defaults,
    dense,
    estimates,
    estimator,
    families,
    intervals,
    mutations,
    overhead,
    pair_losses,
    reference,
    sparse,
    streams,
    tables,
    together,
    verdicts,
)
from benchmarks.attacks import Attacked
from benchmarks.measuring import Measure, one_thread
from benchmarks.mutations import Mutated
from benchmarks.real_sets import Choice

SPEED = {**dense.MEASURES, **sparse.MEASURES, **together.MEASURES, **streams.MEASURES, **overhead.MEASURES}
ON_REAL_SETS = {**defaults.MEASURES, **estimator.MEASURES, **families.MEASURES}
OTHERS = {
    **estimates.MEASURES,
    **tables.MEASURES,
    **pair_losses.MEASURES,
    **reference.MEASURES,
    **attacks.MEASURES,
    **mutations.MEASURES,
    **intervals.MEASURES,
    **verdicts.MEASURES,
}


def main(argv: list[str]) -> int:
    """Print one line a measure; returns the exit status."""
    parser = ArgumentParser(
        "python -m benchmarks", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    names = (*SPEED, *ON_REAL_SETS, *OTHERS)
    parser.add_argument("names", nargs="*", metavar="measure", help=f"of {', '.join(names)}")
    for option, label in (
        ("methods", "methods (defaults)"),
        ("sets", "data sets"),
        ("scalings", "scalings (defaults)"),
    ):
        parser.add_argument(
            f"--{option}", default="", help=f"{label}, with commas; all or the default if left out"
        )
    parser.add_argument("--workers", type=int, default=1, help="processes, one for each data set at a time")
    args = parser.parse_args(argv)
    unknown = [name for name in args.names if name not in names]
    if unknown:
        parser.error(f"unknown measure {unknown[0]}; known: {', '.join(names)}.")
    lists = (tuple(filter(None, text.split(","))) for text in (args.methods, args.sets, args.scalings))
    choice = Choice(*lists, args.workers)
    actions = SPEED | OTHERS | {name: partial(action, choice) for name, action in ON_REAL_SETS.items()}
    measures: list[Measure | Attacked | Mutated] = []
    with one_thread():
        for name in args.names or SPEED:
            for measure in actions[name]():
                print(measure, flush=True)
                measures.append(measure)
    missed = sum(not measure.reached for measure in measures)
    print(f"{len(measures) - missed} of {len(measures)} measures reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
