"""Download a URL under limits of size, time and address."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from threading import Event

from assay import __version__
from assay.content import file_names
from assay.content.extraction.sniffing import Kind, sniff
from assay.content.fetching import decoding, look_up, urls
from assay.content.fetching.addresses import Allow, known_without_look_up
from assay.content.fetching.exchange import Answer, Exchange
from assay.content.fetching.failures import (
    ForbiddenAddress,
    RedirectsWithoutEnd,
    RefusedByServer,
    ServerInTrouble,
    Unfetchable,
)
from assay.content.fetching.hosts import Address
from assay.content.fetching.urls import Url
from assay.content.fetching.wire import Deadline, Wire

_USER_AGENT = f"Assay/{__version__}"
_ACCEPT = (
    "text/html, application/xhtml+xml, application/pdf, text/plain, "
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document, */*;q=0.1"
)
_DOCUMENT = {HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION}
_REDIRECT = {301, 302, 303, 307, 308}
_COME_AGAIN = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}

_MEDIA_TYPE = re.compile(r"\s*([\w.+-]+/[\w.+-]+)", re.ASCII)
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([\w.:+-]{1,40})""", re.ASCII | re.IGNORECASE)
_VALIDATOR = re.compile(r"[\x20-\x7e]{1,512}")


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """`max_bytes` holds on the wire and again decoded; `total_seconds` from the look-up to the last byte."""

    max_url_characters: int = urls.MAX_CHARACTERS
    max_bytes: int = 20 * 2**20
    total_seconds: float = 30
    max_redirects: int = 5


@dataclass(frozen=True, slots=True)
class Validators:
    """What an earlier answer said about its version; it holds for the URL that gave it, and no other."""

    url: str
    etag: str | None
    last_modified: str | None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What the address answered. `url` is where the redirects ended.

    `charset` is what the header says. `file_name` is the name that the document has: none for a web page.
    When `not_modified`, there is no body, and what was read from this URL before still holds.
    """

    url: str
    status: int
    body: bytes
    etag: str | None
    last_modified: str | None
    media_type: str | None = None
    charset: str | None = None
    file_name: str | None = None
    not_modified: bool = False

    @property
    def is_page(self) -> bool:
        """Whether it was declared to be a web page."""
        return self.media_type in {"text/html", "application/xhtml+xml"}

    @property
    def validators(self) -> Validators:
        """To be kept, and given to the next `fetch` of the same URL."""
        return Validators(self.url, self.etag, self.last_modified)


class Fetcher:
    """Asks the addresses that it may, without cookies, credentials or proxies. Safe to share by threads."""

    def __init__(
        self,
        limits: FetchLimits | None = None,
        allow: Allow | None = None,
        *,
        user_agent: str = _USER_AGENT,
        resolve: look_up.Resolve = look_up.system,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._limits = limits or FetchLimits()
        self._allow = allow or Allow()
        self._user_agent = user_agent
        self._resolve = resolve
        self._given_ssl_context = ssl_context

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        """Made at the first need: reading the trust store takes longer than starting the service."""
        return self._given_ssl_context or ssl.create_default_context()

    def fetch(self, url: str, *, known: Validators | None = None, cancelled: Event | None = None) -> Fetched:
        """Download the URL, or raise an Unfetchable that says why not.

        With `known` the question is conditional wherever the redirects come to its URL. A `cancelled`
        that is set by another thread ends the download within a fraction of a second.
        """
        deadline = Deadline(self._limits.total_seconds, cancelled)
        asked = urls.parse(url, self._allow, max_characters=self._limits.max_url_characters)
        seen: set[Url] = set()
        while len(seen) <= self._limits.max_redirects:
            seen.add(asked)
            outcome = self._ask(asked, known, deadline)
            if isinstance(outcome, Fetched):
                return outcome
            if outcome in seen:
                raise RedirectsWithoutEnd("The address redirects in a circle.")
            asked = outcome
        raise RedirectsWithoutEnd(f"The address redirects more than {self._limits.max_redirects} times.")

    def _ask(self, url: Url, known: Validators | None, deadline: Deadline) -> Fetched | Url:
        """The document, or where to ask next."""
        conditions = _conditions(url, known)
        with self._connected(url, deadline) as wire:
            answer = Exchange(wire).ask(url.target, [*self._headers(url), *conditions])
            location = answer.header("location")
            if answer.status in _REDIRECT and location:
                limit = self._limits.max_url_characters
                return urls.follow(url, location, self._allow, max_characters=limit)
            if answer.status == HTTPStatus.NOT_MODIFIED and conditions and known:
                return _unchanged(known, answer)
            if answer.status not in _DOCUMENT:
                raise _refusal(answer.status)
            return _document(url, answer, self._body(answer))

    @contextmanager
    def _connected(self, url: Url, deadline: Deadline) -> Iterator[Wire]:
        wire = Wire.connect(self._judged(url, deadline), url.port, deadline)
        try:
            if url.scheme == "https":
                wire.secure(self._ssl_context, url.host)
            yield wire
        finally:
            wire.close()

    def _judged(self, url: Url, deadline: Deadline) -> list[Address]:
        """The addresses that may be reached for this URL: looked up once, judged, and used as they are.

        Nothing is connected before the judgement, so that it tells nothing about who listens there.
        """
        found = known_without_look_up(url.host) or look_up.look_up(
            self._resolve, str(url.host), url.port, deadline
        )
        judged = self._allow.admitted(url.host, found, url.port)
        if not judged:
            raise ForbiddenAddress
        return judged

    def _headers(self, url: Url) -> list[tuple[str, str]]:
        return [
            ("Host", url.authority),
            ("User-Agent", self._user_agent),
            ("Accept", _ACCEPT),
            ("Accept-Encoding", decoding.ACCEPTED),
            ("Connection", "close"),
        ]

    def _body(self, answer: Answer) -> bytes:
        limit = self._limits.max_bytes
        return b"".join(decoding.decode(answer.joined("content-encoding"), answer.body(limit), limit))


def _conditions(url: Url, known: Validators | None) -> list[tuple[str, str]]:
    if known is None or known.url != str(url):
        return []
    offered = (("If-None-Match", known.etag), ("If-Modified-Since", known.last_modified))
    return [(name, value) for name, value in offered if value and _VALIDATOR.fullmatch(value)]


def _document(url: Url, answer: Answer, body: bytes) -> Fetched:
    declared = answer.header("content-type") or ""
    media_type = _MEDIA_TYPE.match(declared)
    charset = _CHARSET.search(declared)
    return Fetched(
        url=str(url),
        status=answer.status,
        body=body,
        etag=_validator(answer, "etag"),
        last_modified=_validator(answer, "last-modified"),
        media_type=media_type[1].lower() if media_type else None,
        charset=charset[1].lower() if charset else None,
        file_name=None if _is_page(body, declared) else _file_name(url, answer),
    )


def _unchanged(known: Validators, answer: Answer) -> Fetched:
    return Fetched(
        url=known.url,
        status=answer.status,
        body=b"",
        etag=_validator(answer, "etag") or known.etag,
        last_modified=_validator(answer, "last-modified") or known.last_modified,
        not_modified=True,
    )


def _validator(answer: Answer, name: str) -> str | None:
    value = answer.header(name)
    return value if value and _VALIDATOR.fullmatch(value) else None


def _is_page(body: bytes, declared: str) -> bool:
    """By the bytes; a page that begins like plain text is one if it says so."""
    kind = sniff(body)
    return kind is Kind.HTML or (kind is Kind.TEXT and "html" in declared.lower())


def _file_name(url: Url, answer: Answer) -> str | None:
    given = file_names.from_disposition(answer.header("content-disposition") or "")
    return given or file_names.clean(url.last_segment)


def _refusal(status: int) -> Unfetchable:
    """The status in the words of the standard: what the server says about it is not repeated."""
    phrase = f" {HTTPStatus(status).phrase}" if status in set(HTTPStatus) else ""
    kind = ServerInTrouble if status >= 500 or status in _COME_AGAIN else RefusedByServer
    return kind(f"The address answered {status}{phrase}.")
