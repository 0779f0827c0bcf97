"""Write the reference pages that the code itself can tell: `python docs/generate.py`.

The pages are committed; a test fails when they differ from what this makes.
"""
# ruff: noqa: INP001  # a script beside its pages, not a package

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import typer.main

import assay
from assay import cli, errors, settings

REFERENCE = Path(__file__).parent / "reference"
MADE = "<!-- Made by `python docs/generate.py`: change the code, then run it. -->\n"

# Words of ours that no class in a `models` module carries.
WORDS = {
    "client": "The program that a partner registered with the operator; it has an identifier and a secret.",
    "embedded provider": "The identity provider that the service brings along, for one machine.",
    "gateway": "What stands before the service and sets IDP_SUBJECT; by default the service itself.",
    "login session": "What a password opens and refresh tokens prolong; reuse of a spent one ends it.",
    "operator": "Whoever runs the service and contracts with partners.",
    "request id": "What finds a request again in the logs: the client's own where it is sane.",
    "subject": "The uuid of a partner: `sub` of its access tokens, and IDP_SUBJECT.",
}


def pages() -> dict[str, str]:
    """Every page by its file name."""
    return {
        "settings.md": _settings(),
        "errors.md": _errors(),
        "cli.md": _cli(),
        "glossary.md": _glossary(),
    }


def _table(*rows: Sequence[str]) -> str:
    """The first row is the head."""
    head, *body = ([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _settings() -> str:
    rows = [
        (f"`{name}`", f"`{default}`" if default else "", text) for name, default, text in settings.describe()
    ]
    return (
        f"# Settings\n\n{MADE}\n"
        "Every setting is an environment variable. Lists are separated by commas. A wrong value stops the "
        "start with a sentence that names it; a name that only looks like a setting is complained of.\n\n"
        f"{_table(('variable', 'default', 'meaning'), *rows)}"
    )


def modules() -> Iterator[Any]:
    """Every module of the package but those that run something."""
    for found in pkgutil.walk_packages(assay.__path__, "assay."):
        if not found.name.startswith(("assay.__main__", "assay.database.migrations")):
            yield importlib.import_module(found.name)


def kinds(kind: type[errors.ServiceError] = errors.ServiceError) -> Iterator[type[errors.ServiceError]]:
    """Every error that the service knows, each after its kind."""
    for below in kind.__subclasses__():
        yield below
        yield from kinds(below)


def _errors() -> str:
    known = [module.__name__ for module in modules()]  # importing is what makes them known
    ours = {kind for kind in kinds() if kind.__module__ in known}
    order = sorted(ours, key=lambda kind: (kind.status, errors.code_of(kind)))
    rows = [(str(kind.status), f"`{errors.code_of(kind)}`", errors.message_of(kind)) for kind in order]
    return (
        f"# Errors\n\n{MADE}\n"
        "Every error of the API has one body: `timestamp`, `status`, `error`, `message`, `code`, `path`, "
        "`requestId` and `details`. With `Accept: application/problem+json` the same facts come as RFC 9457. "
        "`code` is stable; `message` is for people, often more exact than here, and may change.\n\n"
        f"{_table(('status', 'code', 'message'), *rows)}"
    )


def _cli() -> str:
    command = typer.main.get_command(cli.app)
    text = "\n".join(_command("assay", command))
    return f"# The command `assay`\n\n{MADE}\n{text}"


def _command(name: str, command: Any) -> Iterator[str]:
    inner = getattr(command, "commands", {})
    if inner:
        for word, below in inner.items():
            yield from _command(f"{name} {word}", below)
        return
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
    usage = " ".join([name, *(each.name.upper() for each in arguments), *(["[OPTIONS]"] if options else [])])
    rows = [(f"`{each.name.upper()}`", each.help) for each in arguments]
    rows += [(f"`{', '.join(each.opts)}`", each.help) for each in options]
    yield f"## `{name}`\n\n{inspect.cleandoc(command.help)}\n\n```\n{usage}\n```\n"
    yield _table(("parameter", "meaning"), *rows)


def _glossary() -> str:
    words = dict(WORDS)
    for module in modules():
        if module.__name__.endswith(".models"):
            words.update(_nouns(module))
    rows = [(word, words[word]) for word in sorted(words, key=str.lower)]
    return (
        f"# Glossary\n\n{MADE}\n"
        "One word for each idea, in the code, the tables, the interface and these pages. Words in capitals "
        f"are shapes in the code.\n\n{_table(('word', 'meaning'), *rows)}"
    )


def _nouns(module: Any) -> Iterator[tuple[str, str]]:
    for name, found in vars(module).items():
        ours = inspect.isclass(found) and found.__module__ == module.__name__
        # A dataclass without words of its own has its signature for a docstring.
        said = inspect.getdoc(found) if ours and not issubclass(found, Exception) else None
        if said and not said.startswith(f"{name}("):
            yield name, " ".join(said.split())


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    for page, content in pages().items():
        (REFERENCE / page).write_text(content)
