"""The tables of content processing, and every query on them."""

import json
import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Row,
    String,
    Table,
    UniqueConstraint,
    delete,
    exists,
    insert,
    select,
    update,
)
from sqlalchemy import Text as LongString
from sqlalchemy.exc import IntegrityError

from assay.content.models import (
    ContentJob,
    SourceType,
    Status,
    Text,
    UnknownContentJob,
    UnknownText,
    Validators,
)
from assay.database.types import Timestamp, metadata

blobs = Table(
    "blobs",
    metadata,
    Column("key", LongString, primary_key=True),
    Column("subject", String(36), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    UniqueConstraint("subject", "digest", name="uq_blobs_subject_digest"),
)

content_jobs = Table(
    "content_jobs",
    metadata,
    Column("uuid", String(36), primary_key=True),
    Column("subject", String(36), nullable=False),
    Column("source_type", String(8), nullable=False),
    Column("source_url", LongString),
    Column("file_name", LongString),
    Column("status", String(16), nullable=False),
    Column("error", LongString),
    Column("error_code", LongString),
    Column("created_at", Timestamp, nullable=False),
    Column("completed_at", Timestamp),
    Column("fetched_at", Timestamp),
    Column("validated_url", LongString),
    Column("etag", LongString),
    Column("last_modified", LongString),
    Column("blob_key", LongString, ForeignKey("blobs.key"), index=True),
    Column("text_digest", String(80)),
    Column("version", Integer, nullable=False),
    Index("ix_content_jobs_subject_created_at", "subject", "created_at"),
)

content_texts = Table(
    "content_texts",
    metadata,
    Column("uuid", String(36), ForeignKey("content_jobs.uuid", ondelete="CASCADE"), nullable=False),
    Column("digest", String(80), nullable=False),
    Column("text", LargeBinary, nullable=False),
    Column("structure", LargeBinary, nullable=False),
    PrimaryKeyConstraint("uuid", "digest", name="pk_content_texts"),
)

# A text that somebody has judged is kept as long as the judgement.
text_pins = Table(
    "text_pins",
    metadata,
    Column("uuid", String(36), ForeignKey("content_jobs.uuid", ondelete="CASCADE"), nullable=False),
    Column("digest", String(80), nullable=False),
    Column("holder", String(36), nullable=False, index=True),
    PrimaryKeyConstraint("uuid", "digest", "holder", name="pk_text_pins"),
)

_IN_LIST = 500  # SQLite bounds the number of parameters of a statement


def add(tx: Connection, job: ContentJob) -> None:
    tx.execute(insert(content_jobs).values(**_row(job)))


def get(tx: Connection, uuid: str, subject: str, *, to_change: bool = False) -> ContentJob:
    """`to_change`: nobody else changes it before this transaction ends."""
    job = find(tx, uuid, to_change=to_change)
    if job is None or job.subject != subject:
        raise UnknownContentJob
    return job


def find(tx: Connection, uuid: str, *, to_change: bool = False) -> ContentJob | None:
    query = select(content_jobs).where(content_jobs.c.uuid == uuid)
    row = tx.execute(query.with_for_update() if to_change else query).one_or_none()
    return None if row is None else _job(row)


def list_(tx: Connection, uuids: Sequence[str], subject: str, *, hold: bool = False) -> dict[str, ContentJob]:
    """Those of the named jobs that are this partner's, by uuid. `hold`: they stay so until this ends."""
    found: dict[str, ContentJob] = {}
    for start in range(0, len(uuids), _IN_LIST):
        some = uuids[start : start + _IN_LIST]
        query = select(content_jobs).where(content_jobs.c.uuid.in_(some), content_jobs.c.subject == subject)
        query = query.with_for_update(read=True) if hold else query
        found.update((row.uuid, _job(row)) for row in tx.execute(query))
    return found


def change(tx: Connection, uuid: str, **values: Any) -> None:
    """Change a job that is there; its version rises, so that a reader can tell."""
    query = update(content_jobs).where(content_jobs.c.uuid == uuid)
    tx.execute(query.values(version=content_jobs.c.version + 1, **values))


def start(tx: Connection, uuid: str) -> None:
    change(tx, uuid, status=Status.RUNNING.value, error=None, error_code=None, completed_at=None)


def fail(tx: Connection, uuid: str, *, error: str, error_code: str) -> None:
    """The last good text, if there is one, stays readable."""
    values = {"error": error[:2000], "error_code": error_code, "completed_at": datetime.now(UTC)}
    change(tx, uuid, status=Status.FAILED.value, **values)


def complete(tx: Connection, uuid: str, **values: Any) -> None:
    change(
        tx,
        uuid,
        status=Status.COMPLETED.value,
        error=None,
        error_code=None,
        completed_at=datetime.now(UTC),
        **values,
    )


def keep_text(tx: Connection, uuid: str, text: Text) -> None:
    """The text of a job replaces the one before, unless somebody has judged that one."""
    _drop_texts(tx, uuid, but=text.digest)
    known = (content_texts.c.uuid == uuid, content_texts.c.digest == text.digest)
    tx.execute(delete(content_texts).where(*known))
    tx.execute(
        insert(content_texts).values(
            uuid=uuid,
            digest=text.digest,
            text=_packed(text.text),
            structure=_packed(json.dumps(text.structure(), ensure_ascii=False)),
        )
    )


def _drop_texts(tx: Connection, uuid: str, *, but: str | None) -> None:
    pinned = select(text_pins.c.digest).where(text_pins.c.uuid == uuid)
    tx.execute(
        delete(content_texts).where(
            content_texts.c.uuid == uuid, content_texts.c.digest != but, content_texts.c.digest.not_in(pinned)
        )
    )


def pin_text(tx: Connection, uuid: str, digest: str, holder: str) -> None:
    """Keep this text as long as the holder needs it."""
    row = {"uuid": uuid, "digest": digest, "holder": holder}
    known = [getattr(text_pins.c, name) == value for name, value in row.items()]
    if tx.execute(select(text_pins.c.uuid).where(*known)).first() is None:
        tx.execute(insert(text_pins).values(**row))


def list_pins(tx: Connection, holder: str) -> set[tuple[str, str]]:
    """What the holder keeps, as (uuid, digest); a text that was erased is not among them."""
    query = select(text_pins.c.uuid, text_pins.c.digest).where(text_pins.c.holder == holder)
    return {(row.uuid, row.digest) for row in tx.execute(query)}


def unpin_texts(tx: Connection, holder: str) -> None:
    """Let go of what the holder kept; what nobody else needs is gone."""
    uuids = tx.execute(select(text_pins.c.uuid).where(text_pins.c.holder == holder)).scalars().all()
    tx.execute(delete(text_pins).where(text_pins.c.holder == holder))
    for uuid in set(uuids):
        job = find(tx, uuid)
        _drop_texts(tx, uuid, but=job.text_digest if job else None)


def _twins(job: ContentJob) -> tuple[ColumnElement[bool], ...]:
    return (
        content_jobs.c.blob_key == job.blob_key,
        content_jobs.c.uuid != job.uuid,
        content_jobs.c.source_type == SourceType.FILE.value,
        content_jobs.c.text_digest.is_not(None),
    )


def has_twin(tx: Connection, job: ContentJob) -> bool:
    """Whether another job has read the same bytes, and this one has not."""
    if job.blob_key is None or job.text_digest is not None:
        return False
    return tx.execute(select(content_jobs.c.uuid).where(*_twins(job)).limit(1)).first() is not None


def copy_twin_text(tx: Connection, job: ContentJob) -> str | None:
    """Take over the text of another job with the same bytes; its digest, if there is one."""
    of_twin = (
        content_texts.c.uuid == content_jobs.c.uuid,
        content_texts.c.digest == content_jobs.c.text_digest,
    )
    row = tx.execute(select(content_texts).where(*of_twin, *_twins(job)).limit(1)).one_or_none()
    if row is None:
        return None
    copied = {"digest": row.digest, "text": row.text, "structure": row.structure}
    tx.execute(insert(content_texts).values(uuid=job.uuid, **copied))
    return str(row.digest)


def get_plain(tx: Connection, uuid: str, digest: str) -> bytes:
    """The text alone, as UTF-8."""
    return zlib.decompress(_text_row(tx, uuid, digest).text)


def get_text(tx: Connection, uuid: str, digest: str) -> Text:
    row = _text_row(tx, uuid, digest)
    return Text.of(zlib.decompress(row.text).decode(), json.loads(zlib.decompress(row.structure)))


def _text_row(tx: Connection, uuid: str, digest: str) -> Row[Any]:
    query = select(content_texts).where(content_texts.c.uuid == uuid, content_texts.c.digest == digest)
    row = tx.execute(query).one_or_none()
    if row is None:
        raise UnknownText
    return row


def remove(tx: Connection, uuid: str) -> str | None:
    """The job and its texts. The key of its bytes is returned, as it was last: they are `release_blob`'s."""
    query = delete(content_jobs).where(content_jobs.c.uuid == uuid).returning(content_jobs.c.blob_key)
    row = tx.execute(query).one_or_none()
    if row is None:
        raise UnknownContentJob
    key: str | None = row.blob_key
    return key


def keep_blob(tx: Connection, *, key: str, subject: str, digest: str, size: int) -> str:
    """The key under which these bytes of the partner are kept: an earlier one's, if there is one.

    A record that is there stays until this transaction has put it to use. One that another transaction has
    just made is found at the second look.
    """
    query = select(blobs.c.key).where(blobs.c.subject == subject, blobs.c.digest == digest)
    while True:
        known: str | None = tx.execute(query.with_for_update()).scalar_one_or_none()
        if known is not None:
            return known
        with suppress(IntegrityError), tx.begin_nested():
            tx.execute(insert(blobs).values(key=key, subject=subject, digest=digest, size=size))
            return key


def release_blob(tx: Connection, key: str) -> bool:
    """Whether no job uses these bytes any more; then their record is gone."""
    tx.execute(select(blobs.c.key).where(blobs.c.key == key).with_for_update())  # whoever adopts it is done
    unused = ~exists().where(content_jobs.c.blob_key == key)
    return tx.execute(delete(blobs).where(blobs.c.key == key, unused)).rowcount == 1


def list_blob_keys(tx: Connection) -> set[str]:
    return set(tx.execute(select(blobs.c.key)).scalars())


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode(), level=1)


def _row(job: ContentJob) -> dict[str, Any]:
    return {
        "uuid": job.uuid,
        "subject": job.subject,
        "source_type": job.source_type.value,
        "source_url": job.source_url,
        "file_name": job.file_name,
        "status": job.status.value,
        "created_at": job.created_at,
        "blob_key": job.blob_key,
        "version": job.version,
    }


def _job(row: Row[Any]) -> ContentJob:
    fields = dict(row._mapping)
    return ContentJob(
        source_type=SourceType(fields.pop("source_type")),
        status=Status(fields.pop("status")),
        validators=Validators(fields.pop("validated_url"), fields.pop("etag"), fields.pop("last_modified")),
        **fields,
    )
