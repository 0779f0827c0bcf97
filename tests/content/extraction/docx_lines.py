"""A Word document made of XML strings, read: what the tests of the DOCX reader share."""

from assay.content.extraction import docx
from tests.content import docx_files as make
from tests.content.docx_files import level

CLAUSES = make.numbering(
    {
        0: level(0, "%1.")
        + level(1, "%1.%2")
        + level(2, "(%3)", "lowerLetter")
        + level(3, "(%4)", "lowerRoman"),
        1: level(0, "Article %1", "upperRoman") + level(1, "Section %1.%2", extra="<w:isLgl/>"),
        2: level(0, "\uf0b7", "bullet", extra='<w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr>'),
    },
    {
        1: (0, ""),
        2: (0, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'),
        3: (1, ""),
        4: (2, ""),
        5: (0, ""),
        6: (0, f'<w:lvlOverride w:ilvl="1">{level(1, "§ %2")}</w:lvlOverride>'),
    },
)


def read(body, *, original=False, **kwargs):
    return docx.read(make.docx(body, **kwargs), original=original)


def lines(body, **kwargs):
    return read(body, **kwargs).text.split("\n\n")


def numbered(*paragraphs, definitions=CLAUSES, **related):
    return lines("".join(paragraphs), related={"numbering": definitions, **related})


def caveat(text, code):
    return next((found for found in text.caveats if found.code == code), None)
