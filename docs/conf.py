"""Sphinx's settings. The site asks no other host: no fonts, scripts, badges or formulas from elsewhere."""

import lockstep

project = "Lockstep"
author = "the authors of Lockstep"
release = version = lockstep.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_text"]
html_static_path = []  # build.py has put _static beside the pages; see setup
default_role = "code"  # docstrings name code in single backticks
nitpicky = False

nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_merge_streams = True
myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["mystnb.unknown_mime_type"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "Lockstep"
html_copy_source = html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses for files
html_css_files = ["site.css"]
html_theme_options = {
    "icon_links": [],
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_end": [],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "back_to_top_button": False,
}
html_sidebars = {page: [] for page in ("index", "guide", "claims", "search", "genindex")}


def setup(app):
    app.config.html_static_path = [str(app.srcdir / "_static")]
