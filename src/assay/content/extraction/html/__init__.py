"""Web pages: the whole policy, without the site around it."""

from urllib.parse import unquote, urlsplit

from assay.content.extraction import charset as charsets
from assay.content.extraction import language
from assay.content.extraction.assembly import Draft, assemble
from assay.content.extraction.html import blocks as html_blocks
from assay.content.extraction.html import boilerplate as html_boilerplate
from assay.content.extraction.html.tree import STRUCK, Tree, parse
from assay.content.models import BlockKind, Caveat, NoText, Text

# A page with scripts and less text than this may be filled in by them.
_SHELL = 400
_SCRIPT_SHELL = Caveat(
    "script_shell",
    "The page holds little text itself; what its scripts add in a browser has not been read.",
)
_NOTHING_BUT_SCRIPTS = (
    "The page holds no text: its scripts fill it in a browser. "
    "Submit the document as a file, or the address of a page with text."
)


def read(data: bytes, *, charset: str | None = None, url: str | None = None) -> Text:
    """The document on this page. `charset` is what the HTTP header said; `url` only names the page."""
    markup = charsets.decode(data, charset)
    tree = parse(markup)
    html_boilerplate.prune(tree)
    drafts = html_blocks.drafts(tree.body)
    if not drafts:
        # All that there is looks like a menu: better that than nothing.
        tree = parse(markup)
        drafts = html_blocks.drafts(tree.body)
    if not drafts:
        raise NoText(_NOTHING_BUT_SCRIPTS if tree.has_scripts else "The page holds no text.")
    text = "\n".join(draft.text for draft in drafts)
    return assemble(
        drafts,
        title=tree.title or _first_heading(drafts) or _name(url),
        language=language.settle(tree.language, text),
        caveats=_caveats(tree, text),
    )


def _caveats(tree: Tree, text: str) -> list[Caveat]:
    caveats = []
    if tree.has_scripts and len(text) < _SHELL:
        caveats.append(_SCRIPT_SHELL)
    struck = tree.has_struck and sum(node.tag in STRUCK and node.chars > 0 for node in tree.body.walk())
    if struck:
        caveats.append(
            Caveat(
                "struck_text",
                "Text that is struck through on the page is part of this text.",
                count=struck,
            )
        )
    return caveats


def _first_heading(drafts: list[Draft]) -> str | None:
    return next((draft.text for draft in drafts if draft.kind is BlockKind.HEADING), None)


def _name(url: str | None) -> str | None:
    """The last part of the address, for a page that does not say what it is."""
    try:
        path = urlsplit(url or "").path
    except ValueError:
        return None
    return unquote(path.rstrip("/").rsplit("/", 1)[-1]) or None
