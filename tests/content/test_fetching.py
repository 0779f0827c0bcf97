"""Downloads, against a real server on loopback that does what servers on the web do."""

import datetime as dt
import gzip
import socket
import ssl
import threading
import time
import zlib
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from ipaddress import ip_address

import brotli
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from assay import __version__
from assay.content.fetching import Fetcher, FetchLimits, Validators
from assay.content.fetching.addresses import Allow
from assay.content.fetching.failures import (
    BrokenOff,
    DownloadTooLarge,
    FetchCancelled,
    ForbiddenAddress,
    GarbledAnswer,
    HostNotFound,
    InvalidUrl,
    LookUpFailed,
    RedirectsWithoutEnd,
    RefusedByServer,
    ServerInTrouble,
    TookTooLong,
    Unfetchable,
    UnknownEncoding,
    Unreachable,
    UntrustedCertificate,
)

LOOPBACK = ip_address("127.0.0.1")
SECOND_LOOPBACK = ip_address("127.0.0.2")


class Site:
    """A server that answers each path with the bytes, or by the function, that a test has put there."""

    def __init__(self, listener, tls=None):
        self.port = listener.getsockname()[1]
        self.pages = {}
        self.requests = []
        self.over = threading.Event()
        self._listener = listener
        self._tls = tls
        self._threads = []
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def url(self, path="/", host="127.0.0.1", scheme="http"):
        return f"{scheme}://{host}:{self.port}{path}"

    def drip(self, start, drop):
        """Send `drop` again and again, as long as somebody takes it."""

        def answer(connection):
            connection.sendall(start)
            while not self.over.wait(0.02):
                connection.sendall(drop)

        return answer

    def close(self):
        self.over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in [self._accepting, *self._threads]:
            thread.join(10)
            assert not thread.is_alive()

    def _accept(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=(connection,))
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection):
        with suppress(OSError), connection:
            connection.settimeout(10)
            secured = self._tls.wrap_socket(connection, server_side=True) if self._tls else connection
            with secured:
                self._answer(secured)

    def _answer(self, connection):
        request = b""
        while b"\r\n\r\n" not in request:
            received = connection.recv(65536)
            if not received:
                return
            request += received
        self.requests.append(request.decode("latin-1"))
        page = self.pages[request.split(b" ")[1].decode()]
        if callable(page):
            page(connection)
        else:
            connection.sendall(page)


def response(body=b"", status="200 OK", **headers):
    fields = {
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def redirect(location, status="302 Found"):
    return response(status=status, Location=location)


@contextmanager
def serving(address="127.0.0.1", port=0, tls=None):
    site = Site(socket.create_server((address, port)), tls)
    try:
        yield site
    finally:
        site.close()


@pytest.fixture
def site():
    with serving() as site:
        yield site


@pytest.fixture
def other_site():
    """A server that nobody has opened."""
    with serving() as site:
        site.pages["/"] = response(b"internal")
        yield site


def opened(*sites):
    return Allow(frozenset((LOOPBACK, site.port) for site in sites))


@pytest.fixture
def fetcher(site):
    return Fetcher(allow=opened(site))


def limited(site, **limits):
    return Fetcher(replace(FetchLimits(), **limits), opened(site))


def no_look_up(host, port):
    raise AssertionError("A name was looked up.")


# The document and what is known about it


def test_a_document_comes_with_what_its_headers_say(site, fetcher):
    site.pages["/dpa"] = response(
        b"Data processing agreement",
        Content_Type='Text/Plain; Charset="ISO-8859-1"',
        ETag='"v1"',
        Last_Modified="Sat, 31 Jan 2026 09:30:00 GMT",
        Content_Disposition="attachment; filename=\"x.txt\"; filename*=UTF-8''..%2FAuftrag%C3%A4.txt",
    )

    fetched = fetcher.fetch(site.url("/dpa#part"))

    assert (fetched.url, fetched.status, fetched.body) == (
        site.url("/dpa"),
        200,
        b"Data processing agreement",
    )
    assert (fetched.media_type, fetched.charset) == ("text/plain", "iso-8859-1")
    assert (fetched.etag, fetched.last_modified) == ('"v1"', "Sat, 31 Jan 2026 09:30:00 GMT")
    assert (fetched.file_name, fetched.not_modified) == ("Auftragä.txt", False)


def test_a_file_without_a_given_name_is_called_as_its_address_ends(site, fetcher):
    site.pages["/files/terms%20of%20use.pdf?v=2"] = response(b"%PDF-1.7\n")

    assert fetcher.fetch(site.url("/files/terms%20of%20use.pdf?v=2")).file_name == "terms of use.pdf"


@pytest.mark.parametrize("body", [b"<!doctype html><p>Terms", b"Terms of <b>use</b>"])
def test_a_web_page_has_no_file_name(site, fetcher, body):
    site.pages["/terms.html"] = response(body, Content_Type="text/html")

    assert fetcher.fetch(site.url("/terms.html")).file_name is None


def test_the_request_names_the_product_and_carries_nothing_of_ours(site, fetcher, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    site.pages["/"] = response(status="302 Found", Location="/next", Set_Cookie="session=1")
    site.pages["/next"] = response(b"text")

    fetcher.fetch(site.url("/"))

    names = {line.partition(":")[0].lower() for line in site.requests[1].splitlines()[1:] if line}
    assert names == {"host", "user-agent", "accept", "accept-encoding", "connection"}
    assert f"User-Agent: Assay/{__version__}\r\n" in site.requests[1]
    assert f"Host: 127.0.0.1:{site.port}\r\n" in site.requests[1]


def test_a_body_may_come_in_chunks_after_an_interim_answer_or_end_with_the_connection(site, fetcher):
    site.pages["/chunks"] = (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5;x=y\r\nHello\r\n1\r\n!\r\n0\r\nTrailer: 1\r\n\r\n"
    )
    site.pages["/end"] = b"HTTP/1.0 200 OK\r\n\r\nHello!"

    assert fetcher.fetch(site.url("/chunks")).body == b"Hello!"
    assert fetcher.fetch(site.url("/end")).body == b"Hello!"


# Conditional requests


def test_what_is_not_modified_is_not_sent_again(site, fetcher):
    site.pages["/"] = response(b"text", ETag='"v1"', Last_Modified="Sat, 31 Jan 2026 09:30:00 GMT")
    first = fetcher.fetch(site.url("/"))
    site.pages["/"] = b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'

    second = fetcher.fetch(site.url("/"), known=first.validators)

    assert (second.not_modified, second.status, second.body, second.validators) == (
        True,
        304,
        b"",
        first.validators,
    )
    assert 'If-None-Match: "v1"\r\n' in site.requests[1]
    assert "If-Modified-Since: Sat, 31 Jan 2026 09:30:00 GMT\r\n" in site.requests[1]


def test_a_condition_is_put_only_to_the_url_that_it_came_from(site, fetcher):
    site.pages["/"] = redirect("/new")
    site.pages["/new"] = response(b"another document", ETag='"1"')

    fetcher.fetch(site.url("/"), known=Validators(site.url("/old"), '"1"', None))
    assert not any("If-None-Match" in request for request in site.requests)

    fetcher.fetch(site.url("/"), known=Validators(site.url("/new"), '"1"', None))
    assert ["If-None-Match" in request for request in site.requests[2:]] == [False, True]


def test_a_304_that_nobody_asked_for_is_no_document(site, fetcher):
    site.pages["/"] = b"HTTP/1.1 304 Not Modified\r\n\r\n"

    for known in (None, Validators(site.url("/other"), '"v1"', None), Validators(site.url("/"), None, None)):
        with pytest.raises(RefusedByServer, match=r"answered 304 Not Modified\."):
            fetcher.fetch(site.url("/"), known=known)


@pytest.mark.parametrize("etag", ["a" * 600, "caf\xe9", '"tab\there"'])
def test_a_validator_that_could_not_be_sent_back_is_not_kept(site, fetcher, etag):
    site.pages["/"] = response(b"text", ETag=etag)

    assert fetcher.fetch(site.url("/")).etag is None


# Statuses


@pytest.mark.parametrize(
    ("status", "says", "transient"),
    [
        ("404 Gone fishing", "The address answered 404 Not Found.", False),
        ("403 Forbidden", "The address answered 403 Forbidden.", False),
        ("204 No Content", "The address answered 204 No Content.", False),
        ("206 Partial Content", "The address answered 206 Partial Content.", False),
        ("302 Found", "The address answered 302 Found.", False),
        ("429 Too Many Requests", "The address answered 429 Too Many Requests.", True),
        ("503 Service Unavailable", "The address answered 503 Service Unavailable.", True),
        ("599 <script>", "The address answered 599.", True),
    ],
)
def test_an_answer_without_a_document_names_its_status(site, fetcher, status, says, transient):
    site.pages["/"] = response(status=status, Content_Length=None)

    with pytest.raises(RefusedByServer) as refused:
        fetcher.fetch(site.url("/"))

    assert (refused.value.message, refused.value.transient) == (says, transient)
    assert isinstance(refused.value, ServerInTrouble) is transient


# Redirects


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
)
def test_redirects_are_followed(site, fetcher, status):
    site.pages["/a/b"] = redirect("../c d?é", status)
    site.pages["/c%20d?%C3%A9"] = response(b"here")

    fetched = fetcher.fetch(site.url("/a/b"))

    assert (fetched.url, fetched.body) == (site.url("/c%20d?%C3%A9"), b"here")


def test_five_redirects_are_followed_and_six_are_not(site, fetcher):
    site.pages.update({f"/{number}": redirect(f"/{number + 1}") for number in range(6)})
    site.pages["/6"] = response(b"here")

    assert fetcher.fetch(site.url("/1")).body == b"here"
    with pytest.raises(RedirectsWithoutEnd, match="more than 5 times"):
        fetcher.fetch(site.url("/0"))


def test_a_circle_of_redirects_is_seen_at_once(site, fetcher):
    site.pages["/a"] = redirect("/b#1")
    site.pages["/b"] = redirect("/a#2")

    with pytest.raises(RedirectsWithoutEnd, match="in a circle"):
        fetcher.fetch(site.url("/a"))
    assert len(site.requests) == 2


def test_a_refresh_in_the_page_is_not_followed(site, fetcher):
    page = b'<html><meta http-equiv="refresh" content="0;url=http://169.254.169.254/">'
    site.pages["/"] = response(page, Refresh="0;url=http://169.254.169.254/")

    assert fetcher.fetch(site.url("/")).body == page


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://2130706433/",
        "http://localhost/",
    ],
)
def test_a_redirect_to_a_private_address_is_refused(site, fetcher, location):
    site.pages["/"] = redirect(location)

    with pytest.raises(ForbiddenAddress):
        fetcher.fetch(site.url("/"))


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://example.com/", "http://u:p@example.com/", "http://[", "/ne\txt"]
)
def test_a_redirect_to_what_is_no_web_address_is_refused(site, fetcher, location):
    site.pages.update({"/": redirect(location), "/next": response(b"text")})

    with pytest.raises(InvalidUrl, match=r"redirects to a URL that cannot be fetched\."):
        fetcher.fetch(site.url("/"))


def test_a_redirect_longer_than_the_limit_is_refused(site, fetcher):
    site.pages["/"] = redirect("/" + "a" * 2048)

    with pytest.raises(InvalidUrl):
        fetcher.fetch(site.url("/"))


# Addresses


def test_nothing_private_is_open_by_default_and_no_connection_is_made(site):
    with pytest.raises(ForbiddenAddress):
        Fetcher().fetch(site.url("/"))
    with pytest.raises(ForbiddenAddress):
        Fetcher(resolve=lambda host, port: [LOOPBACK]).fetch(site.url("/", host="policies.example"))
    assert site.requests == []
    assert site._threads == []


def test_a_refused_address_reads_the_same_for_an_open_and_a_closed_port(site, fetcher, other_site):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        closed_port = probe.getsockname()[1]
    site.pages["/open"] = redirect(other_site.url("/"))
    site.pages["/closed"] = redirect(f"http://127.0.0.1:{closed_port}/")

    said = []
    for path in ("/open", "/closed"):
        with pytest.raises(ForbiddenAddress) as refused:
            fetcher.fetch(site.url(path))
        said.append((type(refused.value), refused.value.message, refused.value.transient))

    assert said[0] == said[1]
    assert other_site._threads == []


def test_a_name_is_looked_up_once_and_the_judged_address_is_the_one_connected_to(site):
    answers = [[LOOPBACK], [ip_address("169.254.169.254")]]
    asked = []

    def rebinding(host, port):
        asked.append((host, port))
        return answers.pop(0)

    site.pages["/"] = response(b"text")
    fetcher = Fetcher(allow=opened(site), resolve=rebinding)

    assert fetcher.fetch(site.url("/", host="Policies.Example")).body == b"text"
    assert asked == [("policies.example", site.port)]
    assert f"Host: policies.example:{site.port}\r\n" in site.requests[0]


def test_a_name_is_judged_again_at_every_redirect(site):
    answers = [[LOOPBACK], [SECOND_LOOPBACK]]
    site.pages["/"] = redirect("/again")
    fetcher = Fetcher(allow=opened(site), resolve=lambda host, port: answers.pop(0))

    with pytest.raises(ForbiddenAddress):
        fetcher.fetch(site.url("/", host="policies.example"))
    assert len(site.requests) == 1


def test_of_several_addresses_only_the_open_ones_are_used(site):
    site.pages["/"] = response(b"text")
    with serving("127.0.0.2", site.port) as closed:
        fetcher = Fetcher(allow=opened(site), resolve=lambda host, port: [SECOND_LOOPBACK, LOOPBACK])
        assert fetcher.fetch(site.url("/", host="policies.example")).body == b"text"
        assert closed._threads == []


def test_the_next_address_is_tried_when_one_refuses(site):
    site.pages["/"] = response(b"text")
    allow = Allow.parse(f"policies.example:{site.port}")
    fetcher = Fetcher(allow=allow, resolve=lambda host, port: [ip_address("::1"), SECOND_LOOPBACK, LOOPBACK])

    assert fetcher.fetch(site.url("/", host="policies.example")).body == b"text"


def test_localhost_needs_no_name_server(site):
    site.pages["/"] = response(b"text")
    fetcher = Fetcher(allow=opened(site), resolve=no_look_up)

    assert fetcher.fetch(site.url("/", host="localhost")).body == b"text"


@pytest.mark.parametrize(
    ("error", "failure", "transient"),
    [
        (socket.gaierror(socket.EAI_NONAME, "unknown"), HostNotFound, False),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), LookUpFailed, True),
        (OSError("no network"), LookUpFailed, True),
    ],
)
def test_a_name_that_is_not_found_fails_by_name(error, failure, transient):
    def resolve(host, port):
        raise error

    with pytest.raises(failure) as failed:
        Fetcher(resolve=resolve).fetch("http://policies.example/")
    assert (type(failed.value), failed.value.transient) == (failure, transient)


def test_a_bug_in_the_look_up_is_not_taken_for_a_missing_host():
    with pytest.raises(AssertionError, match="A name was looked up"):
        Fetcher(resolve=no_look_up).fetch("http://policies.example/")


def test_a_connection_that_is_refused_may_be_tried_again_later(site, fetcher):
    site.close()

    with pytest.raises(Unreachable) as failed:
        fetcher.fetch(site.url("/"))
    assert failed.value.transient


# Time


def assert_ends_in_time(fetcher, url, seconds):
    started = time.monotonic()
    with pytest.raises(TookTooLong, match=f"longer than {seconds:g} seconds") as failed:
        fetcher.fetch(url)
    assert seconds <= time.monotonic() - started < seconds + 1
    assert failed.value.transient


def test_a_look_up_without_end_ends(site):
    never = threading.Event()
    fetcher = Fetcher(replace(FetchLimits(), total_seconds=0.3), resolve=lambda host, port: never.wait(10))
    try:
        assert_ends_in_time(fetcher, "http://policies.example/", 0.3)
    finally:
        never.set()


@contextmanager
def silence(address, port=0):
    """An endpoint that neither accepts nor refuses: its queue is full."""
    with socket.socket() as listener:
        listener.bind((address, port))
        listener.listen(0)
        with socket.create_connection(listener.getsockname()):
            yield listener.getsockname()[1]


def test_a_connection_that_nobody_accepts_ends():
    with silence("127.0.0.1") as port:
        fetcher = Fetcher(replace(FetchLimits(), total_seconds=0.3), Allow.parse(f"127.0.0.1:{port}"))
        assert_ends_in_time(fetcher, f"http://127.0.0.1:{port}/", 0.3)


def test_a_silent_address_does_not_take_the_time_of_the_next(site):
    site.pages["/"] = response(b"text")
    limits, allow = replace(FetchLimits(), total_seconds=1), Allow.parse(f"policies.example:{site.port}")
    fetcher = Fetcher(limits, allow, resolve=lambda host, port: [SECOND_LOOPBACK, LOOPBACK])

    with silence("127.0.0.2", site.port):
        assert fetcher.fetch(site.url("/", host="policies.example")).body == b"text"


def test_a_server_that_greets_in_another_protocol_is_not_waited_for(site, fetcher):
    def greet(connection):
        connection.sendall(b"220 mail.example ESMTP\r\n")
        site.over.wait(10)

    site.pages["/"] = greet
    with pytest.raises(GarbledAnswer):
        fetcher.fetch(site.url("/"))


def test_a_handshake_that_is_never_answered_ends():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        fetcher = Fetcher(replace(FetchLimits(), total_seconds=0.3), Allow.parse(f"127.0.0.1:{port}"))
        assert_ends_in_time(fetcher, f"https://127.0.0.1:{port}/", 0.3)


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"a"),
    ],
    ids=["headers", "body", "chunks", "until the end"],
)
def test_a_drip_of_single_bytes_ends(site, start, drop):
    site.pages["/"] = site.drip(start, drop)

    assert_ends_in_time(limited(site, total_seconds=0.3), site.url("/"), 0.3)


def test_redirects_share_one_deadline(site):
    def slow_redirect(connection):
        site.over.wait(0.2)
        connection.sendall(redirect("/b"))

    site.pages["/a"] = slow_redirect
    site.pages["/b"] = lambda connection: site.over.wait(10)

    assert_ends_in_time(limited(site, total_seconds=0.4), site.url("/a"), 0.4)


def test_a_cancel_from_another_thread_takes_effect_at_once(site, fetcher):
    cancelled = threading.Event()
    noticed = []

    def hang(connection):
        noticed.append(time.monotonic())
        cancelled.set()
        site.over.wait(10)

    site.pages["/"] = hang
    with pytest.raises(FetchCancelled):
        fetcher.fetch(site.url("/"), cancelled=cancelled)
    assert time.monotonic() - noticed[0] < 1


def test_a_cancel_during_the_look_up_takes_effect_at_once():
    cancelled, never = threading.Event(), threading.Event()

    def resolve(host, port):
        cancelled.set()
        never.wait(10)
        return []

    started = time.monotonic()
    try:
        with pytest.raises(FetchCancelled):
            Fetcher(resolve=resolve).fetch("http://policies.example/", cancelled=cancelled)
    finally:
        never.set()
    assert time.monotonic() - started < 1


# Size


def test_a_download_at_the_limit_passes_and_one_byte_more_does_not(site):
    site.pages["/at"] = response(b"a" * 1000)
    site.pages["/over"] = response(b"a" * 1001)
    fetcher = limited(site, max_bytes=1000)

    assert len(fetcher.fetch(site.url("/at")).body) == 1000
    with pytest.raises(DownloadTooLarge, match=r"larger than 1,000 bytes"):
        fetcher.fetch(site.url("/over"))


def test_a_declared_length_over_the_limit_is_refused_before_the_body(site, fetcher):
    def only_headers(connection):
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {20 * 2**20 + 1}\r\n\r\n".encode())
        site.over.wait(10)

    site.pages["/"] = only_headers
    with pytest.raises(DownloadTooLarge, match="larger than 20 MiB"):
        fetcher.fetch(site.url("/"))


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"a" * 65536),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"a" * 65536 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1;" + b"x" * 9000 + b"\r\na\r\n"),
        # A stored gzip block of no bytes, again and again: much on the wire, nothing decoded.
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"", mtime=0)[:10],
            b"\x00\x00\x00\xff\xff" * 10000,
        ),
    ],
    ids=["until the end", "chunks", "chunk extensions", "empty blocks"],
)
def test_a_body_without_end_stops_at_the_limit(site, start, drop):
    site.pages["/"] = site.drip(start, drop)

    with pytest.raises(DownloadTooLarge):
        limited(site, max_bytes=100_000, total_seconds=10).fetch(site.url("/"))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_a_bomb_is_refused_while_it_is_decoded(site, encoding):
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": partial(brotli.compress, quality=5)}[
        encoding
    ]
    bomb = pack(b"\0" * 50_000_000)
    site.pages["/"] = response(bomb, Content_Encoding=encoding)

    with pytest.raises(DownloadTooLarge):
        limited(site, max_bytes=100_000).fetch(site.url("/"))
    assert len(bomb) < 60_000


@pytest.mark.parametrize("encoding", ["zstd", "compress", "gzip, gzip", "gzip, br", "x"])
def test_an_unknown_or_nested_encoding_is_refused_by_name(site, fetcher, encoding):
    site.pages["/"] = response(gzip.compress(gzip.compress(b"text")), Content_Encoding=encoding)

    with pytest.raises(UnknownEncoding, match=f"not supported: {encoding}"):
        fetcher.fetch(site.url("/"))


# Answers that are none


@pytest.mark.parametrize(
    "answer",
    [
        b"Just some text, as in HTTP/0.9\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\x01\x02\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nHello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nXYZ\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 300 + b"Content-Length: 0\r\n\r\n",
        b"HTTP/1.1 102 Processing\r\n\r\n" * 20,
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nHello",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 6\r\n\r\n\xff\xff\xff\xff\xff\xff",
    ],
)
def test_an_answer_that_is_not_proper_http_fails_by_name(site, fetcher, answer):
    site.pages["/"] = answer

    with pytest.raises(GarbledAnswer):
        fetcher.fetch(site.url("/"))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nHello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n",
        response(gzip.compress(b"Hello" * 100, mtime=0)[:-12], Content_Encoding="gzip"),
        response(zlib.compress(b"Hello" * 100)[:-6], Content_Encoding="deflate"),
        response(brotli.compress(bytes(range(256)))[:-6], Content_Encoding="br"),
    ],
)
def test_an_answer_that_ends_too_early_is_never_taken_for_a_document(site, fetcher, answer):
    site.pages["/"] = answer

    with pytest.raises(BrokenOff) as failed:
        fetcher.fetch(site.url("/"))
    assert failed.value.transient


# TLS


def tls_of(name, folder):
    """A server's context with a certificate for `name`, and a client's that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "site.pem"
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem.write_bytes(private + certificate.public_bytes(encoding))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem)
    return server, ssl.create_default_context(cadata=certificate.public_bytes(encoding).decode())


@pytest.fixture
def secure(tmp_path):
    """A site with a certificate for policies.example, and a fetcher that trusts it."""
    server, client = tls_of("policies.example", tmp_path)
    with serving(tls=server) as site:
        site.pages["/"] = response(b"a" * 300_000)
        yield site, Fetcher(allow=opened(site), resolve=lambda host, port: [LOOPBACK], ssl_context=client)


def test_tls_is_spoken_with_the_host_that_the_url_names(secure):
    site, fetcher = secure

    assert len(fetcher.fetch(site.url("/", "policies.example", "https")).body) == 300_000


@pytest.mark.parametrize("host", ["other.example", "127.0.0.1"])
def test_a_certificate_for_another_name_is_refused(secure, host):
    site, fetcher = secure

    with pytest.raises(UntrustedCertificate):
        fetcher.fetch(site.url("/", host, "https"))
    assert site.requests == []


def test_a_certificate_that_nobody_vouches_for_is_refused(secure):
    site, _ = secure
    fetcher = Fetcher(allow=opened(site), resolve=lambda host, port: [LOOPBACK])

    with pytest.raises(UntrustedCertificate):
        fetcher.fetch(site.url("/", "policies.example", "https"))


def test_a_server_that_does_not_speak_tls_fails_by_name(site):
    def plain(connection):
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                plain(connection)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(Unreachable, match="No secure connection"):
            Fetcher(allow=Allow.parse(f"127.0.0.1:{port}")).fetch(f"https://127.0.0.1:{port}/")
        thread.join(10)


# Clean-up


def test_every_failure_is_one_that_a_job_can_store():
    def all_kinds(kind):
        return {kind}.union(*(all_kinds(child) for child in kind.__subclasses__()))

    for kind in all_kinds(Unfetchable):
        assert kind.status == 400
        assert kind().message.endswith(".")


def test_no_connection_stays_open(site, fetcher):
    site.pages["/"] = redirect("/missing")
    site.pages["/missing"] = response(status="404 Not Found")
    for _ in range(3):
        with pytest.raises(RefusedByServer):
            fetcher.fetch(site.url("/"))

    for thread in site._threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in site._threads)
