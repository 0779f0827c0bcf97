"""A web page as a tree of plain nodes that know how much prose stands below them.

lxml parses; nothing of it leaves this module. What can never be text (scripts, styles, drawings) is
left behind here. No step recurses, so depth costs nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from assay.content.models import OverLimit

# A tag with its blocks and cells costs a kilobyte or so: this keeps a page well under the memory limit.
_MAX_TAGS = 400_000
_MAX_FRAMES = 20
_LONGEST_TITLE = 500
# An end tag that fits nothing is compared with every open one: depth times tags must stay affordable.
_MAX_DEPTH = 3000


def named(words: str) -> frozenset[str]:
    """A set of names, written as a sentence."""
    return frozenset(words.split())


_NEVER_TEXT = named(
    "script style svg math canvas audio video object embed applet link meta base map area input datalist "
    "progress meter select frameset param source track picture img colgroup col title rp"
)
BLOCKS = named(
    "html body address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe legend li main menu nav ol p pre section "
    "summary table tbody td template tfoot th thead tr ul caption noscript textarea search listing "
    "plaintext xmp"
)
_INLINE = named("span b strong i em u font label")
# Shown only where scripts do not run, or only once a script has used it.
STANDBY = named("noscript template")
STRUCK = named("s strike del")
HEADINGS = {f"h{level}": level for level in range(1, 7)}
PREFORMATTED = named("pre listing plaintext xmp textarea")

_SENTENCE, _SENTENCE_WIDE = 70, 25
_SHOWN_AS_BLOCK = re.compile(r"display\s*:\s*(?:block|flex|grid|table)\b")
_NAME = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")
_TAGS = re.compile(r"(?:<[^<>]*>\s*)+")
_RAW = re.compile(r"<(script|style)\b", re.IGNORECASE)
_NONE: dict[str, str] = {}
_NOTHING: frozenset[str] = frozenset()


class Node:
    """An element. The counts cover all below it.

    `chars` are all characters, `linked` those in links, `prose` those of paragraphs that read like
    sentences; `links` are links, `inner` the ones that stay on the page. `inline` and `inline_linked`
    are what it adds to the paragraph that it stands in. `previous` is the sibling before it in the source.
    """

    __slots__ = (
        "attributes", "chars", "children", "headings", "inline", "inline_linked", "inner", "linked", "links",
        "parent", "previous", "prose", "tag", "tail", "text",
    )  # fmt: skip

    def __init__(self, tag: str, attributes: dict[str, str], parent: "Node | None") -> None:
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.previous: Node | None = None
        self.children: list[Node] = []
        self.text = ""
        self.tail = ""
        self.chars = self.linked = self.prose = self.links = self.inner = self.headings = 0
        self.inline = self.inline_linked = 0

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    @property
    def words(self) -> frozenset[str]:
        """The words of its class and identifier: `siteFooter_nav-2` says site, footer and nav."""
        attributes = self.attributes
        if "class" not in attributes and "id" not in attributes:
            return _NOTHING
        return _words(f"{self.get('class')} {self.get('id')}"[:1000])

    @property
    def roles(self) -> frozenset[str]:
        role = self.attributes.get("role")
        return frozenset(role.lower().split()) if role else _NOTHING

    def walk(self) -> Iterator["Node"]:
        """Itself and all below, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def ancestors(self) -> Iterator["Node"]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def plain(self, most: int | None = None) -> str:
        """All its text, or its beginning, on one line; blocks and line breaks part words."""
        return " ".join(self.verbatim(" ", most).split())

    def verbatim(self, gap: str = "\n", most: int | None = None) -> str:
        """All its text with white space as it is; `gap` stands where blocks and line breaks part it."""
        pieces: list[str] = []
        left = most if most is not None else self.chars + 1
        stack: list[Node | str] = [self]
        while stack and left > 0:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
                left -= len(item.strip()) if most is not None else 0
                continue
            left -= len(item.text.strip()) if most is not None else 0
            around = gap if item.tag in BLOCKS or item.tag == "br" else ""
            pieces.append(around + item.text)
            stack.append(around if item.tag != "br" else "")
            for child in reversed(item.children):
                stack.append(child.tail)
                stack.append(child)
        return "".join(pieces)


@lru_cache(maxsize=4096)
def _words(names: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _NAME.findall(names))


@dataclass(frozen=True, slots=True)
class Tree:
    """The body of a page, and what its head says."""

    body: Node
    title: str | None
    language: str | None
    # What browsers without scripts would show, and what scripts would fill in.
    standby: tuple[Node, ...]
    has_scripts: bool
    has_struck: bool


def parse(markup: str) -> Tree:
    """The tree of this markup, with counts. Nothing is fetched and no entity but HTML's own is known."""
    if markup.count("<") > _MAX_TAGS:
        raise OverLimit(f"The web page holds more than {_MAX_TAGS:,} tags.")
    builder = _built(markup)
    if _splice(builder.frames):
        survey(builder.body)
    return Tree(
        body=builder.body,
        title=builder.title,
        language=builder.language,
        standby=tuple(builder.standby),
        has_scripts=builder.has_scripts,
        has_struck=builder.has_struck,
    )


def _built(markup: str) -> "_Builder":
    try:
        return _fed(markup)
    except _TooDeep:
        # A page of this depth has no structure worth keeping, but it may have a text.
        return _fed(_TAGS.sub("<p>", _without_scripts(markup)))


def _fed(markup: str) -> "_Builder":
    builder = _Builder()
    # By events, not by lxml's own tree: that one ends at 2,048 levels, silently.
    parser = etree.HTMLParser(target=builder, encoding="utf-8", no_network=True, huge_tree=True)
    parser.feed(markup.replace("\0", "").encode("utf-8", "replace") or b" ")
    parser.close()
    return builder


def _without_scripts(markup: str) -> str:
    kept: list[str] = []
    lower = markup.lower()
    position = 0
    while (opening := _RAW.search(markup, position)) is not None:
        kept.append(markup[position : opening.start()])
        closing = lower.find(f"</{opening[1].lower()}", opening.end())
        position = closing if closing >= 0 else len(markup)
    return "".join((*kept, markup[position:]))


class _TooDeep(Exception):  # never leaves this module
    """More levels than the parser can close in reasonable time."""


class _Builder:
    """Takes the parser's events and makes counted nodes, without what is never text."""

    def __init__(self) -> None:
        self.body = Node("body", _NONE, None)
        self.title: str | None = None
        self.language: str | None = None
        self.frames: list[Node] = []
        self.standby: list[Node] = []
        self.has_scripts = self.has_struck = False
        self._open = [self.body]
        self._pieces: list[str] = []
        self._last: Node | None = None  # whose tail the text is; None: it is the text of the open node
        self._skipped: list[str] = []
        self._title_pieces: list[str] = []
        self._in_standby = 0
        self._preformatted = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._skipped or tag in _NEVER_TEXT:
            self._skipped.append(tag)
            self.has_scripts = self.has_scripts or tag == "script"
            return
        if self._pieces:
            self._settle()
        if len(self._open) > _MAX_DEPTH:
            raise _TooDeep
        self._begin(tag, dict(attributes) if attributes else _NONE)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1]
        if tag in _INLINE and _SHOWN_AS_BLOCK.search(attributes.get("style", "")):
            tag = "div"
        if tag == "template" and "shadowrootmode" in attributes:
            tag = "div"  # shown without any script
        node = Node(tag, attributes, parent)
        node.previous = self._last
        parent.children.append(node)
        self._open.append(node)
        self._last = None
        if tag in PREFORMATTED:
            self._preformatted += 1
        elif tag == "html":
            self.language = node.get("lang") or node.get("xml:lang") or None
        elif tag == "iframe":
            self.frames.append(node)
        elif tag in STANDBY:
            self._in_standby += 1
            if self._in_standby == 1:
                self.standby.append(node)
        elif tag in STRUCK:
            self.has_struck = True

    def end(self, _tag: str) -> None:
        if self._skipped:
            self._skipped.pop()
            return
        if len(self._open) == 1:
            return
        if self._pieces:
            self._settle()
        self._last = self._open.pop()
        if self._last.tag in PREFORMATTED:
            self._preformatted -= 1
        elif self._last.tag in STANDBY:
            self._in_standby -= 1
        _count(self._last)

    def data(self, text: str) -> None:
        if not self._skipped:
            self._pieces.append(text)
        elif self._skipped == ["title"]:
            self._title_pieces.append(text)

    def close(self) -> None:
        if self._pieces:
            self._settle()
        self.title = " ".join("".join(self._title_pieces).split())[:_LONGEST_TITLE] or None
        while self._open:
            _count(self._open.pop())

    def _settle(self) -> None:
        """Give the text so far to the node that it belongs to."""
        text = self._pieces[0] if len(self._pieces) == 1 else "".join(self._pieces)
        self._pieces.clear()
        if not self._preformatted and ("\n" in text or "  " in text):
            text = _collapsed(text)
        if self._last is None:
            self._open[-1].text += text
        else:
            self._last.tail += text


def _collapsed(text: str) -> str:
    """White space inside as single spaces; at the edges one stays, for it parts words."""
    inside = " ".join(text.split())
    if not inside:
        return " "
    before = " " if text[0].isspace() else ""
    after = " " if text[-1].isspace() else ""
    return f"{before}{inside}{after}"


def _splice(frames: list[Node]) -> bool:
    """Put the documents that stand inside the page (`srcdoc`) in their place; frames hold nothing else."""
    spliced = False
    for count, frame in enumerate(frames):
        source = frame.get("srcdoc")
        frame.text, frame.children = "", []
        if source and count < _MAX_FRAMES:
            inner = _built(source).body
            inner.parent = frame
            frame.children = [inner]
            spliced = True
    return spliced


def survey(body: Node) -> None:
    """Count, from the leaves up. To be asked for again when the tree has changed."""
    for node in reversed(list(body.walk())):
        _count(node)


def _count(node: Node) -> None:
    paragraph = 0 if node.text.isspace() else len(node.text)
    chars, linked, prose, links, inner, headings, inline_linked = paragraph, 0, 0, 0, 0, 0, 0
    for child in node.children:
        tail = 0 if child.tail.isspace() else len(child.tail)
        chars += child.chars + tail
        paragraph += child.inline + tail
        inline_linked += child.inline_linked
        linked += child.linked
        prose += child.prose
        links += child.links
        inner += child.inner
        headings += child.headings
    if node.tag == "a" and "href" in node.attributes:
        links += 1
        inner += node.attributes["href"].startswith("#")
        linked, inline_linked = chars, paragraph
    if node.tag not in BLOCKS:
        node.inline, node.inline_linked = paragraph, inline_linked
    elif node.tag in HEADINGS:
        headings += 1
    elif paragraph >= _SENTENCE_WIDE and inline_linked * 2 < paragraph and _reads(node, paragraph):
        prose += paragraph - inline_linked
    node.chars, node.linked, node.prose = chars, linked, prose
    node.links, node.inner, node.headings = links, inner, headings


def _reads(node: Node, paragraph: int) -> bool:
    """Whether a paragraph of this length is a sentence: in Chinese, Japanese and Korean a short one is."""
    if paragraph >= _SENTENCE:
        return True
    texts = (node.text, *(text for child in node.children for text in (child.text, child.tail)))
    return any(_WIDE.search(text) for text in texts)
