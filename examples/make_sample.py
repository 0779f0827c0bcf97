"""Write the sample agreement as a DOCX: `python examples/make_sample.py [FILE]`, or `make sample`."""

import sys
import zipfile
from html import escape
from pathlib import Path

from assay.content.extraction import html

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_DOCUMENT_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_DOCUMENT_TYPE}"/></Types>'
)
_RELATIONS = (
    f'<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="r1" Type="{_RELATION}" Target="word/document.xml"/></Relationships>'
)


def main(target: Path) -> None:
    text = html.read(Path(__file__).with_name("data-processing-agreement.html").read_bytes())
    clauses = (text.text[block.start : block.end] for block in text.blocks)
    body = "".join(f"<w:p><w:r><w:t>{escape(clause)}</w:t></w:r></w:p>" for clause in clauses)
    document = f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", _TYPES)
        file.writestr("_rels/.rels", _RELATIONS)
        file.writestr("word/document.xml", document)
    sys.stdout.write(f"Written to {target}.\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "sample-agreement.docx"))
