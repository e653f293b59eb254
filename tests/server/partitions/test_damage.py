"""Bytes that are no batch are refused with Kafka's code, in bounded time, and change no log."""

from __future__ import annotations

import struct
import sys
import time
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.model import COMPRESSIONS, Batch, Record
from kafka_admin_proto.records.compression import codecs
from kafka_admin_proto.server.partitions import log as logs
from kafka_admin_proto.server.partitions.compaction import CleanedTransactions
from kafka_admin_proto.server.partitions.decompression import DecompressionBudget
from kafka_admin_proto.server.partitions.failures import RecordsRefused
from kafka_admin_proto.server.partitions.headers import split_batches
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.partitions.validation import check_produced
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.helpers.profile import draws
from tests.server.partitions.drawn_sets import SETS, message, message_set
from tests.server.partitions.drawn_sets import sealed as sealed_message

NOW_MS = 1_700_000_000_000
SETTINGS = LogSettings.of({}, ReleaseNumber(4, 3))
RECORDS = [Record(index, NOW_MS, b"key", b"v" * 30, (("h", b"1"),)) for index in range(20)]
#: Processor time in which any of these bytes is judged.
MOST_SECONDS = 1.0


def made(compression: Any = "none") -> bytes:
    batch = Batch.of(RECORDS, compression=compression)
    batch.producer_id, batch.producer_epoch, batch.base_sequence = 1, 0, 0
    return write_batch(batch)


def sealed(data: bytes) -> bytes:
    """The bytes with the checksum of a batch."""
    return data[:17] + struct.pack(">I", crc32c(data[21:])) + data[21:]


def state(log: logs.PartitionLog) -> tuple[Any, ...]:
    places = log.start_offset, log.end_offset, log.size_bytes
    return *places, log.read(0, 1 << 20, up_to=log.end_offset), log.producers()


def refused(
    data: bytes, settings: LogSettings = SETTINGS, budget: DecompressionBudget | None = None
) -> RecordsRefused | None:
    """The failure of an append, after which the log is as before; None if it is appended."""
    log = logs.PartitionLog("t", 0, SETTINGS, NOW_MS)
    log.append(write_batch(Batch.of(RECORDS)), leader_epoch=0, now_ms=NOW_MS)
    log.settings = settings
    before = state(log)
    began = time.thread_time()
    try:
        log.append(data, leader_epoch=0, now_ms=NOW_MS, budget=budget)
    except RecordsRefused as failure:
        assert state(log) == before
        return failure
    finally:
        assert time.thread_time() - began < MOST_SECONDS
    if _is_part(data):
        assert state(log) == before
    return None


def _is_part(data: bytes | bytearray) -> bool:
    """Whether the bytes end within their first batch; such a tail is no batch, and no fault."""
    return int.from_bytes(data[8:12], "big", signed=True) + 12 > len(data)


@pytest.mark.exhaustive
@settings(max_examples=draws(2000), deadline=None)
@given(data=st.data(), compression=st.sampled_from(COMPRESSIONS), is_sealed=st.booleans())
def test_flipped_bytes(data: st.DataObject, compression: str, is_sealed: bool) -> None:
    batch = bytearray(made(compression))
    start = 0 if not is_sealed else 21
    for _ in range(data.draw(st.integers(1, 3))):
        batch[data.draw(st.integers(start, len(batch) - 1))] ^= data.draw(st.integers(1, 255))
    failure = refused(sealed(bytes(batch)) if is_sealed else bytes(batch))
    # Without a new checksum, only the leader's epoch may be anything.
    same = bytes(batch[16:]) == made(compression)[16:]
    assert is_sealed or failure is not None or same or _is_part(batch)


@settings(max_examples=draws(1000), deadline=None)
@given(data=st.binary(max_size=200) | st.integers(0, 400).map(lambda size: made()[:size]))
def test_other_bytes(data: bytes) -> None:
    with pytest.raises(RecordsRefused):
        check_produced(data, 9)
    try:
        is_cut = not list(split_batches(data))
    except RecordsRefused:
        is_cut = False
    assert (refused(data) is None) == is_cut, "what is cut short is not there"


@pytest.mark.parametrize("count", [-1, 0, 19, 21, 1 << 20, (1 << 31) - 1])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_lying_counts(compression: str, count: int) -> None:
    batch = bytearray(made(compression))
    batch[57:61] = struct.pack(">i", count)
    failure = refused(sealed(bytes(batch)))
    assert failure is not None
    assert failure.code == codes.INVALID_RECORD
    batch[23:27] = struct.pack(">i", max(count - 1, 0))
    failure = refused(sealed(bytes(batch)))
    assert failure is not None
    assert failure.code == codes.INVALID_RECORD


@pytest.mark.exhaustive
@pytest.mark.parametrize("compression", COMPRESSIONS[1:])
def test_decompression_bombs(compression: Any) -> None:
    zeros = bytes(32 << 20)
    bomb = zlib.compress(zeros, 9, wbits=31)
    if compression != "gzip":
        bomb = codecs.compress(compression, zeros)
    data = bytearray(made(compression)[:61] + bomb)
    data[8:12] = struct.pack(">i", len(data) - 12)
    budget = DecompressionBudget(0)
    budget.left = 1 << 20
    large = replace(SETTINGS, max_message_bytes=1 << 30)
    failure = refused(sealed(bytes(data)), large, budget)
    assert failure is not None
    assert failure.code == codes.MESSAGE_TOO_LARGE
    assert "more than 1048576 bytes" in str(failure)
    assert budget.left == 0


def test_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package of a compression a batch is refused with what to install."""
    monkeypatch.setitem(sys.modules, "cramjam", None)
    failure = refused(made("gzip"), replace(SETTINGS, compression="zstd"))
    assert failure is not None
    assert failure.code == codes.UNSUPPORTED_COMPRESSION_TYPE
    assert "kafka-admin-proto[compression]" in str(failure)


@pytest.mark.parametrize(
    ("data", "version", "code"),
    [
        (b"", 3, codes.INVALID_RECORD),
        (made() + made(), 9, codes.INVALID_RECORD),
        (made("zstd"), 6, codes.UNSUPPORTED_COMPRESSION_TYPE),
        (write_batch(Batch.of([Record(0, -1)], magic=0)), 3, codes.INVALID_RECORD),
    ],
)
def test_check_of_requests(data: bytes, version: int, code: int) -> None:
    with pytest.raises(RecordsRefused, match=f"Produce requests with version {version}") as found:
        check_produced(data, version)
    assert found.value.code == code
    check_produced(made("zstd"), 7)


def test_compaction_keeps_a_control_record_that_does_not_read() -> None:
    batch = Batch.of([Record(0, NOW_MS, b"", None)])
    batch.is_control = batch.is_transactional = True
    batch.producer_id = 1
    assert not CleanedTransactions().is_discarded(batch)


@pytest.mark.exhaustive
@settings(max_examples=draws(1000), deadline=None)
@given(drawn=SETS, data=st.data(), is_sealed=st.booleans())
def test_damaged_message_sets(drawn: dict[str, Any], data: st.DataObject, is_sealed: bool) -> None:
    """Only RecordsRefused leaves an append, whatever the bytes of a message set."""
    made_set = bytearray(message_set(drawn, NOW_MS))
    for _ in range(data.draw(st.integers(0, 3)) if made_set else 0):
        made_set[data.draw(st.integers(0, len(made_set) - 1))] ^= data.draw(st.integers(1, 255))
    cut = data.draw(st.none() | st.integers(0, len(made_set)))
    refused(bytes((sealed_message(made_set) if is_sealed else made_set)[:cut]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("compression", COMPRESSIONS[1:4])
@pytest.mark.parametrize("magic", [0, 1])
def test_bombs_of_messages(compression: Any, magic: int) -> None:
    """Many small messages in a set count 64 bytes each, and zeros are no message."""
    for inner in (bytes(message(magic, None, None)) * 100_000, bytes(32 << 20)):
        packed = codecs.compress(compression, inner, magic=magic)
        number = COMPRESSIONS.index(compression)
        budget = DecompressionBudget(0)
        budget.left = 4 << 20
        large = replace(SETTINGS, max_message_bytes=1 << 30)
        failure = refused(bytes(message(magic, None, packed, attributes=number)), large, budget)
        assert failure is not None
        assert failure.code == codes.MESSAGE_TOO_LARGE
