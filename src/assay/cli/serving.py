"""`assay serve` and `assay migrate`."""

from typing import Annotated, Any

import typer

from assay import __version__, logs, server, settings
from assay.app import create_app, open_database
from assay.app import migrate as bring_up_to_date
from assay.cli.terminal import DataDir, complaints, out
from assay.database.core import Database
from assay.frameworks.service import synchronise
from assay.identity import keys, service, store
from assay.identity.issuer import TOKEN_PATH
from assay.identity.models import Credentials

Host = Annotated[str | None, typer.Option(help="Address to listen on (ASSAY_HOST; 127.0.0.1).")]
Port = Annotated[int | None, typer.Option(help="Port to listen on (ASSAY_PORT; 8080).")]


def serve(host: Host = None, port: Port = None, data_dir: DataDir = None) -> None:
    """Run the whole service in one process: answer requests, and do the work."""
    config = _configured(host=host, port=port, data_dir=data_dir)
    _listen(config, working=True)


def api(host: Host = None, port: Port = None) -> None:
    """Answer requests only; `assay work` does the work. Needs PostgreSQL."""
    config = _configured(host=host, port=port)
    _refuse_sqlite(config)
    _listen(config, working=False)


def work(
    queues: Annotated[
        str,
        typer.Option(help="Kinds of work to do, separated by commas: content, assessments (default: all)."),
    ] = "",
    concurrency: Annotated[
        int | None, typer.Option(help="Jobs at a time (ASSAY_JOBS__WORKERS; one for each core).", min=1)
    ] = None,
) -> None:
    """Do the work only, on as many machines as you like. Needs PostgreSQL."""
    config = _configured()
    _refuse_sqlite(config)
    if concurrency is not None:
        config = config.model_copy(update={"jobs": config.jobs.model_copy(update={"workers": concurrency})})
    database = open_database(config)
    if not database.is_current():
        raise server.CannotStart("The database is behind this version; run `assay migrate`.")
    asked = [queue.strip() for queue in queues.split(",") if queue.strip()]
    app = create_app(config, database, queues=asked or None)
    out.print(f"Assay {__version__} works on {', '.join(app.state.worker.tasks)}.")
    server.run_worker(app)


def _configured(**given: Any) -> settings.Settings:
    config = settings.load(**given)
    logs.configure(config.logs)
    for sentence in settings.unknown():
        complaints.print(sentence, style="yellow", markup=False)
    return config


def _refuse_sqlite(config: settings.Settings) -> None:
    if config.database.url is None:
        raise server.CannotStart(
            "Separate roles share a database on PostgreSQL: set ASSAY_DATABASE__URL, or run `assay serve`."
        )


def _listen(config: settings.Settings, *, working: bool) -> None:
    with server.take_port(config.host, config.port) as listener:
        config = config.model_copy(update={"port": listener.getsockname()[1]})
        server.prepare_folder(config.data_dir)
        database = open_database(config)
        if working:
            bring_up_to_date(config, database)
            synchronise(database, config.frameworks.folder)
        elif not database.is_current():
            raise server.CannotStart("The database is behind this version; run `assay migrate`.")
        demo = _first_start(database) if config.identity.issuer is None else None
        out.print(f"Assay {__version__} listens on {config.base_url} (documentation: {config.base_url}/docs)")
        if demo:
            _greet(config.base_url, demo)
        alone = database.is_sqlite and server.is_alone(config.data_dir)
        server.run(create_app(config, database, working=working, alone=alone), listener, config.limits)


def _first_start(database: Database) -> Credentials | None:
    """Make what the embedded identity provider needs and a new database lacks."""
    with database.write() as tx:
        if not keys.exist(tx):
            keys.rotate(tx)
        return service.add(tx, "demo") if store.count(tx) == 0 else None


def _greet(base_url: str, demo: Credentials) -> None:
    out.print(
        f"""
A partner named demo was made for you. Its credentials are shown only now. Paste this into another terminal:

  TOKEN=$(curl -s {base_url}{TOKEN_PATH} \\
    -d grant_type=password -d username={demo.username} -d password={demo.password} \\
    -d client_id={demo.client_id} -d client_secret={demo.client_secret} \\
    | python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])')
  curl -s {base_url}/api/v1/info -H "Authorization: Bearer $TOKEN"
""",
        markup=False,
    )


def migrate(data_dir: DataDir = None) -> None:
    """Bring the database up to date."""
    config = settings.load(data_dir=data_dir)
    if config.database.url is None:
        server.prepare_folder(config.data_dir)
    database = open_database(config)
    bring_up_to_date(config, database)
    synchronise(database, config.frameworks.folder)
    database.close()
    out.print("The database is up to date.")
