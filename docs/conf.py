"""Sphinx configuration of the site; build it with ``sphinx-build -W -b html docs FOLDER``."""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.dont_write_bytecode = True  # a build writes nothing into the source tree
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

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
exclude_patterns = ["_ext", "auto_examples/*.ipynb", "auto_examples/*.py", "generated/printed"]
html_theme = "furo"
html_title = "aucbench"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
templates_path: list[str] = []

html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
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
