"""Requests of share groups, drawn for both clusters: members, their records, and offsets.

Who coordinates a group is known, since the coordinators' topics are created with their leaders.
What a step asks for may depend on what each cluster has given a member before: its epochs and the
records that it has acquired.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from kafka_admin_proto.messages import (
    AlterShareGroupOffsetsRequest,
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    DeleteGroupsRequest,
    DeleteShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequest,
    OffsetCommitRequest,
    ProduceRequest,
    ShareAcknowledgeRequest,
    ShareFetchRequest,
    ShareGroupDescribeRequest,
    ShareGroupHeartbeatRequest,
)
from kafka_admin_proto.messages import alter_share_group_offsets_request as alter
from kafka_admin_proto.messages import delete_share_group_offsets_request as delete
from kafka_admin_proto.messages import describe_share_group_offsets_request as describe
from kafka_admin_proto.messages import offset_commit_request as commit
from kafka_admin_proto.messages import share_acknowledge_request as acknowledging
from kafka_admin_proto.messages import share_fetch_request as fetching
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.server.coordination.routing import partition_of
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE
from kafka_admin_proto.values import Message
from tests.server.differential.requests import records
from tests.server.differential.requests.drawing import TIMEOUT_MS, Draws, Ids, Step

#: Locks and sessions outlive a run; assignments are made at once.
PROPERTIES = {
    "group.share.assignment.interval.ms": "0",
    "group.share.max.record.lock.duration.ms": "3600000",
    "group.share.record.lock.duration.ms": "3600000",
    "group.share.max.session.timeout.ms": "3600000",
    "group.share.session.timeout.ms": "3600000",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.max.session.timeout.ms": "3600000",
    "group.consumer.session.timeout.ms": "3600000",
}
_GROUPS = ("one", "two")
_CLASSIC, _CONSUMER, _ABSENT = "classic", "consumer", "absent"
_MEMBERS = ("m", "n")
_TOPICS = ("a", "compacted", "appended")
_PARTITIONS = 3
#: How long a request for records waits, always, since it wants more bytes than there are: a real
#: leader has loaded the states of all its partitions by then, also of those that have none.
_WAIT_MS = 1000
_FULL_BYTES = 1 << 30
_RowT = TypeVar("_RowT")


def first_topics(draws: Draws) -> Step:
    """Topics whose leaders are known, those of the coordinators too."""
    step = records.first_topics(draws)
    assert step.make is not None
    request = step.make(Ids({}, {}))
    assert isinstance(request, CreateTopicsRequest)
    plain = request.topics[0]
    request.topics += [
        msgspec.structs.replace(plain, name=each) for each in (CONSUMER_OFFSETS, SHARE_GROUP_STATE)
    ]
    return Step(step.node, step.version, lambda _: request)


def _group(draws: Draws) -> str:
    if not draws.rarely(6):
        return draws.one(_GROUPS)
    return draws.one([_ABSENT, _CLASSIC, _CONSUMER, ""])


def _reader(draws: Draws) -> tuple[str, str]:
    """A group and a member id, above all the first of both, which so have a past."""
    group = _group(draws) if draws.rarely(10) else draws.one(["one", "one", "two"])
    return group, draws.one(["m", "m", "n"])


def _coordinator(draws: Draws, group: str) -> int:
    """The index of the node that coordinates a group, or seldom of any."""
    if draws.rarely(12):
        return draws.node()
    return partition_of(group, _PARTITIONS)


def _topic(draws: Draws) -> str:
    return draws.name() if draws.rarely(12) else draws.one(_TOPICS)


def _partition(draws: Draws) -> int:
    return draws.one([0, 0, 0, 0, 1, 1, 2, 2, 7, -1])


def _led_partition(draws: Draws) -> int:
    return _partition(draws) if draws.rarely(8) else draws.one([0, 0, 0, 1])


def heartbeat(draws: Draws) -> Step:
    """A member comes, stays or leaves; epochs are its own, or wrong."""
    group, member = _group(draws), draws.one([*_MEMBERS, *_MEMBERS, *_MEMBERS, "", "x" * 37])
    topics = draws.one([["a"], ["a"], ["a", "compacted"], [_topic(draws)], ["a"], None, []])
    epoch = draws.one([0, 0, None, None, None, None, None, -1, -1, -2, 7])
    ahead = draws.one([0, 0, 0, 0, 0, -1, 1])
    rack = draws.one([None, None, "r", ""]) if draws.rarely(5) else None

    def make(ids: Ids) -> Message:
        own = ids.members.epoch(group, member) + ahead if epoch is None else epoch
        return ShareGroupHeartbeatRequest(group, member, own, rack, topics)

    return Step(_coordinator(draws, group), draws.version(76), make)


def _places(draws: Draws) -> tuple[int, list[tuple[str, list[int]]]]:
    """(the node that leads them, topics with partitions) of a request for records."""
    partition = _led_partition(draws)
    names = dict.fromkeys(_topic(draws) for _ in range(draws.one([1, 1, 1, 2, 3])))
    numbers = [partition, _partition(draws)] if draws.rarely(10) else [partition]
    node = draws.node() if draws.rarely(12) else partition % _PARTITIONS
    return node, [(name, numbers) for name in names]


def _session(draws: Draws) -> tuple[int, int | None]:
    """(what is added to the next epoch of a session, the epoch that is sent in its place)."""
    return draws.one([0] * 20 + [1, -1]), draws.one([None] * 20 + [0, -1, -1, 7, -2])


class _Batch(msgspec.Struct):
    """Acknowledged offsets: those that a member has last acquired, or these."""

    first: int
    size: int
    types: list[int]
    is_acquired: bool


def _batches(draws: Draws, most_type: int) -> list[_Batch]:
    rows = []
    for _ in range(draws.one([1, 1, 1, 2, 3])):
        size = draws.one([1, 1, 2, 3, 0])
        kinds = [0, 1, 1, 2, 2, 2, 3, most_type, most_type]
        types = [draws.one(kinds) for _ in range(draws.one([1, 1, 1, max(size, 0), 2, 0]))]
        if draws.rarely(15):
            types = [draws.one([5, -1, 127])]
        is_acquired = not draws.rarely(4)
        first = draws.one([0, 0, 0, 1, 2]) if is_acquired else draws.one([0, 1, 2, 3, 5, 8, -1])
        rows.append(_Batch(first, size, types, is_acquired))
    return rows


def _rows(
    ids: Ids, key: tuple[str, str, str, int], batches: list[_Batch], row: Callable[..., _RowT]
) -> list[_RowT]:
    """Batches as rows of a request, those of acquired records each behind the one before it."""
    acquired = ids.members.acquired(*key)
    found, skipped = [], 0
    for each in batches:
        first, last = each.first, each.first + each.size - 1
        if each.is_acquired and acquired:
            offsets = acquired[skipped + each.first :][: max(each.size, 1)] or acquired[-1:]
            first, last = offsets[0], offsets[-1] - (each.size == 0)
            skipped += each.first + len(offsets)
        found.append(row(first, last, each.types))
    return found


def share_fetch(draws: Draws) -> Step:
    """Records for a member, with acknowledgements of those that it has or has not."""
    version = draws.version(78)
    group, member = _reader(draws)
    node, places = _places(draws)
    ahead, epoch = _session(draws)
    renews = version >= 2 and draws.rarely(8)
    batches = _batches(draws, 4 if renews else 3) if renews or draws.rarely(3) else []
    most = draws.one([500, 500, 500, 500, 1, 2, 3, 5, 0, -1])
    size = draws.one([500, 500, 1, 2])  # for 0 Kafka begins with a range of no records
    strict = version >= 2 and draws.rarely(3)
    forgotten = [_topic(draws)] if draws.rarely(6) else []
    names_none = draws.rarely(4)
    most_bytes = draws.one([1 << 20] * 12 + [0])
    keeps_zeros = not draws.rarely(4)
    begins_so, row = draws.rarely(8), fetching.AcknowledgementBatch

    def make(ids: Ids) -> Message:
        own = ids.members.session(node, group, member) + ahead if epoch is None else epoch
        given = batches if own or begins_so else []
        topics = [
            fetching.FetchTopic(
                ids.of(name),
                [
                    fetching.FetchPartition(
                        number,
                        acknowledgement_batches=_rows(
                            ids, (group, member, name, number), given, row
                        ),
                    )
                    for number in numbers
                ],
            )
            for name, numbers in places
        ]
        request = ShareFetchRequest(
            group, member, own, _WAIT_MS, _FULL_BYTES, most_bytes, most, size,
            topics=[] if names_none and not renews else topics,
            forgotten_topics_data=[
                fetching.ForgottenTopic(ids.of(each), places[0][1]) for each in forgotten
            ],
        )  # fmt: skip
        if version >= 2:
            request.share_acquire_mode = int(strict)
            request.is_renew_ack = renews
        if renews and keeps_zeros:
            request.max_wait_ms = request.min_bytes = request.max_bytes = request.max_records = 0
        return request

    return Step(node, version, make)


def produce(draws: Draws) -> Step:
    """Sound batches for members to get."""
    partition, name = _led_partition(draws) % _PARTITIONS, draws.one(_TOPICS)
    rows = [Record(each, records.NOW_MS, b"k", b"v") for each in range(draws.one([1, 2, 3, 5]))]
    data = PartitionProduceData(partition, write_batch(Batch.of(rows)))

    def make(ids: Ids) -> Message:
        topic = TopicProduceData(topic_id=ids.of(name), partition_data=[data])
        return ProduceRequest(None, -1, TIMEOUT_MS, [topic])

    return Step(partition, 13, make)


def share_acknowledge(draws: Draws) -> Step:
    """What becomes of records that a member has or has not."""
    version = draws.version(79)
    group, member = _reader(draws)
    node, places = _places(draws)
    ahead, epoch = _session(draws)
    renews = version >= 2 and draws.rarely(3)
    batches = [] if draws.rarely(12) else _batches(draws, 4 if renews else 3)
    row = acknowledging.AcknowledgementBatch

    def make(ids: Ids) -> Message:
        own = ids.members.session(node, group, member) + ahead if epoch is None else epoch
        topics = [
            acknowledging.AcknowledgeTopic(
                ids.of(name),
                [
                    acknowledging.AcknowledgePartition(
                        number,
                        _rows(ids, (group, member, name, number), batches, row),
                    )
                    for number in numbers
                ],
            )
            for name, numbers in places
        ]
        request = ShareAcknowledgeRequest(group, member, own, topics=topics)
        if version >= 2:
            request.is_renew_ack = renews
        return request

    return Step(node, version, make)


def share_group_describe(draws: Draws) -> Step:
    """Groups of all types, at one coordinator."""
    groups = [_group(draws) for _ in range(draws.one([1, 1, 2, 3, 0]))]
    request = ShareGroupDescribeRequest(groups, draws.rarely(2))
    node = _coordinator(draws, groups[0] if groups else "")
    return Step(node, draws.version(77), lambda _: request)


def describe_offsets(draws: Draws) -> Step:
    """Where groups begin, in all partitions or in some."""
    rows = [
        describe.DescribeShareGroupOffsetsRequestGroup(_group(draws), draws.one([None, topics]))
        for topics in [_described(draws) for _ in range(draws.one([1, 1, 2, 0]))]
    ]
    node = _coordinator(draws, rows[0].group_id if rows else "")
    request = DescribeShareGroupOffsetsRequest(rows)
    return Step(node, draws.version(90), lambda _: request)


def _described(draws: Draws) -> list[describe.DescribeShareGroupOffsetsRequestTopic]:
    return [
        describe.DescribeShareGroupOffsetsRequestTopic(
            _topic(draws), [_partition(draws) for _ in range(draws.one([1, 2, 0]))]
        )
        for _ in range(draws.one([1, 1, 2, 0]))
    ]


def alter_offsets(draws: Draws) -> Step:
    """Where a group without members begins anew; of a new group all that it has."""
    group = _group(draws)
    names = dict.fromkeys(_topic(draws) for _ in range(draws.one([1, 1, 2, 3, 0])))
    topics = [
        alter.AlterShareGroupOffsetsRequestTopic(
            name,
            [
                alter.AlterShareGroupOffsetsRequestPartition(
                    number, draws.one([0, 0, 0, 0, 1, 2, 5, -1, -2, 1000])
                )
                for number in dict.fromkeys(
                    _partition(draws) for _ in range(draws.one([1, 3, 5, 0]))
                )
            ],
        )
        for name in names
    ]
    request = AlterShareGroupOffsetsRequest(group, topics)
    return Step(_coordinator(draws, group), draws.version(91), lambda _: request)


def begin_anew(draws: Draws) -> Step:
    """Read all partitions of a group from a place in them, the first one above all."""
    group, start = draws.one(_GROUPS), draws.one([0, 0, 0, 1])
    rows = [alter.AlterShareGroupOffsetsRequestPartition(each, start) for each in range(3)]
    request = AlterShareGroupOffsetsRequest(
        group, [alter.AlterShareGroupOffsetsRequestTopic(each, rows) for each in _TOPICS]
    )
    return Step(partition_of(group, _PARTITIONS), 0, lambda _: request)


def delete_offsets(draws: Draws) -> Step:
    """Topics that a group without members forgets."""
    group = _group(draws)
    names = dict.fromkeys(_topic(draws) for _ in range(draws.one([1, 1, 2, 0])))
    request = DeleteShareGroupOffsetsRequest(
        group, [delete.DeleteShareGroupOffsetsRequestTopic(each) for each in names]
    )
    return Step(_coordinator(draws, group), draws.version(92), lambda _: request)


def delete_groups(draws: Draws) -> Step:
    """Groups that are no more, if they have no members."""
    groups = list(dict.fromkeys(_group(draws) for _ in range(draws.one([1, 1, 2]))))
    request = DeleteGroupsRequest(groups)
    return Step(_coordinator(draws, groups[0]), 2, lambda _: request)


def other_group(draws: Draws) -> Step:
    """A group of another type: one with offsets alone, or a member of a consumer group."""
    group = draws.one([_CLASSIC, _CONSUMER])
    request: Message
    if group == _CLASSIC:
        row = commit.OffsetCommitRequestPartition(0, 0, committed_metadata="")
        topic = commit.OffsetCommitRequestTopic("a", partitions=[row])
        request, version = OffsetCommitRequest(group, topics=[topic]), 8
    else:
        request = ConsumerGroupHeartbeatRequest(
            group, "c", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["a"],
            topic_partitions=[],
        )  # fmt: skip
        version = 1
    return Step(partition_of(group, _PARTITIONS), version, lambda _: request)


#: What draws a step, as often as it is drawn.
REQUESTS = (
    *[produce] * 10,
    *[share_fetch] * 20,
    *[share_acknowledge] * 12,
    *[heartbeat] * 7,
    *[begin_anew] * 10,
    *[alter_offsets] * 4,
    *[share_group_describe] * 3,
    *[describe_offsets] * 3,
    *[delete_offsets] * 2,
    *[delete_groups] * 1,
    *[other_group] * 2,
)


def questions() -> list[tuple[Message, int]]:
    """Each group and its offsets: until both clusters say the same, neither has done all."""
    groups = [*_GROUPS, _CLASSIC, _CONSUMER, _ABSENT]
    rows = [describe.DescribeShareGroupOffsetsRequestGroup(each, None) for each in groups]
    return [(ShareGroupDescribeRequest(groups), 1), (DescribeShareGroupOffsetsRequest(rows), 1)]
