"""How many tracked changes there are, counted as a reader of the margin would."""

from dataclasses import dataclass

from assay.content.extraction.docx.names import DEL, INS, MOVE_FROM, R_PR, TR, TR_PR, Element, P, child_of, w

_AUTHOR, _DATE = w("author"), w("date")
_NUM_PR = w("numPr")
_CELLS = (w("cellIns"), w("cellDel"))


@dataclass(slots=True)
class Revisions:
    insertions: int = 0
    deletions: int = 0
    moves: int = 0

    @property
    def total(self) -> int:
        return self.insertions + self.deletions + self.moves

    def sentence(self, *, original: bool) -> str:
        parts = [(self.insertions, "insertion"), (self.deletions, "deletion"), (self.moves, "move")]
        shown = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in parts if count)
        reading = "as they stood before" if original else "as if accepted"
        return f"The document has tracked changes ({shown}); the text is read {reading}."

    def add(self, other: "Revisions") -> None:
        self.insertions += other.insertions
        self.deletions += other.deletions
        self.moves += other.moves

    def count(self, changes: list[Element]) -> None:
        """Add what one part holds."""
        moved_away = 0
        moved_here = 0
        for change in changes:
            if _belongs_to_another(change):
                continue
            if change.tag in {INS, _CELLS[0]}:
                self.insertions += 1
            elif change.tag in {DEL, _CELLS[1]}:
                self.deletions += 1
            elif change.tag == MOVE_FROM:
                moved_away += 1
            else:
                moved_here += 1
        self.moves += max(moved_away, moved_here)


def _belongs_to_another(change: Element) -> bool:
    """A changed row covers what is in it, changed text the mark behind it, one stroke its runs."""
    parent = change.getparent()
    if parent is None or parent.tag == TR_PR:
        return False
    if parent.tag == _NUM_PR:
        return True  # a change of formatting
    if parent.tag == R_PR:
        return _mark_is_covered(change, parent) or _in_changed_row(change)
    before = change.getprevious()
    if before is not None and _same_stroke(before, change):
        return True
    return _in_changed_row(change)


def _mark_is_covered(change: Element, mark: Element) -> bool:
    properties = mark.getparent()
    paragraph = None if properties is None else properties.getparent()
    if paragraph is None or paragraph.tag != P:
        return True  # a change within the formatting of a run or an equation
    return any(child.tag == change.tag for child in paragraph)


def _same_stroke(one: Element, other: Element) -> bool:
    marks = ((each.tag, each.get(_AUTHOR), each.get(_DATE)) for each in (one, other))
    return len(set(marks)) == 1


def _in_changed_row(change: Element) -> bool:
    around = change.getparent()
    while around is not None and around.tag != TR:
        around = around.getparent()
    for row in () if around is None else (around, *around.iterancestors(TR)):
        properties = child_of(row, TR_PR)
        if properties is not None and child_of(properties, change.tag) is not None:
            return True
    return False
