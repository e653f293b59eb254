"""Metadata of topics, read in a way that creates no topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from uuid import UUID

from kafka_admin_proto.admin.caller import Caller, Reply, Target, call_deadline
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import raise_failure
from kafka_admin_proto.errors import TopicIdError, UnsupportedVersionError
from kafka_admin_proto.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from kafka_admin_proto.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID, topic_id_from_text, topic_id_to_text

#: Topics of one request: a bound on the size of its answer.
TOPICS_PER_REQUEST = 1000

#: The error codes of a topic that the broker does not know.
UNKNOWN = frozenset({codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_TOPIC_ID})

#: Since these versions of Metadata a request can say that it creates no topics, can ask for a
#: topic's authorized operations, and can name topics by their ids.
_NO_CREATION, _OPERATIONS, _BY_ID = 4, 8, 12

T = TypeVar("T")


async def all_metadata(
    caller: Caller, *, authorized_operations: bool = False, timeout: float | None = None
) -> list[MetadataResponseTopic]:
    """Every topic that the client may describe, with all partitions."""
    lowest = _OPERATIONS if authorized_operations else _NO_CREATION
    return list(await _ask(caller, None, lowest, Target.ANY, timeout, authorized_operations))


async def metadata_of_names(
    caller: Caller,
    names: Iterable[str],
    *,
    to: int | Target = Target.ANY,
    authorized_operations: bool = False,
    timeout: float | None = None,
) -> dict[str, MetadataResponseTopic]:
    """Topics by name; those that the broker does not know are left out, other errors are not.

    A request is about some of them, see ``slices``; ``timeout`` is for all together.
    Metadata before version 4 creates each topic that it is asked for, where the broker is
    configured so: such a broker is asked for all topics.
    """
    wanted, deadline = set(names), call_deadline(caller, timeout)
    lowest = _OPERATIONS if authorized_operations else _NO_CREATION
    found: dict[str, MetadataResponseTopic] = {}
    for some in slices(sorted(wanted)):
        topics = [MetadataRequestTopic(name=name) for name in some]
        for topic in await _ask(caller, topics, lowest, to, deadline.left, authorized_operations):
            if topic.name in wanted and topic.error_code not in UNKNOWN:
                found[topic.name] = topic
    return found


async def metadata_of_ids(
    caller: Caller, topic_ids: Iterable[UUID], *, timeout: float | None = None
) -> dict[UUID, MetadataResponseTopic]:
    """Topics by id, as ``metadata_of_names``.

    A broker that cannot be asked by id is asked for all topics.
    """
    wanted, deadline = set(topic_ids), call_deadline(caller, timeout)
    found: dict[UUID, MetadataResponseTopic] = {}
    for some in slices(sorted(wanted)):
        topics = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in some]
        for topic in await _ask(caller, topics, _BY_ID, Target.ANY, deadline.left, False):
            if topic.topic_id in wanted and topic.error_code not in UNKNOWN:
                found[topic.topic_id] = topic
    return found


async def _ask(
    caller: Caller,
    topics: list[MetadataRequestTopic] | None,
    lowest: int,
    to: int | Target,
    timeout: float | None,
    authorized_operations: bool,
) -> Sequence[MetadataResponseTopic]:
    request = MetadataRequest(
        topics=topics,
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=authorized_operations,
    )
    try:
        reply = await caller.call(
            request,
            MetadataResponse,
            to=to,
            timeout=timeout,
            versions=VersionRange(lowest, MAX_VERSION),
        )
    except UnsupportedVersionError:
        reply = await _ask_for_all(caller, to, timeout)
    raise_failure(reply.body.error_code, context="Metadata")
    return reply.body.topics


async def _ask_for_all(
    caller: Caller, to: int | Target, timeout: float | None
) -> Reply[MetadataResponse]:
    """The metadata of all topics, which brokers of any version answer without creating one."""
    lowest, before = VersionRange(_NO_CREATION, MAX_VERSION), VersionRange(1, _NO_CREATION - 1)
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    try:
        return await caller.call(request, MetadataResponse, to=to, timeout=timeout, versions=lowest)
    except UnsupportedVersionError:
        request = MetadataRequest(topics=None)
        return await caller.call(request, MetadataResponse, to=to, timeout=timeout, versions=before)


def topic_uuid(topic_id: str | UUID) -> UUID:
    """The id in any of its forms.

    Raises InstructionError for a text that is none of them, and for the zero id, which stands for a
    topic without one: brokers fail at a question about it.
    """
    try:
        found = topic_id if isinstance(topic_id, UUID) else topic_id_from_text(topic_id)
    except TopicIdError as error:
        raise InstructionError(str(error)) from error
    if found == ZERO_TOPIC_ID:
        raise InstructionError(f"{topic_id} is the id of no topic: it stands for one without an id")
    return found


def topic_id_text(topic_id: UUID) -> str | None:
    """The id as results have it; None for topics and brokers without."""
    return None if topic_id == ZERO_TOPIC_ID else topic_id_to_text(topic_id)


def slices(items: Sequence[T], size: int = TOPICS_PER_REQUEST) -> Iterator[Sequence[T]]:
    """The items in order, at most ``size`` at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))
