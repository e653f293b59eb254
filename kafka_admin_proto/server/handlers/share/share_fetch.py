"""ShareFetch: records for a member of a share group, and its acknowledgements (KIP-932).

Versions: 1 the most records, 2 renewed locks and a mode that keeps to the most records.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID, uuid4

from kafka_admin_proto.messages import ShareFetchRequest
from kafka_admin_proto.messages.share_fetch_response import (
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.apis import Answer, Caller, Wait, WaitKey, handler
from kafka_admin_proto.server.brokers.view import View
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.quotas.byte_rates import client_bytes
from kafka_admin_proto.server.share.acknowledgements import RENEWS, Acknowledging, Result
from kafka_admin_proto.server.share.checks import check_member, lock_ms, missing_state_topic
from kafka_admin_proto.server.share.fetching import ShareReading
from kafka_admin_proto.server.share.sessions import (
    BEGINS,
    ENDS,
    MOST_PARTITIONS,
    Place,
    ShareSession,
)

#: Kafka counts the length in front of a response.
_SIZE_BYTES = 4
#: The first release that counts bytes for topics alone whose names it knows; those before fail.
_COUNTS_NAMED = (4, 4)


@handler(of_broker=True, needs=None, kept=False, at_once=True)
def handle(state: View, request: ShareFetchRequest, caller: Caller) -> Answer:
    """Acknowledge, then acquire; wait while there are fewer bytes than the member wants.

    As in Kafka errors of the request and of partitions have no texts.
    """
    shares = state.controller_state.shares
    broker = shares.of(caller.node_id)
    asked = {
        (topic.topic_id, part.partition_index): part.acknowledgement_batches
        for topic in request.topics
        for part in topic.partitions
    }
    acknowledges = any(asked.values())
    renews = caller.version >= RENEWS and request.is_renew_ack
    epoch = request.share_session_epoch
    session: ShareSession | None = None
    try:
        owner = check_member(state, caller, request.group_id, request.member_id)
        if renews:
            _check_renewal(request)
        if epoch == ENDS:
            broker.sessions.found(owner)
        elif epoch == BEGINS:
            if acknowledges:
                raise ApiFailure(codes.INVALID_REQUEST)
            session = broker.sessions.begin(owner, _named(request), caller.connection)
        else:
            session = broker.sessions.found(owner)
            session.go_on(epoch)
            session.update(asked, _forgotten(request))
            if len(session.partitions) > MOST_PARTITIONS:
                broker.release(owner)
                raise ApiFailure(codes.SHARE_SESSION_NOT_FOUND)
    except ApiFailure as failure:
        response = ShareFetchResponse(error_code=failure.code)
        if failure.code == codes.SHARE_SESSION_LIMIT_REACHED and request.max_wait_ms > 0:
            return Answer(response, wait=Wait(request.max_wait_ms, [], _is_late))
        return Answer(response)
    key: WaitKey = (uuid4(), -1)
    acknowledging = Acknowledging(
        state, caller, owner, asked if acknowledges else {},
        renews=renews, then=lambda: shares.wake(key),
    )  # fmt: skip
    places, names = [], {}
    if session is not None:
        names = session.names
        names.update(_names(state, session.partitions))
        places = [] if renews else list(session.partitions)
    reading = ShareReading(state, caller, request, owner, places, names)

    is_late = request.max_wait_ms <= 0

    def complete(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
        nonlocal is_late
        is_late = is_late or is_over
        if not reading.is_over:
            reading.read(view, is_late=is_late)
        if not (reading.is_over and acknowledging.is_over):
            return False
        response = ShareFetchResponse(acquisition_lock_timeout_ms=lock_ms(view, caller, owner))
        response.throttle_time_ms = _throttle_ms(view, caller, reading)
        rows = {} if response.throttle_time_ms else reading.rows
        if session is not None and epoch != BEGINS:
            rows = _due_rows(session, rows)
        if view.release < _COUNTS_NAMED and not all(view.topic_by_id(each) for each, _ in rows):
            answer.response = ShareFetchResponse(error_code=codes.UNKNOWN_SERVER_ERROR)
            return True
        response.responses = _topics(rows, acknowledging.results)
        response.node_endpoints = reading.hints.endpoints(NodeEndpoint)
        answer.response = response
        if epoch == ENDS:
            broker.release(owner)
        return True

    answer = Answer(ShareFetchResponse())
    is_complete = complete(answer, state, (), False)
    if reading.is_loading or not acknowledging.is_over:
        answer.records = missing_state_topic(state, caller)
    if is_complete:
        return answer
    # Acknowledgements have no time of their own: their share coordinator ends the wait.
    wait_ms = None if reading.is_over else request.max_wait_ms
    answer.wait = Wait(wait_ms, [key, *reading.keys], complete)
    return answer


def _names(view: View, places: Iterable[Place]) -> dict[UUID, str]:
    """The names of the topics that are there, by their ids."""
    found = {each: view.topic_by_id(each) for each, _ in places}
    return {each: topic.name for each, topic in found.items() if topic is not None}


def _throttle_ms(view: View, caller: Caller, reading: ShareReading) -> int:
    """For how long the client is over its quota of bytes: then it gets no rows.

    As in Kafka it has what was acquired for it all the same, until the lock ends.
    """
    quota = client_bytes(view, caller, "consumer_byte_rate")
    if quota is None:
        return 0
    whole = ShareFetchResponse(responses=_topics(reading.rows, {}))
    size = _SIZE_BYTES + len(whole.encode(caller.version))
    throttled_ms = quota.throttle_ms(size)
    if throttled_ms > 0:
        quota.uncount(size)
    return max(0, throttled_ms)


def _is_late(answer: Answer, view: View, changed: Collection[WaitKey], is_over: bool) -> bool:
    """A member without a session waits as long as it would for records."""
    return is_over


def _check_renewal(request: ShareFetchRequest) -> None:
    """Raises ApiFailure for a request that renews locks and asks for records as well."""
    if request.max_bytes or request.min_bytes or request.max_records or request.max_wait_ms:
        raise ApiFailure(codes.INVALID_REQUEST)


def _named(request: ShareFetchRequest) -> list[Place]:
    return [
        (topic.topic_id, part.partition_index)
        for topic in request.topics
        for part in topic.partitions
    ]


def _forgotten(request: ShareFetchRequest) -> list[Place]:
    return [
        (topic.topic_id, number)
        for topic in request.forgotten_topics_data
        for number in topic.partitions
    ]


def _due_rows(
    session: ShareSession, rows: Mapping[Place, PartitionData]
) -> dict[Place, PartitionData]:
    """The rows of which a session that goes on has something new."""
    return {
        place: row
        for place, row in rows.items()
        if session.needs_row(place, has_records=bool(row.records), has_error=bool(row.error_code))
    }


def _topics(
    rows: Mapping[Place, PartitionData], results: Mapping[Place, Result]
) -> list[ShareFetchableTopicResponse]:
    """The rows by topic, those that were acknowledged alone at the end."""
    topics: dict[UUID, ShareFetchableTopicResponse] = {}
    for place in dict.fromkeys([*rows, *results]):
        row = rows.get(place) or PartitionData(place[1], records=b"")
        if place in results:
            row.acknowledge_error_code, row.acknowledge_error_message = results[place]
        topic = topics.setdefault(place[0], ShareFetchableTopicResponse(place[0]))
        topic.partitions.append(row)
    return list(topics.values())
