"""An OIDC provider of our own on loopback: discovery and keys over real HTTP, tokens by any key."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwk

from tests import factories


@cache
def key_for(algorithm: str) -> jwk.RSAKey | jwk.ECKey | jwk.OKPKey:
    """One key for each algorithm: making RSA keys is slow."""
    if algorithm == "ES256":
        return jwk.ECKey.generate_key("P-256", auto_kid=True)
    if algorithm == "EdDSA":
        return jwk.OKPKey.generate_key("Ed25519", auto_kid=True)
    return jwk.RSAKey.generate_key(2048, auto_kid=True)


def published(key: Any, **more: str) -> dict[str, Any]:
    return {**key.as_dict(private=False), "kid": key.kid, **more}


class Provider:
    """What it serves can be changed at any time; what it was asked for is counted."""

    def __init__(self, address: str) -> None:
        self.issuer = f"{address}/realms/external"
        self.jwks_url = f"{address}/keys"
        self.keys: list[Any] = [published(key_for("RS256"))]
        self.discovery: dict[str, Any] = {"issuer": self.issuer, "jwks_uri": self.jwks_url}
        self.status = 200
        self.asked: list[str] = []
        self.free = threading.Event()
        self.free.set()

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        self.free.wait(10)
        documents = {
            "/keys": {"keys": self.keys},
            "/realms/external/.well-known/openid-configuration": self.discovery,
        }
        return (self.status, json.dumps(documents[path]).encode()) if path in documents else (404, b"")

    def token(self, subject: str, *, alg: str = "RS256", kid: str | None = "", **changes: Any) -> str:
        said = factories.claims(subject, **{"iss": self.issuer, **changes})
        key = key_for(alg)
        return factories.signed(key, said, alg=alg, kid=key.kid if kid == "" else kid)


@contextmanager
def running() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = provider.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider = Provider(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
