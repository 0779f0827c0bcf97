# ruff: noqa: E501  # a clause is a line, as people write them
"""Short agreements of our own, each with what a reader finds in it. Nobody's real contract."""

from dataclasses import dataclass

from assay.assessments.judging import Corpus
from assay.assessments.models import Category, Source
from assay.content.extraction import plain
from assay.content.models import Text

S, N, M = Category.SUFFICIENTLY_REGULATED, Category.NOT_SUFFICIENTLY_REGULATED, Category.MISSING


@dataclass(frozen=True, slots=True)
class Agreement:
    name: str
    framework: str
    words: str
    expected: dict[str, Category]

    @property
    def text(self) -> Text:
        return plain.read(self.words.encode())


def corpus(*texts: str | Text, names: tuple[str, ...] = ()) -> Corpus:
    """A corpus of these texts, called one.txt, two.txt …"""
    called = names or ("one.txt", "two.txt", "three.txt")
    read = [text if isinstance(text, Text) else plain.read(text.encode()) for text in texts]
    return Corpus.of(
        (Source(name, name, text.digest), text) for name, text in zip(called, read, strict=False)
    )


FULL_DPA = Agreement(
    "full", "GDPR_ART_28",
    """DATA PROCESSING AGREEMENT

1. Instructions

1.1 The Processor shall process personal data only on documented instructions from the Controller.

1.2 If Union or Member State law requires the Processor to process otherwise, it shall inform the Controller of that legal requirement before processing, unless that law prohibits such information.

1.3 The Processor shall immediately inform the Controller if, in its opinion, an instruction infringes data protection law.

2. People and security

2.1 The Processor shall ensure that persons authorised to process the personal data have committed themselves to confidentiality.

2.2 The Processor shall implement appropriate technical and organisational measures to protect personal data against accidental or unlawful destruction, loss, alteration, unauthorised disclosure or access.

3. Sub-processors

3.1 The Processor shall not engage a sub-processor without the prior written authorisation of the Controller.

3.2 The Processor shall inform the Controller of any intended addition or replacement of sub-processors, and the Controller may object to such a change.

3.3 The Processor shall impose on each sub-processor, by way of a contract, the same data protection obligations as this agreement contains.

3.4 The Processor remains fully liable to the Controller for the performance of the obligations of its sub-processors.

4. Help

The Processor shall assist the Controller in:

(a) responding to requests of data subjects who exercise their rights;

(b) ensuring compliance with its obligations on the security of processing;

(c) notifying personal data breaches to the supervisory authority;

(d) communicating personal data breaches to the data subjects;

(e) carrying out data protection impact assessments; and

(f) prior consultation of the supervisory authority.

5. End and proof

5.1 When the services end, the Processor shall delete or return all personal data, at the choice of the Controller.

5.2 The Processor shall make available to the Controller all information necessary to demonstrate compliance with this agreement.

5.3 The Processor shall allow for and contribute to audits, including inspections, conducted by the Controller.
""",
    dict.fromkeys(
        [
            "DOCUMENTED_INSTRUCTIONS", "LEGAL_REQUIREMENT_NOTICE", "INFRINGING_INSTRUCTIONS", "CONFIDENTIALITY",
            "SECURITY_MEASURES", "SECURITY_RISK_ASSESSMENT", "SUBPROCESSOR_AUTHORISATION", "SUBPROCESSOR_CHANGES",
            "SUBPROCESSOR_SAME_OBLIGATIONS", "SUBPROCESSOR_LIABILITY", "DATA_SUBJECT_RIGHTS", "ASSIST_SECURITY",
            "ASSIST_BREACH_AUTHORITY", "ASSIST_BREACH_DATA_SUBJECT", "ASSIST_DPIA", "ASSIST_PRIOR_CONSULTATION",
            "RETURN_OR_DELETION", "DEMONSTRATE_COMPLIANCE", "AUDITS",
        ],
        S,
    ) | {"INTERNATIONAL_TRANSFERS": M, "BREACH_NOTIFICATION": M},
)  # fmt: skip

THIN_DPA = Agreement(
    "thin", "GDPR_ART_28",
    """Hosting terms

The supplier hosts the shop of the customer and keeps its servers running.

The supplier processes personal data according to the instructions of the customer.

The supplier will notify the customer of personal data breaches within ten days.

The supplier may use subcontractors, and no consent of the customer is required for this.

Prices are listed on our website. Invoices are due within fourteen days.
""",
    {
        "DOCUMENTED_INSTRUCTIONS": N, "BREACH_NOTIFICATION": N, "SUBPROCESSOR_AUTHORISATION": N, "AUDITS": M,
        "RETURN_OR_DELETION": M, "CONFIDENTIALITY": M, "SUBPROCESSOR_LIABILITY": M, "ASSIST_DPIA": M,
        "INFRINGING_INSTRUCTIONS": M, "DATA_SUBJECT_RIGHTS": M, "DEMONSTRATE_COMPLIANCE": M,
    },
)  # fmt: skip

NAMED_DPA = Agreement(
    "named", "GDPR_ART_28",
    """This agreement is concluded between Lumen Cloud AG (“Lumen”, the “Processor”) and the customer (the “Controller”).

Lumen shall:

(a) process personal data solely on the written instructions of the Controller;

(b) notify the Controller without undue delay after becoming aware of a personal data breach;

(c) erase all personal data within thirty days after the termination of the services.

Lumen is not liable for the acts of any sub-processor.

The Controller shall not audit the premises of Lumen.
""",
    {
        "DOCUMENTED_INSTRUCTIONS": S, "BREACH_NOTIFICATION": S, "RETURN_OR_DELETION": S, "SUBPROCESSOR_LIABILITY": N,
        "AUDITS": N, "CONFIDENTIALITY": M, "ASSIST_PRIOR_CONSULTATION": M,
    },
)  # fmt: skip

GERMAN_DPA = Agreement(
    "german", "GDPR_ART_28",
    """Vertrag über die Auftragsverarbeitung

Der Auftragsverarbeiter verarbeitet personenbezogene Daten ausschließlich auf dokumentierte Weisung des Verantwortlichen.

Der Auftragsverarbeiter gewährleistet, dass sich die zur Verarbeitung befugten Personen zur Vertraulichkeit verpflichtet haben.

Der Auftragsverarbeiter trifft die technischen und organisatorischen Maßnahmen, die nach Artikel 32 erforderlich sind.

Nach Abschluss der Leistungen löscht der Auftragsverarbeiter alle personenbezogenen Daten oder gibt sie zurück.

Der Auftragsverarbeiter unterstützt den Verantwortlichen bei Anträgen betroffener Personen auf Wahrnehmung ihrer Rechte.
""",
    {
        "DOCUMENTED_INSTRUCTIONS": S, "CONFIDENTIALITY": S, "SECURITY_MEASURES": S, "RETURN_OR_DELETION": S,
        "DATA_SUBJECT_RIGHTS": S, "AUDITS": M, "SUBPROCESSOR_LIABILITY": M,
    },
)  # fmt: skip

STRICT_NDA = Agreement(
    "strict", "NDA_CONFIDENTIALITY",
    """NON-DISCLOSURE AGREEMENT

1. “Confidential Information” means all business, financial, technical and commercial information that the Disclosing Party discloses to the Receiving Party, whether orally or in writing, and whether or not it is marked as confidential.

2. The Receiving Party shall use the Confidential Information solely for the purpose of evaluating the proposed transaction and for no other purpose.

3. The Receiving Party may disclose Confidential Information to those of its employees, directors and professional advisers who need to know it and who are bound by obligations of confidentiality.

4. The Receiving Party shall not reverse engineer, decompile or disassemble any samples or software of the Disclosing Party.

5. If the Receiving Party is required by law or by a court order to disclose Confidential Information, it shall give the Disclosing Party prompt written notice before doing so.

6. Upon termination of this Agreement the Receiving Party shall return or destroy all Confidential Information and all copies, and shall not retain any copies.

7. Nothing in this Agreement grants the Receiving Party any licence or other right in the Confidential Information.

8. The obligations of this Agreement survive its termination for a period of five years.
""",
    {
        "LIMITED_USE": S, "SHARING_WITH_EMPLOYEES": S, "NO_REVERSE_ENGINEERING": S,
        "NOTICE_ON_COMPELLED_DISCLOSURE": S, "RETURN_OF_CONFIDENTIAL_INFORMATION": S, "NO_LICENSING": S,
        "SURVIVAL_OF_OBLIGATIONS": S, "NONE_INCLUSION_OF_NON_TECHNICAL_INFORMATION": N,
        "EXPLICIT_IDENTIFICATION": N, "PERMISSIBLE_POST_AGREEMENT_POSSESSION": N, "NO_SOLICITATION": M,
        "SHARING_WITH_THIRD_PARTIES": S, "INCLUSION_OF_VERBALLY_CONVEYED_INFORMATION": S,
    },
)  # fmt: skip

LOOSE_NDA = Agreement(
    "loose", "NDA_CONFIDENTIALITY",
    """Letter of confidentiality

You will receive documents from us that are clearly marked as confidential.

Information that you independently develop, or that you lawfully receive from a third party who is free to disclose it, is not confidential information.

You shall not solicit or hire any of our employees for two years.

You may make copies of the documents as far as this is necessary for your work.
""",
    {
        "EXPLICIT_IDENTIFICATION": S, "PERMISSIBLE_DEVELOPMENT_OF_SIMILAR_INFORMATION": S,
        "PERMISSIBLE_ACQUIREMENT_OF_SIMILAR_INFORMATION": S, "NO_SOLICITATION": S, "PERMISSIBLE_COPY": S,
        "NO_REVERSE_ENGINEERING": M, "NOTICE_ON_COMPELLED_DISCLOSURE": M, "CONFIDENTIALITY_OF_AGREEMENT": M,
    },
)  # fmt: skip

UNRELATED = Agreement(
    "unrelated", "GDPR_ART_28",
    """House rules of the allotment garden

The gate is closed at nine in the evening. Dogs are kept on a lead.

Members shall water the hedges in dry summers. Barbecues are allowed on the meadow only.
""",
    dict.fromkeys(
        ["DOCUMENTED_INSTRUCTIONS", "CONFIDENTIALITY", "AUDITS", "SUBPROCESSOR_LIABILITY", "SECURITY_MEASURES"], M
    ),
)  # fmt: skip

ALL = (FULL_DPA, THIN_DPA, NAMED_DPA, GERMAN_DPA, STRICT_NDA, LOOSE_NDA, UNRELATED)
