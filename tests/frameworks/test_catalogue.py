"""The frameworks that we ship: complete, readable, and finding what they should in sentences of our own."""

from importlib.resources import files as resources

import jsonschema
import pytest
import yaml

from assay.frameworks import evidence, files
from assay.frameworks.schema import schema
from assay.frameworks.words import Clause

SHIPPED = {
    path.name: path.read_text("utf-8")
    for path in resources("assay.frameworks").joinpath("catalogue").iterdir()
}
FRAMEWORKS = {framework.code_name: framework for framework in map(files.parse, SHIPPED.values())}

LEAST_CRITERIA = {
    "GDPR_ART_28": 27,
    "GDPR_ART_13_14": 18,
    "DORA_ART_30": 17,
    "NIS2_ART_21": 14,
    "HIPAA_BAA": 13,
    "CCPA_SERVICE_PROVIDER": 10,
    "EU_AI_ACT_ANNEX_IV": 14,
    "NDA_CONFIDENTIALITY": 17,
}

NAMED_BY_THE_CONTRACT = {
    "GDPR_ART_28": [
        "SUBPROCESSOR_AUTHORISATION",
        "SUBPROCESSOR_CHANGES",
        "DOCUMENTED_INSTRUCTIONS",
        "LEGAL_REQUIREMENT_NOTICE",
        "CONFIDENTIALITY",
        "SECURITY_MEASURES",
        "DATA_SUBJECT_RIGHTS",
        "ASSIST_SECURITY",
        "ASSIST_PRIOR_CONSULTATION",
        "ASSIST_BREACH_AUTHORITY",
        "ASSIST_BREACH_DATA_SUBJECT",
        "ASSIST_DPIA",
        "RETURN_OR_DELETION",
        "INFRINGING_INSTRUCTIONS",
        "DEMONSTRATE_COMPLIANCE",
        "AUDITS",
        "SUBPROCESSOR_SAME_OBLIGATIONS",
        "SUBPROCESSOR_LIABILITY",
        "SECURITY_RISK_ASSESSMENT",
    ],
    "NDA_CONFIDENTIALITY": [
        "NO_REVERSE_ENGINEERING",
        "RETURN_OF_CONFIDENTIAL_INFORMATION",
        "NO_LICENSING",
        "CONFIDENTIALITY_OF_AGREEMENT",
        "NONE_INCLUSION_OF_NON_TECHNICAL_INFORMATION",
        "EXPLICIT_IDENTIFICATION",
        "SURVIVAL_OF_OBLIGATIONS",
        "PERMISSIBLE_DEVELOPMENT_OF_SIMILAR_INFORMATION",
        "PERMISSIBLE_POST_AGREEMENT_POSSESSION",
        "INCLUSION_OF_VERBALLY_CONVEYED_INFORMATION",
        "NO_SOLICITATION",
        "SHARING_WITH_THIRD_PARTIES",
        "PERMISSIBLE_COPY",
        "NOTICE_ON_COMPELLED_DISCLOSURE",
        "PERMISSIBLE_ACQUIREMENT_OF_SIMILAR_INFORMATION",
        "SHARING_WITH_EMPLOYEES",
        "LIMITED_USE",
    ],
}


def test_the_catalogue_is_complete():
    assert {
        name: len(framework.criteria) >= LEAST_CRITERIA[name] for name, framework in FRAMEWORKS.items()
    } == (dict.fromkeys(LEAST_CRITERIA, True))


@pytest.mark.parametrize("name", NAMED_BY_THE_CONTRACT)
def test_criteria_that_others_rely_on_keep_their_names_and_order(name):
    found = [criterion.code_name for criterion in FRAMEWORKS[name].criteria]
    assert found[: len(NAMED_BY_THE_CONTRACT[name])] == NAMED_BY_THE_CONTRACT[name]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_schema_accepts_every_shipped_file(name):
    errors = jsonschema.Draft202012Validator(schema()).iter_errors(yaml.safe_load(SHIPPED[name]))
    assert [error.json_path for error in errors] == []


@pytest.mark.parametrize("name", LEAST_CRITERIA)
def test_every_criterion_has_a_reference_and_every_aspect_evidence(name):
    framework = FRAMEWORKS[name]
    assert framework.source
    assert [one.code_name for one in framework.criteria if not (one.reference and one.aspects)] == []
    aspects = [aspect for one in framework.criteria for aspect in one.aspects]
    assert [aspect.name for aspect in aspects if "en" not in aspect.evidence] == []
    for criterion in framework.criteria:
        assert any(aspect.mandatory for aspect in criterion.aspects), criterion.code_name


@pytest.mark.parametrize("name", ["GDPR_ART_28", "GDPR_ART_13_14"])
def test_the_gdpr_is_read_in_german_too(name):
    missing = [
        criterion.code_name
        for criterion in FRAMEWORKS[name].criteria
        if not any("de" in aspect.evidence for aspect in criterion.aspects)
    ]
    assert missing == []


@pytest.mark.parametrize("name", LEAST_CRITERIA)
def test_a_shipped_framework_can_be_written_out_and_read_back(name):
    assert files.parse(files.dump(FRAMEWORKS[name])) == FRAMEWORKS[name]


def shown(framework: str, criterion: str, clause: str, language: str = "en") -> tuple[bool, bool]:
    """Whether the clause shows an aspect of the criterion, and whether it contradicts one."""
    one = next(found for found in FRAMEWORKS[framework].criteria if found.code_name == criterion)
    lexicon = evidence.Lexicon.of(FRAMEWORKS[framework], language)
    prepared = Clause(clause)
    compiled = [evidence.compile_aspect(aspect, language, lexicon) for aspect in one.aspects]

    def any_match(matchers):
        found = [evidence.match(matcher, prepared) for matcher in matchers if matcher]
        return any(match and match.strength >= evidence.SHOWS for match in found)

    return any_match(one.shows for one in compiled), any_match(one.contradicts for one in compiled)


GDPR_28 = [
    (
        "SUBPROCESSOR_AUTHORISATION",
        "The vendor shall not engage any sub-processor without the client's prior written consent.",
    ),
    (
        "SUBPROCESSOR_AUTHORISATION",
        "The customer gives its general authorisation to the use of subprocessors.",
    ),
    (
        "SUBPROCESSOR_CHANGES",
        "The provider shall inform the client of any planned addition or replacement of sub-processors.",
    ),
    (
        "DOCUMENTED_INSTRUCTIONS",
        "The supplier processes personal data solely on the documented instructions of the client.",
    ),
    (
        "LEGAL_REQUIREMENT_NOTICE",
        (
            "Where Union law obliges it to process otherwise, it informs the client of that "
            "legal requirement before processing."
        ),
    ),
    ("CONFIDENTIALITY", "All staff with access to the data are bound by a duty of confidentiality."),
    ("SECURITY_MEASURES", "The supplier shall maintain suitable technical and organizational measures."),
    (
        "DATA_SUBJECT_RIGHTS",
        "The supplier shall help the client to answer requests of data subjects who exercise their rights.",
    ),
    (
        "ASSIST_SECURITY",
        "The supplier assists the client in meeting its obligations under Articles 32 to 36.",
    ),
    (
        "ASSIST_PRIOR_CONSULTATION",
        "The supplier assists the client with prior consultation of the supervisory authority.",
    ),
    (
        "ASSIST_BREACH_AUTHORITY",
        "The supplier shall assist the client in notifying the data breach to the supervisory authority.",
    ),
    (
        "ASSIST_BREACH_DATA_SUBJECT",
        (
            "The supplier shall assist the client in communicating the personal data breach "
            "to the data subjects."
        ),
    ),
    ("ASSIST_DPIA", "The supplier supports the client with data protection impact assessments."),
    (
        "RETURN_OR_DELETION",
        "Upon termination of the services the supplier shall delete or return all personal data.",
    ),
    (
        "INFRINGING_INSTRUCTIONS",
        "The supplier shall immediately inform the client if an instruction infringes the GDPR.",
    ),
    (
        "DEMONSTRATE_COMPLIANCE",
        "The supplier makes available all information necessary to demonstrate compliance.",
    ),
    ("AUDITS", "The supplier allows for and contributes to audits, including inspections, by the client."),
    (
        "SUBPROCESSOR_SAME_OBLIGATIONS",
        "It shall impose on each sub-processor the same data protection obligations by contract.",
    ),
    (
        "SUBPROCESSOR_LIABILITY",
        "The supplier remains fully liable to the client for the acts of its sub-processors.",
    ),
    (
        "SECURITY_RISK_ASSESSMENT",
        (
            "Measures protect the data against accidental or unlawful destruction, loss, "
            "alteration and unauthorised access."
        ),
    ),
    ("SUBJECT_MATTER_AND_DURATION", "The duration of the processing is the term of the contract."),
    ("NATURE_AND_PURPOSE", "Annex 1 sets out the nature and purpose of the processing."),
    ("DATA_TYPES", "The types of personal data are listed in Annex 1."),
    ("DATA_SUBJECT_CATEGORIES", "The categories of data subjects are employees and guests."),
    ("CONTROLLER_RIGHTS_AND_OBLIGATIONS", "The client shall ensure that its instructions are lawful."),
    (
        "BREACH_NOTIFICATION",
        "The supplier shall notify the client of a personal data breach without undue delay.",
    ),
    ("INTERNATIONAL_TRANSFERS", "Transfers to a third country rest on the standard contractual clauses."),
    ("WRITTEN_FORM", "Amendments to this agreement must be made in writing."),
]


@pytest.mark.parametrize(("criterion", "clause"), GDPR_28)
def test_gdpr_article_28_is_found_in_plain_clauses(criterion, clause):
    assert shown("GDPR_ART_28", criterion, clause)[0]


def test_every_criterion_of_gdpr_article_28_is_tried():
    assert {criterion for criterion, _ in GDPR_28} == {
        one.code_name for one in FRAMEWORKS["GDPR_ART_28"].criteria
    }


UNRELATED = [
    "This agreement is governed by the laws of Ireland.",
    "Invoices are due within thirty days of receipt.",
    "Headings are for convenience only and do not affect interpretation.",
    "The parties have signed this agreement on the date first written above.",
]


@pytest.mark.parametrize("clause", UNRELATED)
@pytest.mark.parametrize("name", ["GDPR_ART_28", "NDA_CONFIDENTIALITY", "DORA_ART_30"])
def test_a_clause_on_something_else_shows_hardly_anything(name, clause):
    found = [one.code_name for one in FRAMEWORKS[name].criteria if shown(name, one.code_name, clause)[0]]
    assert len(found) <= 1, found


@pytest.mark.parametrize(
    ("criterion", "clause"),
    [
        (
            "SUBPROCESSOR_AUTHORISATION",
            (
                "Unterauftragsverarbeiter dürfen nur mit vorheriger schriftlicher Genehmigung "
                "des Auftraggebers beauftragt werden."
            ),
        ),
        (
            "DOCUMENTED_INSTRUCTIONS",
            (
                "Der Auftragnehmer verarbeitet personenbezogene Daten nur auf dokumentierte "
                "Weisung des Auftraggebers."
            ),
        ),
        ("CONFIDENTIALITY", "Die zur Verarbeitung befugten Personen sind zur Vertraulichkeit verpflichtet."),
        (
            "SECURITY_MEASURES",
            "Der Auftragnehmer trifft geeignete technische und organisatorische Massnahmen.",
        ),
        (
            "RETURN_OR_DELETION",
            "Nach Abschluss der Leistungen sind alle Daten zu löschen oder zurückzugeben.",
        ),
        (
            "AUDITS",
            "Der Auftragnehmer ermöglicht Überprüfungen einschließlich Inspektionen durch den Auftraggeber.",
        ),
        (
            "BREACH_NOTIFICATION",
            "Der Auftragnehmer meldet jede Verletzung des Schutzes personenbezogener Daten unverzüglich.",
        ),
    ],
)
def test_gdpr_article_28_is_found_in_german_clauses(criterion, clause):
    assert shown("GDPR_ART_28", criterion, clause, "de")[0]


@pytest.mark.parametrize(
    ("framework", "criterion", "clause"),
    [
        ("GDPR_ART_13_14", "DPO_CONTACT", "You can reach our data protection officer at dpo@example.org."),
        ("GDPR_ART_13_14", "RETENTION_PERIOD", "We keep your data for two years after your last order."),
        (
            "GDPR_ART_13_14",
            "COMPLAINT_TO_AUTHORITY",
            "You may lodge a complaint with a supervisory authority.",
        ),
        (
            "DORA_ART_30",
            "LOCATIONS",
            "The provider shall notify the bank before it changes the location of a data centre.",
        ),
        (
            "DORA_ART_30",
            "EXIT_STRATEGY",
            "The provider continues to provide the services during a transition period.",
        ),
        (
            "DORA_ART_30",
            "ACCESS_INSPECTION_AUDIT",
            "The bank and its regulator have unrestricted rights of access, inspection and audit.",
        ),
        (
            "NIS2_ART_21",
            "INCIDENT_REPORTING",
            "Significant incidents are notified to the CSIRT within 72 hours.",
        ),
        (
            "HIPAA_BAA",
            "BOOKS_AND_RECORDS",
            "Business Associate shall make its books and records available to the Secretary.",
        ),
        (
            "CCPA_SERVICE_PROVIDER",
            "NO_SALE_OR_SHARING",
            "Service provider shall not sell or share personal information.",
        ),
        ("EU_AI_ACT_ANNEX_IV", "POST_MARKET_MONITORING", "The post-market monitoring plan is in Annex 9."),
        (
            "NDA_CONFIDENTIALITY",
            "NO_REVERSE_ENGINEERING",
            "The recipient will not reverse engineer any sample.",
        ),
        (
            "NDA_CONFIDENTIALITY",
            "LIMITED_USE",
            "Recipient shall use the information solely for the purpose of the evaluation.",
        ),
        (
            "NDA_CONFIDENTIALITY",
            "SURVIVAL_OF_OBLIGATIONS",
            "These obligations survive the end of this agreement.",
        ),
    ],
)
def test_other_frameworks_find_their_clauses(framework, criterion, clause):
    assert shown(framework, criterion, clause)[0]


@pytest.mark.parametrize(
    ("framework", "criterion", "clause"),
    [
        ("GDPR_ART_28", "SUBPROCESSOR_LIABILITY", "The supplier shall not be liable for its sub-processors."),
        (
            "GDPR_ART_28",
            "BREACH_NOTIFICATION",
            "The supplier notifies the client of a data breach within 10 days.",
        ),
        (
            "NDA_CONFIDENTIALITY",
            "EXPLICIT_IDENTIFICATION",
            "Information is confidential whether or not it is marked so.",
        ),
        ("NDA_CONFIDENTIALITY", "PERMISSIBLE_COPY", "The recipient shall not copy the documents."),
        ("CCPA_SERVICE_PROVIDER", "NO_SALE_OR_SHARING", "The provider may sell personal information."),
    ],
)
def test_the_opposite_is_read_as_a_contradiction(framework, criterion, clause):
    assert shown(framework, criterion, clause)[1]
