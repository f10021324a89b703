"""How the site is built: ``sphinx-build -W -b html docs docs/_build``."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Sphinx looks for it before the pages are generated.
(HERE / "generated" / "board").mkdir(parents=True, exist_ok=True)

project = "aucbench"
author = "the aucbench authors"
copyright = "2026, the aucbench authors"
version = release = version_of("aucbench")

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "aucbench_pages",
]
exclude_patterns = [
    "_build", "_runs", "auto_examples/*.ipynb", "auto_examples/*.py", "generated/board", "generated/printed",
]  # fmt: skip
html_theme = "furo"
html_title = "aucbench"
html_extra_path = ["generated/board"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
templates_path: list[str] = []

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": "plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}
