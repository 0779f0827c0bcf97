"""Writes down what a request did, or was refused, with the partner and the request id."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from assay.audit import service
from assay.audit.models import DONE, Action, Deed
from assay.database.core import Database
from assay.errors import Conflict, InternalError, ServiceError
from assay.identity.gateway import is_uuid


@dataclass(frozen=True, slots=True)
class Witness:
    """One for a request. What a client made up is never written down: a target is a uuid or a number."""

    database: Database
    subject: str
    request_id: str
    notes_reads: bool

    def note(self, tx: Connection, action: Action, target: str | int | None) -> None:
        """What has just been done in this transaction, of which this is the last statement."""
        service.append(tx, self._deed(action, target, DONE))

    def note_read(self, action: Action, target: str | int) -> None:
        """What is about to be handed out. If that cannot be written down, it is not handed out."""
        if self.notes_reads:
            self._append(action, target, DONE)

    @contextmanager
    def of_deed(self, action: Action, target: str | int | None = None) -> Iterator[None]:
        """Note a refusal too, in a transaction of its own: that of the deed is rolled back."""
        try:
            yield
        except ServiceError as error:
            if error.status < InternalError.status:
                self._append(action, target, error.code)
            raise

    @contextmanager
    def of_read(self, action: Action, target: str | int) -> Iterator[None]:
        """As `of_deed`; but whoever asks too early gets nothing, and is only waiting."""
        try:
            yield
        except Conflict:
            raise
        except ServiceError as error:
            if self.notes_reads and error.status < InternalError.status:
                self._append(action, target, error.code)
            raise

    def _append(self, action: Action, target: str | int | None, outcome: str) -> None:
        with self.database.write() as tx:
            service.append(tx, self._deed(action, target, outcome))

    def _deed(self, action: Action, target: str | int | None, outcome: str) -> Deed:
        known = isinstance(target, int) or (target is not None and is_uuid(target))
        return Deed(
            action=action,
            subject=self.subject,
            target=str(target).lower() if known else None,
            request_id=self.request_id,
            outcome=outcome,
        )
