"""What holds for any bytes and any document."""

import io
import zipfile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.content.extraction import docx
from assay.content.extraction.assembly import ROW_SEPARATOR, SEPARATOR
from assay.content.models import BlockKind, Text, UnreadableDocument
from tests.content import docx_files as make
from tests.content.docx_files import cell, deleted, field, ins, listed, p, t, table, tr

FEATURES = (
    listed("One")
    + listed("Two", 1)
    + p(t("a ") + deleted("b") + ins(t("c")) + field(" REF x ", t("4.2")))
    + table(tr("x", cell(table(tr("in", "side")) + p("after"))), tr("y", "z"))
    + p('<w:r><w:footnoteReference w:id="2"/></w:r>' + t("secret", "<w:vanish/>"))
    + p(f"<w:r><w:pict><v:textbox><w:txbxContent>{p('box')}</w:txbxContent></v:textbox></w:pict></w:r>")
)
RELATED = {
    "numbering": make.numbering({0: make.level(0, "%1.") + make.level(1, "%1.%2")}, {1: (0, "")}),
    "footnotes": make.part("footnotes", f'<w:footnote w:id="2">{p("note")}</w:footnote>'),
    "styles": make.styles(make.style("A", "heading 1")),
}
FILES = make.parts(FEATURES, related=RELATED)
WHOLE = make.zipped(FILES)
PROFILE = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read_or_refuse(data: bytes, *, original: bool = False) -> Text | None:
    try:
        return docx.read(data, original=original, max_uncompressed_bytes=2**24)
    except UnreadableDocument:
        return None


def assert_exact(text: Text) -> None:
    position = 0
    for before, block in zip((None, *text.blocks), text.blocks, strict=False):
        if before is not None:
            rows = before.kind is block.kind is BlockKind.TABLE_ROW
            separator = ROW_SEPARATOR if rows else SEPARATOR
            assert text.text[position : block.start] == separator
        assert block.start < block.end
        inside = text.text[block.start : block.end]
        if block.number:
            assert block.number in inside
        for span in block.cells:
            assert block.start <= span.start <= span.end <= block.end
        position = block.end
    assert position == len(text.text)


@PROFILE
@given(st.binary(max_size=2000), st.booleans())
def test_any_bytes_are_read_or_refused_by_name(data, zipped):
    assert read_or_refuse(b"PK\x03\x04" + data if zipped else data) is None
    assert docx.is_docx(io.BytesIO(data)) in {True, False}


@PROFILE
@given(st.data())
def test_a_damaged_file_is_read_or_refused_by_name(data):
    damaged = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    text = read_or_refuse(bytes(damaged))
    if text is not None:
        assert_exact(text)
    assert docx.is_docx(io.BytesIO(bytes(damaged))) in {True, False}


@PROFILE
@given(st.data())
def test_a_changed_part_is_read_or_refused_by_name(data):
    name = data.draw(st.sampled_from(sorted(FILES)))
    content = str(FILES[name])
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 60)))
    junk = data.draw(
        st.text(max_size=20) | st.sampled_from(["<w:p>", "</w:p>", '"', "<w:tbl>", "&x;", "-1", "<w:r/>"])
    )
    text = read_or_refuse(
        make.zipped({**FILES, name: (content[:start] + junk + content[end:]).encode("utf-8", "replace")})
    )
    if text is not None:
        assert_exact(text)


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["C"], exclude_characters="<>&"), min_size=1, max_size=12
)
RUNS = st.one_of(
    WORDS.map(t),
    WORDS.map(lambda word: ins(t(word))),
    WORDS.map(deleted),
    WORDS.map(lambda word: t(word, "<w:vanish/>")),
    WORDS.map(lambda word: field(" REF x ", t(word))),
    st.just("<w:r><w:tab/></w:r>"),
)
PARAGRAPHS = st.lists(RUNS, max_size=4).map(lambda runs: f"<w:p>{''.join(runs)}</w:p>")
CLAUSES = st.tuples(WORDS, st.integers(0, 2)).map(lambda pair: listed(t(pair[0]), pair[1]))
BODIES = st.recursive(
    PARAGRAPHS | CLAUSES,
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(
        lambda parts: table(tr(*(f"<w:tc>{part}<w:p/></w:tc>" for part in parts)))
    ),
    max_leaves=6,
)


@PROFILE
@given(st.lists(BODIES, max_size=6).map("".join), st.booleans())
def test_offsets_are_exact_and_blocks_make_the_text(body, original):
    text = read_or_refuse(make.docx(body, related=RELATED), original=original)
    if text is not None:
        assert_exact(text)


@PROFILE
@given(st.lists(WORDS.filter(str.strip), min_size=1, max_size=8))
def test_every_visible_word_is_there_once_and_in_order(words):
    marked = [f"{at}:{word}:{at}" for at, word in enumerate(words)]
    text = docx.read(make.docx("".join(p(t(word)) for word in marked))).text
    positions = [text.find(word.replace("\N{SOFT HYPHEN}", "")) for word in marked]
    assert positions == sorted(positions)
    assert -1 not in positions
    assert text.count(SEPARATOR) == len(words) - 1


def test_the_whole_fixture_is_read():
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as archive:
        assert archive.testzip() is None
    text = docx.read(WHOLE)
    assert_exact(text)
    assert text.text == "1. One\n\n1.1 Two\n\na c4.2\n\nx\tin\tside\nafter\ny\tz\n\n[1]\n\n[1] note\n\nbox"
