"""How content processing is shown outside: what we promise, as pydantic classes."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from assay.content.models import SourceType, Status, Text


class ApiModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class ContentProcessingResponseDTO(ApiModel):
    """A content processing job. A record always carries all its fields; what is not known is null."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")

    uuid: str = Field(examples=["0d6f2a4c-1b77-4f0e-9b5a-5c9e5a3e6f4f"])
    source_type: SourceType
    source_url: str | None
    file_name: str | None = Field(examples=["dpa.pdf"])
    status: Status
    error: str | None
    created_at: datetime
    completed_at: datetime | None
    fetched_at: datetime | None


class UrlSubmitRequestDTO(ApiModel):
    url: str = Field(
        description="The URL to process for text extraction", examples=["https://example.com/terms"]
    )


class BatchStatusRequestDTO(ApiModel):
    uuids: list[str] = Field(
        description="Job UUIDs to check", examples=[["0d6f2a4c-1b77-4f0e-9b5a-5c9e5a3e6f4f"]]
    )


class PageOut(ApiModel):
    number: int
    start: int
    end: int


class CellOut(ApiModel):
    start: int
    end: int


class BlockOut(ApiModel):
    kind: str
    level: int | None
    number: str | None
    page: int | None
    start: int
    end: int
    cells: list[CellOut] | None = None


class WarningOut(ApiModel):
    code: str
    message: str
    page: int | None
    count: int | None


class ContentOut(ApiModel):
    """The text with its structure. Offsets count Unicode code points of `text`."""

    uuid: str | None
    digest: str
    title: str | None
    language: str | None
    text: str
    pages: list[PageOut]
    blocks: list[BlockOut]
    warnings: list[WarningOut]


def content_out(text: Text, uuid: str | None) -> ContentOut:
    """The text with its structure, as the interface has it."""
    return ContentOut(
        uuid=uuid,
        digest=text.digest,
        title=text.title,
        language=text.language,
        text=text.text,
        pages=[PageOut(number=page.number, start=page.start, end=page.end) for page in text.pages],
        blocks=[
            BlockOut(
                kind=block.kind.value,
                level=block.level,
                number=block.number,
                page=block.page,
                start=block.start,
                end=block.end,
                cells=[CellOut(start=cell.start, end=cell.end) for cell in block.cells] or None,
            )
            for block in text.blocks
        ],
        warnings=[
            WarningOut(code=caveat.code, message=caveat.message, page=caveat.page, count=caveat.count)
            for caveat in text.caveats
        ],
    )
