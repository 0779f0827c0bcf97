"""Reading pictures of pages: the plumbing always, tesseract itself where it is installed."""

import pypdfium2
import pytest

from assay.content.extraction import ocr, pdf
from assay.content.extraction.ocr import RecognisedWord
from assay.content.models import NoText
from tests.content.pdf_files import Sheet, write

GREY = bytes(255 for _ in range(100))
HEADER = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"


def scan(*lines):
    """A page that is only a picture of these lines."""
    document = pypdfium2.PdfDocument(write([Sheet().lines(70, 100, *lines, size=14, pitch=20)]))
    picture = ocr.render(document[0], 1)
    return Sheet().picture(picture.width, picture.height, picture.pixels)


def fake(*texts):
    """A recogniser that sees these lines on every page, and remembers how it was called."""
    batches = []

    def recognise(pages):
        batches.append([page.number for page in pages])
        return [
            [
                RecognisedWord(
                    word, 70 + 60 * column, 100 + 14 * line, 125 + 60 * column, 110 + 14 * line, line
                )
                for line, text in enumerate(texts)
                for column, word in enumerate(text.split())
            ]
            for _ in pages
        ]

    recognise.batches = batches
    return recognise


def test_only_pages_without_text_layer_are_recognised():
    recognise = fake("Words from a picture.")
    data = write([Sheet().text(70, 100, "Printed words."), Sheet().picture(10, 10, GREY), Sheet()])
    text = pdf.read(data, recognise=recognise)
    assert recognise.batches == [[2]]
    assert text.text == "Printed words.\n\nWords from a picture."
    assert [(caveat.code, caveat.page) for caveat in text.caveats] == [("ocr", 2)]


def test_recognised_lines_go_through_the_same_layout():
    text = pdf.read(
        write([Sheet().picture(10, 10, GREY)]), recognise=fake("Keep this confi-", "dential at all times.")
    )
    assert text.text == "Keep this confidential at all times."


def test_pictures_come_in_batches_so_that_memory_stays_small():
    recognise = fake("Words.")
    pdf.read(write([Sheet().picture(10, 10, GREY) for _ in range(11)]), recognise=recognise)
    assert [len(batch) for batch in recognise.batches] == [8, 3]


def test_a_page_on_which_nothing_is_recognised_stays_reported():
    data = write([Sheet().text(70, 100, "Printed words."), Sheet().picture(10, 10, GREY)])
    text = pdf.read(data, recognise=lambda pages: [[] for _ in pages])
    assert [caveat.code for caveat in text.caveats] == ["no_text_layer"]


def test_nothing_recognised_at_all_is_no_text():
    with pytest.raises(NoText, match="no text layer"):
        pdf.read(write([Sheet().picture(10, 10, GREY)]), recognise=lambda pages: [[] for _ in pages])


def test_a_stamp_on_a_scan_stands_once():
    sheet = Sheet().picture(10, 10, GREY).text(400, 40, "COPY 17")
    text = pdf.read(write([sheet]), recognise=fake("COPY 17", "The rest."))
    assert text.text.count("COPY 17") == 1
    assert "The rest." in text.text


def test_the_table_of_tesseract_becomes_words_in_points():
    table = (
        HEADER + "1\t1\t0\t0\t0\t0\t0\t0\t999\t999\t-1\t\n5\t1\t1\t1\t1\t1\t100\t200\t50\t20\t96.5\tclause\n"
    )
    (word,) = ocr.words_of(table, dpi=200)
    assert (word.text, word.left, word.top, word.right, word.bottom) == ("clause", 36, 72, 54, 79.2)


def test_a_huge_page_is_rendered_within_bounds():
    document = pypdfium2.PdfDocument.new()
    picture = ocr.render(document.new_page(14_000, 14_000), 1)
    assert picture.width * picture.height <= 26_000_000
    assert len(picture.pixels) == picture.width * picture.height


@pytest.mark.skipif(not ocr.available(), reason="tesseract is not installed")
def test_tesseract_reads_a_scanned_clause():
    data = write(
        [
            scan("The supplier shall keep all customer data", "confidential for three years."),
            scan("Second page."),
        ]
    )
    text = pdf.read(data, recognise=ocr.recognise_pages)
    assert (
        text.text == "The supplier shall keep all customer data confidential for three years.\n\nSecond page."
    )
    assert [caveat.code for caveat in text.caveats] == ["ocr", "ocr"]
