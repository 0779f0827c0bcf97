"""Findings for people: one self-contained page with citations linked to the text, and a table."""

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape

from markdown_it import MarkdownIt

from assay.assessments.models import Category, Citation, Finding
from assay.content.models import Text

Texts = Mapping[tuple[str, str], Text]

# A page of more text than this is no help to anybody; citations then stand without their surroundings.
MOST_TEXT = 3_000_000

_SIGNS = {
    Category.SUFFICIENTLY_REGULATED: ("good", "✓", "Sufficiently regulated"),
    Category.NOT_SUFFICIENTLY_REGULATED: ("part", "◐", "Not sufficiently regulated"),
    Category.MISSING: ("none", "✗", "Missing"),
}
_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --mark: #fff3bf;
  --good: #0a6b2d; --part: #8a5a00; --none: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #11151a; --line: #3d444d;
  --mark: #5a4a00; --good: #4ac26b; --part: #e3b341; --none: #ff7b72; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid var(--line);
  text-align: left; padding: .4rem .6rem; vertical-align: top; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: 0 1.2rem; margin: 1.5rem 0; }
blockquote { margin: .6rem 0; padding: .2rem 1rem; border-left: .25rem solid var(--line); }
.good { color: var(--good); } .part { color: var(--part); } .none { color: var(--none); }
.sign { font-weight: 600; white-space: nowrap; } small { opacity: .8; }
mark { background: var(--mark); color: inherit; } mark:target { outline: 2px solid currentColor; }
.text p { white-space: pre-wrap; } a { color: inherit; }
@media print { article { break-inside: avoid; } .text { break-before: page; } }
"""
# The page brings its own style and nothing else; no script could run in it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
_markdown = MarkdownIt("commonmark", {"html": False})


def page(findings: Sequence[Finding], texts: Texts | None = None) -> str:
    """A report that needs nothing but itself."""
    shown = _affordable(texts or {})
    current = [finding for finding in findings if finding.superseded_by is None]
    rows = "".join(_row(finding) for finding in current)
    articles = "".join(_article(finding, shown) for finding in current)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Assessment report</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>Assessment report</h1>{_summary(current)}"
        "<table><thead><tr><th>Criterion</th><th>Category</th><th>Confidence</th><th>Review</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{articles}{_sources(current, shown)}</main></body></html>"
    )


def _affordable(texts: Texts) -> Texts:
    return texts if sum(len(text.text) for text in texts.values()) <= MOST_TEXT else {}


def _summary(findings: Sequence[Finding]) -> str:
    counts = [
        f"{sum(1 for finding in findings if finding.verdict.category is category)} {label.lower()}"
        for category, (_, _, label) in _SIGNS.items()
    ]
    names = sorted({name for finding in findings for name in (*finding.file_names, *finding.urls)})
    frameworks = sorted({finding.framework_code_name for finding in findings})
    return (
        f"<p><strong>{escape(', '.join(frameworks))}</strong>: {', '.join(counts)}.</p>"
        f"<p>Sources: {escape(', '.join(names))}</p>"
    )


def _sign(category: Category) -> str:
    css, sign, label = _SIGNS[category]
    return f'<span class="sign {css}">{sign} {label}</span>'


def _row(finding: Finding) -> str:
    verdict = finding.verdict
    name = escape(finding.criterion_code_name)
    return (
        f'<tr><td><a href="#f{finding.id}">{name}</a></td><td>{_sign(verdict.category)}</td>'
        f"<td>{verdict.confidence:.2f}</td><td>{'needed' if verdict.needs_review else ''}</td></tr>"
    )


def _article(finding: Finding, texts: Texts) -> str:
    verdict, provenance = finding.verdict, finding.provenance
    quotes = "".join(_quote(citation, texts) for citation in verdict.citations)
    closest = verdict.absence.closest if verdict.absence else ()
    near = "".join(_quote(citation, texts) for citation in closest)
    return (
        f'<article id="f{finding.id}"><h2>{escape(finding.criterion_code_name)}</h2>'
        f"<p>{_sign(verdict.category)} <small>confidence {verdict.confidence:.2f}"
        f"{', for review' if verdict.needs_review else ''}</small></p>{_markdown.render(verdict.rationale)}"
        + (f"<h3>Citations</h3>{quotes}" if quotes else "")
        + (f"<h3>Closest passages</h3>{near}" if near else "")
        + f"<p><small>Finding {finding.id}, {escape(provenance.engine)} {escape(provenance.engine_version)}"
        f"{' with ' + escape(provenance.model) if provenance.model else ''}, framework version "
        f"{escape(provenance.framework_version)}, {finding.created_at:%Y-%m-%d %H:%M} UTC</small></p>"
        "</article>"
    )


def _quote(citation: Citation, texts: Texts) -> str:
    place = [citation.source]
    place += [f"page {citation.page}"] if citation.page else []
    place += [f"section {citation.section}"] if citation.section else []
    where = escape(", ".join(place))
    if (citation.content_uuid, citation.content_digest) in texts:
        where = f'<a href="#{_anchor(citation)}">{where}</a>'
    return f"<blockquote>{escape(citation.quote)}<br><small>{where}</small></blockquote>"


def _anchor(citation: Citation) -> str:
    return f"t{citation.content_uuid}-{citation.start}"


def _sources(findings: Sequence[Finding], texts: Texts) -> str:
    cited: dict[tuple[str, str], list[Citation]] = {}
    for finding in findings:
        closest = finding.verdict.absence.closest if finding.verdict.absence else ()
        for citation in (*finding.verdict.citations, *closest):
            cited.setdefault((citation.content_uuid, citation.content_digest), []).append(citation)
    return "".join(
        f'<section class="text"><h2>{escape(cited[key][0].source)}</h2>{_marked(text, cited[key])}</section>'
        for key, text in texts.items()
        if key in cited
    )


def _marked(text: Text, citations: Sequence[Citation]) -> str:
    """The text with every cited stretch marked; where stretches overlap, the first begun is marked whole."""
    pieces: list[str] = []
    position = 0
    for citation in sorted(citations, key=lambda citation: (citation.start, -citation.end)):
        anchor = f'<a id="{_anchor(citation)}"></a>'
        if citation.start < position:
            pieces.append(anchor)
            continue
        quote = escape(text.text[citation.start : citation.end])
        pieces += [escape(text.text[position : citation.start]), f"{anchor}<mark>{quote}</mark>"]
        position = citation.end
    pieces.append(escape(text.text[position:]))
    return "<p>" + "".join(pieces).replace("\n\n", "</p><p>") + "</p>"


_COLUMNS = (
    "id",
    "criterionCodeName",
    "frameworkCodeName",
    "frameworkVersion",
    "category",
    "confidence",
    "needsReview",
    "rationale",
    "citations",
    "sources",
    "engine",
    "engineVersion",
    "expertId",
    "supersededBy",
    "createdAt",
)


def table(findings: Sequence[Finding]) -> str:
    """Every finding on a row of CSV. What a spreadsheet would run as a formula is made text."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_COLUMNS)
    for finding in findings:
        verdict, provenance = finding.verdict, finding.provenance
        values = (
            finding.id,
            finding.criterion_code_name,
            finding.framework_code_name,
            provenance.framework_version,
            verdict.category.value,
            verdict.confidence,
            str(verdict.needs_review).lower(),
            verdict.rationale,
            "\n".join(f"{citation.source}: {citation.quote}" for citation in verdict.citations),
            "\n".join(f"{source.name} {source.content_digest}" for source in provenance.sources),
            provenance.engine,
            provenance.engine_version,
            finding.expert_id,
            finding.superseded_by or "",
            finding.created_at.isoformat().replace("+00:00", "Z"),
        )
        writer.writerow(_harmless(str(value)) for value in values)
    return buffer.getvalue()


def _harmless(value: str) -> str:
    return f"'{value}" if value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value
