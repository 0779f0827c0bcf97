"""Evidence in clauses: what matches, how strongly, where, and that no text makes it slow."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.frameworks import evidence, files
from assay.frameworks.models import (
    AllOf,
    AnyOf,
    Comparison,
    Deadline,
    Duty,
    Figure,
    Framework,
    Modality,
    Phrase,
    Qualified,
)
from assay.frameworks.words import Clause, fold

FRAMEWORK = Framework(
    code_name="X",
    name="x",
    version="1",
    description="",
    language="en",
    parties=("processor", "controller"),
    vocabulary={
        "en": {
            "processor": ("processor", "supplier", "we"),
            "controller": ("controller", "customer"),
            "subprocessor": ("sub-processor*", "another processor"),
        },
        "de": {"processor": ("auftragsverarbeiter",), "controller": ("verantwortlichen",)},
    },
)
ENGLISH = evidence.Lexicon.of(FRAMEWORK, "en")
GERMAN = evidence.Lexicon.of(FRAMEWORK, "de")


def match(expression, clause, lexicon=ENGLISH):
    expression = Phrase(expression) if isinstance(expression, str) else expression
    return evidence.match(evidence.compile_(expression, lexicon), clause)


def quotes(expression, clause):
    found = match(expression, clause)
    return [clause[start:end] for start, end in found.spans] if found else None


@pytest.mark.parametrize(
    ("phrase", "clause", "quote"),
    [
        ("without undue delay", "It shall act WITHOUT undue  delay.", "WITHOUT undue  delay"),
        (
            "prior ... consent",
            "with the prior, specific and written consent of",
            "prior, specific and written consent",
        ),
        ("notif*", "Notification is due.", "Notification"),
        ("*processor", "a subprocessor", "subprocessor"),
        ("(return | erase) ...3 data", "He shall erase all the data.", "erase all the data"),
        ("<controller> ...2 consent", "the Customer's written consent", "Customer's written consent"),
        ("authoris*", "an Authorization", "Authorization"),
        ("authorization", "the authorisation", "authorisation"),
        ("licence", "a license", "license"),
        ("fulfil* ...2 behaviour", "fulfilling such behavior", "fulfilling such behavior"),
        ("sub-processor", "a subprocessor", "subprocessor"),
        ("sub-processor", "a Sub\u2011Processor", "Sub\u2011Processor"),
        ("sub-processor", "a sub- processor", "sub- processor"),
        ("co-operate", "shall cooperate", "cooperate"),
        ("co-operate", "shall co operate", "co operate"),
        ("data protection officer", "the data\u00a0protection\nofficer", "data\u00a0protection\nofficer"),
        ("controller", "the controller\u2019s", "controller\u2019s"),
        ("notification", "a noti\ufb01cation", "noti\ufb01cation"),
        ("notification", "a notifi\u00adcation", "notifi\u00adcation"),
        ("ma\u00dfnahme*", "die Massnahmen", "Massnahmen"),
        ("prüfung", "die Pru\u0308fung", "Pru\u0308fung"),
        ("164.504", "under 45 CFR 164.504(e)", "164.504"),
    ],
)
def test_a_phrase_is_found_at_its_place(phrase, clause, quote):
    assert quotes(phrase, clause) == [quote]


@pytest.mark.parametrize(
    ("phrase", "clause"),
    [
        ("without undue delay", "without any undue delay"),
        ("prior ... consent", "prior to all and any of the many acts the consent"),
        ("consent ... prior", "prior consent"),
        ("notify", "notification"),
        ("<processor>", "the sub-processor shall"),
        ("process", "a processor"),
    ],
)
def test_a_phrase_is_not_found_in_other_words(phrase, clause):
    assert match(phrase, clause) is None


def test_a_gap_counts_its_words():
    assert match("a1 ...3 b1", "a1 x x x b1")
    assert match("a1 ...3 b1", "a1 x x x x b1") is None


def test_the_nearest_beginning_of_a_phrase_is_shown():
    assert quotes("prior ... consent", "prior notice and prior consent") == ["prior consent"]


def test_all_asks_for_each_and_within_for_nearness():
    both = (Phrase("breach"), Phrase("notify"))
    far = "notify" + " word" * 20 + " breach"
    assert quotes(AllOf(both), far) == ["notify", "breach"]
    assert match(AllOf(both, within=10), far) is None
    assert match(AllOf(both, within=22), far)
    assert match(AllOf(both), "only a breach") is None
    assert quotes(AllOf(both, within=4), f"breach {'x ' * 9} notify of a breach") == ["notify", "breach"]


def test_any_asks_for_one():
    assert quotes(AnyOf((Phrase("tea"), Phrase("milk"))), "with milk") == ["milk"]


def test_an_exclusion_in_the_clause_undoes_a_match():
    expression = Qualified(Phrase("notify"), (Phrase("data subject request"),))
    assert match(expression, "notify the customer")
    assert match(expression, "notify of a data subject request") is None


def test_weak_evidence_points_but_does_not_show():
    found = match(Qualified(Phrase("audit"), weak=True), "an audit")
    assert 0 < found.strength < evidence.SHOWS


MUST = Duty("<processor>", Modality.MUST, "notify ...3 <controller>")


@pytest.mark.parametrize(
    "clause",
    [
        "The Processor shall notify the Controller.",
        "The supplier shall, without undue delay, notify the customer.",
        "The processor agrees to promptly notify the controller",
        "The processor is required to notify the controller",
        "The processor, not later than tomorrow, will notify the controller",
    ],
)
def test_a_firm_duty_of_the_actor_matches_in_full(clause):
    assert match(MUST, clause).strength == 1.0


@pytest.mark.parametrize(
    "clause",
    [
        "The processor may notify the controller.",
        "The processor shall not notify the controller.",
        "The processor is not required to notify the controller.",
        "The processor is not obliged to, but may, notify the controller.",
        "The controller shall notify the customer.",
        "The processor acknowledges that the controller shall notify the customer.",
        "The sub-processor shall notify the controller.",
    ],
)
def test_what_is_no_duty_of_the_actor_does_not_match(clause):
    assert match(MUST, clause) is None


def test_a_plain_or_soft_duty_is_weaker_than_a_firm_one():
    plain = match(Duty("<processor>", Modality.MUST, "notif*"), "The processor notifies the controller.")
    soft = match(MUST, "The processor shall use reasonable efforts to notify the controller.")
    assert soft.strength < plain.strength < 1.0
    assert soft.strength >= evidence.SHOWS


def test_a_duty_is_found_in_the_passive():
    duty = Duty("<processor>", Modality.MUST, "notified")
    assert match(duty, "The controller shall be notified by the processor.")
    assert match(duty, "The controller shall not be notified by the processor.") is None


def test_permission_and_prohibition_are_told_apart():
    may = Duty("<processor>", Modality.MAY, "engage")
    must_not = Duty("<processor>", Modality.MUST_NOT, "engage")
    for clause in ("We may engage others.", "The processor is entitled to engage others."):
        assert match(may, clause)
        assert match(must_not, clause) is None
    for clause in (
        "We may not engage others.",
        "The supplier shall never engage others.",
        "We cannot engage others",
    ):
        assert match(must_not, clause)
        assert match(may, clause) is None


def test_does_takes_any_voice_but_a_denial():
    does = Duty("<processor>", Modality.DOES, "liable")
    assert match(does, "The processor shall remain liable.")
    assert match(does, "The processor is liable.")
    assert match(does, "The processor is not liable.") is None


@pytest.mark.parametrize(
    "clause",
    [
        "Der Auftragsverarbeiter unterrichtet den Verantwortlichen unverzüglich.",
        "Unverzüglich unterrichtet der Auftragsverarbeiter den Verantwortlichen.",
    ],
)
def test_a_german_duty_may_stand_before_its_actor(clause):
    assert match(Duty("<processor>", Modality.MUST, "unterricht*"), clause, GERMAN).strength == 1.0


@pytest.mark.parametrize(
    ("clause", "fits"),
    [
        ("within 72 hours", True),
        ("within seventy-two (72) hours", True),
        ("within forty-eight hours", True),
        ("within three business days", True),
        ("within 4 days", False),
        ("within one month", False),
        ("within an hour", True),
        ("innerhalb von 24 Stunden", True),
        ("72 persons", False),
    ],
)
def test_a_deadline_is_held_against_the_time_in_the_clause(clause, fits):
    assert bool(match(Deadline(Comparison.AT_MOST, 72, "hours"), clause)) == fits


def test_longer_times_and_any_time_are_found_too():
    assert quotes(Deadline(Comparison.MORE_THAN, 72, "hours"), "after ten (10) working days") == [
        "10) working days"
    ]
    assert match(Deadline(Comparison.LESS_THAN, 14, "days"), "14 days") is None
    assert match(Deadline(Comparison.ANY), "30 days")
    assert match(Deadline(Comparison.ANY), "some days") is None


@pytest.mark.parametrize(
    ("clause", "fits"),
    [
        ("99.9 % of the time", True),
        ("99,9 %", True),
        ("98 percent", False),
        ("1,000 %", True),
        ("% 99", False),
    ],
)
def test_a_number_is_held_against_the_figure_in_the_clause(clause, fits):
    assert bool(match(Figure(Comparison.AT_LEAST, 99.5, "(% | percent)"), clause)) == fits


def test_evidence_of_an_aspect_is_compiled_by_language():
    text = (
        "code_name: X\nname: x\nversion: 1\nlanguage: en\ncriteria:\n  - code_name: Y\n    name: y\n"
        "    description: y\n    aspects:\n      - name: a\n        demand: d\n        evidence: [tea]\n"
        "        contradicted_by: [coffee]\n"
    )
    framework = files.parse(text)
    aspect = framework.criteria[0].aspects[0]
    compiled = evidence.compile_aspect(aspect, "en", evidence.Lexicon.of(framework, "en"))
    assert evidence.match(compiled.shows, "tea")
    assert evidence.match(compiled.contradicts, "coffee")
    other = evidence.compile_aspect(aspect, "de", evidence.Lexicon.of(framework, "de"))
    assert (other.shows, other.contradicts) == (None, None)


def test_a_prepared_clause_gives_the_same_as_its_text():
    clause = "The processor shall notify the controller."
    matcher = evidence.compile_(MUST, ENGLISH)
    prepared = Clause(clause)
    assert (
        evidence.match(matcher, prepared)
        == evidence.match(matcher, prepared)
        == evidence.match(matcher, clause)
    )


def test_a_clause_is_read_right_by_what_is_compiled_after_it_was_first_matched():
    lexicon = evidence.Lexicon.of(FRAMEWORK, "en")
    clause = Clause("tea and milk")
    assert evidence.match(evidence.compile_(Phrase("tea"), lexicon), clause)
    assert evidence.match(evidence.compile_(Phrase("milk"), lexicon), clause)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_spans_lie_in_the_text_in_order(text):
    everything = AnyOf((Phrase("the"), Phrase("(a | e | i)"), Deadline(Comparison.ANY)))
    found = match(everything, text + " the a")
    edges = [edge for span in found.spans for edge in span]
    assert edges == sorted(edges)
    assert edges[0] >= 0
    assert edges[-1] <= len(text) + 6


@settings(deadline=None)
@given(st.text(st.characters(categories=("Ll", "Lu"), max_codepoint=0x17F), max_size=40))
def test_folding_twice_is_folding_once(word):
    assert fold(fold(word)) == fold(word)


@pytest.mark.parametrize(
    "text",
    [
        "a1 " * 8_000,
        "a1 b1 " * 4_000,
        "processor shall not " * 4_000,
        "x" * 120_000,
        "1 " * 8_000,
        "(" * 120_000,
    ],
)
def test_hostile_text_costs_time_in_proportion_to_its_length(text):
    gaps = " ...40 ".join(["(a1 | b1 | a1 b1)"] * 8)
    expression = AnyOf(
        (
            Phrase(gaps),
            AllOf((Phrase("a1"), Phrase("b1"), Phrase(gaps)), within=50),
            Duty("(a1 | processor)", Modality.MUST, "(b1 | not)"),
            Deadline(Comparison.ANY),
        )
    )

    def cost(piece):
        started = time.process_time()
        match(expression, piece)
        return time.process_time() - started

    cost(text[:1_000])
    short, whole = cost(text[: len(text) // 8]), cost(text)
    assert whole < 8 * 4 * short + 0.5
