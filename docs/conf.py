"""How Sphinx makes the site of the guide: `make docs`."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxTranslator

from mvrbm import __version__

project = "mvrbm"
release = __version__
copyright = "the mvrbm authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

smartquotes_action = "D"  # dashes; a value such as "masked" is to be copied
default_role = "code"  # docstrings are read in the terminal first: one backtick
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signature of MVRBM is long enough
napoleon_google_docstring = False

html_theme = "furo"
html_title = "mvrbm"
html_static_path = ["guide.css"]
html_css_files = ["guide.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}


def _mathml(self: SphinxTranslator, node: nodes.Element, display: str) -> None:
    """Write a formula as MathML, which browsers know: no script, and nothing to fetch."""
    self.body.append(convert(node.astext(), display=display))
    raise nodes.SkipNode


def _inline(self: SphinxTranslator, node: nodes.Element) -> None:
    _mathml(self, node, "inline")


def _block(self: SphinxTranslator, node: nodes.Element) -> None:
    _mathml(self, node, "block")


def _skip(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what the estimators inherit from scikit-learn, which documents it."""
    return None if str(getattr(thing, "__module__", "mvrbm")).startswith("mvrbm") else True


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx what we do otherwise."""
    app.connect("autodoc-skip-member", _skip)
    app.add_node(nodes.math, override=True, html=(_inline, None))
    app.add_node(nodes.math_block, override=True, html=(_block, None))
    return {"parallel_read_safe": True}
