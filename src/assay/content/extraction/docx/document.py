"""A whole DOCX: which parts it is read from, in which order, and what its reader should be told."""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from assay.content.extraction.assembly import Draft
from assay.content.extraction.docx import chunks as docx_chunks
from assay.content.extraction.docx import drawings as docx_drawings
from assay.content.extraction.docx.blocks import Part, Story
from assay.content.extraction.docx.names import (
    DEL,
    INS,
    MOVE_FROM,
    MOVE_TO,
    SECT_PR,
    VAL,
    VANISH,
    Element,
    r,
    w,
)
from assay.content.extraction.docx.notes import Notes
from assay.content.extraction.docx.numbering import Counters, Numbering
from assay.content.extraction.docx.package import Package, Relation, parse
from assay.content.extraction.docx.revisions import Revisions
from assay.content.extraction.docx.runs import Runs
from assay.content.extraction.docx.styles import Styles
from assay.content.extraction.docx.survey import survey
from assay.content.extraction.docx.tables import plain
from assay.content.models import BlockKind, Caveat, DamagedDocument, OverLimit

_ACCEPTED, _ORIGINAL = frozenset({DEL, MOVE_FROM}), frozenset({INS, MOVE_TO})
_BODY, _LANG, _COMMENT = w("body"), w("lang"), w("comment")
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
# Without any of these no run of a part can be hidden, tiny, white or in a symbol font.
_TINY, _WHITE, _SYMBOL = b'sz w:val="1"', (b"FFFFFF", b"ffffff"), b'"Symbol"'
_SYMBOL_FONTS = (b"ingdings", b"ebdings", _SYMBOL)
# Counted in the bytes: this is a vote, and a look at every run would cost more than reading it.
_LANGUAGE = b':lang w:val="'
_DEEPEST_CHUNK = 3
_NOTE_SIGNS = _TINY  # a note is small: look at all of it
_LISTED, _EXCERPT = 10, 120

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class Document:
    """`depth` counts documents within documents."""

    package: Package
    original: bool
    depth: int = 0
    hidden: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    revisions: Revisions = field(default_factory=Revisions)
    comments: int = 0
    main: str = field(init=False)
    relations: dict[str, Relation] = field(init=False)
    styles: Styles = field(init=False)
    numbering: Numbering = field(init=False)
    notes: Notes = field(init=False)
    root: Element = field(init=False)
    _content: bytes = field(init=False)
    _hiding: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.main = self.package.main_part()
        self.relations = self.package.relations(self.main)
        self._content = self.package.bytes_of(self.main)
        self.root = parse(self._content, self.main)
        self.styles, self._hiding = self._open_styles()
        # Bound to what they need, not to this object: a loop would keep the trees alive after the last use.
        related = partial(_related, self.package, self.relations)
        self.numbering = Numbering(partial(related, "numbering"), self.styles)
        self.notes = Notes(related, partial(_note_settings, self.root, related))
        comments = related("comments")
        self.comments = 0 if comments is None else sum(1 for _ in comments.iterchildren(_COMMENT))

    def drafts(self, progress: Progress | None = None) -> list[Draft]:
        """The body with its notes, then headers and footers, each once."""
        body = self._body()
        part = self._part(self.relations, self.root, self._content)
        step = None if progress is None else _Steps(len(body), progress)
        drafts = Story(part, Counters(self.numbering), part.start_runs()).read(body, step=step)
        if self.depth == 0:
            drafts += self._margins()
        return drafts

    def title(self) -> str | None:
        """What the properties say, or else the paragraph that is styled as the title."""
        core = next((one.target for one in self.package.relations().values() if one.kind == "core"), None)
        if core and self.package.has(core):
            found = parse(self.package.bytes_of(core), core).find(_TITLE)
            if found is not None and found.text and found.text.strip():
                return " ".join(found.text.split())
        return self._styled_title()

    def _styled_title(self) -> str | None:
        titles = self.styles.used("title")
        for properties in self.root.iter(w("pStyle")) if titles else ():
            if properties.get(VAL) in titles:
                paragraph = next(properties.iterancestors(w("p")), None)
                words = "" if paragraph is None else "".join(t.text or "" for t in paragraph.iter(w("t")))
                if words.strip():
                    return " ".join(words.split())
        return None

    def language(self) -> str | None:
        """The language that most runs name; where most name none, that of the default style."""
        pieces = self._content.split(_LANGUAGE)[1:]
        named = Counter(piece[: max(piece.find(b'"', 0, 20), 0)] for piece in pieces)
        (tag, count), *_ = named.most_common(1) or [(b"", 0)]
        most: str | None = tag.decode("ascii", "ignore")
        if not tag or count * 2 <= self._content.count(b"</w:r>"):
            most = self.styles.paragraph(None).language or self.styles.default_language or most
        primary = (most or "").replace("_", "-").partition("-")[0].lower()
        return primary if primary.isalpha() and 2 <= len(primary) <= 3 else None

    def caveats(self) -> list[Caveat]:
        found = []
        if self.revisions.total:
            sentence = self.revisions.sentence(original=self.original)
            found.append(Caveat("tracked_changes", sentence, count=self.revisions.total))
        if self.comments:
            sentence = "Comments are not part of the text and were left out."
            found.append(Caveat("comments", sentence, count=self.comments))
        if self.hidden:
            found.append(Caveat("hidden_text", _listing(self.hidden), count=len(self.hidden)))
        found.extend(
            Caveat("unread_part", f"The document holds {what}, which was not read.") for what in self.missed
        )
        return found

    def _body(self) -> Element:
        if self.root.tag != w("document"):
            raise DamagedDocument("The main part of the DOCX is not a Word document.")
        bodies = self.root.findall(_BODY)
        if len(bodies) != 1:
            raise DamagedDocument(f"The DOCX has {len(bodies) or 'no'} bodies where there must be one.")
        return bodies[0]

    def _open_styles(self) -> tuple[Styles, set[str]]:
        name = next((one.target for one in self.relations.values() if one.kind == "styles"), None)
        if name is None:
            return Styles(None), set()
        content = self.package.bytes_of(name)
        styles = Styles(parse(content, name))
        return styles, styles.hiding() if _could_hide(styles.root, content) else set()

    def _part(self, relations: dict[str, Relation], root: Element, content: bytes) -> Part:
        gone = _ORIGINAL if self.original else _ACCEPTED
        inspects = _could_hide(root, content) or any(f'"{each}"'.encode() in content for each in self._hiding)
        surveyed = survey(root, gone)
        self.revisions.count(surveyed.changes)

        def start_runs() -> Runs:
            return Runs(self.styles, gone, self.notes.cite, inspects, surveyed, self.original)

        return Part(
            styles=self.styles,
            notes=self.notes,
            gone=gone,
            original=self.original,
            start_runs=start_runs,
            read_chunk=lambda identifier: self._chunk(relations, identifier),
            read_captions=lambda identifier: self._captions(relations, identifier),
            read_note=self._note,
            miss=self.missed.append,
            hide=self._hide,
        )

    def _hide(self, passage: str) -> None:
        if passage.strip():
            self.hidden.append(" ".join(passage.split()))

    def _target(self, relations: dict[str, Relation], identifier: str | None, what: str) -> str | None:
        relation = relations.get(identifier or "")
        if relation is None:
            raise DamagedDocument(f"The DOCX refers to {what} that is missing.")
        return relation.target

    def _chunk(self, relations: dict[str, Relation], identifier: str | None) -> list[Draft]:
        name = self._target(relations, identifier, "an embedded document")
        if name is None:
            self.missed.append("another file that the document includes by a link")
            return []
        content = self.package.bytes_of(name)
        if content.startswith(b"PK\x03\x04"):
            return self._embedded(content)
        drafts = docx_chunks.read_chunk(content, self.package.content_type(name), name)
        if drafts is None:
            self.missed.append("an embedded document of another format")
        return drafts or []

    def _embedded(self, content: bytes) -> list[Draft]:
        if self.depth >= _DEEPEST_CHUNK:
            raise OverLimit(f"Documents are embedded in the DOCX more than {_DEEPEST_CHUNK} deep.")
        budget = self.package.limit_bytes - self.package.unpacked_bytes
        inner = Document(Package(io.BytesIO(content), budget), self.original, self.depth + 1)
        drafts = inner.drafts()
        self.package.unpacked_bytes += inner.package.unpacked_bytes
        self.hidden += inner.hidden
        self.missed += inner.missed
        self.comments += inner.comments
        self.revisions.add(inner.revisions)
        return drafts

    def _captions(self, relations: dict[str, Relation], identifier: str) -> list[str]:
        name = self._target(relations, identifier, "a diagram")
        return [] if name is None else docx_drawings.captions(parse(self.package.bytes_of(name), name))

    def _note(self, kind: str, note: Element) -> list[Draft]:
        name = next((one.target for one in self.relations.values() if one.kind == kind), None) or ""
        part = self._part(self.package.relations(name), note, _NOTE_SIGNS)
        return Story(part, Counters(self.numbering), part.start_runs()).read(note)

    def _margins(self) -> Iterator[Draft]:
        """Headers and footers that the sections name, in their order; the same text is printed once."""
        seen: set[tuple[BlockKind, str]] = set()
        names: set[str] = set()
        for kind, tag in ((BlockKind.HEADER, w("headerReference")), (BlockKind.FOOTER, w("footerReference"))):
            for reference in self.root.iter(tag):
                name = self._target(self.relations, reference.get(r("id")), f"a {kind.value}")
                if name is None or name in names:
                    continue
                names.add(name)
                text = plain(self._margin(name))
                if text and (kind, text) not in seen:
                    seen.add((kind, text))
                    yield Draft(kind, text)

    def _margin(self, name: str) -> list[Draft]:
        content = self.package.bytes_of(name)
        root = parse(content, name)
        part = self._part(self.package.relations(name), root, content)
        return Story(part, Counters(self.numbering), part.start_runs()).read(root)


def _related(package: Package, relations: dict[str, Relation], kind: str) -> Element | None:
    name = next((one.target for one in relations.values() if one.kind == kind), None)
    return None if name is None else parse(package.bytes_of(name), name)


def _note_settings(root: Element, related: Callable[[str], Element | None]) -> list[Element]:
    """A section's own settings come before those of the document."""
    settings = related("settings")
    return [*root.iter(SECT_PR), *([] if settings is None else [settings])]


@dataclass(slots=True)
class _Steps:
    """Tells of the blocks begun, a hundred times at most."""

    total: int
    tell: Progress
    done: int = 0

    def __call__(self) -> None:
        self.done = min(self.done + 1, self.total)
        if self.done % max(self.total // 100, 1) == 0:
            self.tell(self.done, self.total)


def _could_hide(root: Element | None, content: bytes) -> bool:
    if root is None or next(root.iter(VANISH), None) is not None or _TINY in content:
        return True
    if b"color" in content and any(sign in content for sign in _WHITE):
        return True
    fonts = b"rFonts" in content and (b"dings" in content or _SYMBOL in content)
    return fonts and any(sign in content for sign in _SYMBOL_FONTS)


def _listing(passages: list[str]) -> str:
    quoted = (f"“{text[:_EXCERPT]}{'…' if len(text) > _EXCERPT else ''}”" for text in passages[:_LISTED])
    more = f" and {len(passages) - _LISTED} more" if len(passages) > _LISTED else ""
    return f"Hidden text was left out: {', '.join(quoted)}{more}."
