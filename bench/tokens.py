"""Verifying an access token that was never seen before, against joserfc alone."""

import statistics
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from joserfc import jwk, jwt

from assay.identity.keys import Key
from assay.identity.tokens import Rules, Verifier
from bench.table import Table

ISSUER = "https://idp.example/realms/assay"
TOKENS = 25
ROUNDS = 150
TARGET = 1.3


@dataclass(frozen=True, slots=True)
class OneKey:
    """A key source without a cache or a fetch: what is measured is the verifying."""

    key: Key

    def find(self, kid: str | None) -> Key | None:
        return self.key if kid == self.key.kid else None

    def check(self) -> None: ...


def measure() -> Table:
    rows = [
        _row("RS256", jwk.RSAKey.generate_key(2048, auto_kid=True)),
        _row("ES256", jwk.ECKey.generate_key("P-256", auto_kid=True)),
    ]
    return Table(
        title="Verification of a fresh access token",
        columns=("algorithm", "joserfc alone, µs", "the service, µs", "ratio"),
        rows=rows,
        note=(
            f"CPU time, median of {ROUNDS} alternating rounds of {TOKENS} tokens. "
            "The service also hashes and remembers the token, finds its key, and checks issuer, type, times, "
            f"subject and scopes. Aimed at: a ratio of at most {TARGET}."
        ),
    )


def _row(algorithm: str, private: jwk.RSAKey | jwk.ECKey) -> tuple[str, float, float, float]:
    tokens = [_token(algorithm, private) for _ in range(TOKENS)]
    public = jwk.import_key(private.as_dict(private=False))
    assert isinstance(public, jwk.RSAKey | jwk.ECKey)
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(_seconds(lambda token: jwt.decode(token, public, algorithms=[algorithm]), tokens))
        # A new verifier has seen no token yet.
        ours.append(_seconds(Verifier(OneKey(public), Rules(issuer=ISSUER)).verify, tokens))
    alone, service = (statistics.median(rounds) / TOKENS * 1e6 for rounds in (bare, ours))
    return algorithm, alone, service, service / alone


def _seconds(verify: Callable[[str], object], tokens: Sequence[str]) -> float:
    """Of this thread's own CPU time: nothing here waits, so the rest would be other people's work."""
    started = time.thread_time()
    for token in tokens:
        verify(token)
    return time.thread_time() - started


def _token(algorithm: str, key: jwk.RSAKey | jwk.ECKey) -> str:
    """As the embedded identity provider makes them."""
    now = int(time.time())
    claims = {
        "iat": now,
        "exp": now + 300,
        "iss": ISSUER,
        "sub": str(uuid.uuid4()),
        "aud": "assay",
        "azp": "assay-0123456789ab",
        "typ": "Bearer",
        "jti": str(uuid.uuid4()),
        "sid": str(uuid.uuid4()),
        "scope": "assessments content feedback frameworks info",
        "preferred_username": "acme",
    }
    return jwt.encode({"alg": algorithm, "kid": key.kid}, claims, key, algorithms=[algorithm])
