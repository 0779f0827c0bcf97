"""A ZIP file's directory and its entries, believed in nothing that can be counted.

The standard library's reader builds an object for every entry and stops at the size an entry declares;
here the directory is bounded before it is walked, and bytes are counted as they come out.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from assay.content.models import DamagedDocument, OverLimit, PasswordProtected

MAX_ENTRIES = 10_000
_MAX_DIRECTORY_BYTES = 4 * 2**20
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_STORED, _DEFLATED = 0, 8
_MARKED_64 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    offset: int
    compressed_bytes: int
    declared_bytes: int
    checksum: int
    method: int
    encrypted: bool


class NotZip(DamagedDocument):
    """The file has no ZIP directory: it was cut short, or is not a DOCX."""

    @property
    def code(self) -> str:
        """One code for every kind of damage; the class only lets a sniffer tell this one apart."""
        return "damaged_document"


def directory(file: BinaryIO) -> list[Entry]:
    """Every entry, in the directory's order."""
    size = file.seek(0, 2)
    tail_start = max(0, size - 65_557 - _LOCATOR_64.size)
    file.seek(tail_start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + _END.size > len(tail):
        raise NotZip
    _, disk, _, _, count, length, start, _ = _END.unpack_from(tail, at)
    end = tail_start + at
    if at >= _LOCATOR_64.size and tail[at - _LOCATOR_64.size : at].startswith(b"PK\x06\x07"):
        end, count, length, start = _end_64(file, tail, at)
    if disk not in {0, 0xFFFF}:
        raise DamagedDocument("The DOCX is one part of a ZIP file in several parts.")
    if count > MAX_ENTRIES or length > _MAX_DIRECTORY_BYTES:
        raise OverLimit(f"The DOCX holds more than {MAX_ENTRIES:,} parts.")
    shift = end - length - start  # bytes that stand in front of the archive
    if shift < 0 or end > size:
        raise DamagedDocument("The ZIP directory of the DOCX points outside the file.")
    file.seek(start + shift)
    entries = list(_entries(file.read(length), shift))
    if any(entry.offset + entry.compressed_bytes > size for entry in entries):
        raise DamagedDocument("The ZIP directory of the DOCX points outside the file.")
    return entries


def _end_64(file: BinaryIO, tail: bytes, at: int) -> tuple[int, int, int, int]:
    _, _, position, _ = _LOCATOR_64.unpack_from(tail, at - _LOCATOR_64.size)
    file.seek(min(position, 2**62))
    record = file.read(_END_64.size)
    if len(record) < _END_64.size or not record.startswith(b"PK\x06\x06"):
        raise DamagedDocument("The ZIP directory of the DOCX is damaged.")
    *_, count, length, start = _END_64.unpack(record)
    return position, count, length, start


def _entries(directory_bytes: bytes, shift: int) -> Iterator[Entry]:
    at = 0
    for _ in range(MAX_ENTRIES + 1):
        if at >= len(directory_bytes):
            return
        if at + _CENTRAL.size > len(directory_bytes) or directory_bytes[at : at + 4] != b"PK\x01\x02":
            raise DamagedDocument("The ZIP directory of the DOCX is damaged.")
        fields = _CENTRAL.unpack_from(directory_bytes, at)
        flags, method, checksum, packed, unpacked = fields[3], fields[4], fields[7], fields[8], fields[9]
        name_length, extra_length, comment_length, offset = fields[10], fields[11], fields[12], fields[16]
        name = directory_bytes[at + 46 : at + 46 + name_length]
        extra = directory_bytes[at + 46 + name_length : at + 46 + name_length + extra_length]
        if _MARKED_64 in {packed, unpacked, offset}:
            unpacked, packed, offset = _sizes_64(extra, unpacked, packed, offset)
        yield Entry(
            name=name.decode("utf-8" if flags & 0x800 else "cp437", "replace"),
            offset=offset + shift,
            compressed_bytes=packed,
            declared_bytes=unpacked,
            checksum=checksum,
            method=method,
            encrypted=bool(flags & 1),
        )
        at += _CENTRAL.size + name_length + extra_length + comment_length
    raise OverLimit(f"The DOCX holds more than {MAX_ENTRIES:,} parts.")


def _sizes_64(extra: bytes, unpacked: int, packed: int, offset: int) -> tuple[int, int, int]:
    """The sizes that are too large for their place, or only written as if they were."""
    values = [unpacked, packed, offset]
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        field = extra[at + 4 : at + 4 + length]
        if kind == 1:
            wide = iter(struct.unpack_from(f"<{len(field) // 8}Q", field))
            values = [next(wide, _MARKED_64) if value == _MARKED_64 else value for value in values]
        at += 4 + length
    return values[0], values[1], values[2]


def refuse_overlaps(entries: list[Entry]) -> None:
    """Entries that share bytes are how a small file unpacks to petabytes."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.offset < end:
            raise DamagedDocument("Parts of the DOCX overlap in the ZIP file.")
        end = entry.offset + _LOCAL.size + entry.compressed_bytes


def unpack(file: BinaryIO, entry: Entry, at_most: int) -> bytes:
    """The bytes of an entry; one byte more than `at_most` means that there were more."""
    if entry.encrypted:
        raise PasswordProtected("The DOCX is protected by a password.")
    file.seek(entry.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raise DamagedDocument(f"The part {shown(entry.name)} of the DOCX is not where its directory says.")
    *_, name_length, extra_length = _LOCAL.unpack(header)
    file.seek(name_length + extra_length, 1)
    packed = file.read(entry.compressed_bytes)
    content = _inflate(packed, entry, at_most)
    if len(content) <= at_most and zlib.crc32(content) != entry.checksum:
        raise DamagedDocument(f"The part {shown(entry.name)} of the DOCX is damaged (checksum).")
    return content


def _inflate(packed: bytes, entry: Entry, at_most: int) -> bytes:
    if entry.method == _STORED:
        return packed[: at_most + 1]
    if entry.method != _DEFLATED:
        raise DamagedDocument(
            f"The part {shown(entry.name)} of the DOCX is compressed in a way DOCX does not allow."
        )
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = stream.decompress(packed, at_most + 1)
    except zlib.error as error:
        raise DamagedDocument(f"The part {shown(entry.name)} of the DOCX cannot be decompressed.") from error
    if len(content) <= at_most and not stream.eof:
        raise DamagedDocument(f"The part {shown(entry.name)} of the DOCX is cut short.")
    return content


def shown(name: str) -> str:
    """A name that is safe in a sentence: the file's author chose it."""
    return "".join(c for c in name[:80] if c.isprintable())
