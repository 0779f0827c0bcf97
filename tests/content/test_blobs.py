"""Stored bytes, in a folder and in a bucket of a real S3 server."""

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tracemalloc
import urllib.request
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.content.blobs import Blobs, MissingBlob, StoreUnavailable

try:
    from moto.server import ThreadedMotoServer
except ImportError:
    ThreadedMotoServer = None

ANNA = "0d6b5e1c-6d0f-4f6a-9a62-6a8d7d2b8a11"
BERT = "5f1f2a36-02d5-4f7e-8a52-1f1d5c0b7e42"
BYTES = b"%PDF-1.7 an agreement"
DIGEST = hashlib.sha256(BYTES).hexdigest()
KEY = f"{ANNA}/{DIGEST[:2]}/{DIGEST}-{'0' * 16}"

needs_s3 = pytest.mark.skipif(ThreadedMotoServer is None, reason="moto[server] is not installed")


@pytest.fixture(scope="module")
def s3():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class Bucket:
    """What a test may see and do to the bucket behind the store's back."""

    def __init__(self, endpoint, name):
        self.endpoint = endpoint
        self.url = f"s3://{name}/documents"
        self._address = f"{endpoint}/{name}"
        self.put("", b"")

    @property
    def options(self):
        return {
            "endpoint": self.endpoint,
            "region": "us-east-1",
            "access_key_id": "k",
            "secret_access_key": "s",
        }

    def put(self, key, data):
        request = urllib.request.Request(f"{self._address}/{key}".rstrip("/"), data, method="PUT")
        urllib.request.urlopen(request).close()

    def keys(self):
        with urllib.request.urlopen(self._address) as answer:
            return [part.partition("</Key>")[0] for part in answer.read().decode().split("<Key>")[1:]]


@pytest.fixture
def bucket(s3):
    return Bucket(s3, f"bucket-{uuid.uuid4()}")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "blobs"


@pytest.fixture(params=["folder", pytest.param("bucket", marks=needs_s3)])
def place(request):
    """The store, and a function that lists every object that lies in it."""
    there = request.getfixturevalue(request.param)
    if request.param == "folder":
        return Blobs.open(there), lambda: files_in(there)
    return Blobs.open(there.url, there.options), there.keys


@pytest.fixture
def blobs(place):
    return place[0]


@pytest.fixture
def stored(place):
    return place[1]


def files_in(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def store(blobs, partner, *chunks):
    return store_all(blobs, partner, chunks)


def store_all(blobs, partner, chunks):
    with blobs.receive(partner) as upload:
        for chunk in chunks:
            upload.write(chunk)
        return upload.commit()


def going_away():
    """A client that leaves in the middle of its upload."""
    yield BYTES
    raise ConnectionAbortedError


def read(blobs, key):
    with blobs.open_file(key) as file:
        return file.read()


@contextmanager
def disk_full_after(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_bytes_come_back_as_they_were_given(blobs):
    blob = store(blobs, ANNA, BYTES[:5], b"", BYTES[5:])

    assert (blob.digest, blob.size) == (DIGEST, len(BYTES))
    assert read(blobs, blob.key) == BYTES


def test_no_bytes_are_bytes_too(blobs):
    assert read(blobs, store(blobs, ANNA).key) == b""


def test_an_upload_of_many_parts_comes_back_whole(blobs):
    chunk = bytes(range(256)) * 256
    blob = store_all(blobs, ANNA, (chunk for _ in range(180)))

    with blobs.open_file(blob.key) as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == blob.digest
        assert file.tell() == blob.size == 180 * len(chunk)


def test_a_large_upload_takes_no_memory(folder):
    blobs = Blobs.open(folder)
    chunk = bytes(65536)
    tracemalloc.start()
    try:
        store_all(blobs, ANNA, (chunk for _ in range(320)))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_the_size_so_far_is_known_while_bytes_arrive(blobs):
    with blobs.receive(ANNA) as upload:
        upload.write(BYTES)
        assert upload.size == len(BYTES)


def test_every_upload_has_a_key_of_its_own_below_its_partner(blobs, stored):
    keys = [store(blobs, partner, BYTES).key for partner in (ANNA, ANNA, BERT)]

    assert sorted(blobs.keys()) == sorted(keys)
    assert len(stored()) == 3
    assert [key.partition("/")[0] for key in keys] == [ANNA, ANNA, BERT]
    blobs.delete(keys[0])
    assert read(blobs, keys[1]) == read(blobs, keys[2]) == BYTES


def test_an_upload_that_is_not_committed_leaves_nothing(blobs, stored):
    with blobs.receive(ANNA) as upload:
        upload.write(BYTES)
    with pytest.raises(ConnectionAbortedError):
        store_all(blobs, ANNA, going_away())

    assert stored() == []
    assert list(blobs.keys()) == []


def test_a_delete_erases_and_may_be_repeated(blobs, stored):
    key = store(blobs, ANNA, BYTES).key

    blobs.delete(key)
    blobs.delete(key)

    assert stored() == []
    with pytest.raises(MissingBlob):
        blobs.open_file(key)


def test_a_file_that_is_being_read_survives_its_deletion(blobs):
    key = store(blobs, ANNA, BYTES).key
    with blobs.open_file(key) as file:
        blobs.delete(key)
        assert file.read() == BYTES


@pytest.mark.parametrize(
    "key",
    [
        "",
        "../x",
        f"../{DIGEST[:2]}/{DIGEST}-{'0' * 16}",
        f"{ANNA}/{DIGEST[:2]}/../x",
        f"{ANNA}/{DIGEST[:2]}/{DIGEST}",
        f"{KEY}\n",
        KEY.upper(),
    ],
)
def test_no_name_leads_out_of_the_store(blobs, key):
    for use in (blobs.open_file, blobs.delete):
        with pytest.raises(ValueError, match="not the key of stored bytes"):
            use(key)


def test_a_wrong_partner_is_refused_before_the_first_byte(blobs):
    with pytest.raises(ValueError, match="a partner's identifier"), blobs.receive("../x"):
        pytest.fail("The block must not be entered.")


@pytest.mark.parametrize(
    "chunks", [[b"a" * 30_000] * 10, [b"a" * 100_001]], ids=["between", "within a chunk"]
)
def test_a_full_disk_is_named_and_nothing_is_kept(blobs, stored, chunks):
    with pytest.raises(StoreUnavailable) as failed, disk_full_after(100_000):
        store_all(blobs, ANNA, chunks)

    assert (failed.value.status, failed.value.headers["Retry-After"]) == (503, "2")
    assert "/" not in failed.value.message
    assert stored() == []


def test_a_store_in_order_is_ready(blobs, stored):
    blobs.check()
    assert stored() == []


def test_a_full_folder_is_not_ready(folder):
    blobs = Blobs.open(folder)
    with disk_full_after(0), pytest.raises(StoreUnavailable):
        blobs.check()


def test_a_folder_that_is_gone_is_named(folder):
    blobs = Blobs.open(folder)
    shutil.rmtree(folder)

    with pytest.raises(StoreUnavailable):
        blobs.check()
    with pytest.raises(StoreUnavailable), blobs.receive(ANNA):
        pytest.fail("The block must not be entered.")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreUnavailable):
        Blobs.open(tmp_path / "file" / "blobs")


def test_a_folder_may_be_named_by_url_and_is_read_again_after_a_restart(tmp_path):
    key = store(Blobs.open(f"file://{tmp_path}/my%20blobs"), ANNA, BYTES).key

    assert read(Blobs.open(tmp_path / "my blobs"), key) == BYTES


def test_the_folder_is_for_the_service_alone(folder):
    Blobs.open(folder)
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("place", ["http://example.com/x", "ftp://example.com/", "memory:///"])
def test_a_place_that_is_neither_folder_nor_bucket_stops_the_start(place):
    with pytest.raises(ValueError, match="kept in a folder, s3://, gs:// or az://"):
        Blobs.open(place)


def test_an_unknown_option_of_a_bucket_stops_the_start():
    with pytest.raises(ValueError, match="The bucket s3://documents cannot be opened"):
        Blobs.open("s3://documents", {"colour": "blue"})


def test_a_commit_returns_only_after_bytes_and_names_are_on_the_disk(folder, monkeypatch):
    blobs = Blobs.open(folder)
    done = []
    sync, rename = os.fsync, Path.replace
    monkeypatch.setattr(
        os, "fsync", lambda fd: (done.append(Path(f"/proc/self/fd/{fd}").readlink()), sync(fd))
    )
    monkeypatch.setattr(Path, "replace", lambda path, target: (done.append("renamed"), rename(path, target)))

    store(blobs, ANNA, BYTES)

    assert done[0].parent == folder / ".incoming"
    assert done[1:] == ["renamed", folder / ANNA / DIGEST[:2], folder / ANNA, folder]


KILLED = """
import os, signal, sys
from assay.content.blobs import Blobs
with Blobs.open(sys.argv[1]).receive("partner") as upload:
    upload.write(b"a" * 100_000)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_swept_but_not_what_is_arriving(folder):
    blobs = Blobs.open(folder)
    with blobs.receive(ANNA) as upload:
        upload.write(BYTES[:5])
        subprocess.run([sys.executable, "-c", KILLED, folder], check=False, timeout=60)
        assert len(files_in(folder)) == 2

        Blobs.open(folder)

        assert len(files_in(folder)) == 1
        upload.write(BYTES[5:])
        blob = upload.commit()
    assert files_in(folder) == [blob.key]


def test_a_bucket_that_is_away_is_named_soon():
    closed = {"endpoint": "http://127.0.0.1:9", "region": "x", "access_key_id": "k", "secret_access_key": "s"}
    blobs = Blobs.open("s3://documents", closed)

    for use in (blobs.check, lambda: blobs.open_file(KEY), lambda: store(blobs, ANNA, BYTES)):
        with pytest.raises(StoreUnavailable) as failed:
            use()
        assert "127.0.0.1" not in failed.value.message


@needs_s3
def test_a_bucket_that_does_not_exist_is_not_taken_for_a_missing_document(bucket):
    blobs = Blobs.open("s3://no-such-bucket", bucket.options)

    with pytest.raises(StoreUnavailable):
        blobs.check()
    with pytest.raises(StoreUnavailable):
        blobs.open_file(KEY)


@needs_s3
def test_bytes_that_a_bucket_has_changed_are_not_given_out(bucket):
    blobs = Blobs.open(bucket.url, bucket.options)
    bucket.put(f"documents/{KEY}", b"something else")

    with pytest.raises(StoreUnavailable, match="other bytes than it was given"):
        blobs.open_file(KEY)
