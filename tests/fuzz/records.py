"""A set of records reads without raising, loses no byte, and is the same when it is written again.

The first byte says whether the checksums are put right first, so that damage gets behind them, and
which of Kafka's own topics the records are taken for.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator

from kafka_admin_proto.codec import codec
from kafka_admin_proto.errors import DecodeError, EncodeError
from kafka_admin_proto.records import Batch, Record, read_batches, read_records, write_batch
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.model import COMPRESSIONS
from kafka_admin_proto.records.batches.records_json import record_set_json
from kafka_admin_proto.records.metadata.records import write_metadata_value
from kafka_admin_proto.records.segments.known_topics import KNOWN_TOPICS
from kafka_admin_proto.schema.catalog import catalog
from tests.fuzz.limits import bounded_memory
from tests.fuzz.seeds import filled

#: What may be decompressed, and what a record of few bytes takes as a value, a multiple of those.
LIMIT = 1 << 16
ALLOWANCE = 16 * LIMIT
_PUT_RIGHT = 128


def one_input(data: bytes) -> None:
    choice, rest = (data[0], data[1:]) if data else (0, b"")
    if choice & _PUT_RIGHT:
        rest = with_checksums(rest)
    with bounded_memory(rest, allowance=ALLOWANCE):
        found = read_records(rest, limit=LIMIT)
    places = set()
    for error in found.errors():
        assert isinstance(error, DecodeError)
        places.add(str(error.path).split(".")[0])
        assert 0 <= error.offset <= len(rest)
        assert str(error.path).startswith("batches[")
    read = 0
    for batch in found.batches:
        assert batch.offset_in_data == read
        read += batch.size
        if batch.error is None:
            write_again(batch)
    assert found.error is not None or read + found.partial_bytes == len(rest)
    try:
        strict = list(read_batches(rest, limit=LIMIT))
    except DecodeError as error:
        assert str(error.path).split(".")[0] in places
    else:
        assert strict == found.batches or places  # its limit is for each batch
    topic = (*KNOWN_TOPICS, None)[(choice & ~_PUT_RIGHT) % (len(KNOWN_TOPICS) + 1)]
    json.dumps(record_set_json(read_records(rest, limit=LIMIT), topic=topic)).encode()


def write_again(batch: Batch) -> None:
    try:
        data = write_batch(batch)
    except EncodeError:
        assert batch.magic < 2  # a set whose last offset is not that of its last message
        return
    again = next(read_batches(data))
    again.size, again.offset_in_data = batch.size, batch.offset_in_data
    assert again == batch or (batch.magic < 2 and batch.compression != "none")


def with_checksums(data: bytes) -> bytes:
    """The data with the checksum of each batch as it has to be, as far as its lengths go."""
    right = bytearray(data)
    start = 0
    while start + 21 <= len(right):
        size = int.from_bytes(right[start + 8 : start + 12], "big", signed=True)
        end = start + 12 + size
        if size < 14 or end > len(right):
            break
        if right[start + 16] < 2:
            right[start + 12 : start + 16] = zlib.crc32(right[start + 16 : end]).to_bytes(4, "big")
        elif size >= 9:
            crc = crc32c(bytes(right[start + 21 : end]))
            right[start + 17 : start + 21] = crc.to_bytes(4, "big")
        start = end
    return bytes(right)


def seeds() -> Iterator[bytes]:

    for magic in (0, 1, 2):
        for compression in COMPRESSIONS[: None if magic == 2 else 4]:
            headers = (("h", b"x"), ("é", None)) if magic == 2 else ()
            time = 1_700_000_000_000 if magic else -1
            records = [
                Record(7, time, b"key", b"value" * 9, headers),
                Record(8, time, None, b""),
                Record(9, time, b"", None),
            ]
            data = write_batch(Batch.of(records, magic=magic, compression=compression))
            yield b"\x85" + data
            yield b"\x05" + data + data + data[:30]
    marker = Batch.of([Record(0, 0, b"\0\0\0\1", b"\0\0\0\0\0\5")])
    marker.is_control = marker.is_transactional = True
    yield b"\x85" + write_batch(marker)
    for name in catalog().names():
        entry = catalog().entry(name)
        version = entry.versions.highest
        if entry.type == "metadata" and not name.startswith("Remote"):
            value = write_metadata_value(filled(codec(name, version).grammar), version)
            yield b"\x83" + write_batch(Batch.of([Record(0, 0, None, value)]))
        elif entry.type == "coordinator-key" and entry.api_key is not None:
            value_name = f"{name.removesuffix('Key')}Value"
            version = catalog().entry(value_name).versions.highest
            key = codec(name, 0).encode(filled(codec(name, 0).grammar))
            value = codec(value_name, version).encode(filled(codec(value_name, version).grammar))
            record = Record(
                0, 0, entry.api_key.to_bytes(2, "big") + key, version.to_bytes(2, "big") + value
            )
            yield b"\x80" + write_batch(Batch.of([record]))
