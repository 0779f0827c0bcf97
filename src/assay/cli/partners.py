"""`assay partners`."""

import json
from typing import Annotated, Any

import typer
from rich.table import Table

from assay import server, settings
from assay.app import open_blobs
from assay.audit.models import Entry
from assay.cli.terminal import AsJson, DataDir, opened, out, say
from assay.identity import service, store
from assay.identity.models import ALL_SCOPES, Scope
from assay.retention.erasure import erase_partner

app = typer.Typer(help="Add, list, disable and erase partners.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name or subject.")]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="A name of your choice, unique.")],
    username: Annotated[str | None, typer.Option(help="User name (default: the name).")] = None,
    password: Annotated[str | None, typer.Option(help="Password (default: a random one).")] = None,
    scopes: Annotated[str, typer.Option(help="Scopes, separated by spaces or commas (default: all).")] = "",
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Create a partner with client and user credentials, and print them once."""
    config = settings.load(data_dir=data_dir)
    if config.identity.issuer is not None:
        raise server.CannotStart(
            "Partners come from the external identity provider: each exists from its first token."
        )
    chosen = _scopes(scopes)
    with opened(config) as database, database.write() as tx:
        made = service.add(tx, name, username=username, password=password, scopes=chosen)
    facts = {
        "subject": made.subject,
        "username": made.username,
        "password": made.password,
        "clientId": made.client_id,
        "clientSecret": made.client_secret,
    }
    if as_json:
        say(json.dumps(facts))
        return
    out.print("Keep these: they are not shown again.")
    for label, value in facts.items():
        out.print(f"  {label:<13} {value}", markup=False)


def _scopes(text: str) -> frozenset[Scope]:
    names = text.replace(",", " ").split()
    unknown = sorted(set(names).difference(Scope))
    if unknown:
        known = ", ".join(sorted(Scope))
        raise settings.WrongSetting(f"{unknown[0]!r} is not a scope; the scopes are {known}.")
    return frozenset(Scope(name) for name in names) | {Scope.INFO} if names else ALL_SCOPES


@app.command("list")
def list_(
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """List the partners."""
    with opened(settings.load(data_dir=data_dir)) as database, database.read() as tx:
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
        say(json.dumps(rows))
        return
    table = Table("name", "subject", "user name", "client", "scopes", "state")
    for row in rows:
        table.add_row(*(" ".join(cell) if isinstance(cell, list) else cell or "" for cell in row.values()))
    out.print(table)


@app.command("disable")
def disable(name: Name, data_dir: DataDir = None) -> None:
    """Refuse a partner from now on; its living tokens stop at once."""
    with opened(settings.load(data_dir=data_dir)) as database, database.write() as tx:
        partner = service.disable(tx, name)
    out.print(f"Disabled {partner.name or partner.subject}.", markup=False)


@app.command("enable")
def enable(name: Name, data_dir: DataDir = None) -> None:
    """Admit a disabled partner again."""
    with opened(settings.load(data_dir=data_dir)) as database, database.write() as tx:
        partner = service.enable(tx, name)
    out.print(f"Enabled {partner.name or partner.subject}.", markup=False)


@app.command("rotate-secret")
def rotate_secret(
    name: Name,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Give a partner's client a new secret; the old one is refused from now on."""
    with opened(settings.load(data_dir=data_dir)) as database, database.write() as tx:
        client_id, secret = service.rotate_secret(tx, name)
    if as_json:
        say(json.dumps({"clientId": client_id, "clientSecret": secret}))
        return
    out.print(f"clientId      {client_id}\nclientSecret  {secret}", markup=False)


@app.command("erase")
def erase(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Erase everything that is a partner's, for good, and print a receipt."""
    config = settings.load(data_dir=data_dir)
    with opened(config) as database:
        with database.read() as tx:
            partner = store.get(tx, name)
        if not yes:
            typer.confirm(f"Erase all that {partner.name or partner.subject} has here, for good?", abort=True)
        receipt = _receipt(erase_partner(database, open_blobs(config), partner.subject))
    if as_json:
        say(json.dumps({"partner": partner.name, **receipt}))
        return
    out.print(f"Erased {partner.name or partner.subject}. Keep this receipt.", markup=False)
    for label, value in receipt.items():
        out.print(f"  {label:<13} {value}", markup=False)


def _receipt(entry: Entry) -> dict[str, Any]:
    return {
        "subject": entry.deed.subject,
        "erasedAt": entry.at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "erased": dict(entry.deed.counts),
        "auditEntry": entry.number,
        "auditHash": entry.hash,
    }
