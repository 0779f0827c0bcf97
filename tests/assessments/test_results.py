"""What an assessment finds: its record, its findings, what they stand on, and the forms that they come in."""

import csv
import io

import pytest

from tests import factories
from tests.assessments import house
from tests.assessments.house import ASSESSMENTS, CONTENT

FINDING = {
    "id",
    "assessmentProcessId",
    "expertId",
    "frameworkCodeName",
    "criterionCodeName",
    "fileNames",
    "urls",
    "category",
    "rationale",
    "citations",
    "inputTokens",
    "outputTokens",
    "processingTimeMs",
    "confidence",
    "needsReview",
    "aspects",
    "absence",
    "provenance",
    "supersededBy",
    "createdAt",
}
CITATION = {"quote", "source", "contentUuid", "contentDigest", "page", "section", "start", "end"}


def quoted(finding):
    """Every citation that a finding shows."""
    return finding["citations"] + (finding["absence"]["closest"] if finding["absence"] else [])


def assert_quotes_hold(client, findings):
    """How many quotes were held against the text that they name."""
    checked = 0
    for citation in (one for finding in findings for one in quoted(finding)):
        assert set(citation) == CITATION
        text = client.get(
            f"{CONTENT}/{citation['contentUuid']}/content", params={"digest": citation["contentDigest"]}
        ).text
        assert text[citation["start"] : citation["end"]] == citation["quote"] != ""
        checked += 1
    return checked


def test_a_completed_assessment_redirects_to_its_results_and_carries_them(client, work):
    process_id = house.submitted(client)
    work()

    answer = house.status(client, process_id)

    assert answer.status_code == 303
    assert answer.headers["location"] == f"{ASSESSMENTS}/{process_id}/results"
    record = answer.json()
    assert (record["status"], record["completion"], record["error"]) == ("COMPLETED", 1.0, None)
    assert record["completedAt"] >= record["createdAt"]
    assert record["assessments"] == client.get(answer.headers["location"]).json()
    assert "retry-after" not in answer.headers


def test_a_finding_carries_every_field(client, work, partner):
    process_id = house.submitted(client, ("rules.docx", house.rules()), expertId="dr. erin")
    work()

    found = house.findings(client, process_id)

    assert [one["criterionCodeName"] for one in found] == house.CRITERIA
    for one in found:
        assert set(one) == FINDING
        assert (one["assessmentProcessId"], one["expertId"]) == (process_id, "dr. erin")
        assert (one["frameworkCodeName"], one["fileNames"], one["urls"]) == (
            "HOUSE_RULES",
            ["rules.docx"],
            [],
        )
        assert (one["inputTokens"], one["outputTokens"], one["supersededBy"]) == (0, 0, None)
        assert one["processingTimeMs"] >= 0
        assert 0 <= one["confidence"] <= 1
        assert one["createdAt"].endswith("Z")
        digest = client.get(f"{CONTENT}/{content_uuid(client)}/content?format=json").json()["digest"]
        assert one["provenance"] == {
            "engine": "local",
            "engineVersion": client.get("/api/v1/info").json()["engines"][0]["version"],
            "model": None,
            "promptVersion": None,
            "frameworkVersion": "1.0.0",
            "sources": [{"source": "rules.docx", "digest": digest}],
        }
    assert len({one["id"] for one in found}) == len(found)


def content_uuid(client):
    """Of the only content job that there is."""
    with client.app.state.database.read() as tx:
        (row,) = tx.exec_driver_sql("SELECT uuid FROM content_jobs").all()
    return row[0]


def test_the_category_follows_from_the_points_that_are_covered(client, work):
    half = house.rules("1. Every guest of this house shall be kind.", *house.LOUD)
    process_id = house.submitted(client, half)
    other = house.submitted(client)
    work()

    found, standard = (house.by_criterion(house.findings(client, one)) for one in (process_id, other))

    assert standard["KINDNESS"]["category"] == "SUFFICIENTLY_REGULATED"
    assert [aspect["status"] for aspect in standard["KINDNESS"]["aspects"]] == ["COVERED", "COVERED"]
    assert found["KINDNESS"]["category"] == "NOT_SUFFICIENTLY_REGULATED"
    assert [aspect["status"] for aspect in found["KINDNESS"]["aspects"]] == ["COVERED", "NOT_FOUND"]
    assert found["QUIET"]["category"] == "NOT_SUFFICIENTLY_REGULATED"
    assert [aspect["status"] for aspect in found["QUIET"]["aspects"]] == ["CONTRADICTED"]
    assert found["PETS"]["category"] == "MISSING"


def test_whatever_is_not_missing_stands_on_a_citation_and_its_aspects_name_theirs(client, work):
    process_id = house.submitted(client, house.rules(), house.rules(*house.PETS))
    work()

    for finding in house.findings(client, process_id):
        assert finding["citations"]
        assert finding["absence"] is None
        for aspect in finding["aspects"]:
            assert set(aspect) == {"name", "mandatory", "status", "citations"}
            assert bool(aspect["citations"]) == (aspect["status"] != "NOT_FOUND")
            assert all(0 <= place < len(finding["citations"]) for place in aspect["citations"])


def test_missing_says_what_was_searched_and_what_came_closest(client, work):
    process_id = house.submitted(client)
    work()

    pets = house.by_criterion(house.findings(client, process_id))["PETS"]

    assert (pets["category"], pets["citations"]) == ("MISSING", [])
    assert set(pets["absence"]) == {"passagesSearched", "closest", "unreadable"}
    assert pets["absence"]["passagesSearched"] == len(house.RULES)
    assert pets["absence"]["unreadable"] == []


def test_every_quote_stands_in_the_text_that_it_names(client, work):
    odd = "4. Guests with \U0001f436 pets, naïve or not, shall be kind to everybody – always."
    process_id = house.submitted(
        client, house.rules(), house.rules(*house.LOUD, odd), ("a.pdf", factories.pdf("Be quiet at night."))
    )
    work()

    assert assert_quotes_hold(client, house.findings(client, process_id)) >= 4


def test_the_same_inputs_give_the_same_finding_but_for_ids_and_times(client, make_client, database, work):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    first, second = house.submitted(client), house.submitted(client)
    third = house.submitted(other)
    work()

    told = [house.findings(client, first), house.findings(client, second), house.findings(other, third)]

    assert told[0] != told[1]
    for finding in (one for findings in told for one in findings):
        for own in ("id", "assessmentProcessId", "processingTimeMs", "createdAt"):
            del finding[own]
        for citation in quoted(finding):
            del citation["contentUuid"]
    assert told[0] == told[1] == told[2]


def test_results_are_a_conflict_until_the_end_but_parts_can_be_had(client, work):
    process_id = house.submitted(client)
    work(2)  # the document, and one criterion

    answer = client.get(f"{ASSESSMENTS}/{process_id}/results")

    assert (answer.status_code, answer.json()["code"]) == (409, "assessment_not_ready")
    assert [one["criterionCodeName"] for one in house.findings(client, process_id, partial="true")] == [
        "KINDNESS"
    ]
    assert client.get(f"{ASSESSMENTS}/{process_id}/results?partial=perhaps").status_code == 400
    work()
    assert house.findings(client, process_id, partial="true") == house.findings(client, process_id)


def test_before_anything_is_judged_the_parts_are_none(client):
    assert house.findings(client, house.submitted(client), partial="true") == []


def test_a_report_page_needs_nothing_but_itself(client, work):
    nasty = "4. Every guest <script>alert(1)</script> shall be kind to everybody, pets & all.".replace(
        "<", "&lt;"
    )
    process_id = house.submitted(client, house.rules(*house.RULES[1:], nasty.replace("&", "&amp;")))
    work()

    answer = client.get(f"{ASSESSMENTS}/{process_id}/results?format=html")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    page = answer.text
    assert "<script" not in page
    assert "src=" not in page
    assert "http" not in page
    for finding in house.findings(client, process_id):
        assert f'id="f{finding["id"]}"' in page
        for citation in finding["citations"]:
            assert f'href="#t{citation["contentUuid"]}-{citation["start"]}"' in page
            assert f'id="t{citation["contentUuid"]}-{citation["start"]}"' in page


def test_a_table_holds_every_finding_and_no_formula(client, work):
    process_id = house.submitted(client, ("=rules.docx", house.rules()), expertId="=1+1")
    work()

    answer = client.get(f"{ASSESSMENTS}/{process_id}/results?format=csv")

    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["criterionCodeName"] for row in rows] == house.CRITERIA
    assert [int(row["id"]) for row in rows] == [one["id"] for one in house.findings(client, process_id)]
    for row in rows:
        assert row["expertId"] == "'=1+1"
        assert not any(cell[:1] in {"=", "+", "-", "@"} for cell in row.values())


@pytest.mark.parametrize("form", ["xml", "JSON", ""])
def test_a_form_that_is_none_is_refused(client, work, form):
    process_id = house.submitted(client)
    work()

    assert client.get(f"{ASSESSMENTS}/{process_id}/results", params={"format": form}).status_code == 400


def test_one_unreadable_source_fails_nothing_but_is_told(client, work):
    process_id = house.submitted(client, house.rules(), ("broken.pdf", house.UNREADABLE))
    work()

    assert house.status(client, process_id).status_code == 303
    found = house.by_criterion(house.findings(client, process_id))
    assert found["KINDNESS"]["category"] == "SUFFICIENTLY_REGULATED"
    (gap,) = found["PETS"]["absence"]["unreadable"]
    assert set(gap) == {"source", "page", "reason"}
    assert (gap["source"], gap["page"]) == ("broken.pdf", None)
    assert gap["reason"].endswith(".")
    assert found["PETS"]["needsReview"]
    assert found["PETS"]["fileNames"] == ["rules-1.docx", "broken.pdf"]
    assert [source["source"] for source in found["PETS"]["provenance"]["sources"]] == ["rules-1.docx"]


def test_with_nothing_readable_the_assessment_fails_with_a_sentence(client, work):
    process_id = house.submitted(client, ("broken.pdf", house.UNREADABLE))
    assert work() == 1

    answer = house.status(client, process_id)

    assert (answer.status_code, answer.json()["status"]) == (200, "FAILED")
    assert answer.json()["error"].startswith("None of the sources could be read. broken.pdf: ")
    assert answer.json()["error"].endswith(".")
    assert answer.json()["completedAt"] is not None
    assert "retry-after" not in answer.headers
    assert client.get(f"{ASSESSMENTS}/{process_id}/results").status_code == 409
    assert house.findings(client, process_id, partial="true") == []


def test_what_has_not_changed_is_not_sent_again(client, work):
    process_id = house.submitted(client)
    known = {"If-None-Match": house.status(client, process_id).headers["etag"]}
    path = f"{ASSESSMENTS}/{process_id}/status"
    assert client.get(path, headers=known).status_code == 304

    work()

    assert client.get(path, headers=known).status_code == 303


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/status"), ("GET", "/results"), ("GET", "/results?partial=true"), ("DELETE", "")],
)
def test_unknown_malformed_and_foreign_processes_are_answered_alike(
    client, make_client, database, work, method, path
):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    foreign = house.submitted(other)
    work()
    identifiers = [house.new_id(), "nonsense", foreign]

    answers = [client.request(method, f"{ASSESSMENTS}/{identifier}{path}") for identifier in identifiers]

    assert {answer.status_code for answer in answers} == {404}
    bodies = [answer.json() for answer in answers]
    for body in bodies:
        for varying in ("path", "timestamp", "requestId"):
            del body[varying]
    assert bodies[0] == bodies[1] == bodies[2]
    assert house.status(other, foreign).status_code == 303
