"""Erase a partner: everything but the fact that it was there and what was done."""

from assay.audit import service as audit
from assay.audit.models import Action, Actor, Deed, Entry
from assay.content.blobs import Blobs
from assay.database.core import Database
from assay.identity import service as identity
from assay.retention import store


def erase_partner(database: Database, blobs: Blobs, name_or_subject: str) -> Entry:
    """The audit entry that tells what was erased, which is the receipt.

    First the partner is refused and its work withdrawn, then the stored files go, then all rows, in one
    transaction with the entry. So it can be run again when something went away in between: whatever was
    not yet erased is still known, and is erased then.
    """
    with database.write() as tx:
        subject = identity.disable(tx, name_or_subject).subject
        withdrawn = store.withdraw_work(tx, subject)
    files = _erase_files(blobs, subject)
    with database.write() as tx:
        rows = store.erase_partner(tx, subject)
        store.forget_partner(tx, subject)
        counts = {**rows, "jobs": rows["jobs"] + withdrawn, "stored_files": files}
        deed = Deed(Action.ERASE_PARTNER, subject, Actor.OPERATOR, target=subject, counts=counts)
        entry = audit.append(tx, deed)
    _erase_files(blobs, subject)  # of an upload that was under way when the partner was refused
    return entry


def _erase_files(blobs: Blobs, subject: str) -> int:
    keys = list(blobs.keys(subject))
    for key in keys:
        blobs.delete(key)
    return len(keys)
