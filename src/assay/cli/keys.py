"""`assay keys`: the signing keys of the embedded identity provider."""

from typing import Annotated

import typer

from assay import server, settings
from assay.cli.terminal import DataDir, opened, out
from assay.identity import keys

app = typer.Typer(help="The signing keys of the embedded identity provider.", no_args_is_help=True)


@app.command("rotate")
def rotate(
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
    if config.identity.issuer is not None:
        raise server.CannotStart("The keys are the external identity provider's; rotate them there.")
    with opened(config) as database, database.write() as tx:
        kid = keys.rotate(tx, after_seconds=after, at_once=at_once)
    out.print(f"New signing key {kid}.")


@app.callback()
def keys_() -> None:
    """Keep `rotate` a command of its own: typer folds a single one into its group."""
