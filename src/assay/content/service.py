"""Submit, refresh, cancel and read content jobs."""

import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlalchemy import Connection

from assay.content import store
from assay.content.blobs import Blobs
from assay.content.fetching import urls
from assay.content.fetching.addresses import Allow
from assay.content.models import Blob, ContentJob, ContentNotReady, SourceType, Status, Text
from assay.content.uploads import Incoming, incoming
from assay.database.core import Database, after_commit
from assay.jobs import table
from assay.jobs.changes import Changes
from assay.jobs.engine import Engine

__all__ = ["PROCESS", "Desk", "Incoming"]  # and what `Desk.receive` gives, for those who take it

PROCESS = "content.process"


@dataclass(frozen=True, slots=True)
class Desk:
    """Where content jobs are handed in, changed and withdrawn."""

    engine: Engine
    changes: Changes
    blobs: Blobs
    allow: Allow = field(default_factory=Allow)
    max_url_characters: int = urls.MAX_CHARACTERS
    # Told, in the same transaction, of every job that has settled or is gone; assessments wait for that.
    listeners: list[Callable[[Connection, str], None]] = field(default_factory=list)

    def tell(self, tx: Connection, uuid: str) -> None:
        for listener in self.listeners:
            listener(tx, uuid)
        self.changes.announce(tx, uuid)

    def checked(self, url: str) -> str:
        """The address in its normal form; 400 for one that can never be fetched."""
        return urls.check(url, self.allow, max_characters=self.max_url_characters)

    def receive(
        self, subject: str, file_name: str | None, max_bytes: int
    ) -> AbstractContextManager[Incoming]:
        """A document on its way into the store."""
        return incoming(self.blobs, subject, file_name, max_bytes)

    def discard(self, blob: Blob) -> None:
        """Erase bytes that came in and that nobody took up."""
        self.blobs.delete(blob.key)

    def submit_file(self, tx: Connection, subject: str, *, file_name: str | None, blob: Blob) -> ContentJob:
        """Promise to read a document whose bytes are in the store."""
        key = self.adopt(tx, subject, blob)
        return self._submit(tx, _new(subject, SourceType.FILE, file_name=file_name, blob_key=key))

    def submit_url(self, tx: Connection, subject: str, url: str) -> ContentJob:
        """Promise to fetch and read a page; the address has been checked."""
        return self._submit(tx, _new(subject, SourceType.URL, source_url=url))

    def _submit(self, tx: Connection, job: ContentJob) -> ContentJob:
        store.add(tx, job)
        self._enqueue(tx, job)
        return job

    def _enqueue(self, tx: Connection, job: ContentJob) -> None:
        self.engine.deliver(tx, table.enqueue(tx, PROCESS, target=job.uuid, subject=job.subject))

    def refresh(self, tx: Connection, subject: str, uuid: str) -> ContentJob:
        """Read a settled job's source again; one in progress stays as it is."""
        job = store.get(tx, uuid, subject, to_change=True)
        if not job.status.is_settled:
            return job
        store.change(tx, uuid, status=Status.PENDING.value, error=None, error_code=None, completed_at=None)
        self._enqueue(tx, job)
        self.changes.announce(tx, uuid)
        return store.get(tx, uuid, subject)

    def cancel(self, tx: Connection, subject: str, uuid: str) -> None:
        """Stop the work and erase job, bytes and text."""
        store.get(tx, uuid, subject)
        table.withdraw(tx, uuid)
        self.release_blob(tx, store.remove(tx, uuid))
        self.tell(tx, uuid)

    def adopt(self, tx: Connection, subject: str, blob: Blob) -> str:
        """The key of these bytes. Those that the partner has already are not kept a second time."""
        key = store.keep_blob(tx, key=blob.key, subject=subject, digest=blob.digest, size=blob.size)
        if key != blob.key:
            after_commit(tx, lambda: self.blobs.delete(blob.key))
        return key

    def release_blob(self, tx: Connection, key: str | None) -> None:
        """Erase bytes that no job uses any more, once that is certain."""
        if key is not None and store.release_blob(tx, key):
            after_commit(tx, lambda: self.blobs.delete(key))

    def sweep(self, database: Database) -> None:
        """Erase stored bytes that no record knows: left by a process that died at the wrong moment."""
        stored = set(self.blobs.keys())
        with database.read() as tx:
            known = store.list_blob_keys(tx)
        for key in stored - known:
            self.blobs.delete(key)


def _new(subject: str, source_type: SourceType, **fields: str | None) -> ContentJob:
    job = ContentJob(
        uuid=str(uuid.uuid4()), subject=subject, source_type=source_type, created_at=datetime.now(UTC)
    )
    return replace(job, **fields)  # type: ignore[arg-type]  # each of these fields is an optional string


def get(tx: Connection, uuid: str, subject: str) -> ContentJob:
    return store.get(tx, uuid, subject)


def list_(tx: Connection, uuids: Sequence[str], subject: str, *, hold: bool = False) -> dict[str, ContentJob]:
    """Those of the named jobs that are this partner's, by uuid; `hold` them, and none changes meanwhile."""
    return store.list_(tx, uuids, subject, hold=hold)


def pin_text(tx: Connection, uuid: str, digest: str, holder: str) -> None:
    """Keep a text that is being judged as long as the holder needs it."""
    store.pin_text(tx, uuid, digest, holder)


def list_pins(tx: Connection, holder: str) -> set[tuple[str, str]]:
    """What the holder keeps, as (uuid, digest); a text that was erased is not among them."""
    return store.list_pins(tx, holder)


def unpin_texts(tx: Connection, holder: str) -> None:
    store.unpin_texts(tx, holder)


def read_pinned(tx: Connection, uuid: str, digest: str) -> Text:
    """A text by its digest; UnknownText where it was erased."""
    return store.get_text(tx, uuid, digest)


def has_revisions(text: Text) -> bool:
    """Whether the document had tracked changes, which the text shows as accepted."""
    return any(caveat.code == "tracked_changes" for caveat in text.caveats)


def text_digest(job: ContentJob, wanted: str | None = None) -> str:
    """Which text of the job is meant: the one asked for, else the last good one."""
    if job.text_digest is None:
        raise ContentNotReady
    return wanted or job.text_digest
