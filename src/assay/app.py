"""The composition root: the only place where the parts meet."""

import importlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from pydantic.alias_generators import to_camel

from assay import __version__, info
from assay.assessments import routes as assessment_routes
from assay.assessments.judging import ENGINE, ENGINE_VERSION, Judge
from assay.assessments.judging.local import LocalJudge
from assay.assessments.proceedings import Proceedings
from assay.assessments.service import JUDGE, Docket
from assay.content import routes as content_routes
from assay.content.blobs import Blobs
from assay.content.extraction import Reader, ReadingLimits
from assay.content.fetching import Fetcher, FetchLimits
from assay.content.fetching.addresses import Allow
from assay.content.processing import Processor
from assay.content.service import PROCESS, Desk
from assay.database.core import Database, DatabaseUnavailable, sqlite_url
from assay.errors import ServiceError
from assay.feedback import routes as feedback_routes
from assay.feedback.learning import LEARN, Learner
from assay.frameworks import routes as framework_routes
from assay.frameworks import store as framework_store
from assay.frameworks.service import Listings
from assay.identity import routes as identity_routes
from assay.identity.issuer import Issuer, LoginLimits
from assay.identity.keys import KeyRing, KeySource, PublishedKeys, fetcher
from assay.identity.models import Principal
from assay.identity.service import Gatekeeper
from assay.identity.tokens import Rules, Verifier
from assay.jobs.backlog import Backlog
from assay.jobs.changes import Changes
from assay.jobs.embedded import EmbeddedEngine
from assay.jobs.engine import Engine
from assay.jobs.table import Policy
from assay.jobs.worker import Worker
from assay.metrics import Metrics
from assay.retention.housekeeping import Housekeeper
from assay.settings import Settings, WrongSetting
from assay.web import failures, health, openapi
from assay.web.edge import Edge
from assay.web.idempotency import InFlight
from assay.web.rates import Rates
from assay.web.waiting import Waiting

DESCRIPTION = "Tells whether documents say what a regulation demands, with citations that hold."


def open_database(settings: Settings) -> Database:
    """The database that the settings name."""
    url = settings.database.url.get_secret_value() if settings.database.url else sqlite_url(settings.data_dir)
    if url.startswith("postgresql"):
        _procrastinate()
    return Database(
        url, pool_size=settings.database.pool_size, timeout_seconds=settings.database.timeout_seconds
    )


def create_app(
    settings: Settings,
    database: Database,
    *,
    reader: Reader | None = None,
    make_judge: Callable[[], Judge] = LocalJudge,
    working: bool = True,
    alone: bool = False,
    queues: Sequence[str] | None = None,
) -> FastAPI:
    """The service over a migrated database.

    `working`: jobs are done in this process too, of the `queues` named or of all. `alone`: no other process
    does any on this database.
    """
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
    app.state.rates = Rates(settings.rate.requests_per_minute, settings.rate.submissions_per_minute)
    _add_identity(app, settings, database, metrics)
    app.state.working = working
    app.state.alone = alone
    _add_work(app, settings, database, reader or open_reader(settings), alone=alone)
    app.state.worker = _worker(app, settings, database, make_judge, queues)
    app.state.describe = _describe(settings, database)
    app.state.checks = {
        "database": lambda: _check_database(database),
        "keys": app.state.keys.check,
        "documentStore": app.state.desk.blobs.check,
    }
    app.state.notes = lambda: {"confinement": app.state.reader.sandbox.confinement()}
    app.state.listings = Listings()
    # They are tried in this order at every request: what partners ask most stands first.
    for router in (
        info.router,
        content_routes.router,
        assessment_routes.router,
        framework_routes.router,
        feedback_routes.router,
        health.router,
        identity_routes.gate,
        *((identity_routes.provider,) if settings.identity.issuer is None else ()),
    ):
        app.include_router(router)
    token_url = settings.identity.issuer or app.state.issuer.discovery()["token_endpoint"]
    app.openapi = openapi.document(app, token_url)  # type: ignore[method-assign]  # FastAPI's documented way
    app.add_middleware(
        Edge, limits=settings.limits, metrics=metrics, trusted_proxies=settings.trusted_proxies
    )
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    if app.state.alone:
        app.state.desk.sweep(app.state.database)
    if app.state.working:
        app.state.reader.sandbox.start()
        app.state.engine.start(app.state.worker)
        app.state.housekeeper.start()
    yield
    app.state.housekeeper.stop()
    app.state.engine.stop()
    if app.state.working:
        app.state.reader.close()
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


def _add_work(app: FastAPI, settings: Settings, database: Database, reader: Reader, *, alone: bool) -> None:
    """Content jobs, assessments and feedback: where they are handed in."""
    limits = settings.limits
    metrics: Metrics = app.state.metrics
    changes = Changes()
    engine = open_engine(settings, alone=alone)
    desk = Desk(engine, changes, open_blobs(settings), open_addresses(settings), limits.url_characters)
    fetcher = open_fetcher(settings)
    app.state.desk = desk
    app.state.engine = engine
    app.state.reader = reader
    learner = Learner(database, engine)
    docket = Docket(
        desk,
        learner.unlearn,
        most_sources=limits.assessment_sources,
        most_criteria=limits.assessment_criteria,
    )
    app.state.learner = learner
    desk.listeners.append(docket.source_settled)
    app.state.docket = docket
    app.state.housekeeper = Housekeeper(database, desk, docket, settings.retention.days)
    app.state.processor = Processor(database, desk, reader, fetcher, metrics)
    app.state.in_flight = InFlight()
    app.state.waiting = waiting = Waiting(changes, per_partner=limits.waits_per_partner)
    metrics.waits.set_function(lambda: waiting.under_way)


def _worker(
    app: FastAPI,
    settings: Settings,
    database: Database,
    make_judge: Callable[[], Judge],
    queues: Sequence[str] | None,
) -> Worker:
    """Who does the work: of the slices named, which is the first part of a task's name, or of all."""
    tasks = {
        PROCESS: app.state.processor.task(),
        JUDGE: Proceedings(database, app.state.docket, make_judge).task(),
        LEARN: app.state.learner.task(),
    }
    known = {task.partition(".")[0] for task in tasks}
    if queues is not None and not known.issuperset(queues):
        raise WrongSetting(f"There is no queue {min(set(queues) - known)!r}; there are {sorted(known)}.")
    chosen = {name: task for name, task in tasks.items() if not queues or name.partition(".")[0] in queues}
    policy = Policy(
        lease_seconds=settings.jobs.lease_seconds,
        max_attempts=settings.jobs.attempts,
        running_per_partner=settings.jobs.running_per_partner,
        running_in_all=settings.jobs.running_in_all,
    )
    metrics: Metrics = app.state.metrics
    metrics.registry.register(Backlog(database, tasks))
    return Worker(database, chosen, policy, metrics)


def open_engine(settings: Settings, *, alone: bool = False) -> Engine:
    """What brings jobs to workers: threads of this process, or Procrastinate where there is PostgreSQL."""
    workers = settings.jobs.workers or os.cpu_count() or 1
    url = _postgres_url(settings)
    if url is None:
        return EmbeddedEngine(workers, alone=alone)
    engine: Engine = _procrastinate().ProcrastinateEngine(url, concurrency=workers)
    return engine


def migrate(settings: Settings, database: Database) -> None:
    """Bring the schema up to date, the queue's own tables too."""
    database.migrate()
    url = _postgres_url(settings)
    if url is not None:
        _procrastinate().prepare(database, url)


def _postgres_url(settings: Settings) -> str | None:
    url = settings.database.url.get_secret_value() if settings.database.url else ""
    return url if url.startswith("postgresql") else None


def _procrastinate() -> Any:
    """Loaded by name, because the extra `postgres` need not be installed where SQLite is enough."""
    try:
        return importlib.import_module("assay.jobs.procrastinate")
    except ModuleNotFoundError as error:
        raise WrongSetting(
            f"ASSAY_DATABASE__URL names PostgreSQL; install the extra `postgres` ({error.name} is missing)."
        ) from None


def open_blobs(settings: Settings) -> Blobs:
    """Where the bytes of documents are kept."""
    return Blobs.open(settings.blobs.url or settings.data_dir / "blobs", settings.blobs.options)


def open_reader(settings: Settings) -> Reader:
    """Who reads documents, each in a child process of its own."""
    limits = settings.limits
    return Reader(
        ReadingLimits(
            pages=limits.pages,
            text_bytes=limits.text_bytes,
            docx_bytes=limits.docx_bytes,
            seconds=limits.processing_seconds,
            memory_bytes=limits.processing_memory_bytes,
        )
    )


def open_fetcher(settings: Settings) -> Fetcher:
    """Who downloads pages, from the addresses that may be reached."""
    limits = settings.limits
    return Fetcher(
        FetchLimits(
            max_url_characters=limits.url_characters,
            max_bytes=limits.download_bytes,
            total_seconds=limits.download_seconds,
            max_redirects=limits.redirects,
        ),
        open_addresses(settings),
    )


def open_addresses(settings: Settings) -> Allow:
    """The private endpoints that the operator has opened."""
    try:
        return Allow.parse(settings.fetch.allow)
    except ValueError as error:
        raise WrongSetting(f"ASSAY_FETCH__ALLOW is wrong: {error}") from None


def _describe(settings: Settings, database: Database) -> info.Describe:
    stated = {**settings.limits.model_dump(), **settings.rate.model_dump()}
    limits = {to_camel(name): value for name, value in stated.items()}

    counts = framework_store.count_lookup(database)

    @lru_cache(maxsize=64)
    def described(count: int) -> bytes:
        """Nothing else of it changes while the service runs."""
        said = info.InfoOut(
            name="Assay",
            version=__version__,
            api_version="v1",
            engines=[info.EngineOut(name=ENGINE, version=ENGINE_VERSION)],
            limits=limits,
            frameworks=count,
        )
        return said.model_dump_json(by_alias=True).encode()

    def describe(principal: Principal) -> bytes:
        row = counts.find(subject=principal.subject)
        return described(row[0] if row else 0)

    return describe


def _check_database(database: Database) -> None:
    if not database.is_current():
        raise DatabaseUnavailable("The database is behind this version; run `assay migrate`.")
