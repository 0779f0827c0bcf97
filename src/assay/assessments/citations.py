"""Quoted spans: made from the text, so that they hold, and found in it when they come from elsewhere."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from rapidfuzz import fuzz

from assay.assessments.models import Citation
from assay.assessments.passages import Passage
from assay.content.models import Span

# A quote longer than this is cut around what it shows, at the ends of words.
LONGEST_QUOTE = 1_200
# How alike a quote from elsewhere must be to the words it is taken for, of 100.
ALIKE = 95.0

_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), "-")
_QUOTES = dict.fromkeys(map(ord, "‘’‚‛′`´"), "'") | dict.fromkeys(map(ord, "“”„‟«»″"), '"')
_DROPPED = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe"), None)
_FOLDED = _DASHES | _QUOTES | _DROPPED


def cite(passage: Passage, spans: Iterable[tuple[int, int]] = ()) -> Citation:
    """The passage as a citation; of a very long one the part around `spans`, which count from its start."""
    start, end = _window(passage.text, list(spans))
    return Citation(
        quote=passage.text[start:end],
        source=passage.source.name,
        content_uuid=passage.source.content_uuid,
        content_digest=passage.source.content_digest,
        start=passage.start + start,
        end=passage.start + end,
        page=passage.page,
        section=passage.section,
    )


def _window(text: str, spans: list[tuple[int, int]]) -> tuple[int, int]:
    if len(text) <= LONGEST_QUOTE:
        return 0, len(text)
    first = min((start for start, _ in spans), default=0)
    last = max((end for _, end in spans), default=0)
    margin = max(0, LONGEST_QUOTE - (last - first)) // 2
    start = max(0, min(first - margin, len(text) - LONGEST_QUOTE))
    end = min(len(text), start + LONGEST_QUOTE)
    return _word_start(text, start), _word_end(text, end)


def _word_start(text: str, at: int) -> int:
    found = re.compile(r"(?<=\s)\S").search(text, at) if at else None
    return found.start() if found else at


def _word_end(text: str, at: int) -> int:
    if at == len(text):
        return at
    cut = re.search(r"\s\S*$", text[:at])
    return cut.start() if cut else at


def holds(citation: Citation, text: str) -> bool:
    """Whether the quote stands in the text where the citation says."""
    return bool(citation.quote) and text[citation.start : citation.end] == citation.quote


def merge(citations: Iterable[Citation], text: str) -> list[Citation]:
    """One citation for those of one text that overlap or that only white space parts, by their place."""
    merged: list[Citation] = []
    for citation in sorted(
        citations, key=lambda one: (one.content_uuid, one.content_digest, one.start, -one.end)
    ):
        if merged and _touch(merged[-1], citation, text):
            merged[-1] = _joined(merged[-1], citation, text)
        else:
            merged.append(citation)
    return merged


def _touch(one: Citation, other: Citation, text: str) -> bool:
    same = (one.content_uuid, one.content_digest) == (other.content_uuid, other.content_digest)
    return same and (other.start <= one.end or not text[one.end : other.start].strip())


def _joined(one: Citation, other: Citation, text: str) -> Citation:
    end = max(one.end, other.end)
    return replace(one, end=end, quote=text[one.start : end])


def locate(quote: str, text: str, within: Span | None = None) -> Span | None:
    """Where a quote stands: exactly; or but for space, quotes and hyphens; or nearly so inside `within`.

    None when it does not stand there. The offsets are into `text`: its words there are the quote to show.
    """
    wanted = quote.strip()
    if not wanted:
        return None
    here = within or Span(0, len(text))
    exact = text.find(wanted, here.start, here.end)
    if exact >= 0:
        return Span(exact, exact + len(wanted))
    normalised = _locate_normalised(wanted, text, here)
    if normalised is not None or within is None:
        return normalised
    return _locate_alike(wanted, text, within)


def _normalised(text: str) -> tuple[str, list[int]]:
    """Lower case, one kind of quote and hyphen, single spaces; and for each character where it comes from."""
    letters: list[str] = []
    places: list[int] = []
    for at, letter in enumerate(text):
        folded = unicodedata.normalize("NFKC", letter.translate(_FOLDED)).lower()
        for one in folded:
            if one.isspace():
                if letters and letters[-1] != " ":
                    letters.append(" ")
                    places.append(at)
            else:
                letters.append(one)
                places.append(at)
    return "".join(letters), places


def _locate_normalised(wanted: str, text: str, here: Span) -> Span | None:
    hay, places = _normalised(text[here.start : here.end])
    needle = _normalised(wanted)[0].strip()
    at = hay.find(needle) if needle else -1
    if at < 0:
        return None
    return Span(here.start + places[at], here.start + places[at + len(needle) - 1] + 1)


def _locate_alike(wanted: str, text: str, within: Span) -> Span | None:
    hay, places = _normalised(text[within.start : within.end])
    needle = _normalised(wanted)[0].strip()
    if not needle or len(needle) > len(hay) * 1.1:
        return None
    found = fuzz.partial_ratio_alignment(needle, hay, score_cutoff=ALIKE)
    if found is None or found.dest_end <= found.dest_start:
        return None
    return Span(within.start + places[found.dest_start], within.start + places[found.dest_end - 1] + 1)
