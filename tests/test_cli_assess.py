"""`assay assess` and `assay feedback report`, as somebody at a terminal runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.assessments import adjustments
from assay.assessments.judging import ENGINE_VERSION
from assay.assessments.judging.teaching import Lesson
from assay.assessments.models import Topic
from assay.database.core import Database, sqlite_url
from tests import factories
from tests.assessments import house, pages

SAMPLE = Path(__file__).parents[1] / "examples" / "data-processing-agreement.html"


def run(folder, *arguments, **environment):
    """The command in a folder of its own, with the settings of nobody."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    paths = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    return subprocess.run(
        [sys.executable, "-m", "assay", *map(str, arguments)],
        cwd=folder,
        env={**ours, "PYTHONPATH": paths, "COLUMNS": "160", "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def framework(tmp_path):
    file = tmp_path / "house.yaml"
    file.write_text(house.FRAMEWORK.format(code_name="HOUSE_RULES", version="1.0.0"))
    return file


@pytest.fixture
def rules(tmp_path):
    file = tmp_path / "rules.docx"
    file.write_bytes(house.rules())
    return file


def test_the_sample_agreement_gets_a_table_a_page_and_exit_code_1(tmp_path):
    done = run(tmp_path, "assess", SAMPLE, "--framework", "GDPR_ART_28", "--html", "report.html")

    assert done.returncode == 1
    lines = {line.split("│")[1].strip(): line for line in done.stdout.splitlines() if line.startswith("│ ")}
    assert "✓ sufficient" in lines["BREACH_NOTIFICATION"]
    assert "8.1 The Processor shall notify the Controller of a personal data breach" in done.stdout
    assert "✗ missing" in lines["ASSIST_DPIA"]
    assert "Traceback" not in done.stderr
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    for anchor in {part.split('"')[0] for part in page.split('href="#')[1:]}:
        assert f'id="{anchor}"' in page
    # Nothing else was made: looking into a document needs no data directory.
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_json_is_like_the_findings_of_the_service(tmp_path, framework, rules):
    done = run(tmp_path, "assess", rules, "--framework-file", framework, "--json")

    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert [one["criterionCodeName"] for one in found] == house.CRITERIA
    assert found[0]["category"] == "SUFFICIENTLY_REGULATED"
    assert found[0]["citations"][0]["quote"] == house.RULES[0]
    assert found[0]["citations"][0]["source"] == "rules.docx"
    assert found[2]["absence"]["passagesSearched"] == 3
    assert found[0]["provenance"]["frameworkVersion"] == "1.0.0"


def test_exit_code_0_means_that_everything_asked_for_is_sufficient(tmp_path, framework, rules):
    done = run(tmp_path, "assess", rules, "--framework-file", framework, "--criteria", "QUIET, KINDNESS")

    assert (done.returncode, done.stderr.strip()) == (0, "")
    assert "HOUSE_RULES 1.0.0: 2 sufficient, 0 not sufficient, 0 missing." in done.stdout
    assert "PETS" not in done.stdout


def test_several_sources_are_judged_together_and_one_may_be_unreadable(tmp_path, framework, rules):
    (tmp_path / "broken.pdf").write_bytes(house.UNREADABLE)
    with pages.serving() as site:
        url = site.put("/pets", *house.PETS)
        done = run(
            tmp_path,
            *("assess", rules, url, tmp_path / "broken.pdf", "--framework-file", framework),
            ASSAY_FETCH__ALLOW=site.address,
        )

    assert done.returncode == 0
    assert "3 sufficient" in done.stdout
    assert "broken.pdf: " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["no-such.pdf", "--framework", "GDPR_ART_28"],
            "no-such.pdf cannot be read: no such file or directory.",
        ),
        (["{rules}"], "Name a framework by --framework, or a file by --framework-file."),
        (["{rules}", "--framework", "GDPR_ART_82"], "Did you mean 'GDPR_ART_28'?"),
        (["{rules}", "--framework-file", "{rules}"], "rules.docx"),
        (["{rules}", "--framework-file", "{framework}", "--criteria", "PET"], "Did you mean 'PETS'?"),
        (["{broken}", "--framework-file", "{framework}"], "broken.pdf: "),
        (["{rules}", "--framework-file", "{framework}", "--html", "no/such/folder"], "cannot be written"),
        (["http://127.0.0.1:9/", "--framework-file", "{framework}"], "127.0.0.1"),
    ],
)
def test_what_is_wrong_is_a_sentence_and_exit_code_2(tmp_path, framework, rules, arguments, sentence):
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(house.UNREADABLE)
    given = [one.format(rules=rules, framework=framework, broken=broken) for one in arguments]

    done = run(tmp_path, "assess", *given)

    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_framework_that_the_operator_imported_is_found_by_its_code_name(tmp_path, framework, rules):
    assert run(tmp_path, "frameworks", "import", framework).returncode == 0

    done = run(tmp_path, "assess", rules, "--framework", "HOUSE_RULES", "--criteria", "QUIET")

    assert (done.returncode, "1 sufficient" in done.stdout) == (0, True)


def test_the_feedback_report_shows_agreement_before_and_after(tmp_path):
    assert run(tmp_path, "feedback", "report").stdout == "No expert has named a category yet.\n"
    database = Database(sqlite_url(tmp_path / "data"))
    partner = factories.partner(database, "acme")
    with database.write() as tx:
        topic = Topic(partner.subject, "HOUSE_RULES", "1.0.0", "QUIET", ENGINE_VERSION)
        lesson = Lesson(-0.1, None, opinions=8, documents=6, agreed_before=2, agreed_after=6)
        adjustments.keep(tx, adjustments.open_(tx, topic), lesson, "0" * 64)
    database.close()

    table = run(tmp_path, "feedback", "report").stdout
    (row,) = json.loads(run(tmp_path, "feedback", "report", "--json").stdout)

    for cell in ("acme", "HOUSE_RULES 1.0.0", "QUIET", "8 on 6 documents", "25%", "75%", "threshold 0.40"):
        assert cell in table
    assert (row["partner"], row["before"], row["after"], row["learned"]) == (
        "acme",
        0.25,
        0.75,
        "threshold 0.40",
    )
