"""One small function a noun."""

import io
import time
import uuid
import zipfile
from datetime import UTC, datetime
from functools import cache
from typing import Any

from joserfc import jwk, jwt
from joserfc.jws import JWSRegistry
from starlette.testclient import TestClient

from assay.database.core import Database
from assay.identity import keys, service, store
from assay.identity.issuer import TOKEN_PATH
from assay.identity.models import ALL_SCOPES, Credentials, Partner, Scope

# The embedded provider's name of itself, where the service listens at its default address.
ISSUER = "http://127.0.0.1:8080/realms/assay"


def prepare(database: Database) -> None:
    """A schema and a signing key, as the first start of the service makes them."""
    database.migrate()
    with database.write() as tx:
        keys.rotate(tx)


@cache
def _password_hash() -> str:
    """Slow by design, so it is made once."""
    return service.hash_password("correct horse")


def partner(database: Database, name: str, *, scopes: frozenset[Scope] = ALL_SCOPES) -> Credentials:
    """A partner as `service.add` makes it."""
    made = Credentials(str(uuid.uuid4()), name, "correct horse", f"client-of-{name}", f"secret-of-{name}")
    record = Partner(made.subject, datetime.now(UTC), name, made.username, made.client_id, scopes)
    secret_hash = service.hash_secret(made.client_secret)
    with database.write() as tx:
        store.add(tx, record, password_hash=_password_hash(), client_secret_hash=secret_hash)
    return made


def login_form(credentials: Credentials, **changes: str) -> dict[str, str]:
    form = {
        "grant_type": "password",
        "username": credentials.username,
        "password": credentials.password,
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
    }
    return {**form, **changes}


def refresh_form(credentials: Credentials, token: str, **changes: str) -> dict[str, str]:
    form = {
        "grant_type": "refresh_token",
        "refresh_token": token,
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
    }
    return {**form, **changes}


def tokens(client: TestClient, credentials: Credentials) -> dict[str, str]:
    """The token response of a login."""
    return client.post(TOKEN_PATH, data=login_form(credentials)).json()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def signed_in(client: TestClient, credentials: Credentials) -> TestClient:
    """A client with a token like that of a login, without the time that a password takes."""
    state = client.app.state
    with state.database.read() as tx:
        scopes = store.get(tx, credentials.subject).scopes
    said = claims(credentials.subject, iss=state.issuer.issuer, scope=" ".join(scopes))
    client.headers.update(bearer(signed(signing_key(state.database), said)))
    return client


def signing_key(database: Database) -> jwk.RSAKey:
    """The private key of the embedded provider, for tokens that it would never sign."""
    with database.read() as tx:
        row = store.list_keys(tx, datetime.now(UTC))[0]
    return keys._private(row.private_jwk)


def claims(subject: str, **changes: Any) -> dict[str, Any]:
    """What an acceptable access token says; None takes a claim away."""
    now = int(time.time())
    said = {
        "iss": ISSUER,
        "sub": subject,
        "aud": "assay",
        "azp": "a-client",
        "iat": now,
        "exp": now + 300,
        "jti": str(uuid.uuid4()),
        "typ": "Bearer",
        "scope": "content frameworks assessments feedback info",
        **changes,
    }
    return {name: value for name, value in said.items() if value is not None}


class _AnyAlgorithm(JWSRegistry):
    """Signs with whatever is asked for: what may be accepted is the service's affair."""

    def get_alg(self, name):
        return self.algorithms[name]


def signed(key: Any, said: dict[str, Any], *, alg: str = "RS256", **header: Any) -> str:
    """A token of these claims; a header of None is left out."""
    named = {"alg": alg, "kid": key.kid, "typ": "JWT", **header}
    kept = {name: value for name, value in named.items() if value is not None}
    return jwt.encode(kept, said, key, registry=_AnyAlgorithm(strict_check_header=False), default_type=None)


def pdf(*pages: str) -> bytes:
    """A PDF with one line of text on each page."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, line in enumerate(pages):
        drawing = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET".encode("latin-1")
        bodies.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (5 + 2 * number)
        )
        bodies.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawing), drawing))
    return _pdf_file(bodies)


def _pdf_file(bodies: list[bytes]) -> bytes:
    file, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(bodies) + 1
    return (
        b"%s"
        b"xref\n0 %d\n0000000000 65535 f \n%s"
        b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (file, size, table, size, len(file))
    )


def docx(*paragraphs: str) -> bytes:
    """A DOCX with these paragraphs."""
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    return archive(
        {
            "[Content_Types].xml": (
                '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                '<Default Extension="rels" '
                'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                '<Override PartName="/word/document.xml" ContentType='
                '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
            ),
            "_rels/.rels": (
                '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
                '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
                'relationships/officeDocument" Target="word/document.xml"/></Relationships>'
            ),
            "word/document.xml": (
                '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
                f"<w:body>{body}</w:body></w:document>"
            ),
        }
    )


def archive(parts: dict[str, str]) -> bytes:
    """A ZIP file of these parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def submitted(client: TestClient, data: bytes | None = None, name: str = "terms.pdf") -> str:
    """The uuid of a job for this document."""
    answer = client.post("/api/v1/content-processing/file", files={"file": (name, data or pdf("Be kind."))})
    assert answer.status_code == 202, answer.text
    return answer.json()["uuid"]


def work(client: TestClient, most: int | None = None) -> int:
    """Do the jobs that are due in the app behind this client; how many there were."""
    done = 0
    while (most is None or done < most) and client.app.state.worker.perform():
        done += 1
    return done
