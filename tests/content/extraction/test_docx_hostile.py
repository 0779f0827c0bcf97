"""Files that are damaged, locked or meant to do harm: each ends with a name."""

import io
import struct
import time
import zipfile

import pytest

from assay.content.extraction import docx
from assay.content.models import DamagedDocument, NoText, OverLimit, PasswordProtected, UnreadableDocument
from tests.content import docx_files as make
from tests.content.docx_files import cell, p, t, table, tr

OLE = bytes.fromhex("d0cf11e0a1b11ae1")


def refused(data, kind=DamagedDocument, **kwargs):
    with pytest.raises(kind) as caught:
        docx.read(data, **kwargs)
    assert caught.value.message.endswith(".")
    return caught.value.message


def changed(name, content):
    return make.zipped({**make.parts(p("Text.")), name: content})


def without(name):
    return make.zipped({k: v for k, v in make.parts(p("Text.")).items() if k != name})


# Damage


def test_a_second_body_is_refused():
    document = make.part("document", f"<w:body>{p('One')}</w:body><w:body>{p('Two')}</w:body>")
    assert "2 bodies" in refused(changed("word/document.xml", document))


def test_a_document_without_a_body_is_refused():
    assert "no bodies" in refused(changed("word/document.xml", make.part("document", "")))


def test_another_root_is_refused():
    refused(changed("word/document.xml", make.part("styles", "")))


def test_a_part_that_is_cut_short_is_not_half_read():
    whole = str(make.parts(p("One.") + p("Two."))["word/document.xml"])
    assert "well-formed" in refused(changed("word/document.xml", whole[: len(whole) // 2]))


def test_a_missing_main_part_is_named():
    assert "word/document.xml" in refused(without("word/document.xml"))


def test_a_missing_part_that_the_text_needs_is_named():
    relations = {"n": ("numbering", "numbering.xml")}
    assert "word/numbering.xml" in refused(make.docx(make.listed("A"), relations=relations))


def test_a_cited_note_that_is_missing_is_refused():
    assert "note" in refused(make.docx(p('<w:r><w:footnoteReference w:id="9"/></w:r>')))


def test_a_header_or_an_embedded_document_that_is_missing_is_refused():
    refused(make.docx(p("x"), section='<w:headerReference w:type="default" r:id="gone"/>'))
    refused(make.docx(p("x") + '<w:altChunk r:id="gone"/>'))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_is_cut_short_is_damaged(share):
    whole = make.docx(p("Text. " * 200))
    cut = whole[: int(len(whole) * share)]
    refused(cut)
    # Once the first names have come through, it is a DOCX that is damaged rather than an unknown file.
    assert docx.is_docx(io.BytesIO(cut)) is (share >= 0.5)


def test_a_flipped_byte_is_noticed():
    data = bytearray(make.docx(p("Text. " * 500)))
    at = data.find(b"word/document.xml") + 60
    data[at] ^= 0xFF
    refused(bytes(data))


def test_a_wrong_checksum_is_noticed():
    data = bytearray(make.docx(p("Text.")))
    data[data.find(b"word/document.xml", data.find(b"PK\x01\x02")) - 46 + 16] ^= 1
    assert "checksum" in refused(bytes(data))


def test_two_parts_of_one_name_are_refused():
    buffer = io.BytesIO(make.docx(p("One.")))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("WORD/document.xml", "<x/>")
    assert "same name" in refused(buffer.getvalue())


def test_a_document_without_text_says_so():
    refused(make.docx(p("")), NoText)


def test_nothing_at_all_is_damaged():
    refused(b"")
    refused(b"PK\x03\x04")


# Locks


def test_an_encrypted_container_is_named_as_locked():
    data = OLE + b"\0" * 500 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 500
    assert "password" in refused(data, PasswordProtected)
    assert docx.is_protected(io.BytesIO(data))


def test_an_older_office_file_is_told_from_a_locked_one():
    data = OLE + b"\0" * 500
    assert "DOCX" in refused(data, UnreadableDocument)
    assert not docx.is_protected(io.BytesIO(data))


def test_an_encrypted_entry_is_named_as_locked():
    data = bytearray(make.docx(p("x")))
    for mark, flags in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            data[at + flags] |= 1
    refused(bytes(data), PasswordProtected)


# Bombs


def test_more_than_the_limit_is_refused_by_its_number():
    data = make.docx(p("x" * 3_000_000))
    assert "2 MiB" in refused(data, OverLimit, max_uncompressed_bytes=2 * 2**20)


def lying(data, name, declared):
    """The directory claims another size for an entry."""
    edited = bytearray(data)
    central = edited.find(name.encode(), edited.find(b"PK\x01\x02")) - 46
    struct.pack_into("<L", edited, central + 24, declared)
    return bytes(edited)


def test_a_size_that_lies_is_counted_in_true_bytes():
    data = lying(make.docx(p("x" * 3_000_000)), "word/document.xml", 100)
    assert "2 MiB" in refused(data, OverLimit, max_uncompressed_bytes=2 * 2**20)


def test_embedded_documents_share_one_limit():
    inner = make.docx(p("x" * 900_000))
    body = '<w:altChunk r:id="c"/>' * 4
    data = make.docx(body, files={"word/c.docx": inner}, relations={"c": ("aFChunk", "c.docx")})
    refused(data, OverLimit, max_uncompressed_bytes=2 * 2**20)


def test_documents_within_documents_end():
    data = make.docx(p("core"))
    for _ in range(6):
        data = make.docx(
            '<w:altChunk r:id="c"/>', files={"word/c.docx": data}, relations={"c": ("aFChunk", "c.docx")}
        )
    refused(data, OverLimit)


def test_fifty_thousand_entries_are_refused_at_once():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in make.parts(p("x")).items():
            archive.writestr(name, content)
        for i in range(50_000):
            archive.writestr(f"word/media/{i}", b"")
    data = buffer.getvalue()
    begun = time.process_time()
    assert "10,000" in refused(data, OverLimit)
    assert docx.is_docx(io.BytesIO(data)) in {True, False}
    assert time.process_time() - begun < 0.5


def test_a_directory_that_counts_wrong_is_still_bounded():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i in range(20_000):
            archive.writestr(str(i), b"")
    data = bytearray(buffer.getvalue())
    struct.pack_into("<HH", data, len(data) - 14, 3, 3)
    refused(bytes(data), OverLimit)


def wide(offset, start):
    """A directory in the format for large files, with one entry."""
    extra = struct.pack("<2H3Q", 1, 24, 10, 10, offset)
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", *[0] * 6, 0, 2**32 - 1, 2**32 - 1, 1, 28, *[0] * 4, 2**32 - 1
    )
    entry += b"a" + extra
    front = b"PK\x03\x04" + entry
    end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 0, 0, 0, 0, 1, 1, len(entry), start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(front), 1)
    return front + end + locator + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, 2**32 - 1, 2**32 - 1, 0)


@pytest.mark.parametrize(("offset", "start"), [(2**64 - 1, 4), (2**63, 4), (0, 2**64 - 1), (0, 0)])
def test_offsets_beyond_the_file_are_refused(offset, start):
    data = wide(offset, start)
    refused(data)
    assert docx.is_docx(io.BytesIO(data)) in {True, False}


def test_overlapping_entries_are_refused():
    data = bytearray(make.docx(p("x")))
    first = data.find(b"PK\x01\x02")
    second = data.find(b"PK\x01\x02", first + 1)
    struct.pack_into("<L", data, second + 42, struct.unpack_from("<L", data, first + 42)[0])
    assert "overlap" in refused(bytes(data))


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    "name",
    [
        *(
            "word/document.xml",
            "word/styles.xml",
            "word/numbering.xml",
            "word/_rels/document.xml.rels",
            "_rels/.rels",
        ),
        *("word/footnotes.xml", "word/h.xml", "word/comments.xml"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_in_any_part(name, encoding):
    files = make.parts(
        make.listed("x") + p('<w:r><w:footnoteReference w:id="2"/></w:r>'),
        related={
            "styles": make.styles(),
            "numbering": make.numbering({0: make.level(0, "%1")}, {1: (0, "")}),
            "footnotes": make.part("footnotes", f'<w:footnote w:id="2">{p("n")}</w:footnote>'),
            "comments": make.part("comments", ""),
        },
        files={"word/h.xml": make.part("hdr", p("h"))},
        relations={"h": ("header", "h.xml")},
        section='<w:headerReference w:type="default" r:id="h"/>',
    )
    docx.read(make.zipped(files))
    head, _, rest = str(files[name]).partition("?>")
    files[name] = f"{head}?>{LAUGHS}{rest}".replace("UTF-8", encoding).encode(encoding)
    assert "document type" in refused(make.zipped(files))


def test_nothing_outside_the_file_is_fetched_and_links_say_so():
    relations = {
        "s": ("styles", "http://127.0.0.1:9/styles.xml"),
        "c": ("aFChunk", "http://127.0.0.1:9/c.html"),
        "t": ("attachedTemplate", "http://127.0.0.1:9/t.dotx"),
        "i": ("image", "http://127.0.0.1:9/i.png"),
    }
    text = docx.read(make.docx(p("Kept.") + '<w:altChunk r:id="c"/>', relations=relations))
    assert (text.text, [c.code for c in text.caveats]) == ("Kept.", ["unread_part"])


def test_names_that_leave_the_package_lead_nowhere():
    relations = {"n": ("numbering", "../../../../etc/passwd")}
    assert "missing" in refused(make.docx(make.listed("A"), relations=relations))


# Depth and size of what is inside


def nested(depth):
    inner = p("deep")
    for _ in range(depth):
        inner = table(tr(cell(inner + p(""))))
    return inner


def test_tables_nested_sixty_deep_are_read():
    assert docx.read(make.docx(nested(60))).text == "deep"


def test_deeper_nesting_is_refused_by_name():
    assert "deeply" in refused(make.docx(nested(2000)))
    assert "deeply" in refused(make.docx(p("<w:smartTag>" * 5000 + t("x") + "</w:smartTag>" * 5000)))


def test_a_label_of_a_megabyte_is_refused():
    definitions = make.numbering({0: make.level(0, "x" * 1_000_000)}, {1: (0, "")})
    refused(make.docx(make.listed("A"), related={"numbering": definitions}))


def test_a_text_beyond_the_parsers_reach_is_over_the_limit():
    refused(make.docx(p("x" * 11_000_000)), OverLimit)


def test_absurd_numbers_do_no_harm():
    body = table(
        tr(cell("a", '<w:gridSpan w:val="999999999"/>'), "b", properties='<w:gridBefore w:val="99999999"/>')
    )
    definitions = make.numbering({0: make.level(0, "%1", "lowerLetter", start=10**8)}, {1: (0, "")})
    text = docx.read(
        make.docx(body + make.listed("A") + make.listed("B", 99), related={"numbering": definitions})
    )
    assert len(text.text) < 1000


# What is a DOCX


@pytest.mark.parametrize(
    ("main_type", "expected"),
    [
        (make.MAIN_TYPE, True),
        ("application/vnd.ms-word.document.macroEnabled.main+xml", True),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml", True),
        ("application/vnd.ms-word.template.macroEnabledTemplate.main+xml", True),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml", False),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml", False),
        ("application/vnd.ms-excel.sheet.macroEnabled.main+xml", False),
    ],
)
def test_the_declared_type_decides(main_type, expected):
    data = changed("[Content_Types].xml", make.content_types(main_type))
    assert docx.is_docx(io.BytesIO(data)) is expected


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"%PDF-1.7", b"PK\x03\x04" + b"\0" * 100, make.zipped({"a.txt": "x"})]
)
def test_other_files_are_not_docx(data):
    assert not docx.is_docx(io.BytesIO(data))


def test_a_file_without_a_listing_is_docx_by_its_main_part():
    assert docx.is_docx(io.BytesIO(without("[Content_Types].xml")))


def test_a_listing_that_unpacks_without_end_is_not_followed():
    data = changed("[Content_Types].xml", b" " * 50_000_000)
    begun = time.process_time()
    assert docx.is_docx(io.BytesIO(data))
    assert time.process_time() - begun < 0.5


def test_bytes_in_front_of_the_archive_do_not_matter_to_reading():
    assert docx.read(b"junk" + make.docx(p("Text."))).text == "Text."
