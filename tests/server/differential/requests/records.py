"""Requests of producers and consumers, drawn for both clusters: records, offsets and producers.

The replicas of topics are assigned, so that both clusters have the same leaders; most requests go
to them.
"""

from __future__ import annotations

import struct
import time
from uuid import UUID

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeProducersRequest,
    FetchRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
)
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_admin_proto.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsTopic,
)
from kafka_admin_proto.messages.describe_producers_request import TopicRequest
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic, ForgottenTopic
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kafka_admin_proto.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.crc32c import crc32c
from kafka_admin_proto.records.batches.model import COMPRESSIONS, Batch, Record
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message
from tests.server.differential.comparison import APPENDED
from tests.server.differential.requests.cluster import describe_log_dirs
from tests.server.differential.requests.drawing import TIMEOUT_MS, Draws, Ids, Step

#: Topics with the configs that decide what a leader takes.
_TOPICS: dict[str, dict[str, str]] = {
    "a": {},
    "compacted": {"cleanup.policy": "compact"},
    APPENDED: {"message.timestamp.type": "LogAppendTime", "compression.type": "gzip"},
    "small": {"max.message.bytes": "200"},
    "late": {"message.timestamp.before.max.ms": "60000", "message.timestamp.after.max.ms": "60000"},
    "strict": {"min.insync.replicas": "4", "compression.type": "uncompressed"},
    "alone": {},
}
#: The topic whose partitions have one replica each.
_ALONE = "alone"
_PARTITIONS = 3
NOW_MS = int(time.time() * 1000)
#: Offsets and epochs, the edges behind the usual ones.
_OFFSETS = [0, 0, 1, 2, 3, 5, 8, 13, -1, -2, 1000, (1 << 63) - 1]
_EPOCHS = [-1, -1, -1, 0, 0, 1, 7]
_BYTES = [1 << 20, 1 << 20, 1 << 20, 100, 150, 1, 0, -1, (1 << 31) - 1]
_CRC = struct.Struct(">I")
#: The first version of Produce without message sets.
_ONE_BATCH = 3


def first_topics(draws: Draws) -> Step:
    """Topics whose leaders are known."""
    topics = [
        CreatableTopic(
            name, -1, -1,
            [
                CreatableReplicaAssignment(each, _replicas(each)[: 1 if name == _ALONE else 3])
                for each in range(_PARTITIONS)
            ],
            [CreatableTopicConfig(*each) for each in configs.items()],
        )
        for name, configs in _TOPICS.items()
    ]  # fmt: skip
    request = CreateTopicsRequest(topics, TIMEOUT_MS)
    return Step(0, 5, lambda _: request)


def _replicas(partition: int) -> list[int]:
    return [(partition + each) % 3 + 1 for each in range(3)]


def _leader(draws: Draws, partition: int) -> int:
    """The index of the node that leads, or seldom of any."""
    return draws.node() if draws.rarely(10) else partition % 3


def _name(draws: Draws) -> str:
    return draws.name() if draws.rarely(15) else draws.one(list(_TOPICS))


def _partition(draws: Draws) -> int:
    return draws.one([0, 0, 0, 0, 1, 1, 2, 2, 7, -1])


def _named(name: str, by_id: bool, ids: Ids) -> tuple[str, UUID]:
    return ("", ids.of(name)) if by_id else (name, ZERO_TOPIC_ID)


def produce(draws: Draws) -> Step:
    """Batches, sound and damaged, with and without a producer id."""
    version = draws.version(0)
    partition = _partition(draws)
    names = dict.fromkeys(_name(draws) for _ in range(draws.one([1, 1, 2])))
    data = {name: _damaged(draws, _batch(draws, version)) for name in names}
    acks = draws.one([-1, -1, -1, -1, -1, 1, 1, 2, -2])

    def make(ids: Ids) -> ProduceRequest:
        rows = [
            TopicProduceData(
                *_named(name, version >= 13, ids), [PartitionProduceData(partition, each)]
            )
            for name, each in data.items()
        ]
        return ProduceRequest(None, acks, TIMEOUT_MS, rows)

    return Step(_leader(draws, partition), version, make)


def _batch(draws: Draws, version: int) -> Batch:
    magic = draws.one([0, 1, 1, 2]) if version < _ONE_BATCH else 2
    records = [
        Record(
            offset,
            NOW_MS + draws.one([0, 0, 0, 1, 5, -5, -3_600_000, 3_000_000, 7_200_000]),
            draws.one([b"k", b"k", b"key", None]),
            draws.one([b"v", b"value", None, b"x" * 150]),
            draws.one([(), (), (("h", b"1"),), (("h", None), ("h", b"2"))]),
        )
        for offset in range(draws.one([1, 1, 2, 3]))
    ]
    compression = draws.one(["none", "none", *COMPRESSIONS])
    if magic < 2:
        for each in records:
            each.headers = ()
            each.timestamp = each.timestamp if magic else -1
        compression = "none" if compression == "zstd" else compression
    batch = Batch.of(records, magic=magic, compression=compression)
    if magic == 2 and draws.rarely(2):
        batch.producer_id = draws.one([4000, 4000, 4001])
        batch.producer_epoch = draws.one([0, 0, 0, 0, 1, -1])
        batch.base_sequence = draws.one([0, 0, 0, 1, 2, 3, 5, -1, (1 << 31) - 1])
    return batch


def _damaged(draws: Draws, batch: Batch) -> bytes | None:
    """The bytes of a batch; one in four is wrong, with a checksum that is right or is not."""
    data = bytearray(write_batch(batch))
    if not draws.rarely(4):
        return bytes(data)
    kind = draws.one(["flip", "field", "field", "cut", "twice", "empty", "magic"])
    if kind == "empty":
        return b""
    if kind == "twice":
        return bytes(data + data)
    if kind == "cut":
        return bytes(data[: draws.one([len(data) - 1, 61, 60, 16, 11])])
    if kind == "magic":
        data[16] = draws.one([0, 1, 3, 255])
    elif kind == "flip":
        data[-1] ^= 1
    else:
        at, value = draws.one(_FIELDS)
        data[at : at + len(value)] = value
        _CRC.pack_into(data, 17, crc32c(data[21:]))
    return bytes(data)


#: Fields in the header of a batch, and what they may be: (offset, bytes).
_FIELDS = [
    (0, b"\0\0\0\0\0\0\0\5"), (12, b"\0\0\0\7"), (22, b"\x20"), (22, b"\x08"), (22, b"\x07"),
    (22, b"\x40"), (23, b"\0\0\0\x63"), (23, b"\xff\xff\xff\xff"), (57, b"\0\0\0\0"),
    (57, b"\0\0\0\x63"), (57, b"\xff\xff\xff\xff"), (35, b"\0\0\0\0\0\0\0\1"), (27, b"\xff" * 8),
]  # fmt: skip


def fetch(draws: Draws) -> Step:
    """Records from an offset on, without a session that goes on."""
    version = draws.version(1)
    partition = _partition(draws)
    names = list(dict.fromkeys(_name(draws) for _ in range(draws.one([1, 1, 2, 3]))))
    rows = [
        FetchPartition(
            partition, draws.one(_EPOCHS) if version >= 9 else -1, draws.one(_OFFSETS),
            draws.one(_EPOCHS) if version >= 12 else -1, -1, draws.one(_BYTES),
        )
        for _ in names
    ]  # fmt: skip
    request = FetchRequest(
        max_wait_ms=draws.one([0, 0, 20, -1]),
        min_bytes=draws.one([0, 1, 1, 50, 1 << 20]),
        max_bytes=draws.one(_BYTES),
        isolation_level=draws.one([0, 1]),
        session_epoch=draws.one([-1, -1, 0, 0, 3]),
    )
    if version < 7:
        request.session_epoch = -1
    if draws.rarely(15):
        of_replica = request.replica_state if version >= 15 else request
        of_replica.replica_id = draws.one([1, 2, 3, 7, -2])

    def make(ids: Ids) -> FetchRequest:
        request.topics = [
            FetchTopic(*_named(name, version >= 13, ids), [row])
            for name, row in zip(names, rows, strict=True)
        ]
        return request

    return Step(_leader(draws, partition), version, make)


def fetch_in_session(draws: Draws) -> Step:
    """What comes next in a session: partitions that are added, changed and forgotten."""
    step = fetch(draws)
    step.session = draws.one([0, 0, 0, 0, 1, 2])
    epoch = draws.one([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, -1])
    forgotten = [_name(draws) for _ in range(draws.one([0, 0, 1]))]
    numbers = [_partition(draws) for _ in range(draws.one([1, 2]))]
    names_none = draws.rarely(2)
    make, by_ids = step.make, step.version >= 13
    assert make is not None

    def in_session(ids: Ids) -> Message:
        request = make(ids)
        assert isinstance(request, FetchRequest)
        request.session_epoch = epoch
        if step.version >= 7:
            request.forgotten_topics_data = [
                ForgottenTopic(*_named(each, by_ids, ids), numbers) for each in forgotten
            ]
        if names_none:
            request.topics = []
        return request

    if step.version < 7:
        step.session = None
        return step
    return Step(step.node, step.version, in_session, session=step.session)


def delete_topics(draws: Draws) -> Step:
    """A topic whose name comes back with another id."""
    request = DeleteTopicsRequest(topic_names=[_name(draws)], timeout_ms=TIMEOUT_MS)
    return Step(0, 5, lambda _: request)


def list_offsets(draws: Draws) -> Step:
    """Offsets of times, and those that negative numbers stand for."""
    version = draws.version(2)
    partition = _partition(draws)
    topics = [
        ListOffsetsTopic(
            _name(draws),
            [
                ListOffsetsPartition(
                    partition,
                    draws.one(_EPOCHS) if version >= 4 else -1,
                    draws.one([-1, -1, -2, -2, -3, -4, -5, -6, -7, 0, NOW_MS, NOW_MS + 2,
                               NOW_MS - 4, NOW_MS + 10_000_000]),
                    draws.one([1, 1, 2, 5, 0, -1]) if version == 0 else 1,
                )
                for _ in range(draws.one([1, 1, 1, 1, 2]))
            ],
        )
        for _ in range(draws.one([1, 1, 2]))
    ]  # fmt: skip
    request = ListOffsetsRequest(draws.one([-1, -1, -1, -2, 2]), topics=topics)
    if version >= 2:
        request.isolation_level = draws.one([0, 1])
    if version >= 10:
        request.timeout_ms = TIMEOUT_MS
    return Step(_leader(draws, partition), version, lambda _: request)


def offset_for_leader_epoch(draws: Draws) -> Step:
    """Where epochs end."""
    version = draws.version(23)
    partition = _partition(draws)
    row = OffsetForLeaderPartition(partition, draws.one(_EPOCHS), draws.one([0, 0, 1, -1, -2, 7]))
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(_name(draws), [row])])
    if version >= 3:
        request.replica_id = draws.one([-1, -2, 1])
    return Step(_leader(draws, partition), version, lambda _: request)


def delete_records(draws: Draws) -> Step:
    """What stands before an offset."""
    version = draws.version(21)
    partition = _partition(draws)
    names = dict.fromkeys(_name(draws) for _ in range(draws.one([1, 1, 2])))
    topics = [
        DeleteRecordsTopic(name, [DeleteRecordsPartition(partition, draws.one([1, 2, *_OFFSETS]))])
        for name in names
    ]
    request = DeleteRecordsRequest(topics, TIMEOUT_MS)
    return Step(_leader(draws, partition), version, lambda _: request)


def init_producer_id(draws: Draws) -> Step:
    """Ids of idempotent producers; another name would have a real cluster create its topic."""
    version = draws.version(22)
    request = InitProducerIdRequest(draws.one([None, None, ""]), draws.one([60_000, 0, -1]))
    if version >= 3 and draws.rarely(3):
        request.producer_id, request.producer_epoch = draws.one([-1, 5]), draws.one([-1, 0])
    return Step(draws.node(), version, lambda _: request)


def describe_producers(draws: Draws) -> Step:
    """The producers of partitions, of which any replica knows."""
    version = draws.version(61)
    topics = [
        TopicRequest(_name(draws), [_partition(draws) for _ in range(draws.one([1, 2]))])
        for _ in range(draws.one([1, 1, 2]))
    ]
    request = DescribeProducersRequest(topics)
    return Step(draws.node(), version, lambda _: request)


#: What draws a step, as often as it is drawn.
REQUESTS = (
    *[produce] * 12,
    *[fetch] * 7,
    *[fetch_in_session] * 7,
    *[first_topics],
    *[delete_topics],
    *[list_offsets] * 4,
    *[offset_for_leader_epoch] * 2,
    *[delete_records] * 3,
    *[init_producer_id],
    *[describe_producers] * 2,
    *[describe_log_dirs],
)
#: Those that create and delete no topic.
KEEP_TOPICS = tuple(each for each in REQUESTS if each not in (first_topics, delete_topics))


def questions() -> list[tuple[ListOffsetsRequest, int]]:
    """Where each log begins and ends, and the versions for that."""
    return [
        (
            ListOffsetsRequest(
                -1, isolation,
                [
                    ListOffsetsTopic(
                        name,
                        [ListOffsetsPartition(each, -1, timestamp) for each in range(_PARTITIONS)],
                    )
                    for name in _TOPICS
                ],
            ),
            5,
        )
        for isolation, timestamp in ((0, -1), (1, -1), (0, -2))
    ]  # fmt: skip
