"""The reference pages are what the code says, and no link leads nowhere."""

import re
import runpy
from pathlib import Path

import pytest

from assay import settings

ROOT = Path(__file__).parents[1]
GENERATE = runpy.run_path(str(ROOT / "docs" / "generate.py"))
PAGES = GENERATE["pages"]()
WRITTEN = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def named(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES)
def test_a_reference_page_is_what_the_code_says(page):
    assert (ROOT / "docs" / "reference" / page).read_text() == PAGES[page], "run: python docs/generate.py"


def test_every_setting_is_described():
    described = list(settings.describe())
    assert len(described) > 20
    for name, _, description in described:
        assert description.endswith("."), name
        assert f"| `{name}` |" in PAGES["settings.md"]


def test_every_error_has_a_message_of_its_own():
    found = list(GENERATE["kinds"]())
    assert len(found) > 15
    for kind in found:
        assert kind.__doc__, kind
        assert kind.__doc__.strip().endswith("."), kind


def test_error_codes_are_unique():
    rows = re.findall(r"^\| \d{3} \| `(\w+)` \|", PAGES["errors.md"], re.MULTILINE)
    assert len(rows) == len(set(rows))


def test_every_command_and_parameter_is_explained():
    for command in ("serve", "migrate", "partners add", "partners list", "partners disable", "keys rotate"):
        assert f"## `assay {command}`" in PAGES["cli.md"]
    assert "None" not in PAGES["cli.md"]


@pytest.mark.parametrize("file", WRITTEN, ids=named)
def test_every_relative_link_leads_somewhere(file):
    prose = re.sub(r"```.*?```", "", file.read_text(), flags=re.DOTALL)
    for target in LINK.findall(prose):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        found = (file.parent / path).resolve() if path else file
        assert found.exists(), f"{named(file)} links to {target}"
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), f"{named(file)} links to {target}"


def anchors(file: Path) -> set[str]:
    """As the usual renderers make them of headings."""
    headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_changelog_keeps_a_section_for_what_is_not_released():
    changelog = ROOT / "CHANGELOG.md"
    if changelog.exists():
        assert re.search(r"^## \[?Unreleased", changelog.read_text(), re.MULTILINE)
