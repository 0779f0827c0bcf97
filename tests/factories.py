"""One small function a noun."""

from starlette.testclient import TestClient

from assay.database.core import Database
from assay.identity import keys, service
from assay.identity.issuer import TOKEN_PATH
from assay.identity.models import ALL_SCOPES, Credentials, Scope


def prepare(database: Database) -> None:
    """A schema and a signing key, as the first start of the service makes them."""
    database.migrate()
    with database.write() as tx:
        keys.rotate(tx)


def partner(database: Database, name: str, *, scopes: frozenset[Scope] = ALL_SCOPES) -> Credentials:
    with database.write() as tx:
        return service.add(tx, name, password="correct horse", scopes=scopes)


def login_form(credentials: Credentials, **changes: str) -> dict[str, str]:
    form = {
        "grant_type": "password",
        "username": credentials.username,
        "password": credentials.password,
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
    client.headers.update(bearer(tokens(client, credentials)["access_token"]))
    return client
