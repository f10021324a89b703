"""``aucbench new``: a package that holds one working plugin."""

from pathlib import Path

import click

import aucbench
from aucbench.scaffolding import check_name, find_kind, write


@click.command("new")
@click.argument("kind")
@click.argument("name")
@click.option("--into", default=".", show_default="this folder", help="Folder in which the package is made.")
def new(kind: str, name: str, into: str) -> None:
    """Write an installable package with a working KIND of plugin called NAME.

    KIND is algorithm, dataset, loss or features. The lines to be changed are marked in its module; its tests
    are the rules that every plugin obeys.
    """
    details = find_kind(kind)
    names = check_name(name, aucbench.catalog())
    folder = write(kind, names, Path(into))
    print(f"{'wrote':>10}  {folder}")
    print(f"{'change':>10}  {folder / name}.py: {details.change}")
    steps = [f"cd {folder} && pip install -e '.[test]' && pytest", f"aucbench check {name}"]
    steps.append(details.use.replace("$name", name))
    for number, step in enumerate(steps):
        print(f"{'next' if number == 0 else '':>10}  {step}")
