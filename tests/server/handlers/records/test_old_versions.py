"""Produce, Fetch and ListOffsets of release 3.9 in the versions from before record batches."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto.messages import ListOffsetsRequest, ProduceRequest
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import Batch, Record, read_records, write_batch
from kafka_admin_proto.records.batches.crc32c import crc32c
from tests.server.handlers.records.asked import Asked, fetching, values

_BATCH = write_batch(Batch.of([Record(0, 5, b"k", b"0")]))
_BEHIND_CRC = _BATCH[21:22] + bytes([7]) + _BATCH[23:]
#: Its codec is one that nobody has.
_UNKNOWN_CODEC = _BATCH[:17] + crc32c(_BEHIND_CRC).to_bytes(4, "big") + _BEHIND_CRC
_SET = write_batch(Batch.of([Record(each, 5, b"k", b"%d" % each) for each in range(3)], magic=1))


def asked(**configs: str) -> Asked:
    found = Asked(release="3.9")
    found.create("t", 4, **configs)
    return found


def produced(served: Asked, version: int, *records: bytes | None) -> list[Any]:
    """The rows of partitions 0 and 3, which node 1 leads."""
    parts = [PartitionProduceData(each * 3, data) for each, data in enumerate(records)]
    request = ProduceRequest(None, -1, 500, [TopicProduceData("t", partition_data=parts)])
    (item,) = served.begin(request, version).response.responses
    return list(item.partition_responses)


def fetched(served: Asked, version: int, offset: int = 0, **fields: Any) -> Any:
    request = fetching(("t", 0, offset), max_wait_ms=0, **fields)
    (item,) = served.begin(request, version).response.responses
    return item.partitions[0]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_set_is_one_batch(version: int) -> None:
    served = asked()
    (row,) = produced(served, version, _SET)
    assert (row.error_code, row.base_offset) == (0, 0)
    (batch,) = read_records(fetched(served, 12).records).batches
    assert (batch.magic, [each.timestamp for each in batch.records]) == (2, [5, 5, 5])
    for asking, magic in ((0, 0), (1, 0), (2, 1), (3, 1)):
        found = read_records(fetched(served, asking, 1).records).batches
        assert [each.magic for each in found] == [magic] * len(found)
        assert values(fetched(served, asking, 1).records)[0] == b"1"


def test_nothing_is_appended() -> None:
    """A request before version 3 may have no records, or a part of one."""
    served = asked()
    for row in produced(served, 2, b"", _SET[:20]):
        assert (row.error_code, row.base_offset, row.log_append_time_ms) == (0, -1, -1)
    assert served.log("t").log.end_offset == 0


@pytest.mark.parametrize(
    ("version", "first", "second", "code"),
    [
        (2, _SET, None, codes.UNKNOWN_SERVER_ERROR),
        (2, _SET, _SET + bytes(12), codes.CORRUPT_MESSAGE),
        (6, _BATCH, _UNKNOWN_CODEC, codes.UNKNOWN_SERVER_ERROR),
    ],
)
def test_what_fails_the_whole_request(
    version: int, first: bytes, second: bytes | None, code: int
) -> None:
    served = asked()
    assert [row.error_code for row in produced(served, version, first, second)] == [code] * 2
    assert served.log("t").log.end_offset == 0


def test_a_codec_that_nobody_has_fails_alone_since_zstd() -> None:
    """Until then Kafka asks of each batch whether it is zstd, before it appends any."""
    rows = produced(asked(), 7, _BATCH, _UNKNOWN_CODEC)
    assert [row.error_code for row in rows] == [0, codes.UNKNOWN_SERVER_ERROR]


@pytest.mark.parametrize("version", [0, 3])
def test_no_down_conversion(version: int) -> None:
    served = asked(message_downconversion_enable="false")
    assert served.produce("t", b"a").error_code == 0
    row = fetched(served, version)
    assert (row.error_code, row.high_watermark) == (codes.UNSUPPORTED_VERSION, -1)
    assert fetched(served, 4).error_code == 0


def test_all_that_fits_is_converted_in_pieces() -> None:
    """Small batches together, and each larger one by itself."""
    served = asked()
    sizes = [100_000, 100_000, 10, 10, 200_000, 10]
    for size in sizes:
        assert served.produce("t", bytes(size)).error_code == 0
    row = fetched(served, 3, partition_max_bytes=1 << 20)
    assert [len(each or b"") for each in values(row.records)] == sizes


def test_markers_alone_are_a_set_that_is_too_large_to_read() -> None:
    """A client of then goes on behind it, as behind any message that does not fit."""
    served = asked()
    log = served.log("t").log
    log.append_marker(
        1, 0, commit=True, coordinator_epoch=0, leader_epoch=0, now_ms=served.clock.now_ms()
    )
    log.high_watermark = log.end_offset
    row = fetched(served, 3)
    assert row.error_code == 0
    assert row.records is not None
    assert read_records(row.records).batches == []
    assert read_records(row.records).needed_bytes > len(row.records)


def test_zstd() -> None:
    served = asked()
    assert served.produce("t", b"a").error_code == 0
    assert served.produce("t", b"b", compression="zstd").error_code == 0
    assert values(fetched(served, 3).records) == [b"a"]
    assert fetched(served, 3, 1).error_code == codes.UNSUPPORTED_COMPRESSION_TYPE
    assert fetched(served, 4, 1).error_code == 0


@pytest.mark.parametrize(
    ("release", "code"), [("3.9", codes.UNSUPPORTED_COMPRESSION_TYPE), ("4.3", 0)]
)
def test_a_topic_of_zstd(release: str, code: int) -> None:
    served = Asked(release=release)
    served.create("t", compression_type="zstd")
    assert served.produce("t", b"a").error_code == 0
    assert [fetched(served, each).error_code for each in (9, 10)] == [code, 0]


def test_a_first_batch_that_does_not_fit_in() -> None:
    served = asked()
    assert served.produce("t", b"a" * 500).error_code == 0
    assert fetched(served, 2, partition_max_bytes=100).records == b""
    assert values(fetched(served, 3, partition_max_bytes=100).records) == [b"a" * 500]


def test_old_offsets() -> None:
    served = asked(segment_bytes="100")
    for value in (b"a", b"b"):
        served.produce("t", value, b"c")

    def offsets(timestamp: int, most: int) -> Any:
        part = ListOffsetsPartition(0, timestamp=timestamp, max_num_offsets=most)
        request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic("t", [part])])
        (row,) = served.begin(request, 0).response.topics[0].partitions
        return row.error_code or row.old_style_offsets

    assert offsets(-1, 5)[0] == 4
    assert offsets(-1, 1) == [4]
    assert offsets(-2, 5) == [0]
    assert offsets(-1, -1) == codes.UNKNOWN_SERVER_ERROR
    assert offsets(-3, 1) == codes.UNSUPPORTED_VERSION
