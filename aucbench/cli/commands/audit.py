"""``aucbench audit``: a function that claims to be an AUC loss, against the exact sums over all pairs."""

import textwrap

import click

from aucbench import api

WIDTH = 110


@click.command()
@click.argument("path", metavar="MODULE:NAME")
def audit(path: str) -> int:
    """Try the function MODULE:NAME of scores and labels against exact sums over all pairs.

    The module is imported, also from the current folder. The function takes an array of scores and one of
    labels, in {0, 1} or {-1, 1}, of NumPy, JAX or PyTorch, and returns a number, or a number and its gradient
    by the scores; JAX and PyTorch give the gradient themselves. A class is called without arguments to make
    the function. One with the attributes a, b and alpha is tried at their optimum.

    Says which surrogate loss the function computes, with its parameter and its scale, and where it departs
    and by how much. Exit status 1 when it departs, 2 when the function cannot be tried.
    """
    from aucbench.testing.audit import DEPARTS
    from aucbench.testing.audit import audit as audited
    from aucbench.testing.audited_function import load

    report = audited(load(path), api.catalog())
    print(f"{report.name} ({report.library})")
    print(textwrap.fill(f"It computes {report.computes}", WIDTH), end="\n\n")
    width = max(map(len, report.lines))
    for name, line in report.lines.items():
        head = f"  {line.status:<{len(DEPARTS)}}  {name:<{width}}  "
        print(textwrap.fill(line.text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head)))
    print(f"\n{report.departures} of {len(report.lines)} properties depart.")
    return int(report.departures > 0)
