"""BM25: what bears on a question comes first."""

from assay.assessments import retrieval
from assay.assessments.retrieval import Index

CLAUSES = [
    "The supplier shall notify the customer of personal data breaches without undue delay.",
    "Invoices are payable within thirty days.",
    "The customer may audit the supplier once a year.",
    "This agreement is governed by the law of Austria.",
]


def test_the_clause_that_bears_on_the_question_comes_first():
    ranked = Index(CLAUSES).search("notification of a breach of personal data")

    assert ranked[0].at == 0


def test_inflected_words_meet():
    assert retrieval.stem("notifies") == retrieval.stem("notified") == retrieval.stem("notify")
    assert retrieval.stem("processing") == retrieval.stem("process")


def test_words_that_say_nothing_find_nothing():
    assert Index(CLAUSES).search("of the and which shall") == []


def test_a_question_without_known_words_finds_nothing():
    assert Index(CLAUSES).search("zebra") == []


def test_equal_clauses_stand_in_the_order_of_the_text():
    index = Index(["audits every year", "nothing here", "audits every year"])

    assert [ranked.at for ranked in index.search("audits")] == [0, 2]


def test_a_rare_word_counts_more_than_a_common_one():
    index = Index(["data data audit", "data protection", "data handling", "data transfers"])

    assert index.search("data audit")[0].at == 0


def test_the_share_tells_how_much_of_the_question_stands_in_a_clause():
    index = Index(CLAUSES)

    assert index.share("audit the supplier", 2) == 1.0
    assert index.share("audit the supplier", 1) == 0.0
    assert 0 < index.share("audit the zebra", 2) < 1


def test_an_empty_index_answers():
    index = Index([])

    assert len(index) == 0
    assert index.search("anything") == []
