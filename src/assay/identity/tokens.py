"""Check an access token against the issuer's published keys."""

import functools
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jwk import GuestProtocol
from joserfc.jws import JWSRegistry

from assay.identity.gateway import is_uuid
from assay.identity.keys import Key, KeySource
from assay.identity.models import ALL_SCOPES, InvalidToken, MissingToken, Principal, Scope

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
LEEWAY_SECONDS = 30
MAX_CACHED = 10_000

_ACCESS_TOKEN_TYPES = {None, "JWT", "AT+JWT", "APPLICATION/AT+JWT"}
# Only ID tokens carry these.
_ID_TOKEN_CLAIMS = {"at_hash", "c_hash", "s_hash"}
_CLIENT_CLAIMS = ("azp", "client_id", "appid", "cid")
_SCOPE_NAMES = frozenset(scope.value for scope in Scope)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a token must say beyond a valid signature; the defaults are those of the settings."""

    issuer: str
    audience: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    subject_claim: str = "sub"
    scope_claims: tuple[str, ...] = ("scope", "scp")
    role_claims: tuple[str, ...] = ("realm_access.roles", "resource_access.{client}.roles")
    full_access: frozenset[str] = frozenset({"partner"})
    max_bytes: int = 16 * 1024


class _Registry(JWSRegistry):
    """Just our algorithms, EdDSA among them, of which the library would warn at each use.

    Providers put headers of their own into a token, certificates too; the RFC has us ignore them.
    """

    max_header_length = 16 * 1024

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        if name not in ALGORITHMS:
            raise UnsupportedAlgorithmError(name)
        return self.algorithms[name]


_registry = _Registry()


class Verifier:
    """Turns a token into a principal, and remembers the verified ones by their hash."""

    def __init__(self, keys: KeySource, rules: Rules) -> None:
        self.keys = keys
        self.rules = rules
        # Where scopes and roles stand, taken apart once and not for each token.
        paths = [claim.split(".") for claim in (*rules.scope_claims, *rules.role_claims)]
        self._paths = [path for path in paths if "{client}" not in path]
        self._client_paths = [path for path in paths if "{client}" in path]
        self._seen: OrderedDict[bytes, tuple[Principal, str | None]] = OrderedDict()
        self._lock = threading.Lock()

    def verify(self, token: str) -> Principal:
        """The principal that the token speaks for, or InvalidToken, or KeysUnavailable."""
        digest = hashlib.sha256(token.encode()).digest()
        with self._lock:
            seen = self._seen.get(digest)
        if seen is None:
            seen = self._verify(token)
            self._remember(digest, seen)
        principal, kid = seen
        now = time.time()
        if principal.expires_at <= now:
            raise InvalidToken("The access token has expired.")
        # The key is asked for again, because it may have been withdrawn since.
        if principal.not_before > now + LEEWAY_SECONDS or self.keys.find(kid) is None:
            raise InvalidToken
        return principal

    def _verify(self, token: str) -> tuple[Principal, str | None]:
        if len(token) > self.rules.max_bytes:
            raise InvalidToken("The access token is too long.")
        try:
            decoded = jwt.decode(token, self._key_for, registry=_registry)
        except (JoseError, ValueError, RecursionError):
            raise InvalidToken from None
        check_type(decoded.header, decoded.claims)
        return self._principal(decoded.claims), decoded.header.get("kid")

    def _key_for(self, signature: GuestProtocol) -> Key:
        header = signature.headers()
        kid = header.get("kid")
        # `alg` is looked at first: what is not on the list must not cost a key fetch.
        if header.get("alg") not in ALGORITHMS or "crit" in header or not isinstance(kid, str | None):
            raise InvalidToken
        key = self.keys.find(kid)
        if key is None:
            raise InvalidToken("The access token is signed by an unknown key.")
        return key

    def _principal(self, claims: Mapping[str, Any]) -> Principal:
        if claims.get("iss") != self.rules.issuer:
            raise InvalidToken("The access token is from another issuer.")
        not_before = max(moment(claims, "nbf", 0.0), moment(claims, "iat", 0.0))
        self._check_audience(claims)
        subject = claims.get(self.rules.subject_claim)
        if not isinstance(subject, str) or not is_uuid(subject):
            raise InvalidToken("The access token does not name a partner by its uuid.")
        return Principal(subject.lower(), self._scopes(claims), moment(claims, "exp"), not_before)

    def _check_audience(self, claims: Mapping[str, Any]) -> None:
        if self.rules.audience and not set(self.rules.audience).intersection(_names(claims.get("aud"))):
            raise InvalidToken("The access token is for another audience.")
        clients = {claims[name] for name in _CLIENT_CLAIMS if isinstance(claims.get(name), str)}
        if self.rules.clients and not clients.intersection(self.rules.clients):
            raise InvalidToken("The access token is of another client.")

    def _scopes(self, claims: Mapping[str, Any]) -> frozenset[Scope]:
        names: set[str] = set()
        for path in (*self._paths, *self._paths_of_clients(claims)):
            names.update(_words(_at(claims, path)))
        if not names.isdisjoint(self.rules.full_access):
            return ALL_SCOPES
        return _granted(_SCOPE_NAMES.intersection(names))

    def _paths_of_clients(self, claims: Mapping[str, Any]) -> Iterator[list[str]]:
        """Roles of another application's client are none of ours."""
        own = {*self.rules.audience, *self.rules.clients, *_names(claims.get("azp"))}
        for path in self._client_paths:
            for client in own:
                yield [client if part == "{client}" else part for part in path]

    def _remember(self, digest: bytes, seen: tuple[Principal, str | None]) -> None:
        with self._lock:
            self._seen[digest] = seen
            while len(self._seen) > MAX_CACHED:
                self._seen.popitem(last=False)


def check_type(header: Mapping[str, Any], claims: Mapping[str, Any]) -> None:
    """An ID token or a refresh token of the same issuer is well signed, and still no access token."""
    header_type = header.get("typ")
    if isinstance(header_type, str):
        header_type = header_type.upper()
    if header_type not in _ACCESS_TOKEN_TYPES or claims.get("typ", "Bearer") != "Bearer":
        raise InvalidToken("This is not an access token.")
    if _ID_TOKEN_CLAIMS & claims.keys() or claims.get("token_use", "access") != "access":
        raise InvalidToken("This is not an access token.")


def moment(claims: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """A time claim: a number, since some libraries take strings and so disagree on what was checked."""
    value = claims.get(name, default)
    # Neither NaN nor a number of any size is below the bound, which lies 30,000 years ahead.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise InvalidToken(f"The claim {name!r} of the access token is not a time.")
    return value


@functools.cache  # five names have 32 subsets
def _granted(names: frozenset[str]) -> frozenset[Scope]:
    return frozenset({*map(Scope, names), Scope.INFO}) if names else frozenset()


def _words(value: object) -> Iterable[str]:
    return value.split() if isinstance(value, str) else _names(value)


def _names(value: object) -> Iterable[str]:
    """One name or a list of them; a name may hold a space."""
    if isinstance(value, str):
        return (value,)
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else ()


def _at(claims: Mapping[str, Any], path: list[str]) -> object:
    found: object = claims
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found


def bearer(authorization: list[bytes]) -> str:
    """The token of the Authorization header; MissingToken where there is none."""
    if not authorization:
        raise MissingToken
    scheme, _, token = authorization[0].partition(b" ")
    if scheme.lower() != b"bearer" or not token.strip():
        raise MissingToken
    if len(authorization) > 1:
        raise InvalidToken("There is more than one Authorization header.")
    try:
        return token.strip().decode("ascii")
    except UnicodeDecodeError:
        raise InvalidToken from None
