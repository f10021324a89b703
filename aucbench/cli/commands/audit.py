"""``aucbench audit``: a function that claims to be an AUC loss, against the exact sums over all pairs."""

import textwrap

import click

from aucbench import api

WIDTH = 110


@click.command()
@click.argument("path", metavar="MODULE:NAME")
def audit(path: str) -> int:
    """Test the function MODULE:NAME of scores and labels against exact sums over all pairs.

    The module is imported, also from the current folder. The function takes arrays of scores and labels, in
    {0, 1} or {-1, 1}, from NumPy, JAX or PyTorch. It returns a number, or a number and its gradient by the
    scores; JAX and PyTorch compute the gradient themselves. A class is called without arguments to create the
    function. A function with the attributes a, b and alpha is tested at their optimum.

    The report names the surrogate loss that the function computes, with its parameter and scale, and shows
    where and by how much the function departs from it. The exit status is 1 if it departs, and 2 if it cannot
    be tested.
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
