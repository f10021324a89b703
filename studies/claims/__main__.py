"""Measure what methods claim: ``python -m studies.claims [WORD ...] [--quick] [--output FILE]``.

A word is the name of a method or an override for all methods. Without names, all methods with claims are
measured, two at a time. Each finding is printed, and replaces the earlier one of the method in FILE;
`aucbench claims` and the documentation show `docs/results/claims.json`.
"""

import argparse
import json
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import aucbench
from aucbench import AucbenchError
from studies.claims.measure import method_claims

WORKERS = 2
DECIDED = ("budget", "runs", "seed", "split_seed", "order_seed", "metrics", "tuning", "ruleset", "dataset")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m studies.claims", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="METHOD or OVERRIDE")
    parser.add_argument("--quick", action="store_true", help="shorter runs on fewer data sets")
    parser.add_argument("--output", type=Path, help="the file of findings that is brought up to date")
    args = parser.parse_intermixed_args(arguments)
    overrides = [argument for argument in args.words if "=" in argument]
    for override in overrides:
        if override.partition("=")[0].partition(".")[0] in DECIDED:
            parser.error(f"{override} has no effect on claims, whose runs are all alike; leave it out.")
    methods = [argument for argument in args.words if "=" not in argument]
    methods = methods or [
        plugin.name
        for plugin in aucbench.catalog()
        if plugin.family == "algorithms" and getattr(plugin.cls, "claims", None)
    ]
    try:
        for name in methods:
            aucbench.catalog().algorithm(name)
    except AucbenchError as error:
        parser.error(str(error))
    status = 0
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:
        tasks = {pool.submit(method_claims, name, overrides, args.quick): name for name in methods}
        for task in as_completed(tasks):
            try:
                findings = {tasks[task]: task.result()}
            except AucbenchError as error:
                print(f"{tasks[task]}: {error}", file=sys.stderr)
                status = 2
                continue
            print(json.dumps(findings, indent=1), flush=True)
            if args.output:
                _update(args.output, findings)
    return status


def _update(file: Path, findings: dict[str, Any]) -> None:
    """Replace the findings in the file at once, so that an interruption leaves a complete file."""
    old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    part = file.with_name(f"{file.name}.part")
    part.write_text(json.dumps(dict(sorted({**old, **findings}.items())), indent=1) + "\n", encoding="utf-8")
    part.replace(file)


if __name__ == "__main__":
    sys.exit(main())
