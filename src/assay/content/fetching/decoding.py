"""Content encodings undone as the bytes arrive, never further than a limit: a bomb ends early."""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import brotli

from assay.content.fetching.failures import BrokenOff, DownloadTooLarge, GarbledAnswer, UnknownEncoding

ACCEPTED = "gzip, deflate, br"
_STEP = 64 * 1024
_GZIP_START = b"\x1f\x8b"
_SHOWABLE = re.compile(r"[a-z0-9.+, _-]{1,40}")


def decode(encoding: str, chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    """The chunks without their content encoding; raises before more than `max_bytes` are given out."""
    given = 0
    try:
        for piece in _decoder(encoding)(chunks):
            given += len(piece)
            if given > max_bytes:
                raise too_large(max_bytes)
            yield piece
    except (zlib.error, brotli.error) as error:
        raise GarbledAnswer(
            "The address sent a body that is not in its declared content encoding."
        ) from error


def too_large(max_bytes: int) -> DownloadTooLarge:
    size = f"{max_bytes / 2**20:g} MiB" if max_bytes >= 2**20 else f"{max_bytes:,} bytes"
    return DownloadTooLarge(f"The download is larger than {size}, the limit of this service.")


def _decoder(encoding: str) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """One encoding alone: one within another serves nobody but the maker of a bomb."""
    names = [name for part in encoding.lower().split(",") if (name := part.strip()) not in {"", "identity"}]
    if not names:
        return iter
    if len(names) == 1 and names[0] in _DECODERS:
        return _DECODERS[names[0]]
    shown = ", ".join(names)
    naming = f": {shown}" if _SHOWABLE.fullmatch(shown) else ""
    raise UnknownEncoding(f"The address answered in a content encoding that is not supported{naming}.")


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """All members of the file; what is no member after the last one is padding."""
    member = zlib.decompressobj(31)
    empty = True
    for data in chunks:
        rest = data
        while rest:
            if member.eof:
                if not _GZIP_START.startswith(rest[:2]):
                    return
                member = zlib.decompressobj(31)
            empty = False
            yield member.decompress(rest, _STEP)
            rest = member.unused_data if member.eof else member.unconsumed_tail
    yield from _rest_of(member, empty=empty)


def _inflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """In its zlib wrapping, as the standard says, or bare, as some servers send it."""
    arriving = filter(None, chunks)
    first = next(arriving, b"")
    stream = zlib.decompressobj(15 if first and first[0] & 0x8F == 0x08 else -15)
    for data in chain([first], arriving):
        rest = data
        while rest and not stream.eof:
            yield stream.decompress(rest, _STEP)
            rest = stream.unconsumed_tail
    yield from _rest_of(stream, empty=not first)


def _rest_of(stream: "zlib._Decompress", *, empty: bool) -> Iterator[bytes]:
    """What zlib still holds, less than one step; a stream without its end was cut short."""
    yield stream.flush()
    if not (stream.eof or empty):
        raise BrokenOff


def _unbrotli(chunks: Iterable[bytes]) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    empty = True
    for data in filter(None, chunks):
        empty = False
        yield stream.process(data, output_buffer_limit=_STEP)
        while not (stream.can_accept_more_data() or stream.is_finished()):
            yield stream.process(b"", output_buffer_limit=_STEP)
    if not (stream.is_finished() or empty):
        raise BrokenOff


_DECODERS = {"gzip": _gunzip, "x-gzip": _gunzip, "deflate": _inflate, "br": _unbrotli}
