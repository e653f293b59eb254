"""Adding partitions to topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.errors import BrokerError
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    failure,
    failure_of,
    unanswered,
)
from kafka_admin_proto.admin.operations.common.item_results import completed
from kafka_admin_proto.admin.operations.common.item_retries import retry_batches
from kafka_admin_proto.admin.operations.common.metadata import leaderless, metadata_of_names, slices
from kafka_admin_proto.admin.operations.common.timeouts import (
    REQUEST_TIMED_OUT,
    triggers_only,
    wire_timeout_ms,
)
from kafka_admin_proto.admin.operations.common.waiting import (
    every_broker_sees,
    incomplete_message,
    not_waited_for_message,
)
from kafka_admin_proto.admin.retry import Deadline
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
    missing: list[str] = []


class CreatePartitions(Caller):
    """CreatePartitions."""

    async def create_partitions(
        self,
        topics: Iterable[NewPartitions],
        *,
        timeout: float = 30.0,
        validate_only: bool = False,
    ) -> list[CreatedPartitions]:
        """Add partitions to topics, each on its own.

        With a ``timeout`` (seconds) above 0 the call waits until every live broker knows the new
        partitions and each has a leader, or says what was missing when the time was over; with
        0 or less it returns once the controller has taken the request. ``validate_only`` adds none
        and answers as if it had. Raises ValueError for a topic named twice.
        """
        wanted: dict[str, NewPartitions] = {}
        for topic in topics:
            if topic.topic in wanted:
                raise ValueError(f"topic {topic.topic!r} is to get partitions twice in one call")
            wanted[topic.topic] = topic
        deadline = Deadline(self.default_timeout if timeout <= 0 else timeout)
        results = await send_new_partitions(self, wanted, deadline, timeout, validate_only)
        answered = [results[name] for name in wanted]
        if validate_only or timeout <= 0:
            return answered
        return await _wait_for_brokers(self, answered, deadline)


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

    async def attempt(names: list[str], left: float) -> dict[str, CreatedPartitions]:
        request = CreatePartitionsRequest(
            topics=[_topic(wanted[name]) for name in names],
            timeout_ms=0 if trigger else wire_timeout_ms(left),
            validate_only=validate_only,
        )
        reply = await caller.call(
            request, CreatePartitionsResponse, to=Target.CONTROLLER, timeout=left
        )
        return {
            answer.name: _created(answer, wanted[answer.name], trigger, reply.maybe_repeated)
            for answer in reply.body.results
            if answer.name in wanted
        }

    def failed(name: str, why: Failure) -> CreatedPartitions:
        error, message = why
        return CreatedPartitions(topic=name, count=wanted[name].count, error=error, message=message)

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
        for name, each in results.items()
    }
    if validate_only or timeout <= 0:
        return checked
    timed_out = [each for each in checked.values() if each.error == REQUEST_TIMED_OUT]
    return checked | {
        each.topic: each for each in await _wait_for_brokers(caller, timed_out, deadline)
    }


def _topic(topic: NewPartitions) -> CreatePartitionsTopic:
    return CreatePartitionsTopic(
        name=topic.topic,
        count=topic.count,
        assignments=None
        if topic.assignments is None
        else [CreatePartitionsAssignment(broker_ids=list(each)) for each in topic.assignments],
    )


#: Stands in a result's message until it is known whether an earlier attempt did the work.
_REPEATED = "the answer to an earlier attempt was lost"


def _created(
    answer: CreatePartitionsTopicResult, wanted: NewPartitions, trigger: bool, repeated: bool
) -> CreatedPartitions:
    error, message = failure(answer.error_code, answer.error_message)
    if trigger and error == REQUEST_TIMED_OUT:
        error, message = None, "the controller has taken the request and does not wait for it"
    if repeated and error == "INVALID_PARTITIONS":
        message = _REPEATED
    return CreatedPartitions(topic=answer.name, count=wanted.count, error=error, message=message)


async def _check_invalid_partitions(
    caller: Caller, result: CreatedPartitions, deadline: Deadline
) -> CreatedPartitions:
    """After a lost answer: INVALID_PARTITIONS is no error if there are as many as asked for."""
    if result.message != _REPEATED:
        return result
    try:
        found = await metadata_of_names(caller, [result.topic], timeout=deadline.left)
    except KafkaAdminProtoError as error:
        note = f"{_REPEATED}, and it could not be looked at: {error}"
        return msgspec.structs.replace(result, message=note)
    there = len(found[result.topic].partitions) if result.topic in found else 0
    note = f"{_REPEATED}; the topic has {there} partitions now"
    if there != result.count:
        return msgspec.structs.replace(result, message=note)
    return msgspec.structs.replace(
        result, error=None, message=f"{note}: that attempt added them, or another client did"
    )


async def _wait_for_brokers(
    caller: Caller, results: list[CreatedPartitions], deadline: Deadline
) -> list[CreatedPartitions]:
    """The results, with whether every broker has the partitions.

    REQUEST_TIMED_OUT is no error once every broker has them. Other failures stay as they are, and
    so do results that were waited for already.
    """
    counts = {
        each.topic: each.count
        for each in results
        if each.error in (None, REQUEST_TIMED_OUT) and each.complete is None
    }

    def missing(name: str, topic: MetadataResponseTopic | None) -> Iterator[str]:
        return missing_partitions(name, topic, counts[name])

    try:
        left = await every_broker_sees(caller, list(counts), missing, timeout=deadline.left)
    except BrokerError as error:
        return [
            msgspec.structs.replace(each, message=not_waited_for_message(error))
            if each.topic in counts and each.error is None
            else each
            for each in results
        ]
    return [
        _completed(each, left.get(each.topic, []), deadline) if each.topic in counts else each
        for each in results
    ]


def _completed(
    result: CreatedPartitions, lacking: list[str], deadline: Deadline
) -> CreatedPartitions:
    if result.error is None:
        message = incomplete_message(lacking, deadline)
    else:
        message = incomplete_message(lacking, deadline, f"the controller answered {result.error}")
    return completed(result, lacking, message)


def missing_partitions(name: str, topic: MetadataResponseTopic | None, count: int) -> Iterator[str]:
    """Sentences for the partitions that a broker does not know, or knows without a leader."""
    if topic is None:
        yield f"topic {name!r} is unknown"
        return
    if len(topic.partitions) < count:
        yield f"topic {name!r} has {len(topic.partitions)} of {count} partitions"
    yield from leaderless(name, topic)
