"""OffsetFetch: the offsets that groups have committed.

Versions: 1 those of the coordinator, 2 all partitions and an error of the group, 3 a throttle time,
5 leader epochs (KIP-320), 6 flexible, 7 stable ones only (KIP-447), 8 several groups (KIP-709),
9 errors of KIP-848's groups, 10 topic ids (KIP-848).
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.groups.commit_answers import asked_topics
from kafka_admin_proto.server.groups.committers import check_fetch
from kafka_admin_proto.server.groups.records import CommittedOffset
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.repeats import ROW_BYTES, Repeats
from kafka_admin_proto.server.security.authorizer.access import allowed_topics, check_group
from kafka_admin_proto.server.security.authorizer.rules import DESCRIBE
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID

_GROUP_ERRORS, _SEVERAL, _EPOCHS, _TOPIC_IDS = 2, 8, 9, 10
_Rows = list[OffsetFetchResponseTopics]


@handler(of_broker=True, needs=None, kept=False)
def handle(state: View, request: OffsetFetchRequest, caller: Caller) -> Answer:
    """List the offsets of each group, of all its partitions where none are named."""
    if caller.version >= _SEVERAL:
        stable = request.require_stable
        repeats = Repeats("offsets of groups")
        groups = [_group(state, each, caller, repeats, stable=stable) for each in request.groups]
        return Answer(OffsetFetchResponse(groups=groups))
    if caller.version == 0:  # the offsets of version 0 were kept by ZooKeeper
        raise ApiFailure(codes.UNSUPPORTED_VERSION)
    topics = request.topics
    wanted = OffsetFetchRequestGroup(
        request.group_id,
        topics=None
        if topics is None
        else [OffsetFetchRequestTopics(each.name, ZERO_TOPIC_ID, each.partition_indexes)
              for each in topics],
    )  # fmt: skip
    found = _group(state, wanted, caller, Repeats("offsets"), stable=request.require_stable)
    if found.error_code and caller.version < _GROUP_ERRORS:
        raise ApiFailure(found.error_code)
    rows = [
        OffsetFetchResponseTopic(
            each.name,
            [
                OffsetFetchResponsePartition(
                    part.partition_index,
                    part.committed_offset,
                    part.committed_leader_epoch,
                    part.metadata,
                    part.error_code,
                )
                for part in each.partitions
            ],
        )
        for each in found.topics
    ]
    return Answer(OffsetFetchResponse(topics=rows, error_code=found.error_code))


def _group(
    state: View,
    wanted: OffsetFetchRequestGroup,
    caller: Caller,
    repeats: Repeats,
    *,
    stable: bool,
) -> OffsetFetchResponseGroup:
    """The row of a group; with ``stable`` partitions of open transactions have an error."""
    name = wanted.group_id
    try:
        check_group(state, caller, DESCRIBE, name)
        shard = _shard(state, caller, name)
        modern = shard.consumer_groups.get(name) or shard.streams_groups.get(name)
        if modern is not None and caller.version >= _EPOCHS:
            check_fetch(modern, wanted.member_id, wanted.member_epoch)
        if wanted.topics is None:
            repeats.describe(name)
            found = _all(state, _shard(state, caller, name), name, caller)
            rows = sum(_size(part) for topic in found for part in topic.partitions)
            repeats.described(name, rows)
        else:
            found = _named(state, wanted, caller)
        unstable = _shard(state, caller, name).unstable(name) if stable else set()
        for topic in found if unstable else ():
            topic_name = topic.name
            if caller.version >= _TOPIC_IDS:
                known = state.topic_by_id(topic.topic_id)
                topic_name = "" if known is None else known.name
            for part in topic.partitions:
                if not part.error_code and (topic_name, part.partition_index) in unstable:
                    part.error_code = codes.UNSTABLE_OFFSET_COMMIT
                    part.committed_offset = part.committed_leader_epoch = -1
                    part.metadata = ""
        return OffsetFetchResponseGroup(name, found)
    except ApiFailure as failure:
        return OffsetFetchResponseGroup(name, error_code=failure.code)


def _size(offset: OffsetFetchResponsePartitions) -> int:
    """How many rows an offset counts for."""
    return 1 + len(offset.metadata or "") // ROW_BYTES


def _shard(state: View, caller: Caller, name: str) -> Shard:
    return state.controller_state.coordinators.shard(state, caller, name)


def _all(state: View, shard: Shard, name: str, caller: Caller) -> _Rows:
    """The rows of all offsets of a group, of topics that the caller may describe."""
    offsets = shard.offsets.get(name, {})
    topics: dict[str, list[int]] = {}
    for topic, partition in offsets:
        topics.setdefault(topic, []).append(partition)
    rows: _Rows = []
    allowed = allowed_topics(state, caller, DESCRIBE, topics)
    for each, numbers in topics.items():
        topic_id = ZERO_TOPIC_ID
        if caller.version >= _TOPIC_IDS:
            known = state.topic(each)
            if known is None:
                continue
            topic_id = known.id
        if each in allowed:
            parts = [_row(number, offsets[each, number]) for number in numbers]
            rows.append(OffsetFetchResponseTopics(each, topic_id, parts))
    return rows


def _named(state: View, wanted: OffsetFetchRequestGroup, caller: Caller) -> _Rows:
    """The rows of the partitions that are named, as in Kafka those of topics with an error last.

    Raises ApiFailure.
    """
    assert wanted.topics is not None
    topics = asked_topics(state, caller, DESCRIBE, wanted.topics, ids_since=_TOPIC_IDS)
    offsets = _shard(state, caller, wanted.group_id).offsets.get(wanted.group_id, {})
    return [
        OffsetFetchResponseTopics(
            each.name,
            each.topic_id,
            _rows(each.partition_indexes, topic.name, offsets, topic.error_code),
        )
        for each, topic in sorted(topics, key=lambda each: each[1].error_code != 0)
    ]


def _rows(
    numbers: Iterable[int],
    topic: str,
    offsets: dict[tuple[str, int], CommittedOffset],
    code: int,
) -> list[OffsetFetchResponsePartitions]:
    return [
        OffsetFetchResponsePartitions(each, -1, error_code=code)
        if code
        else _row(each, offsets.get((topic, each)))
        for each in numbers
    ]


def _row(number: int, committed: CommittedOffset | None) -> OffsetFetchResponsePartitions:
    if committed is None:
        return OffsetFetchResponsePartitions(number, -1)
    return OffsetFetchResponsePartitions(
        number, committed.offset, committed.leader_epoch, committed.metadata
    )
