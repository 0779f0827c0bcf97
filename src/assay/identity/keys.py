"""Where the keys that verify access tokens come from: a provider's published set, or our own ring."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol

import httpx2
from joserfc import jwk
from joserfc.errors import JoseError
from sqlalchemy import Connection

from assay.database.core import Database
from assay.identity import store
from assay.identity.models import KeysUnavailable

FRESH_SECONDS = 300
RETRY_SECONDS = 10
STALE_SECONDS = 3600
RING_SECONDS = 10
FETCH_TIMEOUT_SECONDS = 3.0
MAX_DOCUMENT_BYTES = 2**20
# A retired key still verifies what it signed: refresh tokens live longest.
RETIRED_SECONDS = 1800 + 60

_SIGNING_TYPES = {"RSA", "EC", "OKP"}

Key = jwk.RSAKey | jwk.ECKey | jwk.OKPKey


class KeySource(Protocol):
    """Finds the key that a token names. None: there is no such key. KeysUnavailable: cannot be told."""

    def find(self, kid: str | None) -> Key | None: ...

    def check(self) -> None:
        """Raise KeysUnavailable unless tokens can be verified at present."""


class PublishedKeys:
    """The keys of an external provider, cached so that neither it nor a stranger's token can hurt us.

    One fetch at a time; fresh for 300 s; an unknown key id asks again at most every 10 s; keys known
    already go on serving for an hour when the provider is away.
    """

    def __init__(
        self,
        fetch: Callable[[], Mapping[str, Any]],
        *,
        clock: Callable[[], float] = time.monotonic,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._on_failure = on_failure
        self._keys: dict[str | None, Key] = {}
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")
        self._turn = threading.Lock()

    def find(self, kid: str | None) -> Key | None:
        key = self._lookup(kid)
        if key is None or self._age() >= FRESH_SECONDS:
            self._refresh(wait=key is None)
            key = self._lookup(kid)
        if self._age() > STALE_SECONDS or (key is None and self._tried_at > self._fetched_at):
            raise KeysUnavailable
        return key

    def check(self) -> None:
        if self._age() >= FRESH_SECONDS:
            self._refresh(wait=True)
        if self._age() > STALE_SECONDS:
            raise KeysUnavailable

    def _age(self) -> float:
        return self._clock() - self._fetched_at

    def _lookup(self, kid: str | None) -> Key | None:
        """A token that names no key is taken to mean the only one there is."""
        keys = self._keys
        if kid is None and len(keys) == 1:
            return next(iter(keys.values()))
        return keys.get(kid)

    def _refresh(self, *, wait: bool) -> None:
        if self._clock() - self._tried_at < RETRY_SECONDS:
            return
        if not self._turn.acquire(timeout=FETCH_TIMEOUT_SECONDS * 2 if wait else 0):
            return
        try:
            if self._clock() - self._tried_at >= RETRY_SECONDS:
                self._fetch_once()
        finally:
            self._turn.release()

    def _fetch_once(self) -> None:
        try:
            keys = usable_keys(self._fetch())
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError):
            self._tried_at = self._clock()
            self._on_failure()
            return
        self._keys = keys
        self._fetched_at = self._tried_at = self._clock()


def usable_keys(document: Mapping[str, Any]) -> dict[str | None, Key]:
    """The keys of a JWKS that can verify a signature, by id; what cannot be read is passed over."""
    entries = document.get("keys")
    if not isinstance(entries, list):
        raise ValueError("The document holds no list of keys.")
    keys: dict[str | None, Key] = {}
    for entry in entries:
        if (
            not isinstance(entry, dict)
            or entry.get("use", "sig") != "sig"
            or entry.get("kty") not in _SIGNING_TYPES
        ):
            continue
        try:
            key = jwk.import_key(entry)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
        assert isinstance(key, Key)
        keys[entry.get("kid")] = key
    return keys


def fetcher(issuer: str, jwks_url: str | None) -> Callable[[], Mapping[str, Any]]:
    """Reads the provider's key set, finding its address by discovery where none is given."""

    def fetch() -> Mapping[str, Any]:
        with httpx2.Client(timeout=FETCH_TIMEOUT_SECONDS, trust_env=False) as client:
            address = jwks_url or _discover(client, issuer)
            return _get_json(client, address)

    return fetch


def _discover(client: httpx2.Client, issuer: str) -> str:
    document = _get_json(client, issuer.rstrip("/") + "/.well-known/openid-configuration")
    address = document.get("jwks_uri")
    if document.get("issuer") != issuer or not isinstance(address, str):
        raise ValueError("The discovery document is not this issuer's.")
    return address


def _get_json(client: httpx2.Client, url: str) -> Mapping[str, Any]:
    with client.stream("GET", url) as response:
        response.raise_for_status()
        body = b""
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MAX_DOCUMENT_BYTES:
                raise ValueError("The key document is too large.")
    document = json.loads(body)
    if not isinstance(document, dict):
        raise ValueError("The key document is not an object.")
    return document


@dataclass(frozen=True, slots=True)
class RingKey:
    key: jwk.RSAKey
    signs_from: datetime
    published_until: datetime | None


class KeyRing:
    """Our own signing keys. The table is the truth: another process may rotate them at any moment."""

    def __init__(self, database: Database, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._ring: dict[str, RingKey] = {}
        self._read_at = float("-inf")

    def find(self, kid: str | None) -> Key | None:
        if kid not in self._ring or self._clock() - self._read_at > RING_SECONDS:
            self._read()
        entry = self._ring.get(kid) if kid else None
        if entry is None or (entry.published_until and entry.published_until <= datetime.now(UTC)):
            return None
        return entry.key

    def check(self) -> None:
        if not self._ring:
            self._read()
        if not self._ring:
            raise KeysUnavailable("There is no signing key yet.")

    def signing(self) -> jwk.RSAKey:
        """The key that signs now; read at each use, so that a rotation takes hold at once."""
        self._read()
        now = datetime.now(UTC)
        for entry in self._ring.values():  # the newest first
            if entry.signs_from <= now:
                return entry.key
        raise KeysUnavailable("There is no signing key yet.")

    def published(self) -> dict[str, Any]:
        self._read()
        return {"keys": [_public(entry.key) for entry in self._ring.values()]}

    def _read(self) -> None:
        with self._database.read() as tx:
            rows = store.list_keys(tx, datetime.now(UTC))
        self._ring = {
            row.kid: RingKey(_private(row.private_jwk), row.signs_from, row.published_until) for row in rows
        }
        self._read_at = self._clock()


@lru_cache(maxsize=16)
def _private(text: str) -> jwk.RSAKey:
    """Read once: that its numbers are primes is proved each time a private key is read, which takes 0.1 s."""
    return jwk.RSAKey.import_key(json.loads(text))


def _public(key: jwk.RSAKey) -> dict[str, Any]:
    return {**key.as_dict(private=False), "kid": key.kid, "use": "sig", "alg": "RS256"}


def rotate(tx: Connection, *, after_seconds: int = 0, at_once: bool = False) -> str:
    """Add a key that signs from now, or later; the old ones go on verifying what they signed.

    `at_once` is for a key that has leaked: the old ones verify nothing from now on.
    """
    now = datetime.now(UTC)
    signs_from = now + timedelta(seconds=after_seconds)
    old = [row.kid for row in store.list_keys(tx, now) if row.published_until is None]
    key = jwk.RSAKey.generate_key(2048, auto_kid=True)
    kid = key.kid
    assert kid is not None
    private = json.dumps(key.as_dict(private=True))
    store.add_key(tx, kid=kid, private_jwk=private, created_at=now, signs_from=signs_from)
    store.retire_keys(tx, old, now if at_once else signs_from + timedelta(seconds=RETIRED_SECONDS))
    return kid


def exist(tx: Connection) -> bool:
    return bool(store.list_keys(tx, datetime.now(UTC)))
