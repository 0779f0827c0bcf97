"""Real gateways before a real service; their configuration comes out of the page for operators."""

import datetime as dt
import http.client
import ipaddress
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from assay.identity.issuer import KEYS_PATH, TOKEN_PATH

HOWTO = Path(__file__).parents[1] / "docs" / "howto"
PUBLIC_URL = "https://assay.example.com"
_COMMANDS = {
    "nginx": ("nginx", "-g", "daemon off;", "-c"),
    "haproxy": ("haproxy", "-db", "-f"),
}
_PACKAGES = {"nginx": "nginx-light", "haproxy": "haproxy"}


def block(page: str, language: str, containing: str = "") -> str:
    """The fenced block of a page that is in this language and contains these words."""
    text = (HOWTO / page).read_text("utf-8")
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    [found] = [code for code in blocks if containing in code]
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass(frozen=True)
class Service:
    port: int
    data: Path
    partner: dict[str, str]

    def token(self) -> str:
        form = {
            "grant_type": "password",
            "username": self.partner["username"],
            "password": self.partner["password"],
            "client_id": self.partner["clientId"],
            "client_secret": self.partner["clientSecret"],
        }
        body = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{TOKEN_PATH}", body, timeout=30) as answer:
            return json.load(answer)["access_token"]

    def published_keys(self) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{KEYS_PATH}", timeout=30) as answer:
            return answer.read()

    def rotate_keys(self) -> None:
        command = [sys.executable, "-m", "assay", "keys", "rotate", "--data-dir", self.data]
        subprocess.run(command, check=True, capture_output=True)


@contextmanager
def running_service(folder: Path) -> Iterator[Service]:
    """`assay serve`, as the pages say to start it."""
    data, port = folder / "data", free_port()
    assay = [sys.executable, "-m", "assay"]
    add = subprocess.run(
        [*assay, "partners", "add", "acme", "--json", "--data-dir", data], check=True, capture_output=True
    )
    environment = {
        **os.environ,
        "ASSAY_GATEWAY": "external",
        "ASSAY_TRUSTED_PROXIES": "127.0.0.1",
        "ASSAY_PUBLIC_URL": PUBLIC_URL,
        "PYTHONUNBUFFERED": "1",
    }
    command = [*assay, "serve", "--port", str(port), "--data-dir", data]
    with (
        (folder / "service.log").open("w") as log,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert "listens on" in process.stdout.readline(), (folder / "service.log").read_text()
            yield Service(port, data, json.loads(add.stdout))
        finally:
            process.terminate()


@dataclass
class Seen:
    """A request as it came out of the gateway."""

    path: str
    headers: list[tuple[str, str]]
    body_bytes: int = 0

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass
class Recorder:
    """Stands where the service would, and keeps what reaches it. Any token speaks for `subject`."""

    subject: str
    seen: list[Seen] = field(default_factory=list)
    body_began: threading.Event = field(default_factory=threading.Event)
    port: int = 0


@contextmanager
def running_recorder(subject: str) -> Iterator[Recorder]:
    recorder = Recorder(subject)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None: ...

        def do_GET(self) -> None:
            if self.path == "/internal/authz":
                known = "Authorization" in self.headers
                self._answer(204 if known else 401, {"IDP_SUBJECT": recorder.subject} if known else {})
            else:
                if self.path != "/readyz":  # the gateway's own question
                    recorder.seen.append(Seen(self.path, self.headers.items()))
                self._answer(200)

        def do_POST(self) -> None:
            seen = Seen(self.path, self.headers.items())
            left = int(self.headers.get("Content-Length", 0))
            while left and (chunk := self.rfile.read1(min(left, 2**16))):
                recorder.body_began.set()
                left -= len(chunk)
                seen.body_bytes += len(chunk)
            recorder.seen.append(seen)
            self._answer(200)

        def _answer(self, status: int, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", "0")
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        recorder.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield recorder
        finally:
            server.shutdown()
            thread.join()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> dict[str, object]:
        return json.loads(self.body)


@dataclass(frozen=True)
class Gateway:
    port: int
    trust: ssl.SSLContext

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.trust, timeout=60)

    def ask(self, path: str, *headers: tuple[str, str], body: bytes | None = None) -> Answer:
        connection = self.connect()
        try:
            connection.putrequest("GET" if body is None else "POST", path)
            for name, value in headers:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()


@contextmanager
def running_gateway(kind: str, folder: Path, upstream_port: int, keys: bytes) -> Iterator[Gateway]:
    """nginx or HAProxy with the configuration of its page; only addresses and folders are changed."""
    if shutil.which(kind) is None:
        pytest.skip(f"{kind} is not installed (on Debian and Ubuntu: the package {_PACKAGES[kind]}).")
    folder.mkdir()
    trust = _certify(folder)
    if kind == "haproxy":
        write_keys(folder, keys)
    port = free_port()
    config = folder / "config"
    config.write_text(
        _replaced(
            block(f"gateway-{kind}.md", kind),
            {
                f"/etc/{kind}/assay": str(folder),
                "127.0.0.1:8080": f"127.0.0.1:{upstream_port}",
                **(
                    {"listen 443": f"listen 127.0.0.1:{port}", "/run/nginx.pid": str(folder / "pid")}
                    if kind == "nginx"
                    else {"bind :443": f"bind 127.0.0.1:{port}"}
                ),
            },
        )
    )
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen([*_COMMANDS[kind], config], stdout=log, stderr=log, cwd=folder) as process,
    ):
        try:
            _wait(process, port, folder / "log")
            yield Gateway(port, trust)
        finally:
            process.terminate()


def write_keys(folder: Path, keys: bytes) -> None:
    """By the command of HAProxy's page, without its download."""
    code = block("gateway-haproxy.md", "sh", "RSAKey").split("python3 -c '")[1].rsplit("'", 1)[0]
    code = _replaced(code, {"/etc/haproxy/assay": str(folder)})
    subprocess.run([sys.executable, "-c", code], input=keys, check=True)


def _replaced(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, f"The page no longer says {old!r}."
        text = text.replace(old, new)
    return text


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Both listen within milliseconds, so asking again is all the waiting there is."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            continue
        return
    raise RuntimeError(log.read_text())


def _certify(folder: Path) -> ssl.SSLContext:
    """A certificate for the loopback, in the files that the pages name, and a context that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "assay.example.com")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    public = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "tls.crt").write_bytes(public)
    (folder / "tls.key").write_bytes(private)
    (folder / "tls.pem").write_bytes(public + private)
    return ssl.create_default_context(cafile=folder / "tls.crt")
