"""The embedded identity provider: two grants, its keys and its users, spoken as Keycloak speaks.

For one machine and for development; any real OIDC provider takes its place by settings. Statuses and
sentences are those of Keycloak before 26.6, so that clients written for it need no change.
"""

import math
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import GuestProtocol
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from sqlalchemy import Row

from assay.database.core import Database
from assay.errors import Invalid, LimitReached, ServiceError, Unauthenticated
from assay.identity import service, store
from assay.identity.keys import Key, KeyRing
from assay.identity.models import ALL_SCOPES

ACCESS_SECONDS = 300
REFRESH_SECONDS = 1800
SESSION_SECONDS = 36_000
FAILURE_WINDOW_MINUTES = 5

PREFIX = "/realms/assay"
TOKEN_PATH = f"{PREFIX}/protocol/openid-connect/token"
KEYS_PATH = f"{PREFIX}/protocol/openid-connect/certs"
DISCOVERY_PATH = f"{PREFIX}/.well-known/openid-configuration"


class GrantRefused(Exception):
    """A token is not given. `kind` lends the status; the rest is OAuth's error body."""

    def __init__(
        self,
        kind: type[ServiceError],
        error: str,
        description: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(description)
        self.status = kind.status
        self.error = error
        self.description = description
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class LoginLimits:
    """Failures that are borne in five minutes."""

    per_user: int
    per_address: int


class Issuer:
    def __init__(self, database: Database, ring: KeyRing, *, base_url: str, limits: LoginLimits) -> None:
        self._database = database
        self._ring = ring
        self._base_url = base_url
        self.issuer = base_url + PREFIX
        self._failures = MovingWindowRateLimiter(MemoryStorage())
        self._per_user = RateLimitItemPerMinute(limits.per_user, FAILURE_WINDOW_MINUTES, "user")
        self._per_address = RateLimitItemPerMinute(limits.per_address, FAILURE_WINDOW_MINUTES, "address")

    def grant(self, form: Mapping[str, str], address: str) -> dict[str, Any]:
        """The token response, or GrantRefused."""
        if not self._failures.test(self._per_address, address):
            raise self._too_many(address)
        try:
            return self._grant(form)
        except GrantRefused as refusal:
            if refusal.error in {"invalid_client", "unauthorized_client", "invalid_grant"}:
                self._failures.hit(self._per_address, address)
            raise

    def _too_many(self, address: str) -> GrantRefused:
        """Room for one more attempt comes back when the oldest failure is five minutes old."""
        window = self._failures.get_window_stats(self._per_address, address)
        seconds = str(max(1, math.ceil(window.reset_time - time.time())))
        headers = {
            "Retry-After": seconds,
            "RateLimit-Limit": str(self._per_address.amount),
            "RateLimit-Remaining": str(window.remaining),
            "RateLimit-Reset": seconds,
        }
        description = "Too many failed attempts from this address"
        return GrantRefused(LimitReached, "temporarily_unavailable", description, headers)

    def _grant(self, form: Mapping[str, str]) -> dict[str, Any]:
        grants = {"password": self._by_password, "refresh_token": self._by_refresh_token}
        grant_type = form.get("grant_type")
        if not grant_type:
            raise GrantRefused(Invalid, "invalid_request", "Missing form parameter: grant_type")
        if grant_type not in grants:
            raise GrantRefused(Invalid, "unsupported_grant_type", "Unsupported grant_type")
        return grants[grant_type](self._client(form), form)

    def _client(self, form: Mapping[str, str]) -> Row[Any]:
        text = "Invalid client or Invalid client credentials"
        with self._database.read() as tx:
            client = store.find_client(tx, form.get("client_id", ""))
        if client is None:
            raise GrantRefused(Unauthenticated, "invalid_client", text)
        # Hashes are compared, so how far a guess was right does not show in the time taken.
        if service.hash_secret(form.get("client_secret", "")) != client.client_secret_hash:
            raise GrantRefused(Unauthenticated, "unauthorized_client", text)
        return client

    def _by_password(self, client: Row[Any], form: Mapping[str, str]) -> dict[str, Any]:
        """Only a caller with the client's secret gets here, so no stranger can lock a user out."""
        if not form.get("username"):
            raise GrantRefused(Unauthenticated, "invalid_request", "Missing parameter: username")
        known = form["username"] == client.username
        locked = not self._failures.test(self._per_user, client.subject)
        fits = service.fits_password(form.get("password", ""), client.password_hash if known else None)
        if locked or not fits:
            self._failures.hit(self._per_user, client.subject)
            raise GrantRefused(Unauthenticated, "invalid_grant", "Invalid user credentials")
        if client.disabled_at is not None:
            raise GrantRefused(Invalid, "invalid_grant", "Account disabled")
        return self._open_session(client)

    def _open_session(self, client: Row[Any]) -> dict[str, Any]:
        now = datetime.now(UTC)
        session_id, refresh_id = str(uuid.uuid4()), str(uuid.uuid4())
        with self._database.write() as tx:
            store.forget_sessions(tx, now)
            store.add_session(
                tx,
                id=session_id,
                subject=client.subject,
                refresh_hash=service.hash_secret(refresh_id),
                now=now,
                expires_at=now + timedelta(seconds=REFRESH_SECONDS),
            )
        return self._response(client, session_id, refresh_id, REFRESH_SECONDS)

    def _by_refresh_token(self, client: Row[Any], form: Mapping[str, str]) -> dict[str, Any]:
        if not form.get("refresh_token"):
            raise GrantRefused(Invalid, "invalid_request", "No refresh token")
        claims = self._refresh_claims(form["refresh_token"], client)
        now = datetime.now(UTC)
        refresh_id = str(uuid.uuid4())
        with self._database.write() as tx:
            session = store.find_session(tx, claims["sid"])
            if session is None or session.ended_at is not None:
                refusal = "User disabled" if client.disabled_at else "Session not active"
                raise GrantRefused(Invalid, "invalid_grant", refusal)
            left = SESSION_SECONDS - int((now - session.created_at).total_seconds())
            lifetime = min(REFRESH_SECONDS, left)
            rotated = lifetime > 0 and store.rotate_session(
                tx,
                session.id,
                spent_hash=service.hash_secret(claims["jti"]),
                refresh_hash=service.hash_secret(refresh_id),
                expires_at=now + timedelta(seconds=lifetime),
            )
            if not rotated:
                # A spent token that comes back was stolen, by its first user or by this one.
                store.end_session(tx, session.id, now)
        if lifetime <= 0:
            raise GrantRefused(Invalid, "invalid_grant", "Token is not active")
        if not rotated:
            raise GrantRefused(Invalid, "invalid_grant", "Maximum allowed refresh token reuse exceeded")
        return self._response(client, session.id, refresh_id, lifetime)

    def _refresh_claims(self, token: str, client: Row[Any]) -> Mapping[str, Any]:
        invalid = GrantRefused(Invalid, "invalid_grant", "Invalid refresh token")
        try:
            claims = jwt.decode(token, self._key_for, algorithms=["RS256"]).claims
        except (JoseError, ValueError, RecursionError):
            raise invalid from None
        if (claims.get("typ"), claims.get("iss"), claims.get("azp")) != (
            "Refresh",
            self.issuer,
            client.client_id,
        ):
            raise invalid
        if claims["exp"] <= time.time():
            raise GrantRefused(Invalid, "invalid_grant", "Token is not active")
        return claims

    def _key_for(self, signature: GuestProtocol) -> Key:
        kid = signature.headers().get("kid")
        key = self._ring.find(kid) if isinstance(kid, str) else None
        if key is None:
            raise ValueError("The token names no key of ours.")
        return key

    def _response(
        self, client: Row[Any], session_id: str, refresh_id: str, refresh_seconds: int
    ) -> dict[str, Any]:
        now = int(time.time())
        common = {
            "iat": now,
            "iss": self.issuer,
            "sub": client.subject,
            "azp": client.client_id,
            "session_state": session_id,
            "sid": session_id,
            "scope": client.scopes,
        }
        access = {
            **common,
            "exp": now + ACCESS_SECONDS,
            "jti": str(uuid.uuid4()),
            "aud": "assay",
            "typ": "Bearer",
            "preferred_username": client.username,
        }
        refresh = {
            **common,
            "exp": now + refresh_seconds,
            "jti": refresh_id,
            "aud": self.issuer,
            "typ": "Refresh",
        }
        return {
            "access_token": self._signed(access),
            "expires_in": ACCESS_SECONDS,
            "refresh_expires_in": refresh_seconds,
            "refresh_token": self._signed(refresh),
            "token_type": "Bearer",
            "not-before-policy": 0,
            "session_state": session_id,
            "scope": client.scopes,
        }

    def _signed(self, claims: dict[str, Any]) -> str:
        key = self._ring.signing()
        return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key, algorithms=["RS256"])

    def published_keys(self) -> dict[str, Any]:
        return self._ring.published()

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "token_endpoint": self._base_url + TOKEN_PATH,
            "jwks_uri": self._base_url + KEYS_PATH,
            "grant_types_supported": ["password", "refresh_token"],
            "response_types_supported": ["none"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "scopes_supported": sorted(ALL_SCOPES),
        }
