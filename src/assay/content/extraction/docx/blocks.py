"""One stream of text (the body, a note, a header, a text box) into blocks, in reading order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from assay.content.extraction.assembly import Draft
from assay.content.extraction.docx import drawings as docx_drawings
from assay.content.extraction.docx import paragraphs as docx_paragraphs
from assay.content.extraction.docx.names import (
    ALT_CHUNK,
    ALTERNATE,
    SUB_DOC,
    TBL,
    Element,
    P,
    alternative,
    r,
    w,
)
from assay.content.extraction.docx.notes import Notes
from assay.content.extraction.docx.numbering import Counters
from assay.content.extraction.docx.paragraphs import Properties
from assay.content.extraction.docx.runs import Line, Runs
from assay.content.extraction.docx.styles import Style, Styles
from assay.content.extraction.docx.tables import Table, plain
from assay.content.models import BlockKind

_SILENT = frozenset({w("sectPr"), w("sdtPr"), w("sdtEndPr"), w("tcPr"), w("customXmlPr"), w("pPr"), w("rPr")})
_ALONE = frozenset({P, TBL, ALT_CHUNK, SUB_DOC})


@dataclass(frozen=True, slots=True)
class Part:
    """What the streams of one part share: who reads its runs, and what its relations lead to."""

    styles: Styles
    notes: Notes
    gone: frozenset[str]
    original: bool
    start_runs: Callable[[], Runs]
    read_chunk: Callable[[str | None], list[Draft]]
    read_captions: Callable[[str], list[str]]
    read_note: Callable[[str, Element], list[Draft]]
    miss: Callable[[str], None]
    hide: Callable[[str], None]


@dataclass(slots=True)
class Story:
    part: Part
    counters: Counters
    runs: Runs
    boxes: Counters | None = None
    _pending: list[tuple[Line, Properties]] = field(default_factory=list)

    def read(
        self, container: Element, *, backed: bool = False, step: Callable[[], None] | None = None
    ) -> list[Draft]:
        """The blocks of a body, a cell, a note, a header or a box. `step` is told of each one begun."""
        drafts: list[Draft] = []
        outer, self._pending = self._pending, []
        for element in self._blocks(container):
            if step is not None:
                step()
            if element.tag == P:
                drafts += self._paragraph(element, backed=backed)
            else:
                drafts += self._flush()
                drafts += self._other(element, backed=backed)
        drafts += self._flush()
        self._pending = outer
        return drafts

    def _blocks(self, container: Element) -> Iterator[Element]:
        """Paragraphs and tables, with whatever wraps them taken off."""
        for child in container:
            tag = child.tag
            if tag in _ALONE:
                yield child
            elif tag == ALTERNATE:
                branch = alternative(child)
                if branch is not None:
                    yield from self._blocks(branch)
            elif tag not in self.part.gone and tag not in _SILENT:
                yield from self._blocks(child)

    def _other(self, element: Element, *, backed: bool) -> list[Draft]:
        if element.tag == TBL:
            return self._table().read(element, backed=backed)
        if element.tag == ALT_CHUNK:
            return self.part.read_chunk(element.get(r("id")))
        self.part.miss("another file that the document includes by a link")
        return []

    def _table(self) -> Table:
        def read_cell(cell: Element, backed: bool) -> list[Draft]:  # noqa: FBT001 - the shape of `ReadCell`
            return self.read(cell, backed=backed)

        return Table(self.part.gone, read_cell, self.part.hide, self.part.original)

    def _paragraph(self, element: Element, *, backed: bool) -> list[Draft]:
        properties = docx_paragraphs.properties_of(element, self.part.gone, original=self.part.original)
        style = self.part.styles.paragraph(properties.style)
        if not (properties.mark_gone or self._pending):
            text = self.runs.plain_text(element, style)
            if text is not None:
                return self._block(text, properties, style)
        line = self.runs.read(element, style, backed=backed or properties.backed)
        if properties.mark_gone:
            self._pending.append((line, properties))
            return []
        return self._joined(line, properties) if self._pending else self._settle(line, properties)

    def _joined(self, line: Line, properties: Properties) -> list[Draft]:
        """A paragraph whose mark is gone runs on into the next, whose mark stays and decides.

        Only where the next has nothing left in it, the text keeps what it looked like.
        """
        whole = Line()
        for earlier, former in self._pending:
            whole.extend(earlier)
            if earlier.text().strip() and not line.text().strip():
                properties = former
        self._pending = []
        whole.extend(line)
        return self._settle(whole, properties)

    def _flush(self) -> list[Draft]:
        """Marks that are gone with nothing behind them to run on into."""
        if not self._pending:
            return []
        line, properties = self._pending.pop()
        if any(
            each.text().strip() or each.drawings or each.notes for each, _ in (*self._pending, (line, None))
        ):
            return self._joined(line, properties)
        for each in (line, *(earlier for earlier, _ in self._pending)):
            self._hide(each)
        self._pending = []
        return []

    def _settle(self, line: Line, properties: Properties) -> list[Draft]:
        """The paragraph, and after it what hangs on it."""
        style = self.part.styles.paragraph(properties.style)
        drafts = self._block(line.text(), properties, style)
        self._hide(line)
        drafts += [draft for piece in line.drawings for draft in self._drawn(piece)]
        drafts += [draft for note in line.notes for draft in self._note(*note)]
        return drafts

    def _block(self, text: str, properties: Properties, style: Style) -> list[Draft]:
        text = text.strip()
        place = docx_paragraphs.place_in_list(properties, style, self.counters)
        if properties.ends_section:
            self.part.notes.end_section()
        if place is None:
            return [docx_paragraphs.draft(text, None, properties, style)] if text else []
        # The number of a paragraph without text is printed all the same.
        if text or not (properties.mark_hidden or self.runs.is_muted()):
            return [docx_paragraphs.draft(text, self.counters.label(*place), properties, style)]
        return []

    def _hide(self, line: Line) -> None:
        for passage in line.hidden:
            self.part.hide(passage)

    def _drawn(self, piece: Element) -> list[Draft]:
        if piece.tag == docx_drawings.BOX:
            if self.boxes is None:
                self.boxes = Counters(self.counters.numbering)
            inner = Story(self.part, self.boxes, self.part.start_runs(), self.boxes)
            return inner.read(piece, backed=True)
        relation = docx_drawings.related_part(piece)
        captions = [docx_drawings.caption(piece)] if relation is None else self.part.read_captions(relation)
        return [Draft(BlockKind.PARAGRAPH, text.strip()) for text in captions if text.strip()]

    def _note(self, kind: str, identifier: str, mark: str) -> list[Draft]:
        note = self.part.notes.take(kind, identifier)
        if note is None:
            return []
        text = plain(self.part.read_note(kind, note))
        return [Draft(BlockKind.FOOTNOTE, f"{mark} {text}".strip(), number=mark or None)] if text else []
