"""Compressed captures: bombs take no memory, and what cannot be decompressed says so."""

from __future__ import annotations

import gzip
import lzma
import struct
import zlib
from collections.abc import Callable
from io import BytesIO

import pytest
import zstandard

from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from kafka_admin_proto.errors import DumpError
from tests.helpers.memory import traced

_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
_PACKET = struct.pack("<IIII", 0, 0, 65535, 65535) + bytes(65535)


def read(data: bytes) -> tuple[int, list[DumpError]]:
    """The number of packets, and what was reported."""
    found: list[DumpError] = []
    source = open_packets(BytesIO(data))
    return sum(1 for _ in read_packets(source, lambda at, error: found.append(error))), found


def xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)  # a dictionary of 256 KiB


@pytest.mark.exhaustive
@pytest.mark.parametrize("packed", [gzip.compress, xz, zstandard.compress])
@pytest.mark.parametrize("bomb", ["packets", "zeros"])
def test_bombs_take_no_memory(packed: Callable[[bytes], bytes], bomb: str) -> None:
    data = packed(_HEADER + (_PACKET * 256 if bomb == "packets" else bytes(1 << 23)))
    assert len(data) < 1 << 17
    with traced() as memory:
        packets, found = read(data)
    assert memory.peak < 4 << 20
    assert (packets, bool(found)) == ((256, False) if bomb == "packets" else (0, True))


def xz_with_dictionary(size: int) -> bytes:
    """A stream whose filter asks for the dictionary of that number."""
    data = bytearray(lzma.compress(_HEADER, preset=0))
    data[data.index(b"\x21\x01", 12) + 2] = size
    end = 12 + (data[12] + 1) * 4
    data[end - 4 : end] = zlib.crc32(data[12 : end - 4]).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x28\xb5\x2f\xfd\0\xa8" + b"\x02\0\x10\0" * 99, "too much memory"),
        (xz_with_dictionary(41), "LZMAError"),
        (gzip.compress(_HEADER)[:10] + b"\xff" * 99, "invalid block type"),
    ],
    ids=["zstd, a window of 2 GiB", "xz, a dictionary that cannot be", "gzip, damaged"],
)
def test_what_cannot_be_decompressed_says_so(data: bytes, reason: str) -> None:
    packets, found = read(data)
    assert packets == 0
    (error,) = map(str, found)
    assert error.startswith("the capture cannot be decompressed: ")
    assert reason in error


def test_xz_streams_one_after_the_other() -> None:
    """Zeros between them are padding; what ends within a stream is said."""
    streams = lzma.compress(_HEADER) + bytes(8) + lzma.compress(_PACKET * 2) + bytes(4)
    assert read(streams) == (2, [])
    cut = lzma.compress(_HEADER + _PACKET * 2)[:-20]
    packets, (error,) = read(cut)
    assert packets <= 2
    assert "the xz stream ends in the middle" in str(error)
