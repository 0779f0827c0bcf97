"""The DOCX as a package: parts by name, how they relate, and XML that can do no harm."""

import io
import posixpath
import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from lxml import etree

from assay.content.extraction.docx import zip as docx_zip
from assay.content.extraction.docx.names import PACKAGE, RELATIONS, Element
from assay.content.extraction.docx.zip import shown
from assay.content.models import DamagedDocument, OverLimit, UnreadableDocument

# Strict OOXML is the same vocabulary under other names; to know one set is enough.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/(\w+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"
_RELATIONSHIP = f"{{{PACKAGE}/relationships}}Relationship"
_CORE_PROPERTIES = f"{PACKAGE}/relationships/metadata/core-properties"


@dataclass(frozen=True, slots=True)
class Relation:
    """`target` is the name of a part, or None for something outside the file, which is never fetched."""

    kind: str
    target: str | None


@dataclass(slots=True)
class Package:
    file: io.BytesIO
    limit_bytes: int
    entries: dict[str, docx_zip.Entry] = field(default_factory=dict)
    unpacked_bytes: int = 0
    types: dict[str, str] | None = None
    _relations: dict[str, dict[str, Relation]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entries = docx_zip.directory(self.file)
        docx_zip.refuse_overlaps(entries)
        if sum(entry.declared_bytes for entry in entries) > self.limit_bytes:
            raise self._over_limit()
        for entry in entries:
            name = _canonical(entry.name)
            if name in self.entries:
                raise DamagedDocument("The DOCX holds two parts of the same name.")
            self.entries[name] = entry

    def has(self, name: str) -> bool:
        return _canonical(name) in self.entries

    def bytes_of(self, name: str) -> bytes:
        entry = self.entries.get(_canonical(name))
        if entry is None:
            raise DamagedDocument(f"The part {shown(name)} of the DOCX is missing.")
        content = docx_zip.unpack(self.file, entry, self.limit_bytes - self.unpacked_bytes)
        self.unpacked_bytes += len(content)
        if self.unpacked_bytes > self.limit_bytes:
            raise self._over_limit()
        return content

    def _over_limit(self) -> UnreadableDocument:
        return OverLimit(
            f"The DOCX is larger than the limit of {self.limit_bytes / 2**20:,.6g} MiB when it is unpacked."
        )

    def relations(self, part: str = "") -> dict[str, Relation]:
        """Where a part (or, without one, the package) points to, by identifier."""
        if part not in self._relations:
            folder, _, name = part.rpartition("/")
            rels = f"{folder}/_rels/{name}.rels".lstrip("/")
            found = parse(self.bytes_of(rels), rels).iter(_RELATIONSHIP) if self.has(rels) else ()
            self._relations[part] = {one.get("Id", ""): _relation(one, folder) for one in found}
        return self._relations[part]

    def main_part(self) -> str:
        for relation in self.relations().values():
            if relation.kind == "officeDocument" and relation.target:
                return relation.target
        if self.has("word/document.xml"):
            return "word/document.xml"
        raise DamagedDocument("The DOCX has no main part: there is no document in it.")

    def content_type(self, name: str) -> str:
        """The media type that the package declares for a part, in lower case."""
        if self.types is None:
            listing = "[Content_Types].xml"
            root = parse(self.bytes_of(listing), listing) if self.has(listing) else ()
            self.types = {
                (one.get("PartName") or f".{one.get('Extension', '')}").lower(): one.get(
                    "ContentType", ""
                ).lower()
                for one in root
            }
        extension = posixpath.splitext(name)[1].lower()
        return self.types.get(f"/{_canonical(name)}") or self.types.get(extension, "")


def _canonical(name: str) -> str:
    """Part names know no case; some writers put backslashes into them."""
    return name.replace("\\", "/").lstrip("/").lower()


def _relation(element: Element, folder: str) -> Relation:
    kind = element.get("Type", "")
    short = "core" if kind == _CORE_PROPERTIES else kind.removeprefix(f"{RELATIONS}/")
    if element.get("TargetMode") == "External":
        return Relation(short, None)
    target = element.get("Target", "")
    if target.replace("/", "").replace(".", "").isalnum() and ".." not in target and target[0].isalpha():
        return Relation(short, f"{folder}/{target}" if folder else target)  # as nearly all are
    target = unquote(target).replace("\\", "/")
    path = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
    return Relation(short, posixpath.normpath(path))


def parse(content: bytes, name: str) -> Element:
    """XML as it stands: nothing repaired, nothing fetched, no entities of the author's own."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        content = _as_utf8(content, name)
    if b"<!DOCTYPE" in content:
        raise DamagedDocument(f"The part {shown(name)} of the DOCX declares a document type.")
    if b"purl.oclc.org" in content:
        content = _STRICT.sub(_TRANSITIONAL, content)
    try:
        root = etree.fromstring(content, _PARSER)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise _complaint(str(error), name) from error
    if root.getroottree().docinfo.doctype:
        raise DamagedDocument(f"The part {shown(name)} of the DOCX declares a document type.")
    return root


def _complaint(error: str, name: str) -> UnreadableDocument:
    if "xcessive depth" in error:
        return DamagedDocument(f"The part {shown(name)} of the DOCX is nested too deeply.")
    if "too long" in error:
        return OverLimit(f"The part {shown(name)} of the DOCX holds more than 10 MB of text in one piece.")
    return DamagedDocument(f"The part {shown(name)} of the DOCX is not well-formed XML.")


_PARSER = etree.XMLParser(
    resolve_entities=False,
    no_network=True,
    load_dtd=False,
    huge_tree=False,
    recover=False,
    collect_ids=False,
    remove_comments=True,
    remove_pis=True,
)


def _as_utf8(content: bytes, name: str) -> bytes:
    try:
        text = content.decode("utf-16")
    except UnicodeDecodeError as error:
        raise _complaint("", name) from error
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode("utf-8", "surrogatepass")
