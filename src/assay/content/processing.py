"""What a worker does for a content job: fetch where there is an address, read, settle."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from sqlalchemy import Connection

from assay.content import store
from assay.content.blobs import Blobs, StoreUnavailable
from assay.content.extraction import Reader, Source
from assay.content.extraction.sandbox.outcomes import Cancelled, ChildCrashed, SandboxUnavailable
from assay.content.extraction.sniffing import HEAD_BYTES, Kind, sniff
from assay.content.fetching import Fetched, Fetcher, Validators
from assay.content.fetching.failures import FetchCancelled, Unfetchable
from assay.content.models import Blob, ContentJob, ReaderFailed, SourceType, Text, UnreadableDocument
from assay.content.service import Desk
from assay.database.core import Database, after_commit
from assay.errors import ServiceError
from assay.jobs import table
from assay.jobs.models import Control, Job, Lost, Task, Transient
from assay.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is to be written when the work is done. No text: it failed, or the page has not changed since."""

    failure: ServiceError | None = None
    text: Text | None = None
    blob: Blob | None = None
    values: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Processor:
    database: Database
    desk: Desk
    reader: Reader
    fetcher: Fetcher
    metrics: Metrics = field(default_factory=Metrics)

    def task(self) -> Task:
        return Task(start=self._start, run=self._run, fail=self._fail)

    @property
    def _blobs(self) -> Blobs:
        return self.desk.blobs

    def read_original(self, content: ContentJob) -> Text:
        """The text as it was before tracked changes: read anew, for few ever ask for it."""
        assert content.blob_key is not None
        with self._blobs.open_file(content.blob_key) as file:
            return self.reader.read(file, Source(original=True))

    def _start(self, tx: Connection, job: Job) -> None:
        store.start(tx, job.target)
        self.desk.changes.announce(tx, job.target)

    def _fail(self, tx: Connection, job: Job, failure: ServiceError) -> None:
        store.fail(tx, job.target, error=failure.message, error_code=failure.code)
        after_commit(tx, self.metrics.documents_failed.labels(failure.code).inc)
        self.desk.tell(tx, job.target)

    def _run(self, job: Job, control: Control) -> None:
        """Safe to run twice: the result replaces itself, and only the holder of the lease may write it."""
        with self.database.read() as tx:
            content = store.find(tx, job.target)
            has_twin = content is not None and store.has_twin(tx, content)
        if content is None:  # cancelled between two looks: nothing is owed any more
            with self.database.write() as tx:
                table.finish(tx, job)
            return
        if has_twin and self._took_over(job, content):
            return
        try:
            outcome = self._outcome(content, control)
        except (Cancelled, FetchCancelled):
            raise Lost from None
        except ChildCrashed as crash:
            raise Transient(ReaderFailed()) from crash
        except (SandboxUnavailable, StoreUnavailable) as away:
            raise Transient(away) from away
        except UnreadableDocument as failure:
            if isinstance(failure, Unfetchable) and failure.transient:
                raise Transient(failure) from failure
            outcome = Outcome(failure=failure)
        self._settle(job, content, outcome)

    def _settle(self, job: Job, content: ContentJob, outcome: Outcome) -> None:
        try:
            with self.database.write() as tx:
                table.finish(tx, job)
                if outcome.failure is not None:
                    self._fail(tx, job, outcome.failure)
                else:
                    self._complete(tx, content, outcome)
        except BaseException:
            if outcome.blob is not None:  # nothing was written that knows of these bytes
                self._blobs.delete(outcome.blob.key)
            raise

    def _took_over(self, job: Job, content: ContentJob) -> bool:
        """Equal bytes of a partner are read once; a refresh reads them again."""
        with self.database.write() as tx:
            digest = store.copy_twin_text(tx, content)
            if digest is not None:
                table.finish(tx, job)
                store.complete(tx, content.uuid, text_digest=digest)
                self.desk.tell(tx, content.uuid)
        return digest is not None

    def _outcome(self, content: ContentJob, control: Control) -> Outcome:
        if content.source_type is SourceType.URL:
            return self._from_url(content, control)
        assert content.blob_key is not None
        with self._blobs.open_file(content.blob_key) as file:
            return Outcome(text=self._read(file, Source(), control))

    def _from_url(self, content: ContentJob, control: Control) -> Outcome:
        assert content.source_url is not None
        fetched = self.fetcher.fetch(content.source_url, known=_known(content), cancelled=control.cancelled)
        values = {"fetched_at": datetime.now(UTC)}
        if fetched.not_modified:
            return Outcome(values=values)
        text = self._read(fetched.body, Source(fetched.charset, fetched.url, fetched.is_page), control)
        facts = {
            "file_name": fetched.file_name,
            "validated_url": fetched.url,
            "etag": fetched.etag,
            "last_modified": fetched.last_modified,
        }
        return Outcome(text=text, blob=self._keep(content.subject, fetched), values={**values, **facts})

    def _read(self, file: BinaryIO | bytes, source: Source, control: Control) -> Text:
        with self.metrics.extraction_seconds.labels(_kind(file, source)).time():
            return self.reader.read(file, source, cancelled=control.cancelled)

    def _keep(self, subject: str, fetched: Fetched) -> Blob:
        with self._blobs.receive(subject) as upload:
            upload.write(fetched.body)
            return upload.commit()

    def _complete(self, tx: Connection, content: ContentJob, outcome: Outcome) -> None:
        values = dict(outcome.values or {})
        if outcome.text is not None:
            store.keep_text(tx, content.uuid, outcome.text)
            values["text_digest"] = outcome.text.digest
        if outcome.blob is not None:
            values["blob_key"] = self.desk.adopt(tx, content.subject, outcome.blob)
        store.complete(tx, content.uuid, **values)
        if values.get("blob_key", content.blob_key) != content.blob_key:
            self.desk.release_blob(tx, content.blob_key)
        self.desk.tell(tx, content.uuid)


def _kind(file: BinaryIO | bytes, source: Source) -> str:
    """By which reader, in the operator's words. Whoever reads the file begins at its start."""
    kind = sniff(file if isinstance(file, bytes) else file.read(HEAD_BYTES))
    if kind is Kind.TEXT and source.is_page:
        return "html"
    return "docx" if kind in {Kind.ZIP, Kind.OLE} else kind or "other"


def _known(content: ContentJob) -> Validators | None:
    """What to ask by whether the page has changed; not while there is no text to keep."""
    given = content.validators
    if content.text_digest is None or given.url is None:
        return None
    return Validators(given.url, given.etag, given.last_modified)
