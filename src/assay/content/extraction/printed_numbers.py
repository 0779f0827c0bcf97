"""Section numbers as they stand printed at the beginning of a line: 4.1, (a), iv., Article 5, § 3."""

import re

_LABELS = (
    "article|articles|section|clause|chapter|part|annex|appendix|schedule|exhibit|artikel|abschnitt|ziffer|"
    "kapitel|anhang|anlage|teil|paragraf|paragraph|titre|chapitre|annexe|artículo|articulo|sección|capítulo|"
    "cláusula|anexo|articolo|sezione|capo|allegato|artigo|secção|seção|hoofdstuk|bijlage|artykuł|rozdział|"
    "článek|článok|straipsnis|člen|član|чл|член|раздел|глава|статья|стаття|розділ|άρθρο|κεφάλαιο"
)
_PLAIN = r"\d{1,3}(?:\.[1-9]\d?){0,5}"
_LABELLED = re.compile(
    rf"((?:(?:{_LABELS}|art)\.?\s|§{{1,2}}\s?)(?:{_PLAIN}[a-z]?|[ivxlc]{{1,7}}|[a-z])\b)(?=[\s.:)\u2013\u2014-]|$)",
    re.IGNORECASE,
)
_MARKED = re.compile(
    rf"({_PLAIN}[a-z]?)[.:](?=\s|$)"  # 4. 4.1: 4a.
    rf"|({_PLAIN}\)|\d{{1,3}}(?:\.[1-9]\d?){{1,5}})(?=\s|$)"  # 4) 4.1
    r"|(\((?:\d{1,3}|[a-z]{1,2}|[ivxlc]{1,7})\)|\[\d{1,3}\]|(?:[a-z]|[ivxlc]{2,7})\))(?=\s|$)"  # (a) [3] a)
    r"|([a-z]|[ivxlc]{2,7})\.(?=\s|$)",  # B. iv.
    re.IGNORECASE,
)
_BARE = re.compile(r"(\d{1,2})(?=\s+[^\W\d_])")
BULLET = re.compile(r"[•·∙◦▪▫■□●○‣\u2043➢➤►✓✔\u2013\u2014*-](?:\s+|$)")


def leading(text: str, *, heading: bool = False) -> str | None:
    """The number that the line begins with; a bare one ("4 Scope") only counts in a heading."""
    match = _LABELLED.match(text) or _MARKED.match(text) or (_BARE.match(text) if heading else None)
    if match is None:
        return None
    return next(group for group in match.groups() if group)
