"""The map in CONTRIBUTING.md agrees with the tree, and the tree with its rules."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAP = (ROOT / "CONTRIBUTING.md").read_text()
NAMED = sorted(
    set(re.findall(r"`((?:aucbench|plugins|conf|tests)/[\w/.]*)`", MAP))
    - {"plugins/aucbench_algorithms/NAME.py"}
)


def test_every_path_of_the_map_exists():
    assert [path for path in NAMED if not (ROOT / path).exists()] == []


def test_every_room_is_on_the_map():
    rooms = {
        f"aucbench/{path.name}/" for path in (ROOT / "aucbench").iterdir() if (path / "__init__.py").exists()
    }
    assert rooms <= set(NAMED)


def test_the_calls_of_the_path_of_a_run_are_in_the_files_named():
    path = MAP.split("### The path of a run")[1].split("###")[0]
    steps = re.findall(r"\| `([\w.]+)\(.*?\)` \| `([\w/.]+)` \|", path)
    assert steps
    for call, file in steps:
        *cls, function = call.split(".")
        body = ast.parse((ROOT / file).read_text()).body
        for name in cls:
            body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == name)
        assert any(isinstance(node, ast.FunctionDef) and node.name == function for node in body), call


def test_the_floors_of_the_map_are_those_that_the_import_rules_keep():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(c["layers"] for c in contracts if c.get("containers") == ["aucbench"])
    floors = [{name.strip() for name in layer.split("|")} for layer in layers]
    told = {}
    for floor, rooms in re.findall(r"^\| (\d+) \| (.*?) \|", MAP, re.MULTILINE):
        for room in re.findall(r"`aucbench/(\w+)(?:/|\.py)`", rooms):
            told.setdefault(int(floor), set()).add(room)
    assert [told[number] for number in sorted(told)] == floors


def test_no_module_is_named_by_an_activity():
    parts = {
        part
        for path in (ROOT / "aucbench").rglob("*.py")
        for part in path.relative_to(ROOT).with_suffix("").parts
    }
    assert {part for part in parts if part.endswith("ing")} == {"testing", "tracking"}
