"""Framework files: what is read, what is refused with line and remedy, and the schema for editors."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.frameworks import expressions, files
from assay.frameworks.models import (
    AllOf,
    AnyOf,
    Aspect,
    Comparison,
    Criterion,
    Deadline,
    Duty,
    Figure,
    Framework,
    FrameworkFileError,
    Modality,
    Phrase,
    Qualified,
)
from assay.frameworks.schema import schema

ROOT = Path(__file__).parents[2]

MINIMAL = """\
code_name: TEA_RULES
name: Rules of the tea room
version: 1.0
language: en
vocabulary:
  host: [host*, owner]
criteria:
  - code_name: TEA_IS_HOT
    name: Tea is hot
    description: The rules say that tea is served hot.
    aspects:
      - name: Heat
        demand: The host serves tea hot.
        evidence:
          - who: <host>
            must: serve ... hot
"""


def refused(text: str) -> list[tuple[int | None, str]]:
    """The complaints about a text, as (line, message and remedy)."""
    with pytest.raises(FrameworkFileError) as caught:
        files.parse(text, "tea.yaml")
    return [(one.line, f"{one.message} {one.remedy}") for one in caught.value.complaints]


def with_evidence(evidence: str) -> str:
    """The minimal framework with other evidence, which begins in line 15."""
    head = MINIMAL[: MINIMAL.index("          - who")]
    return head + "".join(f"          {line}\n" for line in evidence.splitlines())


def evidence_of(text: str) -> tuple[object, ...]:
    return files.parse(with_evidence(text)).criteria[0].aspects[0].evidence["en"]


def test_a_file_becomes_a_framework():
    framework = files.parse(MINIMAL)
    assert (framework.code_name, framework.version) == ("TEA_RULES", "1.0")
    assert framework.vocabulary == {"en": {"host": ("host*", "owner")}}
    aspect = framework.criteria[0].aspects[0]
    assert aspect.mandatory
    assert aspect.evidence == {"en": (Duty("<host>", Modality.MUST, "serve ... hot"),)}


def test_a_version_is_kept_as_it_is_written():
    assert files.parse(MINIMAL.replace("version: 1.0", "version: 1.10")).version == "1.10"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("- hot tea", Phrase("hot tea")),
        ("- phrase: hot tea", Phrase("hot tea")),
        ("- [hot, warm]", AnyOf((Phrase("hot"), Phrase("warm")))),
        ("- any: [hot, warm]", AnyOf((Phrase("hot"), Phrase("warm")))),
        ("- all: [hot, tea]\n  within: 5", AllOf((Phrase("hot"), Phrase("tea")), 5)),
        ("- who: <host>\n  must_not: spill*", Duty("<host>", Modality.MUST_NOT, "spill*")),
        ("- deadline: at most 72 hours", Deadline(Comparison.AT_MOST, 72, "hours")),
        ("- deadline: more than 1 day", Deadline(Comparison.MORE_THAN, 1, "days")),
        ("- deadline: any", Deadline(Comparison.ANY)),
        ("- number: at least 99.5 (% | percent)", Figure(Comparison.AT_LEAST, 99.5, "(% | percent)")),
        (
            "- phrase: tea\n  unless: [iced]\n  weak: true",
            Qualified(Phrase("tea"), (Phrase("iced"),), weak=True),
        ),
    ],
)
def test_every_kind_of_evidence_is_read(written, read):
    assert evidence_of(written) == (read,)


def test_evidence_may_be_given_by_language():
    text = MINIMAL.replace("        evidence:\n", "        evidence:\n          en:\n")
    text = text.replace("          - who", "            - who").replace(
        "            must", "              must"
    )
    text += "          de:\n            - heiß serviert\n"
    assert files.parse(text).criteria[0].aspects[0].evidence.keys() == {"en", "de"}


def test_all_complaints_come_at_once_with_their_lines():
    text = (
        MINIMAL.replace("TEA_IS_HOT", "tea-is-hot").replace("demand:", "demnad:").replace("<host>", "<hots>")
    )
    assert refused(text) == [
        (
            8,
            "“tea-is-hot” is no code name. Use capitals, digits and underscores, a letter first: TEA_IS_HOT.",
        ),
        (12, "“demand” is missing. Add “demand: …”."),
        (13, "“demnad” is not known here. Did you mean “demand”?"),
        (15, "“<hots>” is not in the vocabulary. Did you mean “host”?"),
    ]


def test_the_error_names_file_line_column_and_remedy():
    with pytest.raises(FrameworkFileError) as caught:
        files.parse(MINIMAL.replace("TEA_RULES", "tea rules"), "tea.yaml")
    error = caught.value
    assert (error.status, error.code) == (400, "framework_file_error")
    assert (error.file, error.line, error.column) == ("tea.yaml", 1, 12)
    assert "TEA_RULES" in error.remedy
    assert error.details[0].field == "tea.yaml:1:12"


def test_a_code_name_that_stands_twice_is_refused():
    block = MINIMAL[MINIMAL.index("  - code_name") :]
    assert refused(MINIMAL + block) == [
        (17, "This code_name stands twice; first in line 8. Give each its own.")
    ]


def test_a_key_that_stands_twice_is_refused():
    assert refused(MINIMAL + "name: Again\n") == [
        (17, "“name” stands here twice; first in line 2. Keep one of them.")
    ]


BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        (BOMB, 1, "Anchors"),
        ("code_name: !!python/object:os.system X\n", 1, "Tags"),
        ("code_name: !!str X\n", 1, "Tags"),
        ("code_name: X\n---\ncode_name: Y\n", 2, "second document"),
        ("[" * 200, 1, "nested too deeply"),
        ("a: [b\nc: d\n", 2, "not YAML"),
        ("a: \x07\n", None, "not allowed"),
        ("", 1, "Keys with values"),
        ("- a\n- b\n", 1, "Keys with values"),
    ],
)
def test_what_could_harm_or_mean_nothing_is_refused(text, line, word):
    complaints = refused(text)
    assert word in complaints[0][1]
    assert line is None or complaints[0][0] == line


@pytest.mark.parametrize(
    ("evidence", "word"),
    [
        ("- (hot", "not closed"),
        ("- hot | cold", "too many"),
        ("- hot )", "too many"),
        ("- ... hot", "gap"),
        ("- hot ...", "without words"),
        ("- hot ...99 tea", "gap"),
        ("- hot + tea", "means nothing"),
        ("- te*", "too short"),
        ("- who: <host>", "needs what they must do"),
        ("- must: serve", "exactly one of"),
        ("- all: hot", "A list"),
        ("- all: [hot]\n  within: many", "number of words"),
        ("- phrase: hot\n  within: 3", "needs “all”"),
        ("- phrase: hot\n  any: [cold]", "says one thing"),
        ("- phrase: hot\n  waek: true", "Did you mean “weak”?"),
        ("- phrase: hot\n  weak: maybe", "true or false"),
        ("- deadline: 72 hours", "no deadline"),
        ("- deadline: at most 3 moons", "no deadline"),
        ("- number: lots of tea", "no number"),
        ("- all: []", "empty"),
        ("-", "phrase is expected"),
    ],
)
def test_evidence_that_cannot_be_read_is_refused_with_its_line(evidence, word):
    complaints = refused(with_evidence(evidence))
    assert any(word in message for _, message in complaints)
    assert all(line is not None and line >= 14 for line, _ in complaints)


def test_a_vocabulary_entry_uses_only_what_stands_before_it():
    complaints = refused(MINIMAL.replace("[host*, owner]", "[<guest>]\n  guest: [<host>]"))
    assert complaints[0][0] == 6
    assert "“<guest>” is not in the vocabulary" in complaints[0][1]


def test_parties_must_be_in_the_vocabulary():
    assert "Did you mean “host”?" in refused(MINIMAL + "parties: [hots]\n")[0][1]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_another_encoding_is_refused_with_the_place(tmp_path, encoding):
    path = tmp_path / "tea.yaml"
    path.write_bytes(MINIMAL.replace("Tea is hot", "Thé chaud").encode(encoding))
    with pytest.raises(FrameworkFileError) as caught:
        files.load(path)
    assert caught.value.line in {1, 9}
    assert caught.value.remedy == "Save it as UTF-8."


def test_a_byte_order_mark_of_utf_8_does_no_harm(tmp_path):
    path = tmp_path / "tea.yaml"
    path.write_text(MINIMAL, encoding="utf-8-sig")
    assert files.load(path) == files.parse(MINIMAL)


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    path = tmp_path / "tea.yaml"
    path.write_text(MINIMAL + "#" * files.MOST_BYTES)
    with pytest.raises(FrameworkFileError, match="larger than 4 MiB"):
        files.load(path)


def test_an_absent_file_is_refused_without_its_folder(tmp_path):
    with pytest.raises(FrameworkFileError) as caught:
        files.load(tmp_path / "nothing.yaml")
    assert str(tmp_path) not in str(caught.value)


def test_too_many_criteria_are_refused():
    text = MINIMAL[: MINIMAL.index("  - code_name")]
    text += "".join(f"  - {{code_name: C{n}, name: n, description: d}}\n" for n in range(10_001))
    assert refused(text) == [(8, "There are 10,001 criteria. Keep to 10,000: split the framework.")]


def test_complaints_end_at_a_hundred():
    text = MINIMAL[: MINIMAL.index("  - code_name")] + "  - {}\n" * 5_000
    assert len(refused(text)) == 100


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=30).map(
    str.strip
)
TEXTS = WORDS.filter(bool)
PHRASES = st.lists(
    st.sampled_from(["tea", "hot", "pour*", "(milk | lemon)", "...7 cup", "no"]), min_size=1
).map(lambda words: "tea " + " ".join(words))
LEAVES = st.one_of(
    PHRASES.map(Phrase),
    st.builds(Duty, PHRASES, st.sampled_from(Modality), PHRASES),
    st.builds(Deadline, st.sampled_from(list(Comparison)[1:]), st.integers(1, 999_999), st.just("hours")),
    st.just(Deadline(Comparison.ANY)),
    st.builds(Figure, st.sampled_from(list(Comparison)[1:]), st.integers(0, 10**6).map(float), PHRASES),
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(AnyOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(
            AllOf,
            st.lists(inner, min_size=1, max_size=3).map(tuple),
            st.one_of(st.none(), st.integers(1, 400)),
        ),
        st.builds(
            Qualified,
            inner.filter(lambda one: not isinstance(one, Qualified)),
            st.lists(inner, max_size=2).map(tuple),
            st.just(value=True),
        ),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=3).map(tuple), TEXTS, TEXTS)
def test_what_is_written_out_reads_back_the_same(evidence, name, description):
    aspect = Aspect(
        name, description, mandatory=False, evidence={"en": evidence}, contradicted_by={"de": evidence}
    )
    framework = Framework(
        code_name="X_1",
        name=name,
        version="1.0",
        description=description,
        language="en",
        parties=("host",),
        vocabulary={"en": {"host": ("host*",)}},
        criteria=(Criterion("Y", name, description, "Art. 1", ("Title",), (aspect,)),),
    )
    assert files.parse(files.dump(framework)) == framework


def test_the_published_schema_is_the_generated_one():
    published = json.loads((ROOT / "docs/reference/framework.schema.json").read_text())
    assert published == schema()
    jsonschema.Draft202012Validator.check_schema(published)


@pytest.mark.parametrize(
    "text",
    [
        MINIMAL.replace("TEA_RULES", "tea-rules"),
        MINIMAL.replace("demand:", "demnad:"),
        MINIMAL.replace("name: Rules of the tea room\n", ""),
        MINIMAL.replace("language: en", "language: English"),
        MINIMAL.replace("        evidence:", "        mandatory: sometimes\n        evidence:"),
        with_evidence("- must: serve"),
        with_evidence("- who: <host>"),
        with_evidence("- all: hot"),
        with_evidence("- all: [hot]\n  within: 1000"),
        with_evidence("- phrase: hot\n  within: 3"),
        with_evidence("- phrase: hot\n  waek: true"),
        with_evidence("- deadline: 72 hours"),
        with_evidence("- number: lots of tea"),
        with_evidence("- all: []"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(text):
    validator = jsonschema.Draft202012Validator(schema())
    assert validator.is_valid(yaml.safe_load(MINIMAL))
    assert refused(text)
    assert not validator.is_valid(yaml.safe_load(text))


def example() -> str:
    page = (ROOT / "docs/howto/write-a-framework.md").read_text()
    return page.split("```yaml\n")[1].split("```")[0]


def test_the_example_of_the_guide_is_a_framework_that_the_schema_accepts():
    framework = files.parse(example(), "shop_terms.yaml")
    assert [one.code_name for one in framework.criteria] == ["RIGHT_OF_WITHDRAWAL", "DELIVERY", "COMPLAINTS"]
    assert jsonschema.Draft202012Validator(schema()).is_valid(yaml.safe_load(example()))


def test_the_complaint_shown_in_the_guide_is_the_one_that_comes():
    page = (ROOT / "docs/howto/write-a-framework.md").read_text()
    text = example().replace("who: <buyer>", "who: <byer>", 1)
    with pytest.raises(FrameworkFileError) as caught:
        files.parse(text, "shop_terms.yaml")
    assert str(caught.value.complaints[0]) in page


def test_the_format_page_names_every_key():
    page = (ROOT / "docs/reference/framework-format.md").read_text()
    keys = {*files.FRAMEWORK_KEYS, *files.CRITERION_KEYS, *files.ASPECT_KEYS, *expressions.KEYS}
    assert [key for key in sorted(keys) if f"`{key}" not in page] == []
