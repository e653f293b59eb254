"""Faults on request, in front of any cluster: those that fit a request, and what they make of it.

The proxy knows topics by what brokers say: it asks for the names of ids, and for all topics, with
the client's rights, where a fault is about topics and a request names none of them by its name.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.faults.answers import damage_records
from kafka_admin_proto.faults.fault import Condition, Effect, Fault
from kafka_admin_proto.faults.faults import Faults
from kafka_admin_proto.faults.marks import mark_topics, refused_rows
from kafka_admin_proto.faults.topics import Target, asks_for_all, split, topic_ids, topic_rows
from kafka_admin_proto.faults.words import FaultError
from kafka_admin_proto.loggers import PROXY
from kafka_admin_proto.messages import (
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.error_answers import (
    COPIED,
    ROW_NAMES,
    fields_of,
    set_throttle_time,
    whole_answer,
)
from kafka_admin_proto.protocol.payloads import api_name
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.proxy.apis import LOGIN, READING
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.values import Message

#: Their sessions name a partition once, and a proxy cannot begin them anew without a loss.
_SHARE_SESSIONS = (api_keys.SHARE_FETCH, api_keys.SHARE_ACKNOWLEDGE)
_FULL_FETCH = -1
#: So many names are kept; those of a larger cluster are asked for again.
_MOST_NAMES = 100_000

_Asking = Generator[Message, Any, None]


class _Topic(msgspec.Struct, frozen=True):
    name: str


class KnownTopics:
    """The names that brokers gave to ids, and those of all topics when they were last asked."""

    def __init__(self) -> None:
        self._by_id: dict[UUID, _Topic] = {}
        self.topic_names: Iterable[str] = ()

    def topic_by_id(self, topic_id: UUID) -> _Topic | None:
        """The topic of that id; None for one that no broker has named."""
        return self._by_id.get(topic_id)

    def learn(self, request: Message) -> _Asking:
        """Ask for what has to be known about the topics of a request."""
        if asks_for_all(request):
            found = yield MetadataRequest(topics=None, allow_auto_topic_creation=False)
            self._add(found)
            self.topic_names = [each.name for each in found.topics]
        elif unknown := topic_ids(request) - self._by_id.keys():
            topic = MetadataRequest.MetadataRequestTopic
            self._add(
                (
                    yield MetadataRequest(
                        topics=[topic(topic_id=each, name=None) for each in sorted(unknown)],
                        allow_auto_topic_creation=False,
                    )
                )
            )

    def name(self, answer: Message) -> None:
        """Name the topics of Metadata that a client asked for by id, as brokers do."""
        for row in answer.topics if isinstance(answer, MetadataResponse) else ():
            found = self.topic_by_id(row.topic_id)
            row.name = row.name if found is None else found.name

    def _add(self, answer: MetadataResponse) -> None:
        if len(self._by_id) > _MOST_NAMES:
            self._by_id.clear()
        for each in answer.topics:
            if each.name:
                self._by_id[each.topic_id] = _Topic(each.name)


class ProxyFaults(Faults):
    """The faults of one proxy, which knows ``apis``, and answers those of SASL if it ends there."""

    def __init__(self, apis: Sequence[Api], *, answers_sasl: bool = False) -> None:
        super().__init__(apis, partial(_check, answers_sasl))
        self.topics: KnownTopics = KnownTopics()

    def without_session(self, call: Call, request: Message) -> Message | None:
        """The answer to a Fetch of a session, where a fault is about topics; else None.

        Requests of a session do not name their partitions again. Its client begins with all of
        them then, and gets no session.
        """
        if not isinstance(request, FetchRequest) or not any(
            _fits(each, call) and each.condition.target is not None for each in self.active
        ):
            return None
        if request.session_epoch > 0:
            return FetchResponse(error_code=codes.FETCH_SESSION_ID_NOT_FOUND)
        request.session_id, request.session_epoch = 0, _FULL_FETCH
        return None

    def find(self, call: Call, request: Message) -> Generator[Message, Any, Fault | None]:
        """The first fault that fits a request, and fires."""
        for fault in self.active:
            if not _fits(fault, call):
                continue
            if fault.condition.target is not None:
                yield from self.topics.learn(request)
                if not fault.condition.target.is_asked_for(request, self.topics):
                    continue
            if not fault.condition.names_group(request):
                continue
            if fault.effect.garbage == "records" or self.fires_for(fault, call):
                return fault
        return None

    def fires_for(self, fault: Fault, call: Call) -> bool:
        """Count a fault that fires now; False for one that has fired as often as it may."""
        if not self.fires(fault):
            return False
        PROXY.debug(
            "%s: %s v%d has the fault %s, which has fired %s",
            call.client, api_name(call.api_key), call.api_version, fault.text,
            counted(fault.fired, "times"),
        )  # fmt: skip
        return True

    def refused(self, call: Call, request: Message, fault: Fault) -> Message | None:
        """The answer of a fault with an error; None where something is left for the broker.

        ``request`` is without what fails then, whose rows are in ``call.refused``, or the answer
        is to be marked.
        """
        failure, target = fault.effect.failure, fault.condition.target
        assert failure is not None
        if target is None:
            return self._throttled(call, whole_answer(request, call.api_version, failure))
        if not _is_split(call, request, target):
            return None
        failed, rest, is_left = split(request, self.topics, target)
        rows = refused_rows(failed, call.api_version, failure)
        self.topics.name(rows)
        if not any(True for _ in topic_rows(rows, self.topics)):
            return self._throttled(call, whole_answer(request, call.api_version, failure))
        if not is_left and not isinstance(request, MetadataRequest):
            return self._throttled(call, _rows_alone(request, rows))
        for name in request.__struct_fields__:
            setattr(request, name, getattr(rest, name))
        if isinstance(request, FetchRequest):
            request.max_wait_ms = 0  # brokers do not wait beside an error
        call.refused = rows
        return None

    def changed(self, call: Call, response: Message) -> Message:
        """The response as its fault has it."""
        fault = call.fault
        assert fault is not None
        failure, target = fault.effect.failure, fault.condition.target
        if call.refused is not None:
            _extended(response, call.refused)
        elif failure is not None and target is not None:
            assert call.request is not None
            marked = mark_topics(
                response, call.request, self.topics, call.api_version, failure, target
            )
            if not marked:
                response = whole_answer(call.request, call.api_version, failure)
        elif fault.effect.garbage == "records":
            fires = partial(self.fires_for, fault, call)
            if not damage_records(response, self.topics, target, fires):
                call.fault = None
                return response
        return self._throttled(call, response)

    def _throttled(self, call: Call, response: Message) -> Message:
        assert call.fault is not None
        if call.fault.effect.throttle_ms:
            set_throttle_time(response, call.api_version, call.fault.effect.throttle_ms)
        return response


def _check(answers_sasl: bool, condition: Condition, effect: Effect) -> None:
    """Raise FaultError for a fault that cannot be played in front of a cluster."""
    if answers_sasl and condition.api_key in LOGIN:
        raise FaultError(
            f"the proxy answers {api_name(condition.api_key)} itself, and a fault of it would have "
            "no effect: leave it out, or let SASL pass through"
        )
    if condition.target is not None and condition.api_key in _SHARE_SESSIONS:
        raise FaultError(
            f"a proxy does not see which topics {api_name(condition.api_key)} is about: its "
            "sessions name a partition once; leave topic and partition out"
        )


def _fits(fault: Fault, call: Call) -> bool:
    return fault.condition.holds(call.api_key, call.api_version, call.client_id, call.node_id)


def _is_split(call: Call, request: Message, target: Target) -> bool:
    """Whether what fails is left out of the request, so that nothing of it is carried out.

    Else all of it is asked for, and the rows of what fails are marked in the answer.
    """
    if isinstance(request, MetadataRequest):  # it may create topics; without any, v0 asks for all
        listed = request.topics is not None and target.partition is None
        return listed and call.api_version > 0
    return call.api_key not in READING or isinstance(request, FetchRequest)


def _rows_alone(request: Message, rows: Message) -> Message:
    """A response with these rows, and what responses repeat of their request; no code on top."""
    response = _extended(type(rows)(), rows)
    for field in fields_of(response):
        name = python_name(field.name)
        if not field.type.is_array and name in request.__struct_fields__:
            setattr(response, name, getattr(request, name))
    return response


def _extended(response: Message, rows: Message) -> Message:
    """A response with further rows; partitions of a topic that it has go to the topic's row."""
    for field in fields_of(rows):
        name = python_name(field.name)
        if not field.type.is_array or not (more := getattr(rows, name)):
            continue
        listed = getattr(response, name)
        lists = [python_name(each.name) for each in field.fields or () if each.type.is_array]
        known = {_identity(each): each for each in listed} if lists else {}
        for row in more:
            own = known.get(_identity(row))
            if own is None:
                listed.append(row)
                continue
            for each in lists:
                getattr(own, each).extend(getattr(row, each))
    return response


def _identity(row: Any) -> tuple[Any, ...]:
    return tuple(getattr(row, each, None) for each in (*ROW_NAMES, *COPIED))
