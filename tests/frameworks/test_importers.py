"""Frameworks of others: OSCAL and CISO Assistant files of the published shape, and hostile ones."""

import json

import pytest
import yaml

from assay.frameworks import files
from assay.frameworks.importers import import_
from assay.frameworks.models import FrameworkFileError


def control(identifier, title="", prose="", **more):
    parts = [{"id": f"{identifier}_smt", "name": "statement", "prose": prose}] if prose else []
    return {"id": identifier, "title": title or identifier, "parts": parts} | more


def catalog(*controls, version="1.1.3", **more):
    metadata = {
        "title": "Rules of the house",
        "version": "2.0",
        "oscal-version": version,
        "last-modified": "…",
    }
    return {"catalog": {"uuid": "c-1", "metadata": metadata, "controls": list(controls)} | more}


def profile(*imports, **more):
    metadata = {"title": "House, small", "version": "1.0", "oscal-version": "1.2.2", "last-modified": "…"}
    return {"profile": {"uuid": "p-1", "metadata": metadata, "imports": list(imports)} | more}


def library(*nodes, **more):
    framework = {
        "urn": "urn:x:risk:framework:house",
        "ref_id": "house-1.0",
        "name": "House",
        "description": "Rules",
    }
    head = {
        "urn": "urn:x:risk:library:house",
        "locale": "en",
        "ref_id": "house-1.0",
        "version": 3,
        "provider": "Us",
    }
    return head | {"objects": {"framework": framework | {"requirement_nodes": list(nodes)}}} | more


def node(tail, *, assessable=True, **more):
    return {"urn": f"urn:x:risk:req_node:house:{tail}", "assessable": assessable, "depth": 1} | more


@pytest.fixture
def write(tmp_path):
    def write(name, data):
        path = tmp_path / name
        if isinstance(data, bytes):
            path.write_bytes(data)
        elif isinstance(data, str):
            path.write_text(data)
        elif name.endswith(".json"):
            path.write_text(json.dumps(data))
        else:
            path.write_text(yaml.safe_dump(data, sort_keys=False))
        return path

    return write


def complaint(path, **more):
    with pytest.raises(FrameworkFileError) as caught:
        import_(path, **more)
    return caught.value.complaints[0]


def codes(imported):
    return [criterion.code_name for criterion in imported.framework.criteria]


def test_controls_become_criteria_with_their_groups_as_context(write):
    inner = control("ac-2.1", "Automation", "Automate it.")
    outer = control(
        "ac-2", "Accounts", "Manage accounts.", controls=[inner], props=[{"name": "label", "value": "AC-2"}]
    )
    group = {"id": "ac", "title": "Access", "groups": [{"id": "in", "title": "Inside", "controls": [outer]}]}
    imported = import_(write("house_catalog.json", catalog(groups=[group])))
    first, second = imported.framework.criteria
    assert (imported.framework.code_name, imported.framework.version) == ("HOUSE", "2.0")
    assert (first.code_name, first.name, first.description) == ("AC_2", "Accounts", "Manage accounts.")
    assert (first.reference, first.context, first.aspects) == ("AC-2", ("Access", "Inside"), ())
    assert (second.code_name, second.context) == ("AC_2_1", ("Access", "Inside", "Accounts"))


def test_a_statement_reads_with_its_items_labels_and_parameters(write):
    items = [
        {
            "name": "item",
            "prose": "tell {{ insert: param, who }};",
            "props": [{"name": "label", "value": "a."}],
        },
        {"name": "item", "prose": "wait {{ insert: param, how_long }}; see [the annex](#annex)."},
    ]
    parts = [
        {"name": "statement", "prose": "The keeper shall:", "parts": items},
        {"name": "guidance", "prose": "Not part of the demand."},
    ]
    params = [
        {"id": "who", "values": ["the guests"]},
        {"id": "how_long", "select": {"choice": ["{{ insert: param, days }} days", "a week"]}},
        {"id": "days", "label": "number of days"},
    ]
    path = write("house.json", catalog({"id": "x-1", "title": "Notice", "params": params, "parts": parts}))
    assert import_(path).framework.criteria[0].description == (
        "The keeper shall:\n  a. tell the guests;\n  wait [[number of days] days or a week]; see the annex."
    )


def test_parameters_that_name_each_other_end(write):
    params = [{"id": "a", "label": "{{ insert: param, b }}"}, {"id": "b", "label": "{{ insert: param, a }}"}]
    path = write("house.json", catalog(control("x-1", prose="Do {{ insert: param, a }}.", params=params)))
    assert import_(path).framework.criteria[0].description == "Do [[[a]]]."


def test_parameters_that_grow_beyond_measure_are_refused(write):
    params = [{"id": f"p{n}", "label": f"{{{{ insert: param, p{n + 1} }}}}" * 20} for n in range(9)]
    path = write("house.json", catalog(control("x-1", prose="{{ insert: param, p0 }}", params=params)))
    assert "beyond measure" in complaint(path).message


def test_withdrawn_and_empty_controls_are_left_out_and_listed(write):
    gone = control("x-2", "Old", props=[{"name": "status", "value": "withdrawn"}])
    empty = {"id": "x-3", "title": "", "parts": []}
    imported = import_(write("house.json", catalog(control("x-1", "Kept"), gone, empty)))
    assert codes(imported) == ["X_1"]
    assert [(one.identifier, one.reason) for one in imported.left_out] == [
        ("x-2", "It is withdrawn."),
        ("x-3", "It has neither name nor description."),
    ]


def test_identifiers_that_would_be_one_code_name_are_refused(write):
    found = complaint(write("house.json", catalog(control("ac-2(1)"), control("ac-2.1"))))
    assert found.message == "“ac-2.1” and “ac-2(1)” would both be AC_2_1."
    assert found.place == "house.json (catalog.controls[1])"


BIG = catalog(*(control(f"x-{n}", prose=f"Rule {n}.") for n in (1, 2, 3, 10)))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({"include-all": {}}, ["X_1", "X_2", "X_3", "X_10"]),
        ({}, ["X_1", "X_2", "X_3", "X_10"]),
        ({"include-controls": [{"with-ids": ["x-3", "x-1"]}]}, ["X_1", "X_3"]),
        ({"include-controls": [{"matching": [{"pattern": "x-1*"}]}]}, ["X_1", "X_10"]),
        ({"include-all": {}, "exclude-controls": [{"with-ids": ["x-2"]}]}, ["X_1", "X_3", "X_10"]),
    ],
)
def test_a_profile_selects_from_the_catalog_given_with_it(write, selection, expected):
    beside = write("big_catalog.json", BIG)
    path = write("small.json", profile({"href": "../xml/big_catalog.xml"} | selection))
    assert codes(import_(path, beside=[beside])) == expected


def test_child_controls_come_along_when_the_profile_says_so(write):
    parent = control("x-1", controls=[control("x-1.1")])
    beside = write("big_catalog.json", catalog(parent, control("x-2")))
    selection = {"with-ids": ["x-1"], "with-child-controls": "yes"}
    path = write("small.json", profile({"href": "big_catalog.json", "include-controls": [selection]}))
    assert codes(import_(path, beside=[beside])) == ["X_1", "X_1_1"]


def test_a_profile_may_point_to_its_back_matter(write):
    resource = {
        "uuid": "84cb",
        "rlinks": [{"href": "../up/big_catalog.xml"}, {"href": "../up/big_catalog.json"}],
    }
    path = write("small.json", profile({"href": "#84cb"}, **{"back-matter": {"resources": [resource]}}))
    assert len(codes(import_(path, beside=[write("big_catalog-min.json", BIG)]))) == 4


def test_a_profile_sets_parameters_and_alters_parts(write):
    first = control("x-1", prose="Wait {{ insert: param, t }}.", params=[{"id": "t", "label": "time"}])
    beside = write("big.json", catalog(first))
    modify = {
        "set-parameters": [{"param-id": "t", "values": ["one day"]}],
        "alters": [{"control-id": "x-1", "adds": [{"parts": [{"name": "statement", "prose": "Then go."}]}]}],
    }
    imported = import_(write("small.json", profile({"href": "big.json"}, modify=modify)), beside=[beside])
    assert imported.framework.criteria[0].description == "Wait one day.\nThen go."


def test_what_a_profile_asks_in_vain_is_listed(write):
    path = write(
        "small.json", profile({"href": "big.json", "include-controls": [{"with-ids": ["x-1", "y-9"]}]})
    )
    imported = import_(path, beside=[write("big.json", BIG)])
    assert [one.identifier for one in imported.left_out] == ["y-9"]


def test_a_profile_without_its_catalog_is_refused_and_nothing_else_is_opened(write):
    write("big.json", BIG)
    found = complaint(write("small.json", profile({"href": "big.json"})))
    assert found.message == "The profile imports “big.json”."
    assert found.place == "small.json (profile.imports[0])"


def test_profiles_that_import_each_other_are_refused(write):
    one = write("one.json", profile({"href": "two.json"}))
    two = write("two.json", profile({"href": "one.json"}))
    assert "one.json → two.json → one.json" in complaint(one, beside=[one, two]).message


def test_profiles_may_stand_on_profiles(write):
    big = write("big.json", BIG)
    middle = write("middle.json", profile({"href": "big.json", "exclude-controls": [{"with-ids": ["x-1"]}]}))
    top = write(
        "top.json", profile({"href": "middle.json", "include-controls": [{"with-ids": ["x-2", "x-1"]}]})
    )
    assert codes(import_(top, beside=[big, middle])) == ["X_2"]


@pytest.mark.parametrize("version", ["1.0.0", "1.1.3", "v1.2.2"])
def test_the_versions_of_oscal_in_use_are_read(write, version):
    assert codes(import_(write("house.json", catalog(control("x-1"), version=version)))) == ["X_1"]


def nested(depth):
    inner = {"controls": [control("x-1")]}
    for _ in range(depth):
        inner = {"id": "g", "title": "g", "groups": [inner]}
    return catalog(groups=[inner])


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (catalog(control("x-1"), version="2.0"), "OSCAL 2.0"),
        ({"component-definition": {}}, "component-definition"),
        ([], "object is expected"),
        (catalog(groups={}), "must be a list"),
        (catalog(control("x-1", parts=["prose"])), "object is expected"),
        (catalog({"id": 7}), "must be text"),
        (catalog({"title": "No id"}), "has no id"),
        (catalog(), "nothing in it"),
        (nested(60), "nested too deeply"),
        ('{"catalog": {"uuid": 1, "uuid": 2}}', "twice"),
        ('{"catalog": NaN}', "NaN"),
        ('{"catalog": ' + "[" * 100_000, "nested too deeply"),
        ('{"catalog": ,}', "not JSON"),
        ("<catalog/>", "XML"),
        (json.dumps(catalog(control("x-1"))).encode("utf-16"), "UTF-16"),
        (b'{"catalog": "\xff"}', "not in UTF-8"),
    ],
)
def test_bad_oscal_is_refused_with_the_place(write, data, word):
    if isinstance(data, list):
        data = '{"catalog": []}'
    found = complaint(write("house.json", data))
    assert word in found.message
    assert found.file == "house.json"
    assert found.remedy


def test_a_hundred_thousand_controls_are_refused(write):
    many = catalog(*({"id": f"x-{n}", "title": "t"} for n in range(100_000)))
    found = complaint(write("house.json", many))
    assert (found.message, found.path) == ("There are more than 20,000 controls.", "catalog.controls[20000]")


def test_more_controls_than_criteria_may_be_are_refused(write):
    many = catalog(*({"id": f"x-{n}", "title": "t"} for n in range(10_001)))
    assert "more than 10,000 requirements" in complaint(write("house.json", many)).message


def test_assessable_nodes_become_criteria_and_titles_above_context(write):
    imported = import_(
        write(
            "house.yaml",
            library(
                node("a", assessable=False, ref_id="A", name="Kitchen"),
                node(
                    "a.1",
                    assessable=False,
                    ref_id="A.1",
                    parent_urn="urn:x:risk:req_node:house:a",
                    description="Fire",
                ),
                node(
                    "a.1.1",
                    ref_id="A.1.1",
                    parent_urn="urn:x:risk:req_node:house:a.1",
                    description="No smoke. Ever.",
                ),
                node("a.2", ref_id="A.2", name="Water", description="Close the tap."),
            ),
        )
    )
    first, second = imported.framework.criteria
    assert (imported.framework.code_name, imported.framework.version) == ("HOUSE_1_0", "3")
    assert (first.code_name, first.name, first.description) == ("A_1_1", "No smoke.", "No smoke. Ever.")
    assert (first.context, first.reference) == (("A Kitchen", "A.1 Fire"), "A.1.1")
    assert (second.code_name, second.name, second.aspects) == ("A_2", "Water", ())


def test_identifiers_stay_as_printed_and_begin_with_a_letter(write):
    imported = import_(
        write("house.yaml", library(node("n1", ref_id="5.10", name="x"), node("n2", name="y")))
    )
    assert codes(imported) == ["C_5_10", "N2"]
    assert imported.framework.criteria[0].reference == "5.10"


def test_nodes_that_share_a_printed_identifier_go_by_their_urn(write):
    imported = import_(
        write("house.yaml", library(node("p1", ref_id="A", name="x"), node("p2", ref_id="A", name="y")))
    )
    assert codes(imported) == ["P1", "P2"]


def test_nodes_whose_identifiers_collide_are_refused_with_their_line(write):
    path = write(
        "house.yaml", library(node("n1", ref_id="A-1", name="x"), node("n2", ref_id="A.1", name="y"))
    )
    found = complaint(path)
    assert found.message == "“A.1” and “A-1” would both be A_1."
    assert path.read_text().splitlines()[found.line - 1].strip() == "- urn: urn:x:risk:req_node:house:n2"


def test_nodes_with_neither_name_nor_description_are_left_out_and_listed(write):
    imported = import_(write("house.yaml", library(node("n1", ref_id="A"), node("n2", name="y", ref_id="B"))))
    assert codes(imported) == ["B"]
    assert [(one.identifier, one.reason) for one in imported.left_out] == [
        ("A", "It has neither name nor description.")
    ]


def test_a_translation_is_taken_where_there_is_one(write):
    first = node("n1", name="Water", description="Close it.", translations={"de": {"name": "Wasser"}})
    imported = import_(write("house.yaml", library(first)), language="de")
    criterion = imported.framework.criteria[0]
    assert (imported.framework.language, criterion.name, criterion.description) == (
        "de",
        "Wasser",
        "Close it.",
    )


def test_a_library_of_a_few_hundred_nodes_imports_and_can_be_written_out(write):
    nodes = [node(f"g{n}", assessable=False, name=f"Group {n}") for n in range(20)]
    nodes += [
        node(
            f"g{n % 20}.{n}",
            ref_id=f"G{n % 20}.{n}",
            parent_urn=f"urn:x:risk:req_node:house:g{n % 20}",
            description=f"Rule {n}: “quoted”, with a colon: and\n\na second paragraph…",
            questions={f"urn:x:q:{n}": {"type": "unique_choice", "choices": [{"value": "Yes"}]}},
        )
        for n in range(400)
    ]
    framework = import_(
        write("house.yaml", library(*nodes, translations={"fr": {"name": "Maison"}}))
    ).framework
    assert len(framework.criteria) == 400
    assert files.parse(files.dump(framework)) == framework


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("objects: &a\n  framework: *a\n", "Anchors"),
        ("objects: !!python/object/apply:os.system [ls]\n", "Tags"),
        ("objects:\n  risk_matrix: []\n", "no framework"),
        ("objects:\n  framework: {ref_id: a, requirement_nodes: {}}\n", "must be a list"),
        ("objects:\n  framework: {ref_id: a, requirement_nodes: [x]}\n", "must have keys"),
        ("objects:\n  framework: {name: a, requirement_nodes: []}\n", "no ref_id"),
        ("objects:\n  framework: {ref_id: a, requirement_nodes: []}\n", "nothing in it"),
        ("objects: {framework: {a: 1, a: 2}}\n", "twice"),
    ],
)
def test_bad_libraries_are_refused_with_the_place(write, text, word):
    found = complaint(write("house.yaml", text))
    assert word in found.message
    assert found.file == "house.yaml"


def test_nodes_in_a_circle_are_refused(write):
    urn = "urn:x:risk:req_node:house:"
    nodes = [node("a", name="x", parent_urn=f"{urn}b"), node("b", name="y", parent_urn=f"{urn}a")]
    assert "circle" in complaint(write("house.yaml", library(*nodes))).message


def test_a_hundred_thousand_nodes_are_refused(write):
    text = "objects:\n  framework:\n    ref_id: x\n    requirement_nodes:\n"
    text += "".join(f"    - {{urn: 'a:{n}', assessable: true, name: x}}\n" for n in range(100_000))
    found = complaint(write("house.yaml", text))
    assert "more than" in found.message
    assert found.line


def test_our_own_format_is_imported_as_it_is(write):
    framework = import_(write("house.yaml", library(node("n1", name="Water")))).framework
    assert import_(write("own.yaml", files.dump(framework))).framework == framework


def test_a_code_name_can_be_given(write):
    assert (
        import_(write("h.json", catalog(control("x-1"))), code_name="MY_RULES").framework.code_name
        == "MY_RULES"
    )
