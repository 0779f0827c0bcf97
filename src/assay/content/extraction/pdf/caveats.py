"""What the reader of a PDF should know about it, collected while it is read."""

from collections.abc import Iterable

from assay.content.extraction.pdf.pages import PageContent
from assay.content.models import Caveat

_REMARKS = {
    "comments": "Page {page} carries {count} comment(s), which are not part of the text.",
    "struck_out": "On page {page} {count} annotation(s) strike out text, which stands here all the same.",
}


class Notes:
    def __init__(self) -> None:
        self.caveats: list[Caveat] = []

    def cut_off(self) -> None:
        self.caveats.append(
            Caveat(
                "damaged", "The end of the file is missing; what stood there may be missing from the text."
            )
        )

    def unreadable(self, page: int) -> None:
        self.caveats.append(Caveat("unreadable_page", f"Page {page} is damaged and was not read.", page))

    def recognised(self, page: int) -> None:
        message = f"Page {page} has no text layer; it was read by optical character recognition."
        self.caveats.append(Caveat("ocr", message, page))

    def pages(self, pages: Iterable[PageContent]) -> None:
        for page in pages:
            self._page(page)
        self.caveats.sort(key=lambda caveat: caveat.page or 0)

    def _page(self, page: PageContent) -> None:
        number = page.number
        if page.textless:
            message = f"Page {number} has no text layer; what it shows was not read."
            self.caveats.append(Caveat("no_text_layer", message, number))
        if page.scanned:
            message = f"Page {number} is a scan; its text was recognised by whoever made the file."
            self.caveats.append(Caveat("scanned_text", message, number))
        hidden = page.hidden.total()
        if hidden:
            reasons = ", ".join(sorted(reason for reason, count in page.hidden.items() if count))
            message = f"Page {number} holds {hidden} hidden characters ({reasons}), which were left out."
            self.caveats.append(Caveat("hidden_text", message, number, hidden))
        if page.unmapped:
            message = (
                f"On page {number} {page.unmapped} characters have no known meaning in the file's fonts."
            )
            self.caveats.append(Caveat("unmapped_text", message, number, page.unmapped))
        for code, count in sorted(page.remarks.items()):
            self.caveats.append(Caveat(code, _REMARKS[code].format(page=number, count=count), number, count))
