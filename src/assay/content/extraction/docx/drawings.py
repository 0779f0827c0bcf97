"""Text that hangs on a drawing: boxes, word art, watermarks, the labels of diagrams and charts."""

from collections.abc import Iterator

from assay.content.extraction.docx.names import (
    ALTERNATE,
    CHART,
    DIAGRAM,
    DRAWING,
    PLACED,
    VML,
    Element,
    T,
    alternative,
    r,
    w,
)

BOX = w("txbxContent")
_WORD_ART = f"{{{VML}}}textpath"
_PARAGRAPH, _RUN_TEXT = f"{{{DRAWING}}}p", f"{{{DRAWING}}}t"
_DIAGRAM, _CHART = f"{{{DIAGRAM}}}relIds", f"{{{CHART}}}chart"
_PLACED_PROPERTIES = f"{{{PLACED}}}docPr"
_SHAPE_TYPE = f"{{{VML}}}shapetype"
_ON = frozenset({"1", "true", "t", "on"})


def pieces(element: Element) -> Iterator[Element]:
    """The parts of a drawing that carry text, in order, each branch of alternates once."""
    for child in element:
        tag = child.tag
        if tag in {BOX, _WORD_ART, _PARAGRAPH, _DIAGRAM, _CHART}:
            yield child
        elif tag == ALTERNATE:
            branch = alternative(child)
            if branch is not None:
                yield from pieces(branch)
        elif tag != _SHAPE_TYPE:
            yield from pieces(child)


def is_hidden(drawing: Element) -> bool:
    placed = next(drawing.iter(_PLACED_PROPERTIES), None)
    return placed is not None and placed.get("hidden") in _ON


def all_text(drawing: Element) -> str:
    return "".join(piece.text or "" for piece in drawing.iter(T, _RUN_TEXT))


def caption(piece: Element) -> str:
    """The text of a piece that is not made of Word's own paragraphs."""
    if piece.tag == _WORD_ART:
        return str(piece.get("string", ""))
    return "".join(run.text or "" for run in piece.iter(_RUN_TEXT))


def related_part(piece: Element) -> str | None:
    """The relation under which a diagram or a chart keeps its text in another part."""
    attribute = {_DIAGRAM: r("dm"), _CHART: r("id")}.get(piece.tag)
    return str(piece.get(attribute, "")) if attribute else None


def captions(part: Element) -> list[str]:
    """Every paragraph of a diagram's or chart's part, without the runs of empty ones."""
    lines = (caption(paragraph).strip() for paragraph in part.iter(_PARAGRAPH))
    return [line for line in lines if line]
