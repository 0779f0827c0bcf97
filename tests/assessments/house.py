"""A small framework, documents that say something about it, and assessments of them."""

import json
import uuid

from assay.frameworks import service
from tests import factories

ASSESSMENTS = "/api/v1/assessments"
CONTENT = "/api/v1/content-processing"

FRAMEWORK = """
code_name: {code_name}
name: House rules
version: {version}
language: en
description: What a house demands of its guests.
criteria:
  - code_name: KINDNESS
    name: Kindness
    description: The rules must demand kindness, and say to whom.
    aspects:
      - name: Kindness itself
        demand: Guests must be kind.
        evidence: {{en: ["be kind"]}}
      - name: To whom
        demand: The rules must say to whom.
        evidence: {{en: ["to everybody"]}}
  - code_name: QUIET
    name: Quiet
    description: The rules must demand quiet at night.
    aspects:
      - name: Quiet at night
        demand: Guests must be quiet at night.
        evidence: {{en: ["quiet ... at night"]}}
        contradicted_by: {{en: ["noise is welcome"]}}
  - code_name: PETS
    name: Pets
    description: The rules must say whether dogs and cats may come.
    aspects:
      - name: Pets
        demand: The rules must speak of pets.
        evidence: {{en: ["pets"]}}
"""
CRITERIA = ["KINDNESS", "QUIET", "PETS"]

RULES = (
    "1. Every guest of this house shall be kind to everybody whom they meet.",
    "2. Every guest of this house shall be quiet in all rooms at night.",
    "3. Breakfast is served in the garden whenever the weather is good enough.",
)
LOUD = ("1. In this house noise is welcome at any time of the day.", "2. The garden is open to all guests.")
PETS = ("1. Small pets may be brought along to every room of this house.",)
UNREADABLE = b"%PDF-1.7\nthis is not really a PDF"


def install(database, folder, *, code_name="HOUSE_RULES", version="1.0.0", subject=None, text=FRAMEWORK):
    """The framework, in the catalogue."""
    file = folder / f"{code_name}.yaml"
    file.write_text(text.format(code_name=code_name, version=version))
    with database.write() as tx:
        service.import_file(tx, file, subject=subject)


def rules(*paragraphs):
    return factories.docx(*(paragraphs or RULES))


def form(*documents, raw=None, urls=(), content_uuids=(), **configuration):
    """The parts of a submission: documents as bytes or as (name, bytes)."""
    chosen = {"expertId": "erin", "frameworkCodeName": "HOUSE_RULES", **configuration}
    text = raw if raw is not None else json.dumps(chosen)
    parts = [("configuration", (None, text, "application/json"))]
    for number, document in enumerate(documents, 1):
        name, data = document if isinstance(document, tuple) else (f"rules-{number}.docx", document)
        parts.append(("documents", (name, data)))
    parts += [("urls", (None, url)) for url in urls]
    parts += [("contentUuids", (None, uuid)) for uuid in content_uuids]
    return parts


def submit(client, *documents, headers=None, **fields):
    """The answer to a submission; without a source, the usual rules are submitted."""
    sources = documents or (() if fields.get("urls") or fields.get("content_uuids") else (rules(),))
    return client.post(ASSESSMENTS, files=form(*sources, **fields), headers=headers)


def submitted(client, *documents, **fields):
    """The process id of an accepted submission."""
    answer = submit(client, *documents, **fields)
    assert answer.status_code == 202, answer.text
    return answer.json()["assessmentProcessId"]


def status(client, process_id):
    return client.get(f"{ASSESSMENTS}/{process_id}/status")


def findings(client, process_id, **params):
    answer = client.get(f"{ASSESSMENTS}/{process_id}/results", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def by_criterion(found):
    """The findings that stand, by criterion."""
    return {one["criterionCodeName"]: one for one in found if one["supersededBy"] is None}


def new_id():
    return str(uuid.uuid4())
