"""The site is built from a copy of its sources, so that generated pages do not go into the source tree."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = {"generated", "auto_examples", "_runs"}  # by an earlier build of the copy
SKIPPED = shutil.ignore_patterns("__pycache__", "_build", *MADE)


def make(folder: Path) -> Path:
    """The ``docs`` of a copy below a folder, with what its pages include and link to beside it."""
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    for old in docs.iterdir():
        if old.is_dir() and old.name not in MADE:
            shutil.rmtree(old)
        elif old.is_file():
            old.unlink()
    shutil.copytree(ROOT / "docs", docs, ignore=SKIPPED, dirs_exist_ok=True)
    shutil.rmtree(folder / "examples", ignore_errors=True)
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=SKIPPED)  # they run in their folder
    for name in ("aucbench", "CHANGELOG.md", "CONTRIBUTING.md"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(ROOT / name)
    return docs
