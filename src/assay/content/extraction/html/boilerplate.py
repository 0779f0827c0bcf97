"""The site around the document is taken off the tree; the document stays whole.

First goes what says by tag or name that it is furniture of the site, unless it holds much of the page's
prose; then copies of a text for other screens. Then the core is found, the deepest node with nearly all
prose: beside it only prose, the title and what stands near it stay, and within it only plain navigation
goes. In doubt text stays: a lost clause is worse than a menu.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice

from assay.content.extraction.html import chrome
from assay.content.extraction.html.tree import Node, Tree, named, survey

# A part with more than this share of the prose is no ornament, whatever it is called.
_MOST, _MUCH, _SOME = 0.8, 0.3, 0.1
# An ancestor of the core with hardly more text than the core is still the document.
_NEAR = 1.1
_TITLE_AND_DATE = 150
_PARAGRAPHS = named("p li dt dd pre td th tr span b strong i em u font a summary")
_LONG_PROSE = 2000
_SHORT = 200
_REPEATED = 3
_ORNAMENTS = frozenset({"nav", "search", "form", "fieldset"})


def prune(tree: Tree) -> None:
    """Take the site off."""
    body = tree.body
    _settle_standby(tree)
    total = body.prose
    _remove(_topmost(body, lambda node: _is_furniture(node, total)), total)
    _remove_copies(body)
    survey(body)
    core = _core(body)
    _strip_around(core)
    _remove(_topmost(body, lambda node: _is_ornament(node, core)), core.prose)
    if body.inner >= _REPEATED:
        _take_off(_ways_back(body))


def _settle_standby(tree: Tree) -> None:
    """What a page keeps for browsers without scripts is its text only when it has hardly another."""
    if 2 * sum(node.prose for node in tree.standby) > tree.body.prose:
        return
    _take_off(tree.standby)
    if any(node.chars for node in tree.standby):
        survey(tree.body)


def _topmost(top: Node, wanted: Callable[[Node], bool]) -> list[Node]:
    """The nodes of this kind that are not within another of it."""
    found: list[Node] = []
    stack = list(reversed(top.children))
    while stack:
        node = stack.pop()
        if wanted(node):
            found.append(node)
        else:
            stack.extend(reversed(node.children))
    return found


def _remove(nodes: list[Node], total: int) -> None:
    """Take these off. If too much prose would go with them, a name misleads, and only those without it go."""
    banners = [node for node in nodes if chrome.is_consent_platform(node)]
    others = [node for node in nodes if not chrome.is_consent_platform(node)]
    for group, share in ((banners, _MOST), (others, _MUCH)):
        misled = sum(node.prose for node in group) > share * total
        _take_off([node for node in group if not (misled and node.prose)], keep_titles=_is_header)


def _take_off(nodes: Iterable[Node], *, keep_titles: Callable[[Node], bool] = lambda _node: False) -> None:
    """Take nodes off; what follows them stays, and the title of the page where it stands in one of them."""
    heirs = {node: _titles(node) if keep_titles(node) else [] for node in nodes}
    for parent in {node.parent for node in heirs if node.parent is not None}:
        _refill(parent, heirs)
    for node in heirs:
        node.parent = None


def _refill(parent: Node, heirs: dict[Node, list[Node]]) -> None:
    """Its children without those that have heirs, which stand in their place. Linear in the children."""
    kept: list[Node] = []
    tails: list[list[str]] = [[parent.text]]
    for child in parent.children:
        for node in heirs.get(child, [child]):
            node.parent = parent
            kept.append(node)
            tails.append([])
        tails[-1].append(child.tail)
    parent.text = "".join(tails[0])
    for node, tail in zip(kept, tails[1:], strict=True):
        node.tail = "".join(tail)
    parent.children = kept


def _titles(node: Node) -> list[Node]:
    return [part for part in node.walk() if part.tag == "h1" and part.chars > 2 * part.linked]


def _is_header(node: Node) -> bool:
    return node.tag == "header" or "banner" in node.roles or "header" in node.words


def _is_furniture(node: Node, total: int) -> bool:
    """What goes wherever it stands."""
    if chrome.is_consent_platform(node):
        return node.prose <= _MOST * total
    if node.prose > _MUCH * total:
        return False
    if chrome.is_dialog(node):
        return True
    if node.tag in {"header", "footer"} and not _is_within_document(node):
        return node.prose <= _SOME * total or node.linked * 3 > node.chars
    return node.tag == "nav" and not _is_contents(node)


def _is_within_document(node: Node) -> bool:
    return any(above.tag == "section" or chrome.is_main(above) for above in islice(node.ancestors(), 100))


def _is_contents(node: Node) -> bool:
    """A table of contents: its links stay on the page."""
    return node.links > 2 and node.inner * 2 > node.links


def _remove_copies(body: Node) -> None:
    """A text that stands twice, for two screens or for print, stands once."""
    variants = [node for node in body.walk() if node.prose > 300 and chrome.is_variant(node)]
    if not variants:
        return
    everywhere = Counter(_lines(body))
    affordable = 5 * body.chars
    # Hidden ones go first; of two that are shown, the later.
    variants.reverse()
    copies: list[Node] = []
    for node in sorted(variants, key=lambda node: not chrome.is_hidden(node)):
        affordable -= node.chars
        if affordable < 0:
            break
        own = Counter(_lines(node))
        if own and all(everywhere[line] > count for line, count in own.items()):
            everywhere.subtract(own)
            copies.append(node)
    _take_off(copies)


def _lines(node: Node) -> list[str]:
    lines = (" ".join(line.split()) for line in node.verbatim().split("\n"))
    return [line for line in lines if len(line) > 30]


def _core(body: Node) -> Node:
    """The deepest container that holds nearly all prose; a single paragraph is none."""
    core = body
    while True:
        inner = next((child for child in core.children if child.prose > _MOST * body.prose), None)
        if inner is not None and inner.tag in _PARAGRAPHS:
            return core
        if inner is None:
            return core
        core = inner


def _strip_around(core: Node) -> None:
    """Beside the way down to the core only prose, the title and what stands near the core stay."""
    inner = core
    for above in list(core.ancestors()):
        near = above.chars <= _NEAR * core.chars + _TITLE_AND_DATE or chrome.is_main(above)
        place = above.children.index(inner)
        before, after = above.children[:place], above.children[place + 1 :]
        _take_off([child for child in after if not _belongs(child, core, near=near)])
        _take_off(
            [child for child in before if not _belongs(child, core, near=near)],
            keep_titles=lambda _node: True,
        )
        inner = above


def _belongs(node: Node, core: Node, *, near: bool) -> bool:
    """Whether something beside the core is part of the document."""
    if chrome.is_consent(node) or _asks_for_consent(node):
        return node.prose > _MUCH * core.prose
    if node.prose > _SOME * core.prose and node.linked * 3 < node.chars:
        return True
    if chrome.is_site(node):
        return False
    if node.prose * 2 > node.chars:
        return True
    return near and node.linked * 3 < node.chars


def _asks_for_consent(node: Node) -> bool:
    """A few sentences about cookies with buttons under them."""
    if node.prose > _LONG_PROSE or node.headings > 2:
        return False
    if not any(part.tag == "button" and not chrome.discloses(part) for part in node.walk()):
        return False
    return "cookie" in node.plain().lower()


def _is_ornament(node: Node, core: Node) -> bool:
    """What goes from within the document."""
    if node.tag == "button":
        return not chrome.discloses(node)
    if not node.attributes and node.tag not in _ORNAMENTS:
        return False
    if node.prose > _SOME * core.prose or node.prose * 2 > node.chars:
        return False
    if chrome.is_site_inside(node):
        # Headings without links are a clause that is called so.
        return not _is_contents(node) and not (node.headings and not node.links)
    return node.prose == 0 < node.chars and _is_scrap(node)


def _ways_back(body: Node) -> list[Node]:
    """Links that stand alone, lead to one place of the page and recur: "back to top"."""
    links: dict[tuple[str, str], list[Node]] = {}
    for node in body.walk():
        if node.tag == "a" and node.inner and 0 < node.chars < 40 and _stands_alone(node):
            links.setdefault((node.get("href"), node.plain()), []).append(node)
    return [node for same in links.values() if len(same) >= _REPEATED for node in same]


def _stands_alone(node: Node) -> bool:
    return node.parent is not None and node.parent.chars == node.chars


def _is_scrap(node: Node) -> bool:
    """Labels of a form, and messages that nobody sees unless a script shows them."""
    if node.tag in {"form", "fieldset"} or chrome.is_for_screen_readers(node):
        return True
    return node.chars < _SHORT and chrome.is_hidden(node) and not chrome.is_panel(node)
