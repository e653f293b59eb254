"""Adding partitions to topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    failure,
    failure_of,
    unanswered,
)
from kafka_admin_proto.admin.operations.common.item_retries import retry_batches
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names, slices
from kafka_admin_proto.admin.operations.common.timeouts import (
    REQUEST_TIMED_OUT,
    taken,
    triggers_only,
    waiting_time,
    wire_timeout_ms,
)
from kafka_admin_proto.admin.operations.common.waiting import (
    Missing,
    in_metadata,
    leaders_of,
    missing_partitions,
    wait_for_results,
)
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_admin_proto.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic

_TOPICS_PER_REQUEST = 250


class NewPartitions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A topic and how many partitions it is to have in all.

    ``assignments`` has the brokers of each new partition's replicas, in order; without it the
    controller chooses.
    """

    topic: str
    count: int
    assignments: list[list[int]] | None = None


class CreatedPartitions(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one topic; ``complete`` and ``missing`` as in ``CreatedTopic``."""

    topic: str
    count: int
    error: str | None = None
    message: str | None = None
    complete: bool | None = None
    missing: list[Missing] = []


class CreatePartitions(Caller):
    """CreatePartitions."""

    async def create_partitions(
        self,
        topics: Iterable[NewPartitions],
        *,
        timeout: float | None = None,
        validate_only: bool = False,
    ) -> list[CreatedPartitions]:
        """Add partitions to topics, each on its own.

        With a ``timeout`` (seconds) above 0 the call waits until every live broker knows the new
        partitions and each has a leader, or says what was missing when the time was over; with
        0 or less it returns once the controller has taken the request. ``validate_only`` adds none
        and answers as if it had. Raises InstructionError for a topic named twice.
        """
        wanted: dict[str, NewPartitions] = {}
        for topic in topics:
            if topic.topic in wanted:
                raise InstructionError(
                    f"topic {topic.topic!r} is to get partitions twice in one call"
                )
            wanted[topic.topic] = topic
        timeout, deadline = waiting_time(self, timeout)
        results = await send_new_partitions(self, wanted, deadline, timeout, validate_only)
        if not validate_only and timeout > 0:
            left = {name: each for name, each in results.items() if each.complete is None}
            results |= await _wait_for_brokers(self, left, deadline)
        return [results[name] for name in wanted]


async def send_new_partitions(
    caller: Caller,
    wanted: Mapping[str, NewPartitions],
    deadline: Deadline,
    timeout: float,
    validate_only: bool,
) -> dict[str, CreatedPartitions]:
    """Send CreatePartitions; the result of each topic.

    Brokers are waited for only after REQUEST_TIMED_OUT, as far as ``timeout`` allows: the
    controller may have added the partitions, or may do it yet.
    """
    trigger = not validate_only and await triggers_only(caller, timeout)
    #: Topics whose answer may be about what an earlier attempt did, its answer being lost.
    repeated: set[str] = set()

    async def attempt(names: list[str], left: float) -> dict[str, CreatedPartitions]:
        request = CreatePartitionsRequest(
            topics=[_topic(wanted[name]) for name in names],
            timeout_ms=0 if trigger else wire_timeout_ms(left),
            validate_only=validate_only,
        )
        reply = await caller.call(
            request, CreatePartitionsResponse, to=Target.CONTROLLER, timeout=left
        )
        if reply.maybe_repeated:
            repeated.update(names)
        return {
            answer.name: _created(answer, wanted[answer.name], trigger)
            for answer in reply.body.results
            if answer.name in wanted
        }

    def failed(name: str, why: Failure) -> CreatedPartitions:
        return CreatedPartitions(topic=name, count=wanted[name].count, **why)

    results = await retry_batches(
        caller,
        slices(list(wanted), _TOPICS_PER_REQUEST),
        attempt,
        lambda name, error: failed(name, failure_of(error)),
        deadline=deadline,
    )
    for name in wanted:
        if name not in results:
            results[name] = failed(name, unanswered("topic"))
    checked = {
        name: await _check_invalid_partitions(caller, each, deadline)
        if name in repeated and each.error == "INVALID_PARTITIONS"
        else each
        for name, each in results.items()
    }
    if validate_only or timeout <= 0:
        return checked
    timed_out = {name: each for name, each in checked.items() if each.error == REQUEST_TIMED_OUT}
    return checked | await _wait_for_brokers(caller, timed_out, deadline)


def _topic(topic: NewPartitions) -> CreatePartitionsTopic:
    return CreatePartitionsTopic(
        name=topic.topic,
        count=topic.count,
        assignments=None
        if topic.assignments is None
        else [CreatePartitionsAssignment(broker_ids=list(each)) for each in topic.assignments],
    )


def _created(
    answer: CreatePartitionsTopicResult, wanted: NewPartitions, trigger: bool
) -> CreatedPartitions:
    why = taken(failure(answer.error_code, answer.error_message), trigger)
    return CreatedPartitions(topic=answer.name, count=wanted.count, **why)


async def _check_invalid_partitions(
    caller: Caller, result: CreatedPartitions, deadline: Deadline
) -> CreatedPartitions:
    """After a lost answer: INVALID_PARTITIONS is no error if there are as many as asked for."""
    lost = "the answer to an earlier attempt was lost"
    try:
        topics = await metadata_of_names(caller, [result.topic], timeout=deadline.left)
    except KafkaAdminProtoError as error:
        note = f"{lost}, and it could not be looked at: {error}"
        return msgspec.structs.replace(result, message=note)
    there = len(topics[result.topic].partitions) if result.topic in topics else 0
    note = f"{lost}; the topic has {counted(there, 'partitions')} now"
    if there != result.count:
        return msgspec.structs.replace(result, message=note)
    return msgspec.structs.replace(
        result, error=None, message=f"{note}: that attempt added them, or another client did"
    )


async def _wait_for_brokers(
    caller: Caller, results: Mapping[str, CreatedPartitions], deadline: Deadline
) -> dict[str, CreatedPartitions]:
    def missing(name: str, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
        return missing_partitions(name, leaders_of(topic), results[name].count)

    find = in_metadata(caller, missing)
    return await wait_for_results(caller, results, find, deadline, unless=REQUEST_TIMED_OUT)
