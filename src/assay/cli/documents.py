"""`assay extract`: documents without a server."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from assay import logs, server, settings
from assay.app import open_fetcher, open_reader
from assay.cli.terminal import AsJson, complaints, progress, say
from assay.content.extraction import Source, markdown
from assay.content.models import Text
from assay.content.representation import content_out


def extract(
    source: Annotated[str, typer.Argument(help="A PDF, DOCX, HTML or text file, or the address of a page.")],
    as_json: AsJson = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Print the text of a document, as the service would extract it."""
    config = settings.load()
    logs.configure(config.logs)
    with progress() as bar:
        text = extracted(config, source, bar)
    if as_json:
        say(content_out(text, None).model_dump_json(by_alias=True))
    else:
        say(markdown.render(text) if as_markdown else text.text)
    for caveat in text.caveats:
        complaints.print(f"Note: {caveat.message}", style="yellow", markup=False)


def extracted(config: settings.Settings, source: str, bar: Progress) -> Text:
    """By the same code as in the service, child process and limits included."""
    step = bar.add_task("Fetching" if "://" in source else "Reading", total=None)
    if "://" in source:
        fetched = open_fetcher(config).fetch(source)
        data, facts = fetched.body, Source(fetched.charset, fetched.url, fetched.is_page)
    else:
        data, facts = _file_bytes(Path(source), config.limits.file_bytes), Source()
    bar.update(step, description="Reading")
    reader = open_reader(config)
    with closing(reader):
        return reader.read(
            data, facts, progress=lambda done, total: bar.update(step, completed=done, total=total)
        )


def _file_bytes(path: Path, limit: int) -> bytes:
    try:
        if path.stat().st_size > limit:
            raise server.CannotStart(f"{path} is larger than the limit of {limit:,} bytes.")
        return path.read_bytes()
    except OSError as error:
        raise server.CannotStart(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}."
        ) from None
