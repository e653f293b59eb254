"""Compression: framings, damage, and that a bomb is not expanded beyond its limit."""

from __future__ import annotations

import gzip
import random
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError, MissingExtraError
from kafka_admin_proto.counts import counted
from kafka_admin_proto.records import Batch, Record, read_batches, read_records, write_batch
from kafka_admin_proto.records.batches.model import CompressionName
from kafka_admin_proto.records.compression.codecs import compress, decompress
from kafka_admin_proto.records.compression.lz4_frames import _header_checksum, _xxh32_of_few
from tests.helpers.profile import PROFILE, sample

cramjam = pytest.importorskip("cramjam")

NAMES: tuple[CompressionName, ...] = ("gzip", "snappy", "lz4", "zstd")
LIMIT = 1 << 20
plain_bytes = st.binary(max_size=300) | st.builds(
    lambda piece, count: piece * count, st.binary(min_size=1, max_size=9), st.integers(1, 40000)
)


@pytest.mark.parametrize("name", ["none", *NAMES])
@pytest.mark.parametrize("magic", [0, 2])
@given(data=plain_bytes)
def test_round_trips(name: CompressionName, magic: int, data: bytes) -> None:
    packed = compress(name, data, magic=magic)
    assert decompress(name, packed, len(data), magic=magic) == data
    if data and name != "none":
        with pytest.raises(DecodeError, match=f"to more than {counted(len(data) - 1, 'bytes')}"):
            decompress(name, packed, len(data) - 1, magic=magic)


@pytest.mark.parametrize("name", NAMES)
@given(data=plain_bytes, dice=st.randoms(use_true_random=False))
def test_damage(name: CompressionName, data: bytes, dice: random.Random) -> None:
    good = compress(name, data)
    bad = bytearray(good)
    for _ in range(dice.randint(1, 3)):
        bad[dice.randrange(len(bad))] = dice.randrange(256)
    for each in (bytes(bad), good[: dice.randrange(len(good))], dice.randbytes(30), b""):
        for magic in (0, 2):
            try:
                assert len(decompress(name, each, LIMIT, magic=magic)) <= LIMIT
            except DecodeError as error:
                assert 0 <= error.offset <= len(each)


def test_framings() -> None:
    text = b"apples and pears, " * 9000
    bare = bytes(cramjam.snappy.compress_raw(text))
    assert decompress("snappy", bare, LIMIT) == text
    framed = compress("snappy", text)
    assert framed.startswith(b"\x82SNAPPY\0\0\0\0\1\0\0\0\1")
    assert decompress("snappy", framed + framed, LIMIT) == text * 2
    assert decompress("gzip", gzip.compress(text) * 2 + b"rest", LIMIT) == text * 2
    linked = bytes(cramjam.lz4.compress(text))  # its blocks lean on one another
    assert decompress("lz4", linked, LIMIT) == text
    skipped = struct.pack("<II", 0x184D2A53, 5) + b"12345"
    zstd = bytes(cramjam.zstd.compress(text))
    assert decompress("zstd", skipped + zstd + zstd, LIMIT) == text * 2


def test_what_follows_a_gzip_member() -> None:
    """Members count; what begins with no header, or is too short for one, does not."""
    text = b"apples"
    member = gzip.compress(text)
    header = member[:10]
    for rest in (
        b"\x1f\x8b", b"\x1f\x8b\x08", b"\x1f\x8b" + bytes(99), header, header + b"\xff" * 8,
        b"\x1f\x8b\x08\x02" + bytes(40), b"\x1f\x8b\x08\x08" + b"a" * 40, member[:18],
    ):  # fmt: skip
        assert decompress("gzip", member + rest, LIMIT) == text, rest
        assert decompress("gzip", member * 2 + rest, LIMIT) == text * 2
    for bad in (header + b"\xff" * 9, member[:-1], member[:-5] + b"?" + member[-4:]):
        with pytest.raises(DecodeError, match="gzip"):
            decompress("gzip", member + bad, LIMIT)


@given(
    plain_bytes, st.booleans(), st.booleans(), st.booleans(), st.booleans(),
    st.sampled_from((0, 0x20, 0xE0)),
)  # fmt: skip
def test_gzip_headers(
    data: bytes, crc: bool, extra: bool, name: bool, comment: bool, reserved: int
) -> None:
    """All that RFC 1952 has, and flags that it has not, which Java does not look at."""
    flags = crc << 1 | extra << 2 | name << 3 | comment << 4 | reserved
    header = struct.pack("<HBBIBB", 0x8B1F, 8, flags, 0, 0, 255)
    header += b"\3\0abc" * extra + b"name\0" * name + b"comment\0" * comment
    header += struct.pack("<H", zlib.crc32(header) & 0xFFFF) * crc
    member = header + gzip.compress(data)[10:]
    assert decompress("gzip", member * 2, 2 * len(data)) == data * 2
    for size in range(len(header)):
        with pytest.raises(DecodeError):
            decompress("gzip", header[:size], LIMIT)


def test_many_small_members_take_no_longer_than_they_must() -> None:
    member = gzip.compress(b"")
    started = time.thread_time()
    assert decompress("gzip", member * 100_000 + gzip.compress(b"end"), LIMIT) == b"end"
    assert time.thread_time() - started < 10  # a minute, if each copied all the rest


def test_the_faulty_checksum_of_magic_0() -> None:
    faulty, right = (compress("lz4", b"apples", magic=magic) for magic in (0, 2))
    assert faulty[:7].hex() == "04224d1860401a"
    assert right[:7].hex() == "04224d18604082"
    assert decompress("lz4", faulty, 6, magic=0) == decompress("lz4", right, 6) == b"apples"
    assert decompress("lz4", right, 6, magic=0) == b"apples"  # nobody checks it there
    with pytest.raises(DecodeError, match="lz4"):
        decompress("lz4", faulty, 6, magic=2)


def test_an_lz4_header_that_is_cut_short() -> None:
    with pytest.raises(DecodeError) as caught:
        decompress("lz4", bytes.fromhex("04224d1808408200000000"), LIMIT)
    assert caught.value.offset == 11


def test_xxhash() -> None:
    # From the tests of xxHash itself: seed 0, nothing and one byte of its generated data.
    assert _xxh32_of_few(b"") == 0x02CC5D05
    assert _xxh32_of_few(b"a") == 0x550D7456
    assert _xxh32_of_few(b"abc") == 0x32D153FF


#: What the bombs claim or give, out of a few kilobytes.
_HUGE = 400 << 20
_MIB = bytes(1 << 20)


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(wbits=31)
    return b"".join(packer.compress(_MIB) for _ in range(_HUGE >> 20)) + packer.flush()


def snappy_bomb() -> bytes:
    return compress("snappy", b"")[:16] + compress("snappy", _MIB)[16:] * (_HUGE >> 20)


def lz4_bomb() -> bytes:
    frame = compress("lz4", _MIB)
    return frame[:7] + frame[7:-4] * (_HUGE >> 20) + bytes(4)


def lz4_large_blocks(flags: int, size: bytes = b"") -> bytes:
    """Blocks of 4 MiB, each of which is 255 times as large as what it is made of."""
    descriptor = bytes((flags, 0x70)) + size
    block = bytes(cramjam.lz4.compress_block(_MIB * 4, store_size=False))
    piece = len(block).to_bytes(4, "little") + block
    head = b"\x04\x22\x4d\x18" + descriptor + _header_checksum(descriptor)
    return head + piece * (_HUGE >> 22) + bytes(4)


def zstd_blocks() -> bytes:
    """Blocks that repeat a byte each; none of them is the last."""
    return (struct.pack("<I", 2 | 131072 << 3)[:3] + b"\0") * (_HUGE >> 17)


#: By compression, made when a test asks for it.
BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip": gzip_bomb,
    "snappy": snappy_bomb,
    "lz4": lz4_bomb,
    "zstd": lambda: b"\x28\xb5\x2f\xfd\0\x70" + zstd_blocks() + b"\3\0\0\0",
    "zstd, one whole segment of 4 GiB": lambda: (
        b"\x28\xb5\x2f\xfd\xa0" + b"\xff" * 4 + zstd_blocks()
    ),
    "zstd, 128 MiB of window": lambda: b"\x28\xb5\x2f\xfd\0\x88" + zstd_blocks() + b"\3\0\0",
    "zstd, a window of 2 GiB": lambda: b"\x28\xb5\x2f\xfd\0\xa8" + zstd_blocks() + b"\3\0\0\0",
    "zstd, a content size that lies": lambda: (
        b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + zstd_blocks() + b"\3\0\0\0"
    ),
    "zstd, many frames": lambda: bytes(cramjam.zstd.compress(_MIB)) * (_HUGE >> 20),
    "snappy, a length that lies": lambda: b"\xff\xff\xff\xff\x0f" + bytes(9),
    "snappy, lengths in the framing that lie": lambda: (
        compress("snappy", b"")[:16] + (b"\0\0\0\x0e\xff\xff\xff\xff\x0f" + bytes(9)) * 9999
    ),
    "lz4, a content size that lies": lambda: lz4_large_blocks(0x68, b"\xff" * 8),
    "lz4, blocks of 4 MiB": lambda: lz4_large_blocks(0x60),
    "lz4, blocks of 4 MiB that lean on one another": lambda: lz4_large_blocks(0x40),
    "lz4, a content size of 0 that lies": lambda: lz4_large_blocks(0x68, bytes(8)),
    "lz4, a block of 2 GiB that is not there": lambda: lz4_large_blocks(0x60)[:7] + b"\xff" * 99,
    "gzip, many members": lambda: gzip.compress(_MIB) * (_HUGE >> 20),
}


_MEASURE = """
import resource, sys, time
from kafka_admin_proto import DecodeError
from kafka_admin_proto.records.compression.codecs import compress, decompress
limit, data = 16 << 20, sys.stdin.buffer.read()
name = sys.argv[1]
started = time.thread_time()
decompress(name, compress(name, bytes(limit)), limit)
once = time.thread_time() - started
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(3):
    try:
        decompress(name, data, limit)
    except DecodeError as error:
        print(error)
    else:
        print("it was read")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print((time.thread_time() - started) / once)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as Linux counts it")
@pytest.mark.parametrize("bomb", sample([*BOMBS], 1 if PROFILE == "quick" else 6))
def test_bombs(bomb: str) -> None:
    """What decompresses to just the limit took memory first; a bomb takes hardly any more."""
    data = BOMBS[bomb]()
    name = bomb.split(",")[0]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, name], input=data, capture_output=True, check=True
    )
    *verdicts, more, times = done.stdout.decode().splitlines()
    assert "it was read" not in verdicts
    assert int(more) < 2048, verdicts  # KiB
    assert float(times) < 20, verdicts  # for three bombs, beside one that is just the limit


def test_a_limit_for_many_small_records() -> None:
    """Tiny records would take a multiple of the limit as values; and so would their headers."""
    many = Batch.of([Record(0)] * 3000, compression="gzip")
    (batch,) = read_batches(write_batch(many), limit=64 * 3000)
    assert len(batch.records) == 3000
    with pytest.raises(DecodeError, match="more records or headers than the limit"):
        list(read_batches(write_batch(many), limit=64 * 2999))
    headers = Batch.of([Record(0, headers=(("", None),) * 3000)], compression="gzip")
    with pytest.raises(DecodeError, match="more records or headers than the limit"):
        list(read_batches(write_batch(headers), limit=64 * 3000))
    sets = Batch.of([Record(0), Record(1)] * 10, magic=1, compression="gzip")
    with pytest.raises(DecodeError, match="more than the 19 messages"):
        list(read_batches(write_batch(sets), limit=64 * 19 + 63))


def test_the_limit_is_for_all_batches_together() -> None:
    data = write_batch(Batch.of([Record(0, value=bytes(1000))], compression="gzip"))
    found = read_records(data * 5, limit=3100)
    assert [batch.error is None for batch in found.batches] == [True, True, True, False, False]
    assert len(list(read_batches(data * 5, limit=3100))) == 5


def test_without_cramjam(monkeypatch: pytest.MonkeyPatch) -> None:
    written = [Batch.of([Record(0, value=b"x")], compression=name) for name in ("zstd", "gzip")]
    data = b"".join(map(write_batch, written))
    monkeypatch.setitem(sys.modules, "cramjam", None)
    found = read_records(data)
    assert isinstance(found.batches[0].error, MissingExtraError)
    assert found.batches[1].records == written[1].records
    for name in ("snappy", "lz4", "zstd"):
        with pytest.raises(MissingExtraError, match=r"pip install 'kafka-admin-proto\[compression"):
            compress(name, b"x")
    with pytest.raises(MissingExtraError):
        list(read_batches(data))
