"""The import rule of the code base, and the few marks that it must not carry."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "assay"
FILES = sorted(SOURCE.rglob("*.py"))

# Who may import whom, beside its own part. What is not named here puts the parts together, and may all.
FRAME = {"errors", "settings", "metrics", "database", "jobs", "identity", "audit", "web"}
MAY_IMPORT = {
    "errors": set(),
    "settings": set(),
    "metrics": set(),
    "logs": {"settings"},
    "database": {"errors"},
    "jobs": {"database", "errors", "metrics"},
    "identity": {"database", "errors"},
    "audit": {"database", "errors"},
    "web": {"database", "errors", "settings", "metrics", "identity", "jobs", "audit"},
    "content": FRAME,
    "frameworks": FRAME,
    "assessments": FRAME | {"content", "frameworks"},
    "feedback": FRAME | {"content", "frameworks", "assessments"},
    "retention": FRAME | {"content", "frameworks", "assessments", "feedback"},
}
COMPOSITION = {"__init__", "__main__", "app", "cli", "info", "server"}
WEB_MAY_SEE = {"identity": {"models", "tokens", "gateway"}, "jobs": {"changes"}}
# The evidence language: written by the authors of frameworks, read by the judges of assessments.
EVIDENCE = {"evidence", "phrases", "words", "modality", "figures"}
# Inside a slice: routes -> service -> store -> models.
BELOW = {
    "models": {"store", "service", "routes"},
    "store": {"service", "routes"},
    "service": {"routes"},
}
WEB_FRAMEWORK = {"fastapi", "starlette", "uvicorn"}
VAGUE = {"utils", "helpers", "common", "base", "manager"}


def part_of(file: Path) -> str:
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def imports(file: Path) -> Iterator[str]:
    """The full names of what a file imports, as far as a module goes and a name in it."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(file: Path) -> Iterator[list[str]]:
    yield from (name.split(".")[1:] for name in imports(file) if name.startswith("assay."))


def named(file: Path) -> str:
    return str(file.relative_to(SOURCE))


@pytest.fixture(params=FILES, ids=named)
def file(request) -> Path:
    return request.param


def test_a_part_imports_only_what_stands_below_it(file):
    part = part_of(file)
    if part in COMPOSITION:
        return
    allowed = MAY_IMPORT[part] | {part, "__version__"}
    if named(file) == "identity/routes.py":
        allowed |= {"web"}
    strangers = {imported[0] for imported in own_imports(file)} - allowed
    assert strangers == set()


@pytest.mark.parametrize("part", WEB_MAY_SEE)
def test_the_web_sees_of_other_parts_what_it_needs(file, part):
    if part_of(file) != "web":
        return
    assert {imported[1] for imported in own_imports(file) if imported[0] == part} <= WEB_MAY_SEE[part]


def test_across_slices_only_models_service_and_tables_are_imported(file):
    part = part_of(file)
    slices = {"content", "frameworks", "assessments", "feedback"}
    if part not in slices:
        return
    wanted = {"models", "service", *(["store"] if file.stem == "store" else []), *EVIDENCE}
    foreign = [imported for imported in own_imports(file) if imported[0] in slices - {part}]
    assert {imported[1] for imported in foreign} <= wanted


def test_inside_a_slice_imports_point_from_routes_to_models(file):
    part = part_of(file)
    if file.parent == SOURCE or part == "web":
        return
    inside = {imported[1] for imported in own_imports(file) if imported[0] == part and len(imported) > 1}
    assert inside & BELOW.get(file.stem, set()) == set()


def test_only_routes_and_the_web_know_the_web_framework(file):
    if part_of(file) in COMPOSITION | {"web"} or file.stem == "routes":
        return
    assert {name.split(".")[0] for name in imports(file)} & WEB_FRAMEWORK == set()


def test_imports_stand_at_the_top(file):
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = [each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom)]
            assert inner == [], f"{node.name} imports at line {inner[0].lineno}"


def test_only_routes_the_web_and_the_app_are_async(file):
    # Procrastinate's worker is a coroutine; it gets a thread and an event loop to itself.
    if part_of(file) in {"web", "app", "info"} or file.stem in {"routes", "procrastinate"}:
        return
    assert not [node for node in ast.walk(tree(file)) if isinstance(node, ast.AsyncFunctionDef)]


def test_a_file_is_named_for_what_it_holds(file):
    assert file.stem not in VAGUE


def test_a_module_says_what_it_is_for(file):
    if file.read_text():
        assert ast.get_docstring(tree(file))


def test_no_work_is_left_marked_in_the_code(file):
    assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", file.read_text())  # the marks that the rule is about


def test_status_numbers_stand_in_the_error_tree_alone(file):
    if named(file) in {"errors.py", "web/health.py", "identity/routes.py"}:
        return
    for node in ast.walk(tree(file)):
        if (
            isinstance(node, ast.keyword)
            and node.arg == "status_code"
            and isinstance(node.value, ast.Constant)
        ):
            assert node.value.value < 400, f"line {node.value.lineno}"


def test_every_part_has_its_rule():
    parts = {part_of(file) for file in FILES}
    assert parts - COMPOSITION <= set(MAY_IMPORT)
