"""Criteria without authored points, as importers bring them: the closest passages, and an open guess."""

from assay.assessments import citations
from assay.assessments.judging import confidence, rationale
from assay.assessments.judging.corpus import Corpus
from assay.assessments.models import Absence, Category, Verdict
from assay.frameworks.models import Criterion

_CLOSEST = 5
# From this share of a criterion's rare words on, in the passage that is most like it, something bears on it.
_BEARS = 0.3
_CAUTION = "This framework was imported without points to check; a person has to judge this criterion."


def judge(criterion: Criterion, corpus: Corpus) -> Verdict:
    """Never sure, always for review. Low likeness proves no absence: even MISSING shows what is closest."""
    question = " ".join([*criterion.context[-1:], criterion.name, criterion.description])
    ranked = corpus.index.search(question, _CLOSEST)
    cited = tuple(citations.cite(corpus.passages[one.at]) for one in ranked)
    share = max((corpus.index.share(question, one.at) for one in ranked), default=0.0)
    category = Category.NOT_SUFFICIENTLY_REGULATED if share >= _BEARS else Category.MISSING
    absence = None
    if category is Category.MISSING:
        absence = Absence(len(corpus.passages), cited, corpus.unreadable)
    shown = () if absence else cited
    caution = " ".join([_CAUTION, *unread_cautions(corpus)])
    return Verdict(
        category=category,
        confidence=confidence.GUESS,
        needs_review=True,
        rationale=rationale.of_guess(criterion, category, shown, absence, caution),
        citations=shown,
        absence=absence,
    )


def unread_cautions(corpus: Corpus) -> list[str]:
    """That something could not be read, so that what was not found may stand there."""
    if not corpus.unreadable:
        return []
    places = sorted({one.source + (f", page {one.page}" if one.page else "") for one in corpus.unreadable})
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    return [f"Not everything could be read ({'; '.join(places[:3])}{more}); what is missing may stand there."]
