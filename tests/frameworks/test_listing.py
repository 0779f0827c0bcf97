"""The two operations on frameworks, by HTTP."""

import json

import pytest

from assay.frameworks import service, store
from assay.frameworks.models import CodeNameTaken, FrameworkFileError
from tests import factories

FRAMEWORKS = "/api/v1/frameworks"

MINE = """
code_name: {code_name}
name: House rules
version: {version}
language: en
description: What our own house demands.
criteria:
  - code_name: BE_KIND
    name: Kindness
    description: The document must demand kindness.
    aspects:
      - name: Kindness
        demand: People must be kind.
        evidence:
          en: ["be kind"]
  - code_name: BE_BRIEF
    name: Brevity
    description: The document must demand brevity.
"""


@pytest.fixture
def catalogue(database):
    service.synchronise(database, None)


def install(database, tmp_path, code_name="HOUSE_RULES", version="1.0.0", subject=None):
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.format(code_name=code_name, version=version))
    with database.write() as tx:
        service.import_file(tx, file, subject=subject)


def test_every_framework_is_listed_with_its_criteria(client, catalogue):
    answer = client.get(FRAMEWORKS)

    assert answer.status_code == 200
    listed = {framework["codeName"]: framework for framework in answer.json()}
    assert set(listed) == {
        "GDPR_ART_28",
        "GDPR_ART_13_14",
        "DORA_ART_30",
        "NIS2_ART_21",
        "HIPAA_BAA",
        "CCPA_SERVICE_PROVIDER",
        "EU_AI_ACT_ANNEX_IV",
        "NDA_CONFIDENTIALITY",
    }
    dpa = listed["GDPR_ART_28"]
    assert set(dpa) == {"id", "name", "codeName", "description", "criteria"}
    assert isinstance(dpa["id"], int)
    assert all(set(criterion) == {"name", "codeName", "description"} for criterion in dpa["criteria"])


@pytest.mark.parametrize("by", ["id", "codeName"])
def test_criteria_are_listed_by_number_and_by_code_name(client, catalogue, by):
    framework = client.get(FRAMEWORKS).json()[0]

    answer = client.get(f"{FRAMEWORKS}/{framework[by]}/criteria")

    assert (answer.status_code, answer.json()) == (200, framework["criteria"])


@pytest.mark.parametrize(
    "unknown", ["NO_SUCH", "999999", "-1", "99999999999999999999999", "%20", "gdpr_art_28"]
)
def test_an_unknown_framework_is_not_found(client, catalogue, unknown):
    answer = client.get(f"{FRAMEWORKS}/{unknown}/criteria")

    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_framework")


def test_aspects_are_shown_only_on_request(client, database, tmp_path):
    install(database, tmp_path)

    (framework,) = client.get(FRAMEWORKS, params={"expand": "aspects"}).json()

    kind, brief = framework["criteria"]
    assert kind["aspects"] == [{"name": "Kindness", "demand": "People must be kind.", "mandatory": True}]
    assert brief["aspects"] == []
    assert client.get(f"{FRAMEWORKS}/HOUSE_RULES/criteria?expand=aspects").json() == framework["criteria"]
    assert client.get(FRAMEWORKS, params={"expand": "everything"}).status_code == 400


def test_what_has_not_changed_is_not_sent_again(client, database, tmp_path):
    install(database, tmp_path)
    known = {"If-None-Match": client.get(FRAMEWORKS).headers["etag"]}
    assert client.get(FRAMEWORKS, headers=known).status_code == 304

    install(database, tmp_path, code_name="OTHER_RULES")

    assert client.get(FRAMEWORKS, headers=known).status_code == 200


def test_a_partners_own_framework_is_seen_by_that_partner_alone(
    client, make_client, database, partner, tmp_path
):
    other = factories.signed_in(make_client(), factories.partner(database, "other"))
    install(database, tmp_path, subject=partner.subject)

    assert [framework["codeName"] for framework in client.get(FRAMEWORKS).json()] == ["HOUSE_RULES"]
    assert client.get("/api/v1/info").json()["frameworks"] == 1
    assert other.get(FRAMEWORKS).json() == []
    assert other.get(f"{FRAMEWORKS}/HOUSE_RULES/criteria").status_code == 404
    assert other.get("/api/v1/info").json()["frameworks"] == 0


def test_two_partners_may_use_one_code_name_but_nobody_that_of_a_shared_one(database, partner, tmp_path):
    other = factories.partner(database, "other")
    install(database, tmp_path, subject=partner.subject)
    install(database, tmp_path, subject=other.subject)

    with pytest.raises(CodeNameTaken):
        install(database, tmp_path)
    install(database, tmp_path, code_name="SHARED_RULES")
    with pytest.raises(CodeNameTaken):
        install(database, tmp_path, code_name="SHARED_RULES", subject=other.subject)


def test_a_new_version_keeps_the_number_and_the_old_one_stays_readable(client, database, tmp_path):
    install(database, tmp_path)
    (before,) = client.get(FRAMEWORKS).json()
    file = tmp_path / "mine.yaml"
    file.write_text(
        MINE.format(code_name="HOUSE_RULES", version="2.0.0").replace("Kindness", "Great kindness")
    )
    with database.write() as tx:
        service.import_file(tx, file)

    (after,) = client.get(FRAMEWORKS).json()

    assert after["id"] == before["id"]
    assert after["criteria"][0]["name"] == "Great kindness"
    old = client.get(f"{FRAMEWORKS}/HOUSE_RULES/criteria", params={"version": "1.0.0"})
    assert old.json() == before["criteria"]
    absent = client.get(f"{FRAMEWORKS}/HOUSE_RULES/criteria", params={"version": "3.0.0"})
    assert (absent.status_code, absent.json()["code"]) == (404, "unknown_version")


def test_a_second_start_reads_no_file_anew(database, tmp_path):
    service.synchronise(database, None)
    with database.read() as tx:
        before = store.list_all(tx)

    service.synchronise(database, None)

    with database.read() as tx:
        assert store.list_all(tx) == before


def test_a_folder_of_the_operator_is_taken_in(client, database, tmp_path):
    folder = tmp_path / "frameworks"
    folder.mkdir()
    (folder / "mine.yaml").write_text(MINE.format(code_name="HOUSE_RULES", version="1"))
    (folder / "notes.txt").write_text("not a framework")

    service.synchronise(database, folder)

    assert "HOUSE_RULES" in {framework["codeName"] for framework in client.get(FRAMEWORKS).json()}


def test_a_framework_that_is_refused_leaves_nothing_behind(client, database, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(MINE.format(code_name="HOUSE_RULES", version="1").replace("BE_BRIEF", "BE_KIND"))

    with pytest.raises(FrameworkFileError, match="stands twice"), database.write() as tx:
        service.import_file(tx, file)

    assert client.get(FRAMEWORKS).json() == []


def test_the_listing_is_what_the_interface_says_to_the_byte(client, database, tmp_path):
    install(database, tmp_path)

    listed = json.loads(client.get(FRAMEWORKS).content)

    assert listed == [
        {
            "id": listed[0]["id"],
            "name": "House rules",
            "codeName": "HOUSE_RULES",
            "description": "What our own house demands.",
            "criteria": [
                {
                    "name": "Kindness",
                    "codeName": "BE_KIND",
                    "description": "The document must demand kindness.",
                },
                {
                    "name": "Brevity",
                    "codeName": "BE_BRIEF",
                    "description": "The document must demand brevity.",
                },
            ],
        }
    ]
