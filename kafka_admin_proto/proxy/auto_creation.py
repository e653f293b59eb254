"""Metadata creates topics too, where ``auto.create.topics.enable`` is on: what a policy says to it.

Kafka's brokers have their controller create these (``AutoTopicCreationManager``), which asks the
policy as of any new topic. The filter has to know before which named topics are missing: it takes
them out of the request, has the broker create those that may be, and puts their rows back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.policies.policies import PolicyError
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.values import Message

#: Stands for no topics in version 0, which takes an empty list for all: no topic has such a name.
_NO_TOPIC = "."
#: The first version of Metadata that says whether topics may be created.
_FIRST_WITH_FLAG = 4
_NOTE, _FILLED = "topics that are missing", "no topic is left to be asked for"
_TIMEOUT_MS = 30_000

#: Whether a topic may be created, by its row in a request and that in the broker's answer to its
#: validation; PolicyError where the policy does not say.
MayCreate = Callable[[Any, Any], bool]
_Asking = Generator[Message, Any, None]


def create_missing(request: MetadataRequest, call: Call, may_create: MayCreate) -> _Asking:
    """Create the missing topics of a request that may be, and take all of them out of it."""
    if not (request.topics and request.allow_auto_topic_creation):
        return
    names = [each.name for each in request.topics if each.name is not None]
    if not names:  # by their ids: none is created
        return
    operations = request.include_topic_authorized_operations
    known = yield from _described(names, creates=False, operations=operations)
    missing = {
        name: row
        for name, row in known.items()
        if row.error_code == codes.UNKNOWN_TOPIC_OR_PARTITION
    }
    if missing:
        created = yield from _creatable(missing, may_create)
        if created:
            missing |= yield from _described(created, creates=True, operations=operations)
    # In older versions the broker may still create what somebody deletes in this moment.
    request.topics = [
        each for each in request.topics if each.name is None or each.name not in missing
    ]
    if call.api_version >= _FIRST_WITH_FLAG:
        request.allow_auto_topic_creation = False
    elif not request.topics:
        request.topics.append(MetadataRequest.MetadataRequestTopic(name=_NO_TOPIC))
        call.notes[_FILLED] = True
    call.notes[_NOTE] = list(missing.values())


def add_missing(response: MetadataResponse, call: Call) -> None:
    """Put the rows of what was taken out behind those of the broker, as brokers do."""
    if _FILLED in call.notes:
        response.topics.clear()
    response.topics.extend(call.notes.get(_NOTE, ()))


def _described(
    names: Iterable[str], *, creates: bool, operations: bool
) -> Generator[Message, Any, dict[str, Any]]:
    """The rows of topics by their names."""
    topic = MetadataRequest.MetadataRequestTopic
    answer: MetadataResponse = yield MetadataRequest(
        [topic(name=each) for each in dict.fromkeys(names)],
        allow_auto_topic_creation=creates,
        include_topic_authorized_operations=operations,
    )
    return {each.name: each for each in answer.topics if each.name is not None}


def _creatable(names: Iterable[str], may_create: MayCreate) -> Generator[Message, Any, list[str]]:
    """Those that the broker would create with its defaults, and the policy lets it."""
    topic = CreateTopicsRequest.CreatableTopic
    topics = {each: topic(each, -1, -1) for each in names}
    answer: CreateTopicsResponse = yield CreateTopicsRequest(
        list(topics.values()), _TIMEOUT_MS, validate_only=True
    )
    valid = [each for each in answer.topics if each.error_code == 0]
    try:
        return [each.name for each in valid if may_create(topics[each.name], each)]
    except PolicyError:  # Kafka fails the whole request
        return []
