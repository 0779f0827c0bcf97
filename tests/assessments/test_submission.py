"""Submitting an assessment: its parts, its limits, and everything that can be wrong with it."""

import json
import uuid

import pytest
from sqlalchemy import func, select

from assay.assessments import store
from assay.content.store import content_jobs
from assay.jobs.table import jobs
from tests import factories
from tests.assessments import house
from tests.assessments.house import ASSESSMENTS, CONTENT

RECORD = {
    "assessmentProcessId",
    "status",
    "completion",
    "error",
    "createdAt",
    "completedAt",
    "assessments",
}


def stored_files(tmp_path):
    return [path for path in (tmp_path / "data" / "blobs").rglob("*") if path.is_file()]


def assert_nothing_is_stored(database, tmp_path):
    with database.read() as tx:
        for table in (store.assessments, store.submissions, store.sources, store.units, content_jobs, jobs):
            assert tx.execute(select(func.count()).select_from(table)).scalar_one() == 0, table.name
    assert stored_files(tmp_path) == []


def refusal(answer):
    """Status, code and sentence of an error."""
    body = answer.json()
    return answer.status_code, body["code"], body["message"]


def test_a_submission_is_accepted_with_its_record_and_where_to_poll(client):
    answer = house.submit(client)

    assert answer.status_code == 202
    record = answer.json()
    assert set(record) == RECORD
    assert str(uuid.UUID(record["assessmentProcessId"])) == record["assessmentProcessId"]
    assert (record["status"], record["completion"], record["error"]) == ("PENDING", 0.0, None)
    assert (record["completedAt"], record["assessments"]) == (None, [])
    assert record["createdAt"].endswith("Z")
    assert answer.headers["location"] == f"{ASSESSMENTS}/{record['assessmentProcessId']}/status"
    assert int(answer.headers["retry-after"]) > 0


def test_locations_carry_the_public_address_where_one_is_set(make_client, partner):
    client = factories.signed_in(make_client(public_url="https://api.example.com/assay"), partner)

    answer = house.submit(client, headers={"Host": "evil.example"})

    assert answer.headers["location"].startswith(f"https://api.example.com/assay{ASSESSMENTS}/")


def test_all_criteria_are_judged_unless_some_are_named(client, work):
    everything = house.submitted(client)
    some = house.submitted(client, criteriaCodeNames=["PETS", "KINDNESS", "PETS"])
    work()

    assert [one["criterionCodeName"] for one in house.findings(client, everything)] == house.CRITERIA
    # In the framework's own order, each once.
    assert [one["criterionCodeName"] for one in house.findings(client, some)] == ["KINDNESS", "PETS"]


def test_sources_may_be_documents_addresses_and_content_jobs_together(client, work):
    known = factories.submitted(client, house.rules(*house.PETS), "pets.docx")

    process_id = house.submitted(
        client,
        ("kind.docx", house.rules()),
        ("loud.docx", house.rules(*house.LOUD)),
        content_uuids=[known],
        urls=["https://rules.example/"],
    )

    names = ["pets.docx", "kind.docx", "loud.docx", "https://rules.example/"]
    with client.app.state.database.read() as tx:
        row = tx.execute(select(store.assessments)).one()
        assert [source.name for source in store.list_sources(tx, row.id)] == names
    assert row.process_id == process_id


@pytest.mark.parametrize("as_array", [False, True])
def test_lists_come_as_one_json_array_or_as_repeated_plain_parts(client, as_array):
    uuids = [factories.submitted(client), factories.submitted(client, house.rules())]
    addresses = ["https://one.example/", "https://two.example/a,b"]
    given = {"content_uuids": uuids, "urls": addresses}
    if as_array:
        given = {name: [json.dumps(values)] for name, values in given.items()}

    house.submitted(client, **given)

    with client.app.state.database.read() as tx:
        row = tx.execute(select(store.assessments)).one()
        found = store.list_sources(tx, row.id)
    assert [source.content_uuid for source in found[:2]] == uuids
    assert [source.name for source in found[2:]] == addresses


def test_a_content_job_that_is_named_twice_is_one_source(client):
    known = factories.submitted(client)

    house.submitted(client, content_uuids=[known, known.upper()])

    with client.app.state.database.read() as tx:
        row = tx.execute(select(store.assessments)).one()
        assert len(store.list_sources(tx, row.id)) == 1


@pytest.mark.parametrize(
    ("changes", "field", "hint"),
    [
        ({"frameworkCodeName": "HOUSE_RULEZ"}, "frameworkCodeName", "Did you mean 'HOUSE_RULES'?"),
        ({"frameworkCodeName": "house_rules"}, "frameworkCodeName", "is not a framework"),
        ({"frameworkCodeName": "1"}, "frameworkCodeName", "is not a framework"),
        ({"frameworkCodeName": "A\x00"}, "", "U+0000"),
        ({"criteriaCodeNames": ["KINDNES"]}, "criteriaCodeNames", "Did you mean 'KINDNESS'?"),
        ({"criteriaCodeNames": ["KINDNESS", "A\x00"]}, "", "U+0000"),
        ({"criteriaCodeNames": []}, "criteriaCodeNames", ""),
        ({"criteriaCodeNames": "KINDNESS"}, "criteriaCodeNames", ""),
        ({"criteriaCodeNames": [1]}, "criteriaCodeNames", ""),
        ({"expertId": ""}, "expertId", ""),
        ({"expertId": None}, "expertId", ""),
        ({"expertId": "x" * 256}, "expertId", ""),
        ({"expertId": "erin\x00"}, "", "U+0000"),
        ({"llmCall": "yes"}, "llmCall", ""),
        ({"llmCall": 1}, "llmCall", ""),
        ({"llmCall": True}, "llmCall", "No language model is configured"),
        ({"assessmentProcessId": "mine"}, "assessmentProcessId", "not a uuid"),
        ({"assessmentProcessId": ""}, "assessmentProcessId", "not a uuid"),
        ({"assessmentProcessId": "{" + str(uuid.uuid4()) + "}"}, "assessmentProcessId", "not a uuid"),
        ({"expertID": "erin"}, "expertID", "Did you mean 'expertId'?"),
    ],
)
def test_a_configuration_that_is_wrong_is_refused_with_its_field(
    client, database, tmp_path, changes, field, hint
):
    code, _, message = refusal(house.submit(client, **changes))

    assert code == 400
    assert field in message or field in json.dumps(house.submit(client, **changes).json()["details"])
    assert hint in message
    assert_nothing_is_stored(database, tmp_path)


@pytest.mark.parametrize("missing", ["expertId", "frameworkCodeName"])
def test_what_is_required_is_missed_by_name(client, missing):
    configuration = {"expertId": "erin", "frameworkCodeName": "HOUSE_RULES"}
    del configuration[missing]

    code, _, message = refusal(house.submit(client, raw=json.dumps(configuration)))

    assert (code, message) == (400, f"{missing}: This is required.")


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "expertId=erin",
        "[]",
        "null",
        '"text"',
        '{"expertId": "a", "expertId": "b", "frameworkCodeName": "HOUSE_RULES"}',
        '{"expertId": "\\ud800", "frameworkCodeName": "HOUSE_RULES"}',
        "[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_a_configuration_that_is_no_json_object_is_refused(client, database, tmp_path, raw):
    assert house.submit(client, raw=raw).status_code == 400
    assert_nothing_is_stored(database, tmp_path)


@pytest.mark.parametrize("count", [0, 2])
def test_the_configuration_must_stand_once(client, database, tmp_path, count):
    parts = house.form(house.rules())
    parts = parts[1:] + parts[:1] * count

    code, _, message = refusal(client.post(ASSESSMENTS, files=parts))

    assert (code, "configuration" in message) == (400, True)
    assert_nothing_is_stored(database, tmp_path)


def test_an_unknown_part_is_refused_with_the_nearest_name(client, database, tmp_path):
    parts = [*house.form(house.rules()), ("document", ("more.docx", house.rules()))]

    code, _, message = refusal(client.post(ASSESSMENTS, files=parts))

    assert (code, "Did you mean 'documents'?" in message) == (400, True)
    assert_nothing_is_stored(database, tmp_path)


def test_an_assessment_needs_a_source(client):
    code, _, message = refusal(client.post(ASSESSMENTS, files=house.form()))

    assert (code, "at least one source" in message) == (400, True)


@pytest.mark.parametrize("part", ["urls", "contentUuids"])
@pytest.mark.parametrize("value", ['[1, "a"]', '["a"', '[["a"]]', b"\xff\xfe", "[" * 100_000])
def test_a_list_that_is_none_is_refused(client, database, tmp_path, part, value):
    parts = [*house.form(house.rules()), (part, (None, value))]

    assert client.post(ASSESSMENTS, files=parts).status_code == 400
    assert_nothing_is_stored(database, tmp_path)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "ftp://example.com/",
        "http://user:secret@example.com/",
        "nonsense",
        "http://[::1]/",
    ],
)
def test_an_address_that_may_not_be_fetched_is_refused_at_once(client, database, tmp_path, url):
    answer = house.submit(client, house.rules(), urls=["https://fine.example/", url])

    assert answer.status_code == 400
    assert_nothing_is_stored(database, tmp_path)


@pytest.mark.parametrize("identifier", ["nonsense", "unknown", "foreign", "nul"])
def test_a_content_job_that_is_not_mine_is_not_found(client, make_client, database, tmp_path, identifier):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    foreign = factories.submitted(other)
    named = {"nonsense": "nonsense", "unknown": house.new_id(), "foreign": foreign, "nul": "a\x00b"}

    code, kind, _ = refusal(house.submit(client, house.rules(), content_uuids=[named[identifier]]))

    assert (code, kind) == (404, "unknown_content_job")
    assert len(stored_files(tmp_path)) == 1  # the other partner's


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"", 400), (b"plain text", 415), (b"PK\x03\x04 but no DOCX", 415), (b"\x89PNG\r\n", 415)],
)
def test_a_document_of_another_kind_is_refused_at_once(client, database, tmp_path, data, code):
    assert house.submit(client, house.rules(), data).status_code == code
    assert_nothing_is_stored(database, tmp_path)


def test_ten_thousand_criteria_are_too_many(client, database, tmp_path):
    names = [f"CRITERION_{number}" for number in range(10_000)]

    code, _, message = refusal(house.submit(client, criteriaCodeNames=names))

    assert (code, "at most 1,000 criteria" in message) == (400, True)
    assert_nothing_is_stored(database, tmp_path)


def test_a_framework_of_more_criteria_than_the_limit_must_be_narrowed(make_client, partner):
    client = factories.signed_in(make_client(limits={"assessment_criteria": 2}), partner)

    code, _, message = refusal(house.submit(client))

    assert (code, "3 criteria; name at most 2" in message) == (400, True)
    assert house.submit(client, criteriaCodeNames=["PETS", "QUIET"]).status_code == 202


def test_fifty_sources_are_the_most_of_one_submission_and_of_a_process(client, database):
    known = factories.submitted(client)
    urls = [f"https://rules.example/{number}" for number in range(50)]

    code, _, message = refusal(house.submit(client, urls=urls, content_uuids=[known]))
    assert (code, "at most 50 sources" in message) == (400, True)

    process_id = house.submitted(client, urls=urls)
    code, _, message = refusal(house.submit(client, content_uuids=[known], assessmentProcessId=process_id))
    assert (code, "at most 50 sources" in message) == (400, True)
    with database.read() as tx:
        assert len(tx.execute(select(store.submissions)).all()) == 1


def test_documents_have_a_limit_each_and_together(make_client, database, partner, tmp_path):
    data = house.rules()
    size = len(data)
    client = factories.signed_in(
        make_client(limits={"file_bytes": size + 10, "assessment_bytes": 2 * size}), partner
    )

    assert house.submit(client, data, data + b"x").status_code == 413
    code, _, message = refusal(house.submit(client, data + b" " * 11))
    assert (code, f"{size + 10:,} bytes" in message) == (413, True)
    code, _, message = refusal(house.submit(client, data, data, data))
    assert (code, f"{2 * size:,} bytes" in message) == (413, True)
    assert_nothing_is_stored(database, tmp_path)
    assert house.submit(client, data, data).status_code == 202


def test_a_part_of_more_than_a_mebibyte_is_too_large(client, database, tmp_path):
    assert house.submit(client, house.rules(), urls=["x" * (2**20 + 1)]).status_code == 413
    assert_nothing_is_stored(database, tmp_path)


def test_only_a_form_is_accepted(client):
    answer = client.post(ASSESSMENTS, json={"configuration": {}})

    assert answer.status_code == 415


def test_a_partners_own_framework_is_known_to_that_partner_alone(client, make_client, database, tmp_path):
    other = factories.partner(database, "other")
    house.install(database, tmp_path, code_name="SECRET_RULES", subject=other.subject)

    code, _, message = refusal(house.submit(client, frameworkCodeName="SECRET_RULES"))

    assert code == 400
    assert "HOUSE_RULES" in message
    assert "'SECRET_RULES'?" not in message
    owner = factories.signed_in(make_client(), other)
    assert house.submit(owner, frameworkCodeName="SECRET_RULES").status_code == 202


def test_the_same_request_under_the_same_key_is_one_assessment(client, database, tmp_path, work):
    key = {"Idempotency-Key": "one"}
    data = house.rules()

    first = house.submit(client, data, headers=key)
    again = house.submit(client, data, headers=key)
    other = house.submit(client, data, headers=key, criteriaCodeNames=["PETS"])

    assert (again.status_code, again.content) == (202, first.content)
    assert again.headers["location"] == first.headers["location"]
    assert refusal(other)[:2] == (422, "idempotency_key_reused")
    assert len(stored_files(tmp_path)) == 1
    assert work() == 1 + len(house.CRITERIA)
    assert client.delete(f"{ASSESSMENTS}/{first.json()['assessmentProcessId']}").status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"expertId": "other"},
        {"criteriaCodeNames": ["PETS"]},
        {"urls": ["https://rules.example/"]},
        {"assessmentProcessId": "5c9e5a3e-6f4f-4f0e-9b5a-0d6f2a4c1b77"},
    ],
)
def test_another_request_under_the_same_key_is_refused(client, changes):
    data, key = house.rules(), {"Idempotency-Key": "one"}
    assert house.submit(client, data, headers=key).status_code == 202

    assert house.submit(client, data, headers=key, **changes).status_code == 422


def test_no_token_no_assessment(anonymous):
    assert house.submit(anonymous).status_code == 401


def test_the_scope_is_asked_for(make_client, database):
    narrow = factories.partner(database, "narrow", scopes=frozenset({factories.Scope.CONTENT}))
    client = factories.signed_in(make_client(), narrow)

    assert house.submit(client).status_code == 403
    assert house.status(client, house.new_id()).status_code == 403


def test_sources_are_content_jobs_of_their_own(client, work):
    house.submitted(client, ("mine.docx", house.rules()))
    with client.app.state.database.read() as tx:
        (content_uuid,) = tx.execute(select(content_jobs.c.uuid)).scalars()

    record = client.get(f"{CONTENT}/{content_uuid}/status").json()
    assert (record["fileName"], record["sourceType"], record["status"]) == ("mine.docx", "FILE", "PENDING")
    work()

    assert client.get(f"{CONTENT}/{content_uuid}/content").text == "\n\n".join(house.RULES)
