"""Settings of the documents: `make docs`."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs")]
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import browser_page  # noqa: E402
import foldshift  # noqa: E402
import pages  # noqa: E402
from foldshift.reporting.report_style import SCRIPT  # noqa: E402

project, author = "foldshift", "The foldshift developers"
copyright = author
version = release = foldshift.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]  # a class with the methods of its own; those that it inherits are scikit-learn's
exclude_patterns = [
    "_build",
    "browser",
    "gallery",
    "results",
    "questions",
    "findings.md",
    "add_a_study.md",
    "cluster.md",
    "scale.md",
    "**/GALLERY*.rst",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
nitpicky = False
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"

html_theme = "pydata_sphinx_theme"
html_title = f"foldshift {version}"
html_static_path = ["_static"]
html_css_files = ["foldshift.css"]
html_js_files = ["sort.js"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
myst_substitutions = pages.install_words(version) | {"pyodide": f"Pyodide {browser_page.pinned()['version']}"}
html_sidebars = {"index": [], "glossary": [], "architecture": []}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/\w+\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "run_stale_examples": True,  # an edit of the library changes what an unchanged program shows
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "copyfile_regex": r"",
    "image_srcset": ["2x"],
    "default_thumb_file": str(ROOT / "docs" / "dn_boxes.png"),
}


def setup(app):
    """Write the pages that are made, before anything is read; boxes that are wider than the page say so."""
    pages.write(Path(app.srcdir))
    app.add_js_file(None, body=SCRIPT)
    app.connect("build-finished", lambda app, error: error or pages.write_downloads(Path(app.outdir) / pages.DOWNLOADS))
