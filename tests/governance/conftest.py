"""What the tests of audit, retention and erasure share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay import cli
from assay.database.core import Database
from assay.frameworks.service import synchronise

FRAMEWORK = "GDPR_ART_28"

Run = Callable[..., Any]


@pytest.fixture
def run(database_url: str, tmp_path: Path) -> Run:
    """The command over the test's database, to its end."""

    def run(*arguments: str, **variables: str) -> Any:
        env = {"ASSAY_DATA_DIR": str(tmp_path / "data"), **variables}
        if not database_url.startswith("sqlite"):
            env["ASSAY_DATABASE__URL"] = database_url
        return CliRunner().invoke(cli.app, arguments, env=env)

    return run


@pytest.fixture
def trail(run: Run) -> Callable[..., list[dict[str, Any]]]:
    """The audit trail as it is exported."""

    def trail(*arguments: str) -> list[dict[str, Any]]:
        done = run("audit", "export", *arguments)
        assert done.exit_code == 0, done.output
        return [json.loads(line) for line in done.stdout.splitlines()]

    return trail


@pytest.fixture
def assess(client, work, database: Database) -> Callable[..., str]:
    """A completed assessment of one criterion; its process id."""
    synchronise(database, None)

    def assess(**parts: str) -> str:
        criteria = client.get(f"/api/v1/frameworks/{FRAMEWORK}/criteria").json()
        configuration = {
            "expertId": "expert-7",
            "frameworkCodeName": FRAMEWORK,
            "criteriaCodeNames": [criteria[0]["codeName"]],
        }
        data = {"configuration": json.dumps(configuration), **parts}
        answer = client.post(
            "/api/v1/assessments", files={name: (None, value) for name, value in data.items()}
        )
        assert answer.status_code == 202, answer.text
        work()
        return answer.json()["assessmentProcessId"]

    return assess
