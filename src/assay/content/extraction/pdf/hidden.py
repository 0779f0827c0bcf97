"""Text that stands in the file but that no reader sees: left out, and counted."""

from assay.content.extraction.pdf.drawing import Drawing
from assay.content.extraction.pdf.words import Box, Fragment, TextLayer

_SCAN_COVER = 0.5  # of the page: a picture this large may be a scan with its text laid under it


def settle(layer: TextLayer, drawing: Drawing, page: Box) -> bool:
    """Decide on doubtful text by what is drawn around it. True when the page is a scan with text under it.

    White text is visible on a coloured area or a picture. Invisible ink over a picture of the whole page
    is what scanners write: the reader sees the same words in the picture, so they are the page's text.
    """
    scan = False
    for reason, found in layer.doubtful.items():
        kept: list[Fragment] = []
        if reason == "white":
            kept = [item for item, box in found if _covered(box, drawing.fills + drawing.pictures)]
        elif reason == "invisible":
            sheets = [picture for picture in drawing.pictures if _share(picture, page) >= _SCAN_COVER]
            kept = [item for item, box in found if _covered(box, sheets)]
            scan = bool(kept)
        layer.fragments.extend(kept)
        seen = {id(item) for item in kept}
        layer.hidden[reason] += sum(len(item.text) for item, _ in found if id(item) not in seen)
    return scan


def _covered(box: Box, areas: list[Box]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in areas)


def _share(area: Box, page: Box) -> float:
    width = min(area[2], page[2]) - max(area[0], page[0])
    height = min(area[3], page[3]) - max(area[1], page[1])
    whole = (page[2] - page[0]) * (page[3] - page[1])
    return max(width, 0.0) * max(height, 0.0) / whole if whole > 0 else 0.0


def picture_share(drawing: Drawing, page: Box) -> float:
    """How much of the page its largest picture covers."""
    return max((_share(picture, page) for picture in drawing.pictures), default=0.0)
