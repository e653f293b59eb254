"""Record batches beside Kafka's own ``MemoryRecords``: the same values, both ways."""

from __future__ import annotations

import gzip
import json
import random
from typing import Any
from uuid import UUID

import msgspec
import pytest

from kafka_admin_proto.messages.end_txn_marker import EndTxnMarker
from kafka_admin_proto.messages.kraft_version_record import KRaftVersionRecord
from kafka_admin_proto.messages.leader_change_message import LeaderChangeMessage, Voter
from kafka_admin_proto.messages.snapshot_footer_record import SnapshotFooterRecord
from kafka_admin_proto.messages.snapshot_header_record import SnapshotHeaderRecord
from kafka_admin_proto.messages.voters_record import Endpoint, KRaftVersionFeature, VotersRecord
from kafka_admin_proto.messages.voters_record import Voter as VotersVoter
from kafka_admin_proto.records.batches.batches import Batch, Record, read_records, write_batch
from kafka_admin_proto.records.batches.control import (
    CONTROL_TYPES,
    read_control_record,
    write_control_record,
)
from tests.records.batches.test_batches import with_checksum
from tests.records.conftest import COUNT, Ask, Drawn
from tests.records.values import FORMATS
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST

pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("records tool")]

RELEASES = [pytest.param(LAST_WITH_ZOOKEEPER, marks=pytest.mark.explore), NEWEST]


def as_json(batch: Batch) -> dict[str, Any]:
    """A batch in the words of RecordsTool's answers."""
    return {
        "magic": batch.magic,
        "compression": batch.compression,
        "timestamp_type": batch.timestamp_type,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "max_timestamp": batch.max_timestamp,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "is_transactional": batch.is_transactional,
        "is_control": batch.is_control,
        "partition_leader_epoch": batch.partition_leader_epoch,
        "delete_horizon": batch.base_timestamp if batch.has_delete_horizon else -1,
        "size": batch.size,
        "records": [record_json(record) for record in batch.records],
    }


def record_json(record: Record) -> dict[str, Any]:
    def hexed(blob: bytes | None) -> str | None:
        return None if blob is None else blob.hex()

    return {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": hexed(record.key),
        "value": hexed(record.value),
        "headers": [
            # Java puts U+FFFD in the place of what is not UTF-8
            [name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), hexed(value)]
            for name, value in record.headers
        ],
    }


def read(data: bytes) -> list[Batch]:
    found = read_records(data)
    assert not list(found.errors())
    assert not found.partial_bytes
    return found.batches


@pytest.mark.parametrize("release", RELEASES)
def test_kafka_reads_what_we_write(release: str, kafka: Ask, drawn: Drawn) -> None:
    written = [batch for each in FORMATS for batch in drawn(*each)]
    written += odd_batches()
    answers = kafka(release, [f"read\t{write_batch(batch).hex()}" for batch in written])
    for batch, (verdict, text) in zip(written, answers, strict=True):
        assert verdict == "ok", (batch, text)
        (found,) = json.loads(text)
        batch.size = found["size"]
        assert found == as_json(batch)


@pytest.mark.parametrize("release", RELEASES)
def test_we_read_what_kafka_writes(release: str, kafka: Ask, drawn: Drawn) -> None:
    asked = [batch for each in FORMATS for batch in drawn(*each) if batch.records]
    asked += [batch for batch in odd_batches() if batch.records]
    requests = []
    for batch in asked:
        request = as_json(batch) | {"log_append_time": batch.max_timestamp}
        if batch.timestamp_type != "log_append":
            request["log_append_time"] = -1
        requests.append(f"write\t{json.dumps(request)}")
    answers = kafka(release, requests)
    plain = 0
    for batch, (verdict, text) in zip(asked, answers, strict=True):
        assert verdict == "ok", (batch, text)
        data = bytes.fromhex(text)
        (found,) = read(data)
        batch.size = len(data)
        assert as_json(found) == as_json(batch)
        if batch.compression == "none":
            plain += 1
            assert write_batch(found) == data
    assert plain > 2 * COUNT


@pytest.mark.parametrize("release", RELEASES)
def test_damage_with_the_right_checksum(release: str, kafka: Ask, drawn: Drawn) -> None:
    """What Kafka reads of damaged batches we read too, and we refuse what it refuses."""
    dice = random.Random(release)
    damaged = []
    for magic in (0, 1, 2):
        for batch in drawn(magic, "none") * 4:
            data = bytearray(write_batch(batch))
            # Not the attributes: other compressions are another matter.
            first = 61 if magic == 2 else 18
            for _ in range(dice.randint(1, 2) if len(data) > first else 0):
                data[dice.randrange(first, len(data))] = dice.choice((0, 1, 2, 127, 128, 254, 255))
            damaged.append(with_checksum(data))
    answers = kafka(release, [f"read\t{data.hex()}" for data in damaged])
    refused = agreed = 0
    for bytes_, (verdict, text) in zip(damaged, answers, strict=True):
        found = read_records(bytes_)
        errors = [str(error) for error in found.errors()]
        if verdict == "ok" and not errors:
            agreed += 1
            assert [as_json(batch) for batch in found.batches] == json.loads(text)
        elif verdict == "ok":
            assert only_we_refuse(errors[0]), (bytes_.hex(), errors, text)
        else:
            refused += 1
            assert errors, (bytes_.hex(), text)
    assert min(refused, agreed) > COUNT


def cut_sets() -> list[bytes]:
    """Compressed sets whose last message ends too early, or has a size that is none."""
    cut = []
    for magic in (0, 1):
        records = [Record(5 + n, 9 if magic else -1, b"k", b"v" * n) for n in range(3)]
        whole = b"".join(
            write_batch(
                Batch.of(
                    [msgspec.structs.replace(each, offset=each.offset - 5 * magic)], magic=magic
                )
            )
            for each in records
        )
        wrapper = Batch.of(records, magic=magic)
        sizes = [*range(1, len(whole)), len(whole)]
        for inner in (*(whole[:size] for size in sizes), whole + b"\0" * 11, whole + b"\0" * 12):
            packed = gzip.compress(inner)
            value = Record(7, wrapper.max_timestamp, None, packed)
            data = bytearray(write_batch(Batch.of([value], magic=magic)))
            data[17] |= 1
            cut.append(with_checksum(data))
    return cut


@pytest.mark.parametrize("release", RELEASES)
def test_sets_that_are_cut_short(release: str, kafka: Ask) -> None:
    cut = cut_sets()
    read_all = agreed = 0
    for data, (verdict, text) in zip(
        cut, kafka(release, [f"read\t{data.hex()}" for data in cut]), strict=True
    ):
        found = read_records(data)
        assert (verdict == "ok") == (not list(found.errors())), (data.hex(), text, found)
        if verdict == "ok":
            agreed += 1
            assert [as_json(batch) for batch in found.batches] == json.loads(text)
            read_all += len(found.batches[0].records) == 3
    assert agreed > len(cut) // 2
    assert read_all == 4


def gzips() -> list[bytes]:
    """Batches compressed by gzip, with all kinds of things behind the first member."""
    whole = Batch.of([Record(5 + n, 9, b"k", b"v" * n) for n in range(3)])
    plain = write_batch(whole)
    member, more = gzip.compress(plain[61:], mtime=0), gzip.compress(b"", mtime=0)
    odd = bytearray(member)
    odd[3] = 0xE0
    tails = [
        b"", b"rest", b"\0" * 50, b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x08", b"\x1f\x8b" + bytes(50),
        b"\x1f\x8b\x08\x02" + bytes(50), b"\x1f\x8b\x08\x08" + b"a" * 50,
        b"\x1f\x8b\x08\x04\0\0\0\0\0\0\xff\xff" + bytes(50), more, more * 2, more + b"rest",
        more[:-1] + b"?", member, more[:10] + b"\xff" * 30,
        *(more[:size] for size in range(len(more))),
        *(member[:size] for size in range(20, len(member))),
    ]  # fmt: skip
    streams = [member + tail for tail in tails]
    streams += [bytes(odd), *(member[:size] for size in range(len(member)))]
    halves = (plain[61:70], plain[70:])
    streams.append(b"".join(gzip.compress(half) for half in halves))
    made = []
    for stream in streams:
        data = bytearray(plain[:61] + stream)
        data[8:12] = (len(data) - 12).to_bytes(4, "big")
        data[22] |= 1
        made.append(with_checksum(data))
    return made


@pytest.mark.parametrize("release", RELEASES)
def test_what_follows_a_gzip_member(release: str, kafka: Ask) -> None:
    made = gzips()
    requests = [f"read\t{data.hex()}" for data in made]
    agreed = 0
    for data, (verdict, text) in zip(made, kafka(release, requests), strict=True):
        found = read_records(data)
        assert (verdict == "ok") == (not list(found.errors())), (data.hex(), text, found)
        if verdict == "ok":
            agreed += 1
            assert [as_json(batch) for batch in found.batches] == json.loads(text)
    assert agreed > 30
    assert len(made) - agreed > 30


@pytest.mark.parametrize("release", RELEASES)
def test_control_records(release: str, kafka: Ask) -> None:
    """Each type as Kafka writes it says the same to us, and is written the same."""
    ((verdict, text),) = kafka(release, ["control"])
    assert verdict == "ok", text
    data = bytes.fromhex(text)
    assert [batch.is_transactional for batch in read(data)] == [True] * 2 + [False] * 5
    found = []
    again = b""
    for batch in read(data):
        assert batch.is_control
        (record,) = batch.records
        control = read_control_record(record.key, record.value)
        found.append(control)
        assert control.message is not None
        pair = write_control_record(control.name, control.message, control.version)
        assert pair == (record.key, record.value)
        again += write_batch(batch)
    assert again == data
    assert [control.name for control in found] == [name for name, _ in CONTROL_TYPES.values()]
    voter = VotersVoter(
        3, UUID(int=1 << 64 | 2), [Endpoint("CONTROLLER", "here", 9093)], KRaftVersionFeature(0, 1)
    )
    assert [control.message for control in found] == [
        EndTxnMarker(5),
        EndTxnMarker(6),
        LeaderChangeMessage(0, 3, [Voter(3)]),
        SnapshotHeaderRecord(0, 1234),
        SnapshotFooterRecord(),
        KRaftVersionRecord(0, 1),
        VotersRecord(0, [voter]),
    ]


def only_we_refuse(error: str) -> bool:
    """Kafka does not look behind a message's value."""
    return "left in the message after its value" in error


def odd_batches() -> list[Batch]:
    """Control records, a delete horizon, far timestamps, a larger batch of each format."""
    marker = Batch.of([Record(7, 12, b"\0\0\0\1", b"\0\0\0\0\0\5")])
    marker.is_control = marker.is_transactional = True
    marker.producer_id, marker.producer_epoch = 5, 1
    horizon = Batch.of([Record(7, 1012, b"key"), Record(9, 12, b"key", None, (("é", None),))])
    horizon.base_timestamp, horizon.has_delete_horizon = 1000, True
    dice = random.Random(1)
    around = Batch.of([Record(7, -1), Record(8, (1 << 63) - 1), Record(9, 1 << 62)])
    odd = [marker, horizon, around]
    for magic, compression in FORMATS:
        if (magic, compression) in ((0, "none"), (1, "none")):
            continue
        time = 1_700_000_000_000 if magic else -1
        records = [
            Record(number, time, dice.randbytes(9), dice.randbytes(20) * dice.randrange(200))
            for number in range(300)
        ]
        odd.append(Batch.of(records, magic=magic, compression=compression))
    return odd


def test_draws_are_plenty(drawn: Drawn) -> None:
    sizes = [len(drawn(magic, compression)) for magic, compression in FORMATS]
    assert sizes == [COUNT] * len(FORMATS)
