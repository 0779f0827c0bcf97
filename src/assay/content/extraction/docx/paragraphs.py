"""What a paragraph's properties say: its style, its place in a list, and what became of its mark."""

import re
from dataclasses import dataclass

from assay.content.extraction.assembly import Draft
from assay.content.extraction.docx.names import (
    INS,
    OFF,
    P_PR,
    R_PR,
    SECT_PR,
    SHD,
    VAL,
    VANISH,
    Element,
    leading,
    number,
    w,
)
from assay.content.extraction.docx.numbering import Counters, Label
from assay.content.extraction.docx.styles import Style, fills
from assay.content.models import BlockKind

_STYLE, _NUM_PR, _NUM_ID, _LEVEL, _OUTLINE = w("pStyle"), w("numPr"), w("numId"), w("ilvl"), w("outlineLvl")
_FORMER_PROPERTIES = f"{w('pPrChange')}/{P_PR}"
_BODY_TEXT = 9
# A clause that is set in a heading's style, so that it is numbered, is still a clause.
_LONGEST_HEADING = 200
# Numbers that somebody typed. What begins with a digit must look like nothing else: "30 days" is no clause.
_DIGITS = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){1,5}[.)]?|\d{1,3}[.)]|\d{1,3}(?=\t))(?=\s+\S|$)")
_AMOUNT = re.compile(r"\d+\.\d+\s+(?:%|[a-z])")
_BRACKETS = re.compile(r"\((?:\d{1,3}|[a-z]{1,2}|[A-Z]{1,2}|[ivxlc]{1,7}|[IVXLC]{1,7})\)(?=\s+\S|$)")
_NAMED = re.compile(r"\w+\s+(?:\d+(?:\.\d+)*|[IVXLC]+|[ivxlc]+|[A-Z])\b|§§?\s*\d+[a-z]?")
_TABBED = re.compile(r"(?:[a-zA-Z][.)]|[ivxlcIVXLC]{1,6}[.)]?)(?=\t)")
_NAMES = frozenset(
    {
        *("article", "artikel", "section", "clause", "schedule", "annex", "anlage", "appendix", "exhibit"),
        *("part", "chapter", "paragraph", "abschnitt", "kapitel", "§", "§§"),
    }
)


@dataclass(slots=True)
class Properties:
    style: str | None = None
    num_id: str | None = None
    level: int | None = None
    outline: int | None = None
    mark_gone: bool = False
    mark_hidden: bool = False
    ends_section: bool = False
    backed: bool = False


_NONE = Properties()  # shared, and changed by nobody


def properties_of(paragraph: Element, gone: frozenset[str], *, original: bool) -> Properties:
    """As they stand, or in the original view as they stood before a tracked change."""
    element = leading(paragraph, P_PR)
    if element is None:
        return _NONE
    found = Properties()
    former = element.find(_FORMER_PROPERTIES) if original else None
    for child in element:
        tag = child.tag
        if tag == R_PR:
            _note_mark(found, child, gone)
        elif tag == SECT_PR:
            found.ends_section = True
        elif former is None:
            _note(found, child, original=original)
    for child in () if former is None else former:
        _note(found, child, original=original)
    return found


def _note_mark(found: Properties, mark: Element, gone: frozenset[str]) -> None:
    for child in mark:
        tag = child.tag
        if tag in gone:
            found.mark_gone = True
        elif tag == VANISH:
            found.mark_hidden = child.get(VAL, "1") not in OFF


def _note(found: Properties, child: Element, *, original: bool) -> None:
    tag = child.tag
    if tag == _STYLE:
        found.style = child.get(VAL)
    elif tag == _NUM_PR:
        if not (original and child.find(INS) is not None):
            for told in child:
                if told.tag == _NUM_ID:
                    found.num_id = told.get(VAL)
                elif told.tag == _LEVEL:
                    found.level = number(told.get(VAL))
    elif tag == _OUTLINE:
        found.outline = number(child.get(VAL))
    elif tag == SHD:
        found.backed = fills(child)


def place_in_list(properties: Properties, style: Style, counters: Counters) -> tuple[str, int] | None:
    """The list and level of a paragraph: its own, or those of its style."""
    num_id = properties.num_id if properties.num_id is not None else style.num_id
    if num_id is None or num_id == "0":
        return None
    if properties.level is not None:
        return num_id, properties.level
    linked = counters.numbering.linked_level(num_id, style.lineage)
    return num_id, (style.level or 0) if linked is None else linked


def heading_level(properties: Properties, style: Style) -> int | None:
    if properties.outline is None:
        return style.heading_level
    return properties.outline + 1 if 0 <= properties.outline < _BODY_TEXT else None


def draft(text: str, label: Label | None, properties: Properties, style: Style) -> Draft:
    """The block that a paragraph makes, with its number in front."""
    level = heading_level(properties, style)
    number_ = None if label is None or label.is_bullet else label.text or None
    text = text.strip()
    if label is not None:
        text = f"{label.text}{label.suffix}{text}".rstrip()
    if number_ is None:
        number_ = typed_number(text)
    if level is not None and len(text) <= _LONGEST_HEADING:
        return Draft(BlockKind.HEADING, text, level=level, number=number_)
    if label is not None and label.text:
        return Draft(BlockKind.LIST_ITEM, text, level=label.level, number=number_)
    return Draft(BlockKind.PARAGRAPH, text, number=number_)


def typed_number(text: str) -> str | None:
    """The number that somebody typed in front of a clause, if that is what it is."""
    first = text[:1]
    if first.isdecimal():
        found = None if _AMOUNT.match(text) else _DIGITS.match(text)
    elif first == "(":
        found = _BRACKETS.match(text)
    elif text[:12].partition(" ")[0].lower() in _NAMES or first == "§":
        found = _NAMED.match(text)
    else:
        found = _TABBED.match(text) if "\t" in text[:8] else None
    return None if found is None else found[0]
