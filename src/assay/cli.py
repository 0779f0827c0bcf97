"""The command `assay`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from assay import __version__, logs, server, settings
from assay.app import create_app, open_database
from assay.database.core import Database
from assay.errors import ServiceError
from assay.identity import keys, service, store
from assay.identity.issuer import TOKEN_PATH
from assay.identity.models import ALL_SCOPES, Credentials, Scope

app = typer.Typer(
    help="Tells whether documents say what a regulation demands.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
partners_app = typer.Typer(help="Add, list and disable partners.", no_args_is_help=True)
keys_app = typer.Typer(help="The signing keys of the embedded identity provider.", no_args_is_help=True)
app.add_typer(partners_app, name="partners")
app.add_typer(keys_app, name="keys")

out = Console(highlight=False, soft_wrap=True)
complaints = Console(stderr=True, highlight=False, soft_wrap=True)

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Where everything is kept (ASSAY_DATA_DIR; ./data).")
]


def main() -> None:
    """Entry point: errors are sentences, never tracebacks."""
    try:
        app()
    except (settings.WrongSetting, server.CannotStart, ServiceError) as error:
        complaints.print(str(error), style="red", markup=False)
        sys.exit(2)


def _version(asked: bool) -> None:
    if asked:
        out.print(f"assay {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@contextmanager
def _opened(config: settings.Settings) -> Iterator[Database]:
    """The database of the settings; one in the data directory is made and brought up to date."""
    if config.database.url is None:
        server.prepare_folder(config.data_dir)
    database = open_database(config)
    try:
        if config.database.url is None:
            database.migrate()
        elif not database.is_current():
            raise server.CannotStart("The database is behind this version; run `assay migrate`.")
        yield database
    finally:
        database.close()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (ASSAY_HOST; 127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on (ASSAY_PORT; 8080).")] = None,
    data_dir: DataDir = None,
) -> None:
    """Run the whole service on this machine."""
    config = settings.load(host=host, port=port, data_dir=data_dir)
    logs.configure(config.logs)
    for sentence in settings.unknown():
        complaints.print(sentence, style="yellow", markup=False)
    listener = server.take_port(config.host, config.port)
    config = config.model_copy(update={"port": listener.getsockname()[1]})
    server.prepare_folder(config.data_dir)
    database = open_database(config)
    database.migrate()
    demo = _first_start(database) if config.identity.issuer is None else None
    out.print(f"Assay {__version__} listens on {config.base_url} (documentation: {config.base_url}/docs)")
    if demo:
        _greet(config.base_url, demo)
    server.run(create_app(config, database), listener, config.limits)


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


@app.command()
def migrate(data_dir: DataDir = None) -> None:
    """Bring the database up to date."""
    config = settings.load(data_dir=data_dir)
    if config.database.url is None:
        server.prepare_folder(config.data_dir)
    database = open_database(config)
    database.migrate()
    database.close()
    out.print("The database is up to date.")


@keys_app.command("rotate")
def rotate_keys(
    data_dir: DataDir = None,
    after: Annotated[
        int, typer.Option(help="Publish the new key now, sign with it after this many seconds.", min=0)
    ] = 0,
    at_once: Annotated[
        bool, typer.Option("--at-once", help="The old keys have leaked: refuse what they signed.")
    ] = False,
) -> None:
    """Make a new signing key; the old ones go on verifying the tokens that they signed."""
    config = settings.load(data_dir=data_dir)
    _refuse_external(config, "The keys are the external identity provider's; rotate them there.")
    with _opened(config) as database, database.write() as tx:
        kid = keys.rotate(tx, after_seconds=after, at_once=at_once)
    out.print(f"New signing key {kid}.")


@partners_app.command("add")
def add_partner(
    name: Annotated[str, typer.Argument(help="A name of your choice, unique.")],
    username: Annotated[str | None, typer.Option(help="User name (default: the name).")] = None,
    password: Annotated[str | None, typer.Option(help="Password (default: a random one).")] = None,
    scopes: Annotated[str, typer.Option(help="Scopes, separated by spaces or commas (default: all).")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Create a partner with client and user credentials, and print them once."""
    config = settings.load(data_dir=data_dir)
    _refuse_external(
        config, "Partners come from the external identity provider: each exists from its first token."
    )
    chosen = _scopes(scopes)
    with _opened(config) as database, database.write() as tx:
        made = service.add(tx, name, username=username, password=password, scopes=chosen)
    facts = {
        "subject": made.subject,
        "username": made.username,
        "password": made.password,
        "clientId": made.client_id,
        "clientSecret": made.client_secret,
    }
    if as_json:
        print(json.dumps(facts))  # noqa: T201  # exactly one line, whatever the width of the terminal
        return
    out.print("Keep these: they are not shown again.")
    for label, value in facts.items():
        out.print(f"  {label:<13} {value}", markup=False)


def _refuse_external(config: settings.Settings, sentence: str) -> None:
    if config.identity.issuer is not None:
        raise server.CannotStart(sentence)


def _scopes(text: str) -> frozenset[Scope]:
    names = text.replace(",", " ").split()
    unknown = sorted(set(names).difference(Scope))
    if unknown:
        known = ", ".join(sorted(Scope))
        raise settings.WrongSetting(f"{unknown[0]!r} is not a scope; the scopes are {known}.")
    return frozenset(Scope(name) for name in names) | {Scope.INFO} if names else ALL_SCOPES


@partners_app.command("list")
def list_partners(
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array.")] = False,
    data_dir: DataDir = None,
) -> None:
    """List the partners."""
    with _opened(settings.load(data_dir=data_dir)) as database, database.read() as tx:
        found = store.list_(tx)
    rows = [
        {
            "name": partner.name,
            "subject": partner.subject,
            "username": partner.username,
            "clientId": partner.client_id,
            "scopes": sorted(partner.scopes),
            "state": "disabled" if partner.disabled_at else "active",
        }
        for partner in found
    ]
    if as_json:
        print(json.dumps(rows))  # noqa: T201  # as above
        return
    table = Table("name", "subject", "user name", "client", "scopes", "state")
    for row in rows:
        table.add_row(*(" ".join(cell) if isinstance(cell, list) else cell or "" for cell in row.values()))
    out.print(table)


@partners_app.command("disable")
def disable_partner(
    name: Annotated[str, typer.Argument(help="Name or subject.")], data_dir: DataDir = None
) -> None:
    """Refuse a partner from now on; its living tokens stop at once."""
    with _opened(settings.load(data_dir=data_dir)) as database, database.write() as tx:
        partner = service.disable(tx, name)
    out.print(f"Disabled {partner.name or partner.subject}.", markup=False)


@partners_app.command("enable")
def enable_partner(
    name: Annotated[str, typer.Argument(help="Name or subject.")], data_dir: DataDir = None
) -> None:
    """Admit a disabled partner again."""
    with _opened(settings.load(data_dir=data_dir)) as database, database.write() as tx:
        partner = service.enable(tx, name)
    out.print(f"Enabled {partner.name or partner.subject}.", markup=False)


@partners_app.command("rotate-secret")
def rotate_secret(
    name: Annotated[str, typer.Argument(help="Name or subject.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Give a partner's client a new secret; the old one is refused from now on."""
    with _opened(settings.load(data_dir=data_dir)) as database, database.write() as tx:
        client_id, secret = service.rotate_secret(tx, name)
    if as_json:
        print(json.dumps({"clientId": client_id, "clientSecret": secret}))  # noqa: T201  # as above
        return
    out.print(f"clientId      {client_id}\nclientSecret  {secret}", markup=False)
