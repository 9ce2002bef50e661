"""The site of these pages: `make docs` writes it to build/docs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

import blurb

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "blurb"
author = "The blurb maintainers"
project_copyright = author
version = release = blurb.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_click"]
exclude_patterns = ["README.md"]  # a part of index.md

# Pages are Markdown that reads well in any viewer of the repository; the tour is shown with the outputs that it has.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]
nb_execution_mode = "off"

# Docstrings are reStructuredText with Markdown's single backticks for code.
default_role = "literal"
smartquotes = False  # it makes a dash of the two hyphens of an option
maximum_signature_line_length = 80
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"blurb {version}"
html_short_title = "blurb"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]


def adapt(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Makes links of the pages that docstrings name by their path, and code of indented examples, as in Markdown."""
    lines[:] = [re.sub(r"\bdocs/([\w/-]+)\.md\b", r":doc:`\1`", line) for line in lines]
    for number in reversed(range(2, len(lines))):
        before, blank, line = lines[number - 2 : number + 1]
        if line.startswith("    ") and not blank and before and not before.startswith((" ", ":")):
            lines[number:number] = ["::", ""]


def tidy(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Makes links to HTML files open them, which Sphinx would download; a dash behind the name of a parameter."""
    for text in list(doctree.findall(nodes.Text)):
        if text.astext() == " -- ":
            text.parent.replace(text, nodes.Text(" \u2013 "))
    for link in list(doctree.findall(addnodes.download_reference)):
        if link["reftarget"].endswith(".html"):
            address = f"{'../' * page.count('/')}_downloads/{link['filename']}"
            link.replace_self(nodes.reference("", "", *link.children, refuri=address))


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("doctree-resolved", tidy)
    app.connect("autodoc-process-docstring", adapt)
