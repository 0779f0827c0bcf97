"""DOCX files for tests, made of XML strings: only what a test names is in them."""

import io
import zipfile
from collections.abc import Mapping

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:r="{R}"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
    ' xmlns:v="urn:schemas-microsoft-com:vml"'
)
MAIN_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
BY = 'w:id="1" w:author="Reviewer" w:date="2026-01-02T00:00:00Z"'


def t(text: str, properties: str = "") -> str:
    """A run."""
    formatting = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{formatting}<w:t xml:space="preserve">{text}</w:t></w:r>'


def p(content: str, properties: str = "") -> str:
    """A paragraph, of plain text or of runs."""
    runs = content if content.startswith("<") or not content else t(content)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{runs}</w:p>"


def listed(text: str, level: int = 0, list_id: int = 1) -> str:
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>')


def cell(content: str, properties: str = "") -> str:
    inner = content if content.startswith(("<w:p", "<w:tbl")) else p(content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def tr(*cells: str, properties: str = "") -> str:
    return (
        f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(c if c[:1] == '<' else cell(c) for c in cells)}</w:tr>"
    )


def table(*rows: str, properties: str = "") -> str:
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{''.join(rows)}</w:tbl>"


def ins(runs: str) -> str:
    return f"<w:ins {BY}>{runs}</w:ins>"


def deleted(text: str) -> str:
    return f"<w:del {BY}><w:r><w:delText xml:space='preserve'>{text}</w:delText></w:r></w:del>"


def field(instruction: str, result: str) -> str:
    """A complex field; `result` is made of runs."""
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def level(
    index: int, text: str, style: str = "decimal", *, start: int | None = 1, extra: str = "", before: str = ""
) -> str:
    begin = "" if start is None else f'<w:start w:val="{start}"/>'
    told = f'{begin}<w:numFmt w:val="{style}"/>{before}<w:lvlText w:val="{text}"/>{extra}'
    return f'<w:lvl w:ilvl="{index}">{told}</w:lvl>'


def numbering(abstracts: Mapping[int, str], lists: Mapping[int, tuple[int, str]]) -> str:
    """Definitions by id, and lists by id: which definition they use, and their overrides."""
    inner = "".join(f'<w:abstractNum w:abstractNumId="{k}">{v}</w:abstractNum>' for k, v in abstracts.items())
    inner += "".join(
        f'<w:num w:numId="{k}"><w:abstractNumId w:val="{a}"/>{extra}</w:num>'
        for k, (a, extra) in lists.items()
    )
    return part("numbering", inner)


def style(identifier: str, name: str, inner: str = "", kind: str = "paragraph", attributes: str = "") -> str:
    told = f'<w:name w:val="{name}"/>{inner}'
    return f'<w:style w:type="{kind}" w:styleId="{identifier}" {attributes}>{told}</w:style>'


def styles(*inner: str, defaults: str = "") -> str:
    return part(
        "styles",
        f"<w:docDefaults><w:rPrDefault><w:rPr>{defaults}</w:rPr></w:rPrDefault></w:docDefaults>"
        + "".join(inner),
    )


def part(root: str, inner: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?><w:{root} {NAMESPACES}>{inner}</w:{root}>'


def relationships(relations: Mapping[str, tuple[str, str]]) -> str:
    inner = "".join(
        f'<Relationship Id="{identifier}" Type="{R}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if target.startswith("http") else "/>")
        for identifier, (kind, target) in relations.items()
    )
    namespace = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="{namespace}">{inner}</Relationships>'


def content_types(main_type: str = MAIN_TYPE, extra: str = "") -> str:
    return (
        '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main_type}"/>{extra}</Types>'
    )


def parts(
    body: str,
    *,
    related: Mapping[str, str] | None = None,
    files: Mapping[str, str | bytes] | None = None,
    relations: Mapping[str, tuple[str, str]] | None = None,
    section: str = "",
) -> dict[str, str | bytes]:
    """The parts of a document. `related` are parts by their kind (styles, numbering, footnotes …)."""
    named = dict(related or {})
    links = {f"rel{kind}": (kind, f"{kind}.xml") for kind in named} | dict(relations or {})
    return {
        "[Content_Types].xml": content_types(),
        "_rels/.rels": relationships({"main": ("officeDocument", "word/document.xml")}),
        "word/document.xml": part("document", f"<w:body>{body}<w:sectPr>{section}</w:sectPr></w:body>"),
        "word/_rels/document.xml.rels": relationships(links),
        **{f"word/{kind}.xml": content for kind, content in named.items()},
        **dict(files or {}),
    }


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def docx(body: str, **kwargs: object) -> bytes:
    return zipped(parts(body, **kwargs))  # type: ignore[arg-type]
