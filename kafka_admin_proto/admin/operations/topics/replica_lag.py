"""How far each replica is behind its leader.

DescribeLogDirs has an ``offsetLag``, but that is the broker's own high watermark less the end of
its log: 0 for a follower, however far it is behind. A broker that is asked for the latest offset
by a "debugging replica" answers with the end of its own log, whether it leads the partition or not.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.operations.common.failures import failure, failure_of
from kafka_admin_proto.admin.operations.common.metadata import slices
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import KafkaAdminProtoError, RemoteProtocolError
from kafka_admin_proto.messages import ListOffsetsRequest, ListOffsetsResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: The replica id of ListOffsets that followers answer to, and the time that stands for the end.
_DEBUGGING_REPLICA, _LATEST = -2, -1
#: Version 0 has another form of answers.
_VERSIONS = VersionRange(1, MAX_VERSION)
_PARTITIONS_PER_REQUEST = 2000
#: Seconds for one broker: a description is not to wait for one that has just ended.
_REQUEST_S = 5.0


class ReplicaLag(msgspec.Struct, frozen=True):
    """A replica: where its log ends, and how many offsets are between that and the leader's end.

    Both are None where the replica's broker did not answer, ``lag`` also where the leader's did
    not; ``error`` says why.
    """

    broker: int
    end_offset: int | None = None
    lag: int | None = None
    error: str | None = None
    message: str | None = None


class _End(msgspec.Struct, frozen=True):
    """Where one broker's log of a partition ends, or why it does not say."""

    offset: int | None = None
    error: str | None = None
    message: str | None = None


async def lag_of_replicas(
    caller: Caller,
    partitions: Mapping[Partition, tuple[int | None, Sequence[int]]],
    *,
    timeout: float,
) -> dict[Partition, list[ReplicaLag]]:
    """The replicas of each partition, in their order, from the partition's leader and replicas.

    Brokers are asked side by side. A leader that is asked before its follower may have less by
    then: a lag is at least 0.
    """
    by_broker: dict[int, list[Partition]] = defaultdict(list)
    for partition, (_, replicas) in partitions.items():
        for broker in replicas:
            by_broker[broker].append(partition)
    deadline = Deadline(timeout)
    answers = await asyncio.gather(
        *(_ends(caller, broker, its_own, deadline) for broker, its_own in by_broker.items())
    )
    ends = dict(zip(by_broker, answers, strict=True))
    return {
        partition: [
            _lag(broker, ends[broker][partition], _of_leader(ends, leader, partition))
            for broker in replicas
        ]
        for partition, (leader, replicas) in partitions.items()
    }


def _of_leader(
    ends: Mapping[int, Mapping[Partition, _End]], leader: int | None, partition: Partition
) -> _End:
    if leader is None:
        return _End(None, **failure(codes.LEADER_NOT_AVAILABLE))
    return ends.get(leader, {}).get(partition, _End())


def _lag(broker: int, own: _End, leader: _End) -> ReplicaLag:
    if own.offset is None:
        return ReplicaLag(broker, error=own.error, message=own.message)
    if leader.offset is None:
        return ReplicaLag(broker, own.offset, error=leader.error, message=leader.message)
    return ReplicaLag(broker, own.offset, max(0, leader.offset - own.offset))


async def _ends(
    caller: Caller, broker: int, partitions: Sequence[Partition], deadline: Deadline
) -> dict[Partition, _End]:
    ends: dict[Partition, _End] = {}
    for some in slices(partitions, _PARTITIONS_PER_REQUEST):
        request = ListOffsetsRequest(
            replica_id=_DEBUGGING_REPLICA,
            topics=[
                ListOffsetsRequest.ListOffsetsTopic(
                    name=topic,
                    partitions=[
                        ListOffsetsRequest.ListOffsetsPartition(
                            partition_index=number, timestamp=_LATEST
                        )
                        for number in numbers
                    ],
                )
                for topic, numbers in by_topic(some).items()
            ],
        )
        try:
            reply = await caller.call(
                request,
                ListOffsetsResponse,
                to=broker,
                timeout=min(deadline.left, _REQUEST_S),
                versions=_VERSIONS,
            )
        except KafkaAdminProtoError as error:
            lost = _End(None, **failure_of(error))
            return {each: ends.get(each, lost) for each in partitions}
        for answered in reply.body.topics:
            for row in answered.partitions:
                offset = None if row.error_code else row.offset
                ends[answered.name, row.partition_index] = _End(offset, **failure(row.error_code))
    fault = RemoteProtocolError(f"broker {broker} says nothing of this partition")
    nothing = _End(None, **failure_of(fault))
    return {each: ends.get(each, nothing) for each in partitions}
