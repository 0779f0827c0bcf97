"""The composition root: the only place where the parts meet."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from pydantic.alias_generators import to_camel

from assay import __version__, info
from assay.database.core import Database, DatabaseUnavailable, sqlite_url
from assay.errors import ServiceError
from assay.identity import routes as identity_routes
from assay.identity.issuer import Issuer, LoginLimits
from assay.identity.keys import KeyRing, KeySource, PublishedKeys, fetcher
from assay.identity.models import Principal
from assay.identity.service import Gatekeeper
from assay.identity.tokens import Rules, Verifier
from assay.settings import Settings
from assay.web import failures, health, openapi
from assay.web.edge import Edge
from assay.web.metrics import Metrics

DESCRIPTION = "Tells whether documents say what a regulation demands, with citations that hold."


def open_database(settings: Settings) -> Database:
    """The database that the settings name."""
    url = settings.database.url.get_secret_value() if settings.database.url else sqlite_url(settings.data_dir)
    return Database(
        url, pool_size=settings.database.pool_size, timeout_seconds=settings.database.timeout_seconds
    )


def create_app(settings: Settings, database: Database) -> FastAPI:
    """The service over a migrated database."""
    metrics = Metrics()
    app = FastAPIOffline(
        title="Assay",
        version=__version__,
        description=DESCRIPTION,
        license_info={"name": "Apache 2.0", "identifier": "Apache-2.0"},
        redoc_url=None,
        static_url="/docs/static",
        redirect_slashes=False,
        lifespan=_lifespan,
        exception_handlers={Exception: failures.handle, ServiceError: failures.handle},
    )
    app.add_exception_handler(404, failures.handle)
    app.add_exception_handler(405, failures.handle)
    app.add_exception_handler(400, failures.handle)
    app.state.settings = settings
    app.state.database = database
    app.state.metrics = metrics
    _add_identity(app, settings, database, metrics)
    app.state.describe = _describe(settings)
    app.state.checks = {"database": lambda: _check_database(database), "keys": app.state.keys.check}
    app.state.notes = dict
    for router in (health.router, identity_routes.gate, info.router):
        app.include_router(router)
    token_url = settings.identity.issuer or app.state.issuer.discovery()["token_endpoint"]
    app.openapi = openapi.document(app, token_url)  # type: ignore[method-assign]  # FastAPI's documented way
    app.add_middleware(
        Edge, limits=settings.limits, metrics=metrics, trusted_proxies=settings.trusted_proxies
    )
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.database.close()


def _add_identity(app: FastAPI, settings: Settings, database: Database, metrics: Metrics) -> None:
    """The embedded provider, unless an external one is named."""
    chosen = settings.identity
    keys: KeySource
    if chosen.issuer:
        jwks_url = str(chosen.jwks_url) if chosen.jwks_url else None
        keys = PublishedKeys(fetcher(chosen.issuer, jwks_url), on_failure=metrics.key_fetch_failures.inc)
        issuer_name = chosen.issuer
    else:
        keys = ring = KeyRing(database)
        limits = LoginLimits(
            settings.limits.login_failures_per_user, settings.limits.login_failures_per_address
        )
        app.state.issuer = Issuer(database, ring, base_url=settings.base_url, limits=limits)
        app.include_router(identity_routes.provider)
        issuer_name = app.state.issuer.issuer
    rules = Rules(
        issuer=issuer_name,
        audience=chosen.audience,
        clients=chosen.clients,
        subject_claim=chosen.subject_claim,
        scope_claims=chosen.scope_claims,
        role_claims=chosen.role_claims,
        full_access=frozenset(chosen.full_access),
        max_bytes=settings.limits.token_bytes,
    )
    app.state.keys = keys
    app.state.gatekeeper = Gatekeeper(
        database, Verifier(keys, rules), settings.gateway, embedded_issuer=chosen.issuer is None
    )


def _describe(settings: Settings) -> info.Describe:
    limits = {to_camel(name): value for name, value in settings.limits.model_dump().items()}

    def describe(_principal: Principal) -> info.InfoOut:
        return info.InfoOut(
            name="Assay", version=__version__, api_version="v1", engines=[], limits=limits, frameworks=0
        )

    return describe


def _check_database(database: Database) -> None:
    if not database.is_current():
        raise DatabaseUnavailable("The database is behind this version; run `assay migrate`.")
