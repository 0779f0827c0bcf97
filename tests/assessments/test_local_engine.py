"""The local engine, one behaviour at a time, on a framework made for it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.assessments.citations import holds
from assay.assessments.judging import Adjustment, Corpus, learning
from assay.assessments.judging.confidence import REVIEW_BELOW
from assay.assessments.judging.local import LocalJudge
from assay.assessments.models import AspectStatus, Category, Source, Unreadable
from assay.content.extraction import plain
from assay.content.models import Caveat
from assay.frameworks import files
from assay.frameworks.models import Criterion
from tests.assessments import agreements

S, N, M = Category.SUFFICIENTLY_REGULATED, Category.NOT_SUFFICIENTLY_REGULATED, Category.MISSING

FRAMEWORK = files.parse("""
code_name: TEST
name: Test
version: 1.0.0
language: en
parties: [supplier, customer]
vocabulary:
  en:
    supplier: [supplier]
    customer: [customer]
  de:
    supplier: [lieferant]
    customer: [kunde*]
criteria:
  - code_name: BREACHES
    name: Notice of incidents
    description: The supplier notifies the customer of security incidents.
    reference: Rule 1
    aspects:
      - name: Notice
        demand: The supplier notifies incidents.
        evidence:
          en:
            - {who: <supplier>, must: notif* ...8 incident*}
            - {phrase: incident*, weak: true}
          de:
            - {who: <supplier>, must: meldet ...8 vorfälle*}
        contradicted_by:
          en:
            - {who: <supplier>, must_not: notif* ...8 incident*}
      - name: In time
        demand: The notice is given within 72 hours.
        evidence:
          en:
            - all: [incident*, {deadline: at most 72 hours}]
          de:
            - all: [vorfälle*, {deadline: at most 72 hours}]
        contradicted_by:
          en:
            - all: [notif*, incident*, {deadline: more than 72 hours}]
      - name: To a named address
        demand: The notice goes to an address that the customer names.
        mandatory: false
        evidence:
          en: [address ...5 incident*]
          de: [adresse ...5 vorfälle*]
  - code_name: AUDIT
    name: Audit
    description: The customer may audit the supplier.
    aspects:
      - name: Right to audit
        demand: The customer may audit the supplier.
        evidence:
          - {who: <customer>, may: audit*}
""")
BREACHES, AUDIT = FRAMEWORK.criteria


def judge(words: str, criterion: Criterion = BREACHES, **more):
    return LocalJudge().judge(FRAMEWORK, criterion, agreements.corpus(words), **more)


def statuses(verdict) -> list[str]:
    return [aspect.status.value for aspect in verdict.aspects]


FIRM = "The supplier shall notify the customer of all incidents within 24 hours."


def test_all_mandatory_points_covered_is_sufficient():
    verdict = judge(FIRM)

    assert verdict.category is S
    assert statuses(verdict) == ["COVERED", "COVERED", "NOT_FOUND"]
    assert verdict.absence is None
    assert verdict.citations[0].quote == FIRM


def test_some_points_covered_is_not_sufficient():
    verdict = judge("The supplier shall notify the customer of all incidents.")

    assert verdict.category is N
    assert statuses(verdict) == ["COVERED", "NOT_FOUND", "NOT_FOUND"]


def test_only_an_optional_point_covered_is_not_sufficient():
    verdict = judge("The address for incidents is stated in the annex.")

    assert verdict.category is N
    assert statuses(verdict) == ["NOT_FOUND", "NOT_FOUND", "COVERED"]


def test_a_contradicted_point_is_not_sufficient():
    verdict = judge("The supplier shall notify the customer of all incidents within 30 days.")

    assert verdict.category is N
    assert verdict.aspects[1].status is AspectStatus.CONTRADICTED
    assert "opposite" in verdict.rationale


def test_a_prohibition_is_no_duty():
    verdict = judge("The supplier shall not notify anybody of incidents.")

    assert verdict.aspects[0].status is AspectStatus.CONTRADICTED


def test_a_permission_is_no_duty():
    assert (
        judge("The supplier may notify the customer of incidents.").aspects[0].status
        is AspectStatus.NOT_FOUND
    )


def test_a_duty_of_the_other_party_is_not_the_suppliers():
    assert judge("The customer shall notify the supplier of incidents.").category is M


def test_efforts_count_for_less_than_a_firm_duty():
    soft = judge(
        "The supplier shall use reasonable efforts to notify the customer of incidents within 24 hours."
    )

    assert soft.category is S
    assert soft.confidence < judge(FIRM).confidence
    assert "not in firm words" in soft.rationale


def test_a_duty_in_the_lead_in_of_a_list_is_a_duty_of_its_items():
    verdict = judge("The supplier shall:\n\n(a) keep records;\n\n(b) notify all incidents within 24 hours.")

    assert verdict.category is S
    assert verdict.citations[0].quote == "(b) notify all incidents within 24 hours."


def test_nothing_found_is_missing_with_proof_of_absence():
    verdict = judge("The customer pays in thirty days.\n\nIncidents are described in the annex.")

    assert verdict.category is M
    assert verdict.citations == ()
    assert verdict.absence.passages_searched == 2
    assert verdict.absence.closest[0].quote == "Incidents are described in the annex."
    assert "Searched: 2 passages." in verdict.rationale


def test_a_hint_makes_absence_less_sure():
    assert judge("Incidents are bad.").confidence < judge("The sun is warm.").confidence


def test_an_unread_page_makes_missing_a_case_for_review():
    text = plain.read(b"The customer pays in thirty days.")
    unread = replace(text, caveats=(Caveat("no_text_layer", "Page 2 has no text layer.", 2),))
    corpus = agreements.corpus(unread)
    verdict = LocalJudge().judge(FRAMEWORK, BREACHES, corpus)

    assert verdict.needs_review
    assert [(one.source, one.page) for one in verdict.absence.unreadable] == [("one.txt", 2)]
    assert "page 2" in verdict.rationale


def test_a_source_that_could_not_be_read_is_named():
    source = Source("one.txt", "1", "sha256:1")
    corpus = Corpus.of([(source, plain.read(b"Nothing here."))], [Unreadable("two.pdf", None, "damaged")])
    verdict = LocalJudge().judge(FRAMEWORK, BREACHES, corpus)

    assert verdict.absence.unreadable[0].source == "two.pdf"
    assert verdict.needs_review


def test_points_may_be_covered_by_different_sources():
    corpus = agreements.corpus(
        "The supplier shall notify all incidents.", "Incidents: notice within 12 hours."
    )
    verdict = LocalJudge().judge(FRAMEWORK, BREACHES, corpus)

    assert verdict.category is S
    assert {citation.source for citation in verdict.citations} == {"one.txt", "two.txt"}


def test_an_imported_criterion_gets_the_closest_passages_and_a_guess_for_review():
    imported = Criterion(
        "AC_2", "Account management", "Accounts are reviewed and disabled when no longer needed."
    )
    verdict = judge(
        "User accounts are reviewed yearly and disabled when they are no longer needed.", imported
    )

    assert verdict.category is N
    assert verdict.needs_review
    assert verdict.confidence < REVIEW_BELOW
    assert "User accounts" in verdict.citations[0].quote
    assert verdict.aspects == ()


def test_an_imported_criterion_that_nothing_resembles_is_no_bare_missing():
    imported = Criterion("PE_13", "Fire protection", "Fire suppression systems are installed.")
    verdict = judge("The customer pays in thirty days. Systems are billed yearly.", imported)

    assert verdict.category is M
    assert verdict.needs_review
    assert verdict.absence.closest
    assert "A guess" in verdict.rationale


def test_evidence_in_the_language_of_the_document_is_used():
    text = replace(
        plain.read("Der Lieferant meldet alle Vorfälle innerhalb von 24 Stunden.".encode()), language="de"
    )
    verdict = LocalJudge().judge(FRAMEWORK, BREACHES, agreements.corpus(text))

    assert verdict.category is S
    assert not verdict.needs_review


def test_a_language_without_evidence_is_said_and_is_for_review():
    text = replace(plain.read(b"Le fournisseur signale tous les incidents."), language="fr")
    verdict = LocalJudge().judge(FRAMEWORK, BREACHES, agreements.corpus(text))

    assert verdict.needs_review
    assert "“fr”" in verdict.rationale


def test_the_same_inputs_give_the_same_verdict_to_the_byte():
    words = agreements.FULL_DPA.words
    framework = files.load(Path(files.__file__).with_name("catalogue") / "gdpr_art_28.yaml")

    def verdicts():
        engine, corpus = LocalJudge(), agreements.corpus(words)
        return [engine.judge(framework, criterion, corpus) for criterion in framework.criteria]

    first, again = verdicts(), verdicts()
    backwards = LocalJudge()
    corpus = agreements.corpus(words)
    other_order = [
        backwards.judge(framework, criterion, corpus) for criterion in reversed(framework.criteria)
    ]

    assert first == again == other_order[::-1]
    assert repr(first) == repr(again)


def test_a_corpus_without_passages_is_missing_everything():
    verdict = LocalJudge().judge(FRAMEWORK, BREACHES, Corpus.of([]))

    assert verdict.category is M
    assert verdict.absence.passages_searched == 0


def test_markdown_in_a_document_stays_text():
    verdict = judge("The supplier shall notify **all** [incidents](http://x) within 24 hours.")

    assert r"\*\*all\*\* \[incidents\]" in verdict.rationale
    assert "**all**" in verdict.citations[0].quote


WORDS = st.lists(
    st.sampled_from(
        [
            *("The", "supplier", "customer", "shall", "may", "not", "notify", "audit", "incidents", "within"),
            *("24", "72", "hours", "days", ".", ";", ":", "\n\n", "(a)", "(b)", "“", "é"),
        ]
    ),
    min_size=1,
    max_size=120,
).map(" ".join)


@settings(deadline=None, max_examples=150)
@given(WORDS)
def test_every_citation_stands_verbatim_in_the_text_and_every_verdict_keeps_the_rule(words):
    if not words.strip():
        return
    text = plain.read(words.encode())
    corpus = agreements.corpus(text)
    for criterion in FRAMEWORK.criteria:
        verdict = LocalJudge().judge(FRAMEWORK, criterion, corpus)
        closest = verdict.absence.closest if verdict.absence else ()
        assert all(holds(citation, text.text) for citation in (*verdict.citations, *closest))
        assert (verdict.category is M) == (verdict.absence is not None)
        assert verdict.category is M or verdict.citations
        assert 0 <= verdict.confidence <= 1
        assert all(at < len(verdict.citations) for aspect in verdict.aspects for at in aspect.citations)
        assert all(
            aspect.citations for aspect in verdict.aspects if aspect.status is not AspectStatus.NOT_FOUND
        )
        covered = [aspect.status is AspectStatus.COVERED for aspect in verdict.aspects if aspect.mandatory]
        assert (verdict.category is S) == all(covered)


def test_a_shift_asks_for_more_or_for_less():
    words = "The supplier shall use reasonable efforts to notify all incidents within 24 hours."

    assert judge(words).category is S
    assert judge(words, adjustment=Adjustment(shift=0.3)).aspects[0].status is AspectStatus.NOT_FOUND
    assert judge("Incidents are handled.", adjustment=Adjustment(shift=-0.2)).category is N


def test_a_learned_scorer_decides_and_is_named_and_its_points_keep_the_rule():
    engine = LocalJudge()
    good, bad = (
        agreements.corpus("The customer may audit the supplier."),
        agreements.corpus("The supplier is warm."),
    )
    examples = [
        (engine.features(FRAMEWORK, AUDIT, good), M),
        (engine.features(FRAMEWORK, AUDIT, bad), S),
    ] * 5
    scorer = learning.fit("partner scorer", examples)
    adjustment = Adjustment(scorer=scorer)

    overruled = engine.judge(FRAMEWORK, AUDIT, good, adjustment)
    assert (overruled.category, overruled.needs_review) == (M, True)
    assert "A scorer learned from labelled documents decided" in overruled.rationale
    verdict = engine.judge(FRAMEWORK, AUDIT, bad, adjustment)
    assert engine.model(FRAMEWORK, AUDIT, adjustment) == "partner scorer"
    assert engine.model(FRAMEWORK, AUDIT) is None
    assert (verdict.category, statuses(verdict)) == (S, ["COVERED"])
    assert verdict.citations[0].quote == "The supplier is warm."
    assert engine.judge(FRAMEWORK, AUDIT, agreements.corpus("It rains."), adjustment).category is M


def test_a_learned_scorer_survives_storage():
    scorer = learning.fit("s", [({"a": 1.0}, S), ({"a": 0.0}, M), ({"a": 0.9}, S), ({"a": 0.1}, M)])
    again = learning.Regression.of_json(scorer.to_json())

    assert again.probabilities({"a": 0.8}) == scorer.probabilities({"a": 0.8})
    assert scorer.probabilities({"a": 1.0})[S] > 0.5 > scorer.probabilities({"a": 0.0})[S]
    assert scorer.probabilities({"a": 1.0})[N] == 0.0


def test_the_bar_moves_only_as_far_as_corrections_ask():
    assert learning.fit_shift([(0.9, S), (0.1, M)]) == 0.0
    assert learning.fit_shift([(0.6, M), (0.62, M), (0.9, S)]) == pytest.approx(0.15)
    assert learning.fit_shift([(0.4, S), (0.1, M)]) == pytest.approx(-0.1)


def test_features_hold_the_presence_that_the_bar_is_held_against():
    engine = LocalJudge()

    assert engine.features(FRAMEWORK, AUDIT, agreements.corpus("The customer may audit."))["presence"] == 1.0
    assert engine.features(FRAMEWORK, AUDIT, agreements.corpus("Nothing."))["presence"] == 0.0
