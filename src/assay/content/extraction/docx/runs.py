"""The text of a paragraph, run by run: what is printed, what hangs on it, what is hidden."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from lxml import etree

from assay.content.extraction.docx import drawings as docx_drawings
from assay.content.extraction.docx import math as docx_math
from assay.content.extraction.docx.fields import Field
from assay.content.extraction.docx.names import (
    ALTERNATE,
    R_PR,
    Element,
    R,
    T,
    alternative,
    child_of,
    leading,
    m,
    value,
    w,
)
from assay.content.extraction.docx.styles import NO_LOOK, Look, Style, Styles, look_of
from assay.content.extraction.docx.survey import Survey
from assay.content.extraction.docx.symbols import is_symbol_font, sign, translate

_RUN_STYLE = w("rStyle")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_ODD_SPACE = re.compile(r"[\t\r\n]+")
_PRIVATE = re.compile("[\uf020-\uf0ff]")
# Elements beside the runs of a paragraph that hold no text of it.
_SILENT = frozenset(
    w(name)
    for name in (
        *("pPr", "rPr", "sdtPr", "sdtEndPr", "fldData", "customXmlPr", "smartTagPr", "proofErr"),
        *("bookmarkStart", "bookmarkEnd", "permStart", "permEnd", "commentRangeStart", "commentRangeEnd"),
        *("moveFromRangeStart", "moveFromRangeEnd", "moveToRangeStart", "moveToRangeEnd"),
        *("instrText", "delInstrText", "delText"),
    )
)


@dataclass(slots=True)
class Line:
    """A paragraph's text, and what is printed after it because it hangs on it."""

    pieces: list[str] = field(default_factory=list)
    drawings: list[Element] = field(default_factory=list)
    notes: list[tuple[str, str, str]] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    _hidden_at: int = -1

    def hide(self, text: str) -> None:
        """Keep text apart; runs that follow each other are one passage."""
        if self.hidden and self._hidden_at == len(self.pieces):
            self.hidden[-1] += text
        else:
            self.hidden.append(text)
        self._hidden_at = len(self.pieces)

    def text(self) -> str:
        return cleaned("".join(self.pieces))

    def extend(self, other: "Line") -> None:
        self.pieces += other.pieces
        self.drawings += other.drawings
        self.notes += other.notes
        self.hidden += other.hidden


def cleaned(text: str) -> str:
    """Without soft hyphens, and without codes that only a symbol font can show."""
    if text.isascii():
        return text
    if "\N{SOFT HYPHEN}" in text:
        text = text.replace("\N{SOFT HYPHEN}", "")
    return translate(text, None) if _PRIVATE.search(text) else text


Cite: TypeAlias = Callable[[str, str], str]


@dataclass(slots=True)
class Runs:
    """Reads the paragraphs of one stream of text, since fields run on from one to the next.

    `gone` are the revisions that this view leaves out; `inspects` says whether any run of the part could be
    hidden, as looking is most of the work and hardly a document needs it.
    """

    styles: Styles
    gone: frozenset[str]
    cite: Cite
    inspects: bool
    survey: Survey
    original: bool = False
    _fields: list[Field] = field(default_factory=list)
    _muted: int = 0
    _looks: bool = False
    _below: Look = field(default_factory=Look)
    _style_hides: bool = False
    _backed: bool = False

    def plain_text(self, paragraph: Element, style: Style) -> str | None:
        """The text of a paragraph that is nothing but its runs, as most are; None for any other."""
        if self.inspects or style.hides or self._muted or paragraph in self.survey.busy:
            return None
        # Nothing else in such a paragraph has text, and no walk over its runs is nearly as fast.
        text = etree.tostring(paragraph, encoding="unicode", method="text", with_tail=False)
        return None if "\n" in text or "\t" in text else cleaned(text)

    def read(self, paragraph: Element, style: Style, *, backed: bool) -> Line:
        """`backed`: something coloured stands behind the paragraph, so white text can be seen."""
        line = Line()
        self._looks = self.inspects or style.hides
        if self._looks:
            self._below = style.look.over(self.styles.defaults)
            self._style_hides = bool(self._below.hidden)
            self._backed = backed
        self._inside(paragraph, line)
        return line

    def is_muted(self) -> bool:
        """Whether the next text is part of an instruction."""
        return self._muted > 0

    def _inside(self, parent: Element, line: Line) -> None:
        for child in parent:
            tag = child.tag
            if tag == R:
                self._run(child, line)
            elif tag in _SILENT or tag in self.gone:
                continue
            elif tag == ALTERNATE:
                branch = alternative(child)
                if branch is not None:
                    self._inside(branch, line)
            elif tag == _EQUATION:
                if not self._muted:
                    line.pieces.append(docx_math.linear(child))
            else:
                self._inside(child, line)

    def _run(self, run: Element, line: Line) -> None:
        font = None
        if self._looks:
            look = self._look(run)
            font = look.font if is_symbol_font(look.font) else None
            if look.hidden or look.tiny or (look.white and not (look.backed or self._backed)):
                self._hide(run, line)
                return
        for child in run:
            if child.tag == T:
                if not self._muted and child.text:
                    text = _as_typed(child)
                    line.pieces.append(translate(text, font) if font else text)
            elif child.tag != R_PR:
                self._other(child, line)

    def _look(self, run: Element) -> Look:
        properties = leading(run, R_PR)
        if properties is None:
            return self._below
        own = look_of(properties)
        named = value(properties, _RUN_STYLE)
        if named is None:
            return self._below if own is NO_LOOK else own.over(self._below)
        style = self.styles.character(named).look
        look = own.over(style).over(self._below)
        if own.hidden is None and style.hidden and self._style_hides:
            # Hidden by the paragraph's style and by the run's: the two undo each other.
            return replace(look, hidden=False)
        return look

    def _hide(self, run: Element, line: Line) -> None:
        """Read a run for its fields, and keep its text apart."""
        apart = Line()
        for child in run:
            if child.tag == T:
                if not self._muted and child.text:
                    apart.pieces.append(child.text)
            elif child.tag in {_FIELD_CHAR, _INSTRUCTION}:
                self._other(child, apart)
            elif child.tag in _DRAWN:
                apart.pieces.append(docx_drawings.all_text(child))
            elif child.tag in _SIGNS:
                apart.pieces.append(_SIGNS[child.tag])
        line.hide(apart.text())

    def _other(self, child: Element, line: Line) -> None:
        """Anything in a run but plain text; what is not known there prints nothing."""
        sign_ = _SIGNS.get(child.tag)
        if sign_ is not None:
            self._print(sign_, line)
            return
        reader = _READERS.get(child.tag)
        if reader is not None:
            reader(self, child, line)

    def _instruction(self, child: Element, _: Line) -> None:
        if self._fields and not self._fields[-1].in_result:
            self._fields[-1].instruction.append(child.text or "")

    def _symbol(self, child: Element, line: Line) -> None:
        self._print(sign(_hexadecimal(child.get(_CHAR)), child.get(_FONT)), line)

    def _deleted(self, child: Element, line: Line) -> None:
        if self.original:
            self._print(child.text or "", line)

    def _alternate(self, child: Element, line: Line) -> None:
        branch = alternative(child)
        for inner in () if branch is None else branch:
            self._text_or_other(inner, line)

    def _text_or_other(self, child: Element, line: Line) -> None:
        if child.tag == T:
            self._print(child.text or "", line)
        elif child.tag == R:
            self._run(child, line)
        else:
            self._other(child, line)

    def _print(self, text: str, line: Line) -> None:
        if not self._muted:
            line.pieces.append(text)

    def _draw(self, drawing: Element, line: Line) -> None:
        if self._muted:
            return
        if docx_drawings.is_hidden(drawing):
            line.hide(docx_drawings.all_text(drawing))
        else:
            line.drawings.extend(docx_drawings.pieces(drawing))

    def _note(self, reference: Element, line: Line) -> None:
        if self._muted:
            return
        kind = "footnotes" if reference.tag == _FOOTNOTE else "endnotes"
        identifier = reference.get(w("id"), "")
        if reference.get(_OWN_MARK, "0") in {"1", "true", "on"}:
            line.notes.append((kind, identifier, ""))
            return
        mark = f"[{self.cite(kind, identifier)}]"
        line.pieces.append(mark)
        line.notes.append((kind, identifier, mark))

    def _ruby(self, ruby: Element, line: Line) -> None:
        """The base, and its reading in brackets."""
        for name, before, after in (("rubyBase", "", ""), ("rt", "(", ")")):
            part = child_of(ruby, w(name))
            if part is not None:
                self._print(before, line)
                self._inside(part, line)
                self._print(after, line)

    def _field(self, mark: Element, line: Line) -> None:
        kind = mark.get(_FIELD_CHAR_TYPE)
        if kind == "begin":
            if mark not in self.survey.unclosed:
                self._fields.append(Field(mark))
                self._muted += 1
        elif not self._fields:
            return
        elif kind == "separate":
            top = self._fields[-1]
            if not top.in_result:
                top.in_result, top.printed, top.printed_before = True, line.pieces, len(line.pieces)
                self._muted -= 1
        elif kind == "end":
            top = self._fields.pop()
            self._muted -= not top.in_result
            if not top.has_result(line.pieces):
                self._print(top.own_text(), line)


_EQUATION = m("oMath")
_FIELD_CHAR, _FIELD_CHAR_TYPE, _INSTRUCTION = w("fldChar"), w("fldCharType"), w("instrText")
_CHAR, _FONT = w("char"), w("font")
_FOOTNOTE, _ENDNOTE, _OWN_MARK = w("footnoteReference"), w("endnoteReference"), w("customMarkFollows")
_DRAWN = frozenset({w("drawing"), w("pict"), w("object")})
_READERS: Mapping[str, Callable[[Runs, Element, Line], None]] = {
    _FIELD_CHAR: Runs._field,  # noqa: SLF001 - the table belongs to the class
    _INSTRUCTION: Runs._instruction,  # noqa: SLF001 - as above
    w("sym"): Runs._symbol,  # noqa: SLF001 - as above
    w("delText"): Runs._deleted,  # noqa: SLF001 - as above
    w("ruby"): Runs._ruby,  # noqa: SLF001 - as above
    ALTERNATE: Runs._alternate,  # noqa: SLF001 - as above
    **dict.fromkeys(_DRAWN, Runs._draw),  # noqa: SLF001 - as above
    **dict.fromkeys((_FOOTNOTE, _ENDNOTE), Runs._note),  # noqa: SLF001 - as above
}
# A no-break hyphen is printed as a hyphen, and looked for as one; a soft one is not printed within a line.
_SIGNS = {
    w("tab"): "\t",
    w("ptab"): "\t",
    w("br"): "\n",
    w("cr"): "\n",
    w("noBreakHyphen"): "-",
    w("softHyphen"): "",
}


def _as_typed(element: Element) -> str:
    """White space that only lays out the XML is none; a blank that a writer forgot to protect is kept."""
    text = element.text or ""
    if "\n" not in text and "\t" not in text and "\r" not in text:
        return text
    if element.get(_SPACE) != "preserve":
        text = text.strip("\t\r\n ")
    return _ODD_SPACE.sub(" ", text)


def _hexadecimal(text: str | None) -> int:
    try:
        return int(text or "", 16) if len(text or "") < 8 else 0
    except ValueError:
        return 0
