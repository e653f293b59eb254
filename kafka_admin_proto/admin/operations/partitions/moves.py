"""Moving replicas of partitions to other brokers: begin, list and cancel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    failure,
    failure_of,
    raise_failure,
    unanswered,
)
from kafka_admin_proto.admin.operations.common.item_retries import retry_batches
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names, slices
from kafka_admin_proto.admin.operations.common.timeouts import waiting_time, wire_timeout_ms
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsResponse,
)
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_admin_proto.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: A KRaft controller refuses a request that would write over 10,000 records, one for a partition.
_PARTITIONS_PER_REQUEST = 5_000
#: Since this version of AlterPartitionReassignments the number of replicas can be held.
_KEEPS_FACTOR = 1
_NOTHING_MOVES = "NO_REASSIGNMENT_IN_PROGRESS"


class PartitionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one partition.

    ``repeated`` says that the answer to an earlier attempt was lost, ``message`` what was found.
    """

    topic: str
    partition: int
    error: str | None = None
    message: str | None = None
    repeated: bool = False


class OngoingReassignment(msgspec.Struct, frozen=True):
    """A partition whose replicas are moving. ``replicas`` has the old ones and the new ones."""

    topic: str
    partition: int
    replicas: list[int]
    adding: list[int]
    removing: list[int]

    @property
    def target(self) -> list[int]:
        """The replicas that there will be."""
        return [broker for broker in self.replicas if broker not in self.removing]


class MovePartitions(Caller):
    """AlterPartitionReassignments and ListPartitionReassignments (brokers from 2.4)."""

    async def alter_partition_reassignments(
        self,
        replicas: Mapping[tuple[str, int], Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> list[PartitionResult]:
        """Begin to move partitions to other brokers, by (topic, partition), each on its own.

        None cancels what moves. Where the answer to that was lost and nothing moves any more, it is
        no error if the partition moved before and has not arrived (``repeated``). The answer comes
        when the moves have begun; ``list_partition_reassignments`` has those under way. Without
        ``allow_replication_factor_change`` a partition never gets more or fewer replicas
        (brokers from 4.1).
        """
        timeout, deadline = waiting_time(self, timeout)
        lowest = 0 if allow_replication_factor_change else _KEEPS_FACTOR
        cancelled = [partition for partition, wanted in replicas.items() if wanted is None]
        moving: dict[Partition, OngoingReassignment] = {}
        if cancelled:
            ongoing = await self.list_partition_reassignments(cancelled, timeout=deadline.left)
            moving = {(each.topic, each.partition): each for each in ongoing}

        async def attempt(some: list[Partition], left: float) -> dict[Partition, PartitionResult]:
            request = AlterPartitionReassignmentsRequest(
                timeout_ms=wire_timeout_ms(left),
                allow_replication_factor_change=allow_replication_factor_change,
                topics=[
                    ReassignableTopic(
                        name=topic,
                        partitions=[
                            _reassignable(number, replicas[topic, number]) for number in numbers
                        ],
                    )
                    for topic, numbers in by_topic(some).items()
                ],
            )
            reply = await self.call(
                request, AlterPartitionReassignmentsResponse, to=Target.CONTROLLER,
                timeout=left, versions=VersionRange(lowest, MAX_VERSION),
            )  # fmt: skip
            body = reply.body
            raise_failure(body.error_code, body.error_message, context="reassigning partitions")
            return {
                (topic.name, each.partition_index): _result(
                    (topic.name, each.partition_index),
                    failure(each.error_code, each.error_message),
                    reply.maybe_repeated,
                )
                for topic in body.responses
                for each in topic.partitions
            }

        results = await retry_batches(
            self,
            slices(list(replicas), _PARTITIONS_PER_REQUEST),
            attempt,
            lambda partition, error: _result(partition, failure_of(error)),
            deadline=deadline,
        )
        results |= await _check_not_in_progress(self, results, moving, deadline)
        return [results.get(each) or _result(each, unanswered("partition")) for each in replicas]

    async def list_partition_reassignments(
        self, partitions: Iterable[tuple[str, int]] | None = None, *, timeout: float | None = None
    ) -> list[OngoingReassignment]:
        """The partitions that are moving, of all or of some."""
        left = self.default_timeout if timeout is None else timeout
        request = ListPartitionReassignmentsRequest(
            timeout_ms=wire_timeout_ms(left),
            topics=None
            if partitions is None
            else [
                ListPartitionReassignmentsTopics(name=topic, partition_indexes=numbers)
                for topic, numbers in by_topic(partitions).items()
            ],
        )
        reply = await self.call(
            request, ListPartitionReassignmentsResponse, to=Target.CONTROLLER, timeout=left
        )
        body = reply.body
        raise_failure(body.error_code, body.error_message, context="listing reassignments")
        ongoing = [
            OngoingReassignment(
                topic.name,
                each.partition_index,
                list(each.replicas),
                list(each.adding_replicas),
                list(each.removing_replicas),
            )
            for topic in body.topics
            for each in topic.partitions
            if each.adding_replicas or each.removing_replicas
        ]
        return sorted(ongoing, key=lambda each: (each.topic, each.partition))


def _reassignable(number: int, replicas: Sequence[int] | None) -> ReassignablePartition:
    wanted = None if replicas is None else list(replicas)
    return ReassignablePartition(partition_index=number, replicas=wanted)


def _result(partition: Partition, why: Failure, repeated: bool = False) -> PartitionResult:
    topic, number = partition
    return PartitionResult(topic=topic, partition=number, **why, repeated=repeated)


async def _check_not_in_progress(
    caller: Caller,
    results: Mapping[Partition, PartitionResult],
    before: Mapping[Partition, OngoingReassignment],
    deadline: Deadline,
) -> dict[Partition, PartitionResult]:
    """After a lost answer: the cancellations with NO_REASSIGNMENT_IN_PROGRESS, checked.

    It is no error where the partition moved ``before`` and its replicas have not arrived: the lost
    attempt has cancelled the move.
    """
    doubtful = [
        partition
        for partition, each in results.items()
        if each.repeated and each.error == _NOTHING_MOVES
    ]
    now: dict[Partition, list[int]] = {}
    fault = ""
    try:
        topics = await metadata_of_names(caller, by_topic(doubtful), timeout=deadline.left)
        for name, topic in topics.items():
            now |= {(name, each.partition_index): each.replica_nodes for each in topic.partitions}
    except KafkaAdminProtoError as error:
        fault = f"; where its replicas are could not be looked at: {error}"
    return {each: _result_of_cancellation(results[each], before.get(each), now.get(each), fault)
            for each in doubtful}  # fmt: skip


def _result_of_cancellation(
    result: PartitionResult, before: OngoingReassignment | None, now: list[int] | None, fault: str
) -> PartitionResult:
    if before is None:
        note = "nothing moved before this call either"
        return msgspec.structs.replace(result, message=note, repeated=False)
    lost = "the answer to an earlier attempt was lost; the partition moved before this call"
    if now == before.target:
        note = f"{lost}, and its replicas have arrived at {now}: it was not cancelled"
        return msgspec.structs.replace(result, message=note)
    if now is None:
        return msgspec.structs.replace(result, message=f"{lost} and does not now{fault}")
    note = f"{lost} and does not now: that attempt cancelled it, or another client did"
    return msgspec.structs.replace(result, error=None, message=note)
