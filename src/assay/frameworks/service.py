"""The catalogue: what is in it, how it gets there, and how it is shown."""

import hashlib
import json
import threading
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from assay.database.core import Database
from assay.frameworks import files, importers, store
from assay.frameworks.imports import Imported
from assay.frameworks.models import CodeNameTaken, Criterion, Entry, Framework, UnknownVersion

CATALOGUE = Path(__file__).with_name("catalogue")
_SUFFIXES = {".yaml", ".yml", ".json"}


def install(tx: Connection, framework: Framework, *, origin_digest: str, subject: str | None = None) -> int:
    """Put a framework, or a new version of it, into the catalogue; its number."""
    framework_id = _own_id(tx, framework.code_name, subject)
    if framework_id is None:
        framework_id = store.add(tx, framework.code_name, subject)
    store.add_version(
        tx,
        framework_id,
        version=framework.version,
        origin_digest=origin_digest,
        name=framework.name,
        criteria_count=len(framework.criteria),
        aspects_count=sum(len(criterion.aspects) for criterion in framework.criteria),
        body=zlib.compress(files.dump(framework).encode()),
        listing=json.dumps(_listed(framework, framework_id), ensure_ascii=False).encode(),
    )
    return framework_id


def _own_id(tx: Connection, code_name: str, subject: str | None) -> int | None:
    """A code name means one thing to everybody who can see it."""
    for framework_id, owner in store.find_namesakes(tx, code_name):
        if owner == subject:
            return framework_id
        if owner is None or subject is None:
            raise CodeNameTaken(f"Another framework is called {code_name}; give this one another code name.")
    return None


def _listed(framework: Framework, framework_id: int) -> dict[str, Any]:
    return {
        "id": framework_id,
        "name": framework.name,
        "codeName": framework.code_name,
        "description": framework.description,
        "criteria": [listed_criterion(criterion) for criterion in framework.criteria],
    }


def listed_criterion(criterion: Criterion) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "codeName": criterion.code_name,
        "description": criterion.description,
    }


def expanded(framework: Framework, framework_id: int) -> dict[str, Any]:
    """As listed, with the points that each criterion demands; an imported one has none."""
    shown = _listed(framework, framework_id)
    for listed, criterion in zip(shown["criteria"], framework.criteria, strict=True):
        listed["aspects"] = [
            {"name": aspect.name, "demand": aspect.demand, "mandatory": aspect.mandatory}
            for aspect in criterion.aspects
        ]
    return shown


def find(tx: Connection, number_or_code: str, subject: str | None) -> Entry | None:
    """By number or by code name, among what the partner can see."""
    return store.find(tx, number_or_code, subject)


def get(tx: Connection, number_or_code: str, subject: str | None) -> Entry:
    return store.get(tx, number_or_code, subject)


def list_(tx: Connection, subject: str) -> list[Entry]:
    return store.list_(tx, subject)


def read(tx: Connection, version_id: int) -> Framework:
    """A version of a framework, ready to judge by."""
    return _parsed(store.body(tx, version_id))


@lru_cache(maxsize=64)
def _parsed(body: bytes) -> Framework:
    return files.parse(zlib.decompress(body).decode())


def version_id(tx: Connection, entry: Entry, version: str | None) -> int:
    """Which version is meant: the current one, unless another is named."""
    if version is None or version == entry.version:
        return entry.version_id
    found = store.version_ids(tx, entry.id).get(version)
    if found is None:
        raise UnknownVersion
    return found


def import_file(
    tx: Connection,
    path: Path,
    *,
    beside: Iterable[Path] = (),
    code_name: str | None = None,
    subject: str | None = None,
) -> Imported:
    """Take a file of any known kind into the catalogue: whole, or not at all."""
    imported = importers.import_(path, beside=tuple(beside), code_name=code_name)
    install(tx, imported.framework, origin_digest=_digest(path), subject=subject)
    return imported


def synchronise(database: Database, folder: Path | None) -> None:
    """Have what we ship, and what the operator's folder holds. Files that are known cost a look each."""
    paths = sorted(CATALOGUE.glob("*.yaml"))
    if folder is not None:
        paths += sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES)
    with database.read() as tx:
        strangers = [path for path in paths if not store.knows(tx, _digest(path), None)]
    for path in strangers:
        with database.write() as tx:
            if not store.knows(tx, _digest(path), None):
                import_file(tx, path, beside=[other for other in paths if other != path])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Listing:
    """The answer to "which frameworks are there?", as bytes and with a name that changes when they do."""

    body: bytes
    etag: str


class Listings:
    """The listing of each view of the catalogue, kept until the catalogue changes."""

    def __init__(self) -> None:
        self._kept: dict[str | None, tuple[int, Listing]] = {}
        self._lock = threading.Lock()

    def get(self, tx: Connection, subject: str) -> Listing:
        """One for all partners without frameworks of their own: there may be megabytes of it."""
        has_own, generation = store.state(tx, subject)
        view = subject if has_own else None
        with self._lock:
            kept = self._kept.get(view)
        if kept is None or kept[0] != generation:
            body = b"[" + b",".join(store.listings(tx, view)) + b"]"
            kept = generation, Listing(body, hashlib.sha256(body).hexdigest()[:32])
            with self._lock:
                self._kept[view] = kept
        return kept[1]
