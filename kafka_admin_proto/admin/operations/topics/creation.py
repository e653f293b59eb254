"""Creating topics, and waiting until every broker has them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.config_values import ConfigSetter, same_value
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import failure, failure_of, unanswered
from kafka_admin_proto.admin.operations.common.item_retries import retry_batches
from kafka_admin_proto.admin.operations.common.metadata import metadata_of_names, topic_id_text
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
from kafka_admin_proto.admin.operations.configs.entries import ConfigEntry, entry_of_created
from kafka_admin_proto.admin.operations.configs.overrides import read_overrides
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import CreateTopicsRequest
from kafka_admin_proto.messages.create_topics_response import (
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: A KRaft controller refuses a request that would write over 10,000 records: one for a topic, one
#: for each of its partitions and configs. A topic with the broker's default of partitions counts
#: as if it had this many.
_RECORDS_PER_REQUEST, _DEFAULT_PARTITIONS = 5_000, 10
#: Since these versions of CreateTopics a request can be validated only, and -1 is the default.
_VALIDATE_ONLY, _DEFAULTS = 1, 4

#: Seconds for a topic that the controller has to reach a broker, and between two requests.
_PROPAGATION_S, _PAUSE_S = 5.0, 0.1


class NewTopic(ConfigSetter, frozen=True, forbid_unknown_fields=True):
    """A topic to create. -1 stands for the brokers' default.

    ``assignment`` names the brokers of each partition, the preferred leader first; partitions and
    replication factor are then -1. Values of ``configs`` are texts, else TypeError. None stands for
    the cluster's default where a topic is compared with its description; none is created with it.
    """

    name: str
    partitions: int = -1
    replication_factor: int = -1
    assignment: dict[int, list[int]] | None = None
    configs: dict[str, str | None] = {}


class CreatedTopic(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one topic.

    ``partitions``, ``replication_factor`` and ``configs`` are what the broker answered, None where
    it says nothing (before 2.4). ``config_error`` is why it leaves them out, for want of rights.
    ``repeated`` says that the answer to an earlier attempt was lost, ``message`` what was found.
    ``complete`` says whether every broker knew the topic and each partition had a leader in time;
    None where that was not waited for. ``missing`` has each thing that was not there
    then; it may still come.
    """

    name: str
    topic_id: str | None = None
    error: str | None = None
    message: str | None = None
    partitions: int | None = None
    replication_factor: int | None = None
    configs: list[ConfigEntry] | None = None
    config_error: str | None = None
    repeated: bool = False
    complete: bool | None = None
    missing: list[Missing] = []


class CreateTopics(Caller):
    """CreateTopics."""

    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        timeout: float | None = None,
        validate_only: bool = False,
    ) -> list[CreatedTopic]:
        """Create topics, each of them on its own: one that fails leaves the others.

        With a ``timeout`` (seconds) above 0 the call waits until every live broker knows the
        topics and each partition has a leader, or says what was missing when the time was over.
        With 0 or less it returns as soon as the controller has taken the request.
        ``validate_only`` creates nothing and answers as if it had.

        Raises InstructionError for a topic named twice and a config of None, and what
        ``Caller.call`` raises.
        """
        wanted = by_name(topics)
        if not wanted:
            return []
        timeout, deadline = waiting_time(self, timeout)
        before = {} if validate_only else await _ids_before(self, list(wanted), deadline)
        trigger = await triggers_only(self, timeout)

        async def attempt(names: list[str], left: float) -> dict[str, CreatedTopic]:
            request = CreateTopicsRequest(
                topics=[_creatable(wanted[name]) for name in names],
                timeout_ms=0 if trigger else wire_timeout_ms(left),
                validate_only=validate_only,
            )
            reply = await self.call(
                request,
                CreateTopicsResponse,
                to=Target.CONTROLLER,
                timeout=left,
                versions=_versions(request),
            )
            return {
                answer.name: _created(answer, wanted[answer.name], reply.maybe_repeated, trigger)
                for answer in reply.body.topics
                if answer.name in wanted
            }

        def failed(name: str, why: KafkaAdminProtoError) -> CreatedTopic:
            return CreatedTopic(name=name, **failure_of(why))

        results = await retry_batches(
            self, _batches(wanted.values()), attempt, failed, deadline=deadline
        )
        lost = unanswered("topic")
        answered = [results.get(name) or CreatedTopic(name=name, **lost) for name in wanted]
        if validate_only:  # brokers answer with an id that no topic has
            return [msgspec.structs.replace(each, topic_id=None) for each in answered]
        answered = [
            await _check_already_exists(self, each, wanted, before, deadline) for each in answered
        ]
        if timeout <= 0:
            return answered
        created = {each.name: each for each in answered}

        def missing(name: str, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
            return _missing(created[name], topic)

        find = in_metadata(self, missing)
        done = await wait_for_results(
            self, created, find, deadline, done="created", unless=REQUEST_TIMED_OUT
        )
        return list(done.values())


def by_name(topics: Iterable[NewTopic]) -> dict[str, NewTopic]:
    """The topics by their names.

    Raises InstructionError for one that is named twice, and for a config without a value.
    """
    by_name: dict[str, NewTopic] = {}
    for topic in topics:
        if topic.name in by_name:
            raise InstructionError(f"topic {topic.name!r} is to be created twice in one call")
        if nulls := [name for name, value in topic.configs.items() if value is None]:
            raise InstructionError(
                f"topic {topic.name!r} is to be created with config {nulls[0]} as None; leave it "
                "out for the cluster's default"
            )
        by_name[topic.name] = topic
    return by_name


async def _ids_before(
    caller: Caller, names: list[str], deadline: Deadline
) -> dict[str, str | None]:
    """The ids of topics that are there already, to judge TOPIC_ALREADY_EXISTS by."""
    found = await metadata_of_names(caller, names, timeout=deadline.left)
    return {name: topic_id_text(topic.topic_id) for name, topic in found.items()}


async def _check_already_exists(
    caller: Caller,
    result: CreatedTopic,
    wanted: Mapping[str, NewTopic],
    before: Mapping[str, str | None],
    deadline: Deadline,
) -> CreatedTopic:
    """After a lost answer: whether the topic that exists is the one that was to be created."""
    if not result.repeated or result.error != "TOPIC_ALREADY_EXISTS":
        return result
    name = result.name
    lost = "the answer to an earlier attempt was lost, and the topic exists"
    try:
        there = await _read_created_topic(caller, name, deadline)
        configs = await read_overrides(caller, [name], timeout=deadline.left)
    except KafkaAdminProtoError as error:
        note = f"{lost}: perhaps by that attempt; it could not be looked at: {error}"
        return msgspec.structs.replace(result, message=note)
    if there is None:
        note = f"{lost}, says the controller; other brokers do not know it yet"
        return msgspec.structs.replace(result, message=note)
    topic_id = topic_id_text(there.topic_id)
    if name in before and before[name] == topic_id:
        note = f"the topic was there before this call (id {topic_id})"
        return msgspec.structs.replace(result, topic_id=topic_id, message=note, repeated=False)
    differences = list(_differences(wanted[name], there, configs.get(name)))
    if differences:
        note = f"{lost}: it was not there before this call, and has {'; '.join(differences)}"
        return msgspec.structs.replace(result, topic_id=topic_id, message=note)
    replicas = there.partitions[0].replica_nodes if there.partitions else []
    return CreatedTopic(
        name=name,
        topic_id=topic_id,
        message=f"{lost} now as asked (id {topic_id}): that attempt created it, or another "
        "client did at the same time",
        partitions=len(there.partitions),
        replication_factor=len(replicas),
        repeated=True,
    )


async def _read_created_topic(
    caller: Caller, name: str, deadline: Deadline
) -> MetadataResponseTopic | None:
    """A broker's metadata of a topic that the controller has; None if it does not arrive soon."""
    hearing = Deadline(min(deadline.left, _PROPAGATION_S))
    while True:
        there = (await metadata_of_names(caller, [name], timeout=deadline.left)).get(name)
        if there is not None or hearing.is_over:
            return there
        await asyncio.sleep(min(_PAUSE_S, hearing.left))


def _missing(result: CreatedTopic, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
    there = topic and topic_id_text(topic.topic_id)
    if there is not None and result.topic_id not in (None, there):
        yield Missing(result.name, f"topic {result.name!r} is still an older one (id {there})")
    else:
        yield from missing_partitions(result.name, leaders_of(topic), result.partitions or 0)


def _creatable(topic: NewTopic) -> CreateTopicsRequest.CreatableTopic:
    assignment = topic.assignment or {}
    return CreateTopicsRequest.CreatableTopic(
        name=topic.name,
        num_partitions=topic.partitions,
        replication_factor=topic.replication_factor,
        assignments=[
            CreateTopicsRequest.CreatableReplicaAssignment(
                partition_index=partition, broker_ids=list(brokers)
            )
            for partition, brokers in assignment.items()
        ],
        configs=[
            CreateTopicsRequest.CreatableTopicConfig(name=name, value=value)
            for name, value in topic.configs.items()
        ],
    )


def _versions(request: CreateTopicsRequest) -> VersionRange:
    defaults = any(
        not topic.assignments and -1 in (topic.num_partitions, topic.replication_factor)
        for topic in request.topics
    )
    lowest = _DEFAULTS if defaults else _VALIDATE_ONLY if request.validate_only else 0
    return VersionRange(lowest, MAX_VERSION)


def _created(
    answer: CreatableTopicResult, wanted: NewTopic, repeated: bool, trigger: bool
) -> CreatedTopic:
    if answer.error_code:
        why = taken(failure(answer.error_code, answer.error_message), trigger)
        return CreatedTopic(name=answer.name, **why, repeated=repeated)
    asked = wanted.partitions if wanted.assignment is None else len(wanted.assignment)
    count, factor = answer.num_partitions, answer.replication_factor
    return CreatedTopic(
        name=answer.name,
        topic_id=topic_id_text(answer.topic_id),
        partitions=count if count >= 0 else asked if asked >= 0 else None,
        replication_factor=factor if factor >= 0 else None,
        configs=None
        if answer.num_partitions < 0 or answer.configs is None
        else [entry_of_created(config) for config in answer.configs],
        config_error=failure(answer.topic_config_error_code)["error"],
        repeated=repeated,
    )


def _batches(topics: Iterable[NewTopic]) -> Iterator[list[str]]:
    """Names of topics that one request may create, in order."""
    batch: list[str] = []
    records = 0
    for topic in topics:
        count = len(topic.assignment) if topic.assignment else topic.partitions
        own = 1 + (_DEFAULT_PARTITIONS if count < 0 else count) + len(topic.configs)
        if batch and records + own > _RECORDS_PER_REQUEST:
            yield batch
            batch, records = [], 0
        batch.append(topic.name)
        records += own
    yield batch


def _differences(
    wanted: NewTopic, there: MetadataResponseTopic, configs: Mapping[str, str | None] | None
) -> Iterator[str]:
    """A phrase for each way in which a topic differs from what was asked for."""
    replicas = {each.partition_index: each.replica_nodes for each in there.partitions}
    if wanted.assignment is not None and wanted.assignment != replicas:
        yield "another assignment"
    if wanted.partitions >= 0 and wanted.partitions != len(replicas):
        yield f"{counted(len(replicas), 'partitions')} where {wanted.partitions} were asked for"
    factors = {len(brokers) for brokers in replicas.values()}
    if wanted.replication_factor >= 0 and factors - {wanted.replication_factor}:
        yield f"another replication factor than {wanted.replication_factor}"
    for key, value in wanted.configs.items():
        if value is not None and configs is not None and not same_value(configs.get(key), value):
            yield f"another value of {key}"
