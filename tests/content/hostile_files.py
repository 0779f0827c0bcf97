"""Documents that mean harm, each made by a small generator: `make` by the name of its family."""

import io
import struct
import zipfile
import zlib
from functools import cache

from tests import factories

_CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/officeDocument" Target="word/document.xml"/>{more}</Relationships>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def package(document, *, doctype="", more="", parts=None):
    """A DOCX whose main part has this body."""
    body = f'{doctype}<w:document xmlns:w="{_WORD}"><w:body>{document}</w:body></w:document>'
    return factories.archive(
        {
            "[Content_Types].xml": _CONTENT_TYPES,
            "_rels/.rels": _RELATIONS.format(more=more),
            "word/document.xml": body,
            **(parts or {}),
        }
    )


def paragraph(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


# ZIP


def zip_bomb():
    """A main part that unpacks to a thousand times its size."""
    return package(paragraph("a" * 25_000_000))


def lying_sizes():
    """The directory says that the bomb is 100 bytes long."""
    data = bytearray(zip_bomb())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<L", 100)
    return bytes(data)


def fifty_thousand_entries():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("[Content_Types].xml", _CONTENT_TYPES)
        for number in range(50_000):
            file.writestr(zipfile.ZipInfo(f"word/{number}"), b"")
    return buffer.getvalue()


def overlapping_entries():
    """Two entries of the directory name the same bytes."""
    data = package(paragraph("Be kind."), parts={"word/a.xml": "<a/>", "word/b.xml": "<b/>"})
    first = data.rfind(b"PK\x01\x02", 0, data.rfind(b"PK\x01\x02"))
    second = data.rfind(b"PK\x01\x02")
    changed = bytearray(data)
    changed[second + 42 : second + 46] = data[first + 42 : first + 46]
    return bytes(changed)


def traversing_names():
    return package(
        paragraph("Be kind."), parts={"../../../../tmp/assay-was-here": "x", "/etc/assay-was-here": "x"}
    )


# XML


def billion_laughs():
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    return package(paragraph("&l11;"), doctype=f'<!DOCTYPE d [<!ENTITY l0 "lol">{levels}]>')


def quadratic_entity():
    return package(paragraph("&a;" * 5_000), doctype=f'<!DOCTYPE d [<!ENTITY a "{"a" * 50_000}">]>')


def external_entity():
    return package(paragraph("Secret: &x;"), doctype='<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>')


def external_entity_in_types():
    types = '<!DOCTYPE d SYSTEM "http://127.0.0.1:9/d.dtd">' + _CONTENT_TYPES
    return package(paragraph("Be kind."), parts={"[Content_Types].xml": types})


def remote_template():
    remote = (
        '<Relationship Id="r9" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
        'attachedTemplate" Target="http://127.0.0.1:9/t.dotx" TargetMode="External"/>'
    )
    return package(paragraph("Be kind."), more=remote)


def deep_nesting():
    return package("<w:tbl><w:tr><w:tc>" * 20_000 + paragraph("x") + "</w:tc></w:tr></w:tbl>" * 20_000)


# PDF


def objects(*bodies, trailer=b""):
    """A PDF of these objects with a proper table."""
    file, table = b"%PDF-1.7\n", b""
    for number, body in enumerate(bodies, 1):
        table += b"%010d 00000 n \n" % len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    size = len(bodies) + 1
    end = b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, len(file))
    return file + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table) + end


def stream(data, options=b""):
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), options, data)


def page_tree_loop():
    return objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1000 >>",
        b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R] /Count 1000 >>",
    )


def hundred_thousand_pages():
    """One page object, named a hundred thousand times."""
    return objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count 100000 >>" % (b"3 0 R " * 100_000),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
    )


def many_objects():
    """None of them in a table, so that a reader has to look for them."""
    return b"%PDF-1.7\n" + b"".join(b"%d 0 obj 0 endobj\n" % number for number in range(1, 300_000))


def flate_bomb(layers=1, size=60_000_000):
    data = b"BT /F1 12 Tf 72 720 Td (Be kind.) Tj ET\n"
    packer = zlib.compressobj(9)
    packed = packer.compress(data) + packer.compress(b" " * size) + packer.flush()
    for _ in range(layers - 1):
        packed = zlib.compress(packed, 9)
    filters = b"/Filter [%s]" % (b"/FlateDecode " * layers)
    return objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        stream(packed, filters),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def xref_loop():
    """Each of two tables names the other as the one before it."""
    start = b"%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n"
    table = b"xref\n0 1\n0000000000 65535 f \ntrailer << /Size 2 /Root 1 0 R /Prev %010d >>\n"
    first, second = len(start), len(start) + len(table % 0)
    return start + table % second + table % first + b"startxref\n%d\n%%%%EOF\n" % second


def form_loop():
    """A drawing that draws itself."""
    resources = b"/Resources << /XObject << /X 4 0 R >> >>"
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] " + resources
    return objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R %s >>" % resources,
        stream(b"/X Do", form),
        stream(b"/X Do"),
    )


def wrong_types():
    return objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids (3 0 R) /Count /One >>",
        b"<< /Type /Page /Parent [] /MediaBox true /Contents -1 /Resources 7 >>",
    )


def deep_arrays():
    return objects(
        b"<< /Type /Catalog /Pages 2 0 R /X %s%s >>" % (b"[" * 100_000, b"]" * 100_000),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
    )


def encrypted():
    """Encrypted by a password that is not the empty one."""
    return objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32),
        trailer=b"/Encrypt 4 0 R /ID [<%s> <%s>]" % (b"43" * 16, b"43" * 16),
    )


def protected_docx():
    """A DOCX with an encrypted part, as ZIP tools make them."""
    data = bytearray(factories.docx("Be kind."))
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        data[at + 8] |= 1
    return bytes(data)


def cut(data, share):
    return data[: int(len(data) * share)]


FAMILIES = {
    "zip bomb": zip_bomb,
    "lying sizes": lying_sizes,
    "50,000 entries": fifty_thousand_entries,
    "overlapping entries": overlapping_entries,
    "traversing names": traversing_names,
    "billion laughs": billion_laughs,
    "quadratic entity": quadratic_entity,
    "external entity": external_entity,
    "external entity in the types": external_entity_in_types,
    "remote template": remote_template,
    "deep nesting": deep_nesting,
    "page tree loop": page_tree_loop,
    "100,000 pages": hundred_thousand_pages,
    "many objects": many_objects,
    "flate bomb": flate_bomb,
    "nested flate bomb": lambda: flate_bomb(layers=3),
    "xref loop": xref_loop,
    "form loop": form_loop,
    "wrong types": wrong_types,
    "deep arrays": deep_arrays,
    "encrypted PDF": encrypted,
    "encrypted DOCX": protected_docx,
    "cut PDF": lambda: cut(factories.pdf(*["Be kind."] * 50), 0.6),
    "cut DOCX": lambda: cut(factories.docx(*["Be kind."] * 50), 0.6),
}


@cache
def make(family):
    """Once for both databases: some are large."""
    return FAMILIES[family]()
