"""Content encodings: whatever the cut of the chunks, the whole comes out, or a failure with a name."""

import gzip
import tracemalloc
import zlib
from contextlib import suppress

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.content.fetching.decoding import decode
from assay.content.fetching.failures import BrokenOff, DownloadTooLarge, GarbledAnswer

TEXT = b"The processor acts only on documented instructions. " * 400
GZIPPED = gzip.compress(TEXT, mtime=0)  # without a time, because it names a test


def bare_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKED = {
    "identity": [("identity", TEXT), ("", TEXT), ("Identity, identity", TEXT)],
    "gzip": [
        ("gzip", GZIPPED),
        ("X-GZip", GZIPPED),
        ("identity, gzip", GZIPPED),
    ],
    "members": [("gzip", gzip.compress(TEXT[:9000], mtime=0) + gzip.compress(TEXT[9000:], mtime=0))],
    "padding": [("gzip", GZIPPED + b"\0" * 20)],
    "deflate": [("deflate", zlib.compress(TEXT)), ("deflate", bare_deflate(TEXT))],
    "br": [("br", brotli.compress(TEXT))],
}
CASES = [case for cases in PACKED.values() for case in cases]


def in_pieces(data, size):
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize(("encoding", "packed"), CASES)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_body_is_decoded_however_it_is_cut(encoding, packed, size):
    assert b"".join(decode(encoding, in_pieces(packed, size), len(TEXT))) == TEXT


@pytest.mark.parametrize(("encoding", "packed"), CASES)
def test_one_byte_over_the_limit_is_refused(encoding, packed):
    with pytest.raises(DownloadTooLarge):
        list(decode(encoding, [packed], len(TEXT) - 1))


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_an_empty_body_is_empty_in_any_encoding(encoding):
    assert b"".join(decode(encoding, [b"", b""], 10)) == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_a_bomb_takes_no_more_memory_than_the_limit(encoding):
    bomb = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}[encoding](
        b"\0" * 20_000_000
    )
    tracemalloc.start()
    try:
        with pytest.raises(DownloadTooLarge):
            b"".join(decode(encoding, [bomb], 1_000_000))
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


@settings(deadline=None)  # a loaded machine is no bug
@given(st.sampled_from(["gzip", "deflate", "br"]), st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_whatever_break_the_decoder(encoding, data, size):
    with suppress(BrokenOff, DownloadTooLarge, GarbledAnswer):
        assert len(b"".join(decode(encoding, in_pieces(data, size), 10_000))) <= 10_000


@settings(deadline=None)  # a loaded machine is no bug
@given(st.sampled_from(CASES), st.data())
def test_what_is_cut_short_is_never_taken_for_the_whole(case, data):
    encoding, packed = case
    if "gzip" not in encoding and encoding not in {"deflate", "br"}:
        return
    kept = packed[: data.draw(st.integers(1, len(packed) - 1))]
    try:
        decoded = b"".join(decode(encoding, [kept], len(TEXT)))
    except (BrokenOff, GarbledAnswer):
        return
    assert decoded in {TEXT, TEXT[:9000]}  # only padding, or a whole member, is missing
