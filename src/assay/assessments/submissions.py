"""An assessment coming in: a form with a configuration, documents, addresses and content jobs."""

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError
from pydantic.alias_generators import to_camel

from assay.assessments.models import InvalidAssessment
from assay.assessments.service import Order
from assay.content.models import Received
from assay.content.service import Desk, Incoming
from assay.errors import TooLarge
from assay.identity.gateway import is_uuid
from assay.settings import LimitSettings
from assay.web.bodies import invalid, nearest, parse_json
from assay.web.multipart import Part

PARTS = ("configuration", "documents", "urls", "contentUuids")
MAX_FIELD_BYTES = 2**20


class Configuration(BaseModel):
    """What is to be judged, by what, and for whom."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid")

    expert_id: str = Field(min_length=1, max_length=255, description="Who carries out the assessment.")
    framework_code_name: str = Field(min_length=1, max_length=100, examples=["GDPR_ART_28"])
    criteria_code_names: list[str] | None = Field(
        None, min_length=1, description="The criteria; all of the framework when absent."
    )
    assessment_process_id: str | None = Field(
        None, description="A uuid that groups results; made by the server when absent."
    )
    llm_call: StrictBool | None = Field(
        None, description="true: by the language model; false: by the local engine; absent: as configured."
    )


class SubmissionForm:
    """Takes the parts as they come: documents straight into the store, the rest into bounded memory."""

    def __init__(self, desk: Desk, subject: str, limits: LimitSettings) -> None:
        self._desk = desk
        self._subject = subject
        self._limits = limits
        self._open = ExitStack()
        self._incoming: Incoming | None = None
        self._name = ""
        self._field = bytearray()
        self._fields: dict[str, list[bytes]] = {}
        self._document_bytes = 0
        self._waiting: list[Incoming] = []
        self.documents: list[Received] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def begin(self, part: Part) -> None:
        if part.name not in PARTS:
            raise InvalidAssessment(f"Unknown part {part.name[:100]!r}.{nearest(part.name, PARTS)}")
        self._name = part.name
        self._field = bytearray()
        if part.name == "documents":
            self._begin_document(part)

    def _begin_document(self, part: Part) -> None:
        self._refuse_too_many(len(self._waiting) + 1)
        document = self._desk.receive(self._subject, part.file_name, self._limits.file_bytes)
        self._incoming = self._open.enter_context(document)

    def _refuse_too_many(self, count: int) -> None:
        most = self._limits.assessment_sources
        if count > most:
            raise InvalidAssessment(f"An assessment may have at most {most} sources.")

    def data(self, chunk: bytes) -> None:
        if self._incoming is not None:
            self._document_bytes += len(chunk)
            if self._document_bytes > self._limits.assessment_bytes:
                raise TooLarge(
                    f"The documents may be at most {self._limits.assessment_bytes:,} bytes together."
                )
            self._incoming.write(chunk)
            return
        self._field += chunk
        if len(self._field) > MAX_FIELD_BYTES:
            raise TooLarge(f"The part {self._name!r} may be at most {MAX_FIELD_BYTES:,} bytes.")

    def end(self) -> None:
        if self._incoming is not None:
            self._incoming.finish()
            self._waiting.append(self._incoming)
            self._incoming = None
        else:
            self._fields.setdefault(self._name, []).append(bytes(self._field))

    def order(self, *, by_model_unless_told: bool) -> Order:
        """What the form asks for, or a 400 that says what is wrong with it."""
        configuration = self._configuration()
        urls, uuids = self._list("urls"), self._list("contentUuids")
        self._refuse_too_many(len(self._waiting) + len(urls) + len(uuids))
        if not (self._waiting or urls or uuids):
            raise InvalidAssessment(
                "An assessment needs at least one source: documents, urls or contentUuids."
            )
        names = configuration.criteria_code_names
        if names is not None and len(names) > self._limits.assessment_criteria:
            raise InvalidAssessment(
                f"An assessment may name at most {self._limits.assessment_criteria:,} criteria."
            )
        process_id = configuration.assessment_process_id
        if process_id is not None and not is_uuid(process_id):
            raise InvalidAssessment("assessmentProcessId: This is not a uuid.")
        chosen = configuration.llm_call
        for document in self._waiting:  # nothing of the form can be refused any more
            self.documents.append(document.keep())
        return Order(
            expert_id=configuration.expert_id,
            framework_code_name=configuration.framework_code_name,
            criteria_code_names=None if names is None else tuple(names),
            process_id=process_id.lower() if process_id else None,
            by_model=by_model_unless_told if chosen is None else chosen,
            documents=tuple(self.documents),
            urls=tuple(urls),
            content_uuids=tuple(dict.fromkeys(uuid.lower() for uuid in uuids)),
        )

    def _configuration(self) -> Configuration:
        given = self._fields.get("configuration", [])
        if len(given) != 1:
            raise InvalidAssessment("The part 'configuration' must stand once in the form.")
        try:
            return Configuration.model_validate(parse_json(given[0]))
        except ValidationError as error:
            problems = [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]
            raise invalid(problems, Configuration) from None

    def _list(self, name: str) -> list[str]:
        """One JSON array, or plain parts that may be repeated."""
        values: list[str] = []
        for raw in self._fields.get(name, []):
            values += _strings(name, raw)
        return values


def _strings(name: str, raw: bytes) -> list[str]:
    if raw.lstrip().startswith(b"["):
        value: Any = parse_json(raw)
        if not all(isinstance(item, str) for item in value):
            raise InvalidAssessment(f"{name}: This must be an array of strings.")
        return list(value)
    try:
        text = raw.decode().strip()
    except UnicodeDecodeError:
        raise InvalidAssessment(f"{name}: This is not UTF-8.") from None
    return [text] if text else []
