"""Frameworks of others into ours: OSCAL catalogs and profiles (JSON), CISO Assistant libraries (YAML)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.frameworks import ciso, files, marked, oscal
from assay.frameworks.imports import MOST_BYTES, Imported

__all__ = ["Imported", "import_"]


def import_(
    path: Path,
    *,
    beside: Sequence[Path] = (),
    code_name: str | None = None,
    language: str | None = None,
) -> Imported:
    """The framework in a file of any known kind. Raises FrameworkFileError; nothing is half imported.

    `beside` are the files that an OSCAL profile may import from: nothing else is opened, whatever it names.
    `language` picks a translation where the file has one.
    """
    text = marked.decode(marked.read_bytes(path, most_bytes=MOST_BYTES), path.name)
    imported = _read(text, path, beside, language)
    if code_name is None:
        return imported
    return replace(imported, framework=replace(imported.framework, code_name=code_name))


def _read(text: str, path: Path, beside: Sequence[Path], language: str | None) -> Imported:
    start = text.lstrip()[:1]
    if start == "{":
        return oscal.read(text, path, beside)
    if start == "<":
        complaints = marked.Complaints(path.name)
        complaints.at(1, 1, "This is XML.", "Import the JSON form of the OSCAL file.")
        complaints.settle()
    root = marked.read(text, path.name)
    if isinstance(root, marked.Mapping) and "objects" in root.entries:
        return ciso.read(root, path.name, language)
    return Imported(files.parse(text, path.name))
