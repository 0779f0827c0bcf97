"""Original bytes, each partner's apart: in a folder, or in a bucket.

A committed upload is durable: a folder is written here, because obstore's LocalStore never syncs to disk.
Whatever ends before the commit (a client that goes away, a killed process) leaves nothing behind.
"""

import fcntl
import hashlib
import os
import re
import secrets
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore, from_url

from assay.content.models import Blob
from assay.errors import Unavailable, Unknown

_PARTNER = re.compile(r"[A-Za-z0-9-]{1,64}")
_KEY = re.compile(r"[A-Za-z0-9-]{1,64}/[0-9a-f]{2}/([0-9a-f]{64})-[0-9a-f]{16}")
_BUCKETS = {"s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss"}
# One part in flight while the next is read: an upload costs this much memory, however large it is.
_PART_BYTES = 5 * 2**20
_PARTS_AT_ONCE = 1
# obstore would try for three minutes: a caller is told sooner that the bucket is away.
_CONNECT_TIME = timedelta(seconds=5)
_REQUEST_TIME = timedelta(seconds=60)
_RETRY_TIME = timedelta(seconds=10)


class StoreUnavailable(Unavailable):
    """The document store is away or full; try again shortly."""


class MissingBlob(Unknown):
    """The stored bytes of the document are gone."""


class Upload:
    """Bytes on their way in, hashed and counted as they come. Kept by `commit`, and only then."""

    def __init__(self, partner: str, file: BinaryIO, keep: Callable[[str], None]) -> None:
        if not _PARTNER.fullmatch(partner):
            raise ValueError("Bytes are kept for a partner's identifier.")
        self._partner = partner
        self.file = file
        self._keep = keep
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        self._hash.update(chunk)
        self.size += len(chunk)
        with _named_failures():
            _write(self.file, chunk)

    def commit(self) -> Blob:
        """Durable, once this returns."""
        digest = self._hash.hexdigest()
        key = f"{self._partner}/{digest[:2]}/{digest}-{secrets.token_hex(8)}"
        with _named_failures():
            self._keep(key)
        return Blob(key, digest, self.size)


class Blobs(ABC):
    """The store; open one by `Blobs.open`. Safe to share by threads and by processes."""

    @staticmethod
    def open(place: str | Path, options: Mapping[str, str] | None = None) -> "Blobs":
        """A folder (path or file URL), or a bucket (s3://bucket/prefix, gs://…, az://…).

        `options` are obstore's for that kind of bucket: credentials, region, endpoint. ValueError for
        a place that is neither.
        """
        scheme, separator, _ = str(place).partition("://")
        if not separator:
            return _Folder(Path(place))
        if scheme == "file":
            return _Folder(Path(unquote(urlsplit(str(place)).path)))
        if scheme in _BUCKETS:
            return _Bucket(str(place), options or {})
        raise ValueError(f"Documents are kept in a folder, s3://, gs:// or az://, not in {scheme}://.")

    @abstractmethod
    def receive(self, partner: str) -> AbstractContextManager[Upload]:
        """Take bytes in. Without a commit nothing is kept when the block ends."""

    @abstractmethod
    def open_file(self, key: str) -> BinaryIO:
        """The bytes as a local file, open for reading at its start. MissingBlob if there are none."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Erase the bytes; those that are gone already are no failure."""

    @abstractmethod
    def keys(self, partner: str | None = None) -> Iterator[str]:
        """Every key there is, or every one of a partner: also those that nobody knows any more."""

    @abstractmethod
    def check(self) -> None:
        """Raise StoreUnavailable unless an upload could be taken now."""


class _Folder(Blobs):
    """Files are written under `.incoming`, each locked by its writer, and renamed into place.

    The lock dies with the process, so that a later start can tell a left-over from an upload that
    another process is taking in at this moment.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._incoming = self._root / ".incoming"
        with _named_failures():
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._incoming.mkdir(exist_ok=True)
            _sync(self._root.parent, self._root)
            self._sweep()

    @contextmanager
    def receive(self, partner: str) -> Iterator[Upload]:
        with self._temporary() as (path, file):
            yield Upload(partner, file, lambda key: self._keep(path, file, key))

    def open_file(self, key: str) -> BinaryIO:
        with _named_failures():
            try:
                return self._path(key).open("rb")
            except FileNotFoundError as error:
                raise MissingBlob from error

    def keys(self, partner: str | None = None) -> Iterator[str]:
        for path in self._root.glob(f"{partner or '*'}/??/*-*"):
            yield path.relative_to(self._root).as_posix()

    def delete(self, key: str) -> None:
        path = self._path(key)
        with _named_failures(), suppress(FileNotFoundError):
            path.unlink()
            _sync(path.parent)

    def check(self) -> None:
        with self._temporary() as (_, file), _named_failures():
            file.write(b"\0")
            os.fsync(file.fileno())

    def _path(self, key: str) -> Path:
        return self._root / _checked(key)

    def _keep(self, written: Path, file: BinaryIO, key: str) -> None:
        os.fsync(file.fileno())
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        written.replace(path)
        _sync(path.parent, path.parent.parent, self._root)

    @contextmanager
    def _temporary(self) -> Iterator[tuple[Path, BinaryIO]]:
        with _named_failures():
            path, file = self._locked()
        with file:
            try:
                yield path, file
            finally:
                with suppress(OSError):  # renamed into place, or lost together with the disk
                    path.unlink()

    def _locked(self) -> tuple[Path, BinaryIO]:
        while True:
            path = self._incoming / uuid.uuid4().hex
            file = path.open("x+b", buffering=0)
            # A sweep may come between the opening and the lock; then this file is gone: take another.
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(file.fileno()).st_nlink:
                    return path, file
            file.close()

    def _sweep(self) -> None:
        for path in self._incoming.iterdir():
            with suppress(FileNotFoundError, BlockingIOError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()


class _Bucket(Blobs):
    """Bytes wait in a local file without a name, which no crash leaves behind, and go up whole.

    A crash while they go up can leave parts that the bucket hides: a lifecycle rule of the bucket ends those.
    """

    def __init__(self, url: str, options: Mapping[str, str]) -> None:
        settings: dict[str, Any] = {
            "config": dict(options),
            "client_options": {"connect_timeout": _CONNECT_TIME, "timeout": _REQUEST_TIME},
            "retry_config": {"max_retries": 3, "retry_timeout": _RETRY_TIME},
        }
        if any(value.startswith("http://") for value in options.values()):
            settings["client_options"]["allow_http"] = True  # the endpoint is the operator's own choice
        try:
            self._store: ObjectStore = from_url(url, **settings)
        except BaseError as error:
            raise ValueError(f"The bucket {url} cannot be opened: {error}") from error

    @contextmanager
    def receive(self, partner: str) -> Iterator[Upload]:
        with _named_failures():
            file = _unnamed()
        with file:
            yield Upload(partner, file, lambda key: self._keep(file, key))

    def open_file(self, key: str) -> BinaryIO:
        with _named_failures(), ExitStack() as unless_whole:
            file = unless_whole.enter_context(_unnamed())
            try:
                self._copy(key, file)
            except FileNotFoundError as error:
                self.check()  # a bucket that is gone reads like a key that is gone
                raise MissingBlob from error
            unless_whole.pop_all()
        return file

    def delete(self, key: str) -> None:
        with _named_failures(), suppress(FileNotFoundError):
            obstore.delete(self._store, _checked(key))

    def keys(self, partner: str | None = None) -> Iterator[str]:
        with _named_failures():
            for some in obstore.list(self._store, prefix=partner):
                yield from (entry["path"] for entry in some)

    def check(self) -> None:
        with _named_failures():
            next(iter(obstore.list(self._store, prefix="none", chunk_size=1)), None)

    def _keep(self, file: BinaryIO, key: str) -> None:
        file.seek(0)
        obstore.put(
            self._store,
            _checked(key),
            file,
            chunk_size=_PART_BYTES,
            max_concurrency=_PARTS_AT_ONCE,
        )

    def _copy(self, key: str, file: BinaryIO) -> None:
        hashed = hashlib.sha256()
        for chunk in obstore.get(self._store, _checked(key)).stream():
            hashed.update(chunk)
            _write(file, chunk)
        if hashed.hexdigest() not in key:
            raise StoreUnavailable("The document store gave back other bytes than it was given.")
        file.seek(0)


def _checked(key: str) -> str:
    """A key as `commit` makes them: no other can lead anywhere."""
    if not _KEY.fullmatch(key):
        raise ValueError("This is not the key of stored bytes.")
    return key


@contextmanager
def _named_failures() -> Iterator[None]:
    try:
        yield
    except (OSError, BaseError) as error:
        raise StoreUnavailable from error


def _unnamed() -> BinaryIO:
    return tempfile.TemporaryFile(buffering=0)


def _write(file: BinaryIO, data: Any) -> None:
    """All of it: without a buffer, a full disk takes a part and says so."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _sync(*folders: Path) -> None:
    """What stands in a folder survives a power cut once the folder itself was synced."""
    for folder in folders:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
