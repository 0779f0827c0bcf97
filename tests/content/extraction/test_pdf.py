"""Reading PDFs: one sentence for each thing that a lawyer would miss."""

import pytest

from assay.content.extraction import pdf
from assay.content.models import BlockKind, DamagedDocument, NoText, OverLimit, PasswordProtected
from tests.content.pdf_files import HEIGHT, Sheet, mapped_font, write

CLAUSES_LEFT = (
    "1. Services. The supplier shall provide the",
    "hosting service to the customer without pause.",
    "2. Fees. The yearly fee is EUR 12,300 and falls",
    "due on signature of this agreement by both.",
)
CLAUSES_RIGHT = (
    "3. Term. This agreement runs for two years",
    "and renews itself unless it is terminated.",
    "4. Law. This agreement is governed by the law",
    "of the Free and Hanseatic City of Hamburg.",
)
IN_ORDER = " ".join(CLAUSES_LEFT + CLAUSES_RIGHT)


def kinds(text, kind):
    return [text.text[block.start : block.end] for block in text.blocks if block.kind is kind]


def flat(text):
    return " ".join(text.text.split())


def read(*sheets, **options):
    return pdf.read(write(sheets, **options))


def paragraph(sheet, y=100, x=70, width_words=9, count=60):
    """Running text that fills lines, so that a column has a width to speak of."""
    words = [f"word{index:02d}" for index in range(count)]
    lines = [" ".join(words[start : start + width_words]) for start in range(0, count, width_words)]
    return sheet.lines(x, y, *lines)


def test_columns_are_read_one_after_the_other():
    sheet = Sheet().lines(50, 80, *CLAUSES_LEFT).lines(320, 80, *CLAUSES_RIGHT)
    assert flat(read(sheet)) == IN_ORDER


def test_columns_drawn_row_by_row_are_read_one_after_the_other():
    sheet = Sheet()
    for index, (left, right) in enumerate(zip(CLAUSES_LEFT, CLAUSES_RIGHT, strict=True)):
        sheet.text(50, 80 + 12 * index, left).text(320, 80 + 12 * index, right)
    assert flat(read(sheet)) == IN_ORDER


def test_columns_drawn_in_reverse_are_read_forwards():
    sheet = Sheet().lines(50, 80, *CLAUSES_LEFT).lines(320, 80, *CLAUSES_RIGHT)
    sheet.content.reverse()
    assert flat(read(sheet)) == IN_ORDER


def test_columns_whose_lines_do_not_align_are_still_columns():
    sheet = Sheet().lines(50, 80, *CLAUSES_LEFT).lines(320, 85, *CLAUSES_RIGHT, pitch=13)
    assert flat(read(sheet)) == IN_ORDER


def test_a_title_over_two_columns_comes_first_and_a_closing_line_last():
    sheet = Sheet().text(120, 50, "Master agreement on hosting services between the two parties", size=12)
    sheet.lines(50, 80, *CLAUSES_LEFT).lines(320, 80, *CLAUSES_RIGHT)
    sheet.text(50, 200, "Signed in duplicate by both of the parties on the date that is first written above.")
    text = flat(read(sheet))
    assert text.startswith("Master agreement")
    assert text.endswith("first written above.")
    assert IN_ORDER in text


def test_three_columns_are_read_from_left_to_right():
    columns = [[f"column {name} has the line {n} of it" for n in "abcde"] for name in ("one", "two", "three")]
    sheet = Sheet()
    for row in range(5):
        for index, column in enumerate(columns):
            sheet.text(40 + index * 180, 80 + 12 * row, column[row])
    assert flat(read(sheet)) == " ".join(line for column in columns for line in column)


@pytest.mark.parametrize(
    ("rotate", "turn", "start"),
    [
        (0, (1, 0, 0, 1), lambda x, y: (x, y)),
        (90, (1, 0, 0, 1), lambda x, y: (x, y)),
        (90, (0, 1, -1, 0), lambda x, y: (y, HEIGHT - x)),
        (270, (0, -1, 1, 0), lambda x, y: (595 - y, x)),
        (180, (-1, 0, 0, -1), lambda x, y: (595 - x, HEIGHT - y)),
    ],
)
def test_a_turned_page_reads_like_an_upright_one(rotate, turn, start):
    sheet = Sheet(rotate=rotate)
    for index, line in enumerate(CLAUSES_LEFT):
        x, y = start(50, 80 + 12 * index)
        sheet.text(x, y, line, turn=turn)
    assert flat(read(sheet)) == " ".join(CLAUSES_LEFT)


def test_a_side_note_stands_apart_and_cuts_no_sentence():
    sheet = paragraph(Sheet(), x=200, y=100, width_words=7)
    sheet.lines(60, 124, "Margin remark", "in small print", size=7, pitch=8)
    text = read(sheet)
    body = " ".join(f"word{index:02d}" for index in range(60))
    assert kinds(text, BlockKind.PARAGRAPH).count(body) == 1
    assert "Margin remark in small print" in kinds(text, BlockKind.PARAGRAPH)


def test_lines_become_paragraphs():
    sheet = Sheet().lines(70, 100, "The first paragraph runs over", "two lines of text and ends here.")
    sheet.lines(70, 150, "The second paragraph stands", "a little lower on the page.")
    assert read(sheet).text == (
        "The first paragraph runs over two lines of text and ends here.\n\n"
        "The second paragraph stands a little lower on the page."
    )


def test_a_word_parted_at_a_line_end_is_joined():
    sheet = Sheet().lines(70, 100, "Every Party shall keep confi-", "dential what it learns.")
    assert read(sheet).text == "Every Party shall keep confidential what it learns."


def test_a_hyphen_that_the_document_writes_elsewhere_is_kept():
    sheet = Sheet().lines(
        70, 100, "A long-term licence is granted, and any other long-", "term right needs consent."
    )
    assert "other long-term right" in read(sheet).text


def test_a_word_that_the_document_writes_as_one_is_joined():
    sheet = Sheet().lines(
        70,
        100,
        "The taker of the post of caretaker shall take care of the house, and a care-",
        "taker lives in it.",
    )
    assert "and a caretaker lives in it" in read(sheet).text


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("This is a non-", "exclusive licence.", "a non-exclusive licence."),
        ("Support within 30-", "day periods.", "within 30-day periods."),
        ("The Anti-", "Bribery Act applies.", "The Anti-Bribery Act applies."),
        ("Vor-", "und Nachname.", "Vor- und Nachname."),
    ],
)
def test_a_real_hyphen_at_a_line_end_is_kept(first, second, expected):
    assert expected in read(Sheet().lines(70, 100, first, second)).text


def test_ligatures_are_letters_and_soft_hyphens_are_nothing():
    font = mapped_font("oﬃce\u00adr")
    sheet = Sheet().text(70, 100, [1, 2, 3, 5, 4, 6], font="M1")
    assert read(sheet, fonts={"M1": font}).text == "officer"


WIDTHS = {"T": 6.11, "E": 6.67, "R": 7.22, "M": 8.33, "S": 6.67, "O": 7.78, "F": 6.11}


def test_words_drawn_in_pieces_keep_the_narrow_space_between_them():
    sheet = Sheet()
    x = 70.0
    for word in ("TERMS", "OF"):
        sheet.text(round(x, 2), 100, word)
        x += sum(WIDTHS[letter] for letter in word) + 1.55  # PDFium sees a space from 1.6 on
    assert read(sheet).text == "TERMS OF"


def test_a_word_drawn_letter_by_letter_is_one_word():
    sheet = Sheet()
    x = 70.0
    for letter in "TERMS":
        sheet.text(round(x, 2), 100, letter)
        x += WIDTHS[letter]
    assert read(sheet).text == "TERMS"


def three_pages(**options):
    sheets = []
    sentences = (
        "The supplier grants the customer a right that runs",
        "until the end of the second year.",
        "It then ends.",
    )
    for number, sentence in enumerate(sentences, 1):
        sheet = Sheet().text(50, 30, "Hosting agreement, version 7", size=8).text(50, 100, sentence)
        sheets.append(sheet.text(280, 820, f"Page {number} of 3", size=8))
    return read(*sheets, **options)


def test_running_headers_and_footers_stand_once_after_the_body():
    text = three_pages()
    assert [block.kind for block in text.blocks[-2:]] == [BlockKind.HEADER, BlockKind.FOOTER]
    assert text.text.count("Hosting agreement, version 7") == 1
    assert kinds(text, BlockKind.FOOTER) == ["Page 1 of 3"]


def test_a_paragraph_that_runs_over_a_page_end_is_whole_and_knows_its_pages():
    text = three_pages()
    assert "a right that runs until the end of the second year." in text.text
    second = text.pages[1]
    assert text.text[second.start :].startswith("until the end")


def test_rows_of_figures_at_the_top_of_pages_are_no_header():
    sheets = [
        Sheet().text(50, 30, f"Item {n} EUR {n * 70}").text(50, 100, f"Remark {n}.") for n in (3, 8, 11)
    ]
    text = read(*sheets)
    assert not kinds(text, BlockKind.HEADER)
    assert "Item 8 EUR 560" in text.text


def test_different_headers_on_left_and_right_pages_are_both_running():
    sheets = [
        Sheet().text(50, 30, ("Left page title", "Right page title")[n % 2]).text(50, 200, f"Sentence {n}.")
        for n in range(4)
    ]
    assert kinds(read(*sheets), BlockKind.HEADER) == ["Left page title", "Right page title"]


def test_headings_have_levels_by_size_and_numbering():
    sheet = Sheet().text(70, 60, "Hosting agreement", size=18)
    sheet.text(70, 100, "1. Services", font="F2").lines(
        70, 120, "The supplier shall provide the service with care."
    )
    sheet.text(70, 150, "1.1 Scope", font="F2").lines(
        70, 170, "The scope is what the annex says, and no more than it."
    )
    text = read(sheet)
    headings = [block for block in text.blocks if block.kind is BlockKind.HEADING]
    assert [(text.text[b.start : b.end], b.level, b.number) for b in headings] == [
        ("Hosting agreement", 1, None),
        ("1. Services", 2, "1"),
        ("1.1 Scope", 3, "1.1"),
    ]
    assert text.title == "Hosting agreement"


def test_clauses_keep_their_numbers_as_printed():
    sheet = Sheet()
    for index, line in enumerate(
        (
            "4.1 The fee is due on the first day.",
            "4.2 Interest is due after that day.",
            "§ 5 This clause is the last one.",
        )
    ):
        sheet.text(70, 100 + 24 * index, line)
    numbers = [block.number for block in read(sheet).blocks]
    assert numbers == ["4.1", "4.2", "§ 5"]


def test_a_label_far_from_its_text_is_on_its_line():
    sheet = Sheet()
    for index, label in enumerate(("1.1", "1.2", "1.3", "1.4")):
        sheet.text(70, 100 + 30 * index, label).lines(
            120,
            100 + 30 * index,
            f"The clause with label {label} is quite long,",
            "and goes on in a second line.",
        )
    text = read(sheet)
    assert [block.number for block in text.blocks] == ["1.1", "1.2", "1.3", "1.4"]
    assert text.text.startswith("1.1 The clause with label 1.1 is quite long, and goes on in a second line.")


def test_list_items_are_items():
    sheet = Sheet().text(70, 100, "The supplier shall:")
    for index, item in enumerate(("(a) keep records;", "(b) answer questions; and", "• be polite.")):
        sheet.text(90, 114 + 12 * index, item)
    text = read(sheet)
    assert kinds(text, BlockKind.LIST_ITEM) == [
        "(a) keep records;",
        "(b) answer questions; and",
        "• be polite.",
    ]
    assert [block.number for block in text.blocks] == [None, "(a)", "(b)", None]


def table_rows(text):
    return [
        [text.text[cell.start : cell.end] for cell in block.cells]
        for block in text.blocks
        if block.kind is BlockKind.TABLE_ROW
    ]


def test_a_drawn_table_keeps_its_cells_on_one_row():
    sheet = Sheet().grid((60, 200, 400, 500), (90, 110, 150, 170))
    sheet.text(65, 103, "Service").text(205, 103, "Meaning").text(405, 103, "Fee")
    sheet.text(65, 123, "Hosting").lines(
        205, 123, "The servers and the", "power they need", "every day"
    ).text(405, 123, "EUR 70")
    sheet.text(65, 163, "Support").text(205, 163, "By telephone").text(405, 163, "EUR 30")
    assert table_rows(read(sheet)) == [
        ["Service", "Meaning", "Fee"],
        ["Hosting", "The servers and the power they need every day", "EUR 70"],
        ["Support", "By telephone", "EUR 30"],
    ]


def test_a_merged_cell_stands_in_its_first_row():
    sheet = Sheet().grid((60, 200, 400), (90, 150)).line(200, 120, 400, 120)
    sheet.text(65, 123, "Both of them").text(205, 108, "first").text(205, 138, "second")
    assert table_rows(read(sheet)) == [["Both of them", "first"], ["", "second"]]


def test_a_table_without_lines_keeps_its_cells_on_one_row():
    sheet = Sheet()
    for index, (name, fee) in enumerate((("Setup", "EUR 500"), ("Hosting", "EUR 70"), ("Support", "EUR 30"))):
        sheet.text(70, 100 + 16 * index, name).text(300, 100 + 16 * index, fee)
    assert table_rows(read(sheet)) == [["Setup", "EUR 500"], ["Hosting", "EUR 70"], ["Support", "EUR 30"]]


def test_a_table_within_a_column_stays_within_it():
    sheet = Sheet().lines(50, 80, *CLAUSES_LEFT).lines(320, 80, *CLAUSES_RIGHT, *CLAUSES_LEFT, *CLAUSES_RIGHT)
    sheet.grid((50, 150, 280), (140, 160, 180)).text(55, 154, "Uptime").text(155, 154, "99.5 %")
    sheet.text(55, 174, "Support").text(155, 174, "9 to 5")
    text = read(sheet)
    assert table_rows(text) == [["Uptime", "99.5 %"], ["Support", "9 to 5"]]
    assert text.text.index("due on signature") < text.text.index("Uptime") < text.text.index("3. Term")


def test_terms_and_their_definitions_are_rows():
    sheet = Sheet()
    for index, term in enumerate(("Agreement", "Fee", "Term")):
        top = 100 + 40 * index
        sheet.text(60, top, term).lines(
            200,
            top,
            f"means what the parties agreed on as the {term} when",
            "they signed, and what they add later.",
        )
    assert table_rows(read(sheet))[1] == [
        "Fee",
        "means what the parties agreed on as the Fee when they signed, and what they add later.",
    ]


def test_form_values_stand_in_place():
    sheet = Sheet().text(50, 100, "Customer name:").text(50, 140, "Plan:").text(50, 180, "Renewal agreed:")
    sheet.text(50, 220, "Last line of the form.")
    sheet.widget(160, 90, "/FT/Tx/V(Example Ltd)").widget(
        160, 130, "/FT/Ch/Ff 131072/Opt[(Small)(Large)]/V(Large)"
    )
    sheet.widget(160, 170, "/FT/Btn/V/Yes/AS/Yes/AP<</N<</Yes<<>>/Off<<>>>>>>", width=12, height=12)
    text = read(sheet)
    assert text.text.split("\n\n") == [
        "Customer name:",
        "Example Ltd",
        "Plan:",
        "Large",
        "Renewal agreed:",
        "☑",
        "Last line of the form.",
    ]
    assert kinds(text, BlockKind.FORM_FIELD) == ["Example Ltd", "Large", "☑"]


def test_a_value_within_a_sentence_is_read_within_it():
    sheet = Sheet().text(50, 100, "This agreement is made with").text(300, 100, "on the day of signature.")
    sheet.widget(185, 90, "/FT/Tx/V(Example Ltd)", width=110)
    assert read(sheet).text == "This agreement is made with Example Ltd on the day of signature."


def test_a_free_text_annotation_stands_where_it_was_written():
    sheet = Sheet().text(50, 100, "Delivery is free of charge.").text(50, 200, "Payment is due at once.")
    sheet.free_text(50, 110, "Amended: delivery costs EUR 40")
    text = read(sheet)
    assert text.text.split("\n\n")[1] == "Amended: delivery costs EUR 40"
    assert text.blocks[1].kind is BlockKind.ANNOTATION


def test_comments_are_counted_and_hidden_annotations_ignored():
    sheet = Sheet().text(50, 100, "Delivery is free of charge.")
    sheet.free_text(50, 150, "Do we want this?", subtype="Text").free_text(50, 110, "unseen", flags=2)
    text = read(sheet)
    assert text.text == "Delivery is free of charge."
    assert [(c.code, c.page, c.count) for c in text.caveats] == [("comments", 1, 1)]


def test_right_to_left_text_is_in_logical_order():
    hebrew = "הסכם זה נערך בין"
    letters = "".join(sorted(set(hebrew)))
    codes = [letters.index(letter) + 1 for letter in reversed(hebrew)]
    sheet = Sheet().text(200, 100, codes, font="M1", size=12)
    assert read(sheet, fonts={"M1": mapped_font(letters)}).text == hebrew


def test_chinese_lines_are_joined_without_spaces():
    sheet = Sheet().lines(
        70, 100, "本合同由甲方与乙方于二零二六年三月一日在汉堡", "签订并立即生效", font="CJK"
    )
    assert read(sheet).text == "本合同由甲方与乙方于二零二六年三月一日在汉堡签订并立即生效"


def test_chinese_clauses_are_apart_and_figures_need_no_space():
    sheet = Sheet().lines(
        70, 100, "本合同由甲方与乙方签订、自", "2026年3月1日起生效。", "第2条 乙方应当保密。", font="CJK"
    )
    assert read(sheet).text == "本合同由甲方与乙方签订、自2026年3月1日起生效。\n\n第2条 乙方应当保密。"
    assert [block.number for block in read(sheet).blocks] == [None, "第2条"]


def test_a_footnote_is_one_and_does_not_cut_the_paragraph_that_runs_on():
    first = Sheet().lines(
        70, 700, "The liability is capped at the yearly fee and does not", "cover indirect damage, which"
    )
    first.text(202, 708, "1", size=6).text(70, 780, "1", size=5).text(
        74, 783, "See the annex for the fee.", size=7
    )
    second = Sheet().lines(70, 100, "stays with the party that suffers it.", "")
    text = read(first, second)
    assert "indirect damage, which¹ stays with the party that suffers it." in text.text
    notes = [block for block in text.blocks if block.kind is BlockKind.FOOTNOTE]
    assert [(text.text[n.start : n.end], n.number) for n in notes] == [("¹ See the annex for the fee.", "1")]


def test_an_empty_password_opens():
    assert read(Sheet().text(70, 100, "An open secret."), password="").text == "An open secret."


def test_any_other_password_is_named():
    with pytest.raises(PasswordProtected):
        read(Sheet().text(70, 100, "A secret."), password="hush")


def test_garbage_is_named_as_damaged():
    with pytest.raises(DamagedDocument):
        pdf.read(b"%PDF-1.7\nthis is no PDF")


def test_a_file_without_its_end_is_read_with_a_warning():
    text = read(Sheet().text(70, 100, "What is left of it."), keep_end=False)
    assert text.text == "What is left of it."
    assert [caveat.code for caveat in text.caveats] == ["damaged"]


def test_too_many_pages_name_the_limit():
    with pytest.raises(OverLimit, match="3 pages; the limit is 2"):
        pdf.read(write([Sheet().text(70, 100, "x")] * 3), max_pages=2)


def test_a_claimed_hundred_thousand_pages_end_at_once():
    data = write([Sheet().text(70, 100, "x")]).replace(b"/Count 1>>", b"/Count 100000>>")
    with pytest.raises((OverLimit, DamagedDocument)):
        pdf.read(data)


def test_a_page_tree_that_loops_ends():
    data = write([Sheet().text(70, 100, "x")])
    text = pdf.read(data.replace(b"/Kids[", b"/Kids[2 0 R 2 0 R ").replace(b"/Count 1>>", b"/Count 3>>"))
    assert text.text.count("x") == 1


GREY = bytes(200 for _ in range(100))


def test_a_page_without_text_layer_is_reported():
    scan = Sheet().picture(10, 10, GREY)
    text = read(Sheet().text(70, 100, "A page of text."), scan)
    assert [(caveat.code, caveat.page) for caveat in text.caveats] == [("no_text_layer", 2)]
    assert text.pages[1].start == text.pages[1].end


def test_a_document_without_any_text_layer_is_no_empty_success():
    with pytest.raises(NoText, match="no text layer"):
        read(Sheet().picture(10, 10, GREY))


def test_an_empty_page_is_no_scan_even_with_a_line_on_it():
    assert not read(Sheet().text(70, 100, "Text."), Sheet(), Sheet().line(50, 60, 500, 60)).caveats


def test_text_drawn_as_outlines_is_reported():
    outlines = Sheet()
    for index in range(40):
        outlines.area(70 + 8 * index, 100, 75 + 8 * index, 108)
    text = read(Sheet().text(70, 100, "Text."), outlines)
    assert [(caveat.code, caveat.page) for caveat in text.caveats] == [("no_text_layer", 2)]


@pytest.mark.parametrize(
    ("style", "reason"),
    [
        ({"mode": 3}, "invisible"),
        ({"colour": "1 1 1"}, "white"),
        ({"size": 0.5}, "under 1 pt"),
    ],
)
def test_hidden_text_is_left_out_and_counted(style, reason):
    text = read(Sheet().text(70, 100, "What is seen.").text(70, 200, "unseen", **style))
    assert text.text == "What is seen."
    (caveat,) = text.caveats
    assert (caveat.code, caveat.page, caveat.count) == ("hidden_text", 1, 6)
    assert reason in caveat.message


def test_text_off_the_page_is_left_out_and_counted():
    sheet = Sheet(crop=(0, 400, 595, 842)).text(70, 100, "What is seen.").text(70, 700, "below")
    text = read(sheet.text(-300, 100, "beside"))
    assert text.text == "What is seen."
    assert text.caveats[0].count == len("below") + len("beside")


def test_white_text_on_a_dark_ground_is_seen():
    sheet = Sheet().area(50, 80, 300, 120).text(70, 100, "White on black.", colour="1 1 1")
    text = read(sheet)
    assert (text.text, text.caveats) == ("White on black.", ())


def test_the_invisible_text_of_a_searchable_scan_is_its_text():
    text = read(Sheet().picture(10, 10, GREY).text(70, 100, "Recognised long ago.", mode=3))
    assert text.text == "Recognised long ago."
    assert [caveat.code for caveat in text.caveats] == ["scanned_text"]


def test_text_drawn_twice_to_look_bold_stands_once():
    lines = [f"Line {letter} is heavy." for letter in "abcdefghij"]
    sheet = Sheet().lines(70, 100, *lines).lines(70.4, 100, *lines)
    assert flat(read(sheet)) == " ".join(lines)


def test_a_watermark_stands_once_and_cuts_nothing():
    sheets = [
        Sheet()
        .lines(70, 100, f"The {name} page says this", f"and {name} that.")
        .text(150, 500, "DRAFT", size=60, turn=(0.7, 0.7, -0.7, 0.7))
        for name in ("first", "second", "third")
    ]
    text = read(*sheets)
    assert text.text.count("DRAFT") == 1
    assert kinds(text, BlockKind.HEADER) == ["DRAFT"]


def test_title_and_language_come_from_the_file():
    text = read(Sheet().text(70, 100, "Text."), title="Hosting agreement", language="de-DE")
    assert (text.title, text.language) == ("Hosting agreement", "de-DE")


def test_the_name_of_a_draft_file_is_no_title():
    assert read(Sheet().text(70, 100, "Text."), title="Microsoft Word - draft3.docx").title is None


def test_progress_is_told_page_by_page():
    seen = []
    pdf.read(write([Sheet().text(70, 100, "x")] * 3), progress=lambda done, of: seen.append((done, of)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
