"""A copy of the sources to build the site from, so that no generated page goes into the source tree."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = {"generated", "auto_examples", "_runs"}  # folders written by an earlier build of the copy
SKIPPED = shutil.ignore_patterns("__pycache__", "_build", *MADE)


def make(folder: Path) -> Path:
    """Copy ``docs``, and the files that pages include or link to, into a folder; return the new ``docs``."""
    docs = folder / "docs"
    docs.mkdir(parents=True, exist_ok=True)
    for path in docs.iterdir():
        if path.is_dir() and path.name not in MADE:
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
    shutil.copytree(ROOT / "docs", docs, ignore=SKIPPED, dirs_exist_ok=True)
    shutil.rmtree(folder / "examples", ignore_errors=True)
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=SKIPPED)  # examples run in their folder
    for name in ("aucbench", "CHANGELOG.md", "CONTRIBUTING.md"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(ROOT / name)
    return docs
