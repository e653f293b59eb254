"""Fetch: by id from version 13 on, by name before; with sessions. It answers at once."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_admin_proto.messages import FetchRequest
from kafka_admin_proto.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.protocol.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH, next_epoch
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker.replica import Replica
from kafka_admin_proto.simulation.broker.sessions import FetchedPartition, Key, Session
from kafka_admin_proto.simulation.broker.state import BrokerState
from kafka_admin_proto.simulation.broker.storage.log import Log
from kafka_admin_proto.values import Message

#: The first version with topic ids, and the first in which consumers may read from followers.
_IDS_SINCE, _FOLLOWERS_SINCE = 13, 11


def fetch(broker: BrokerState, body: FetchRequest, version: int) -> Message:
    by_id = version >= _IDS_SINCE
    wanted = {each.key: each for each in _requested_partitions(broker, body, by_id=by_id)}
    sessions = broker.sessions.sessions
    if body.session_epoch in (FINAL_EPOCH, INITIAL_EPOCH):
        sessions.pop(body.session_id, None)
        readings = _read_all(broker, body, version, wanted.values())
        session_id = 0
        if body.session_epoch == INITIAL_EPOCH:
            for each, data in readings:
                each.answered.remember(data)
            kept = Session(uses_ids=by_id, partitions={each.key: each for each, _ in readings})
            session_id = broker.sessions.add(kept)
        return FetchResponse(session_id=session_id, responses=_rows(readings, by_id=by_id))
    session = sessions.get(body.session_id)
    if session is None:
        return FetchResponse(error_code=codes.FETCH_SESSION_ID_NOT_FOUND)
    if session.epoch != body.session_epoch:
        return FetchResponse(error_code=codes.INVALID_FETCH_SESSION_EPOCH)
    if session.uses_ids != by_id:
        return FetchResponse(error_code=broker.rules.fetch_session_of_other_kind)
    _update(session, wanted, _forgotten(body, by_id=by_id))
    if not session.partitions:
        del sessions[body.session_id]
        readings = _read_all(broker, body, version, wanted.values())
        return FetchResponse(responses=_rows(readings, by_id=by_id))
    session.epoch = next_epoch(session.epoch)
    for each in session.partitions.values():
        if each.topic is None:
            each.topic = _name_of(broker, each)
    readings = _read_all(broker, body, version, session.partitions.values())
    changed = [(each, data) for each, data in readings if each.answered.differs(data)]
    for each, data in changed:
        if data.records:  # it moves to the end of the next answer
            session.partitions[each.key] = session.partitions.pop(each.key)
    return FetchResponse(session_id=body.session_id, responses=_rows(changed, by_id=by_id))


def _requested_partitions(
    broker: BrokerState, body: FetchRequest, *, by_id: bool
) -> Iterable[FetchedPartition]:
    for topic in body.topics:
        for partition in topic.partitions:
            each = FetchedPartition(None if by_id else topic.topic, topic.topic_id, partition)
            if by_id:
                each.topic = _name_of(broker, each)
            yield each


def _forgotten(body: FetchRequest, *, by_id: bool) -> Iterable[Key]:
    for topic in body.forgotten_topics_data:
        for index in topic.partitions:
            yield topic.topic_id, "" if by_id else topic.topic, index


def _name_of(broker: BrokerState, each: FetchedPartition) -> str | None:
    if broker.rules.ids_resolved_by == "metadata":
        return broker.metadata.name_of(each.topic_id)
    hosted = broker.hosted_by_id(each.topic_id, each.partition.partition)
    return hosted.partition[0] if isinstance(hosted, Replica) else None


def _update(
    session: Session, wanted: dict[Key, FetchedPartition], forgotten: Iterable[Key]
) -> None:
    for key, partition in wanted.items():
        known = session.partitions.get(key)
        if known is None:
            session.partitions[key] = partition
        else:
            known.partition = partition.partition
    for key in forgotten:
        session.partitions.pop(key, None)


def _read_all(
    broker: BrokerState, body: FetchRequest, version: int, wanted: Iterable[FetchedPartition]
) -> list[tuple[FetchedPartition, PartitionData]]:
    return [(each, _read(broker, body, version, each)) for each in wanted]


def _read(
    broker: BrokerState, body: FetchRequest, version: int, each: FetchedPartition
) -> PartitionData:
    """One partition. A follower of any version, and a consumer of an old one, need the leader."""
    rules, wanted = broker.rules, each.partition
    by_metadata = rules.ids_resolved_by == "metadata" or each.topic_id == ZERO_UUID
    if by_metadata and each.topic is None:
        return _error(wanted.partition, rules.fetch_of_unknown_id)
    if by_metadata and (each.topic or "", wanted.partition) not in broker.metadata:
        return _error(wanted.partition, codes.UNKNOWN_TOPIC_OR_PARTITION)
    follower = max(body.replica_id, body.replica_state.replica_id)
    log = _log(broker, each, follower, leader_only=follower >= 0 or version < _FOLLOWERS_SINCE)
    if isinstance(log, int):
        refused = _error(wanted.partition, log)
        refused.aborted_transactions = None  # as shipped, where the log was looked for
        return refused
    end = log.end_offset if follower >= 0 else log.high_watermark
    return PartitionData(
        partition_index=wanted.partition,
        high_watermark=log.high_watermark,
        last_stable_offset=log.high_watermark,
        log_start_offset=0,
        aborted_transactions=None,
        records=log.read(wanted.fetch_offset, end),
    )


def _log(
    broker: BrokerState, each: FetchedPartition, follower: int, *, leader_only: bool
) -> Log | int:
    """The log to read, which has the offset, or the error code."""
    wanted = each.partition
    replica = _replica(broker, each)
    if isinstance(replica, int):
        return replica
    log = replica.log_or_error(wanted.current_leader_epoch, leader_only=leader_only)
    if isinstance(log, int):
        return log
    if follower >= 0 and follower not in replica.replicas:
        return codes.NOT_LEADER_OR_FOLLOWER
    if not 0 <= wanted.fetch_offset <= log.end_offset:
        return codes.OFFSET_OUT_OF_RANGE
    if follower >= 0:
        replica.fetched[follower] = wanted.fetch_offset
        replica.advance()
    return log


def _replica(broker: BrokerState, each: FetchedPartition) -> Replica | int:
    """The replica that the request names, or the error code."""
    rules, index = broker.rules, each.partition.partition
    if rules.ids_resolved_by == "replicas" and each.topic_id != ZERO_UUID:
        return broker.hosted_by_id(each.topic_id, index)
    replica = broker.hosted((each.topic or "", index))
    if isinstance(replica, Replica) and each.topic_id != ZERO_UUID:
        known = replica.topic_id(broker.logs)
        if known not in (None, each.topic_id):
            return rules.fetch_of_unequal_id
    return replica


def _error(index: int, code: int) -> PartitionData:
    return PartitionData(partition_index=index, error_code=code, high_watermark=-1, records=b"")


def _rows(
    read: Iterable[tuple[FetchedPartition, PartitionData]], *, by_id: bool
) -> list[FetchableTopicResponse]:
    rows: list[FetchableTopicResponse] = []
    for partition, data in read:
        name = "" if by_id else partition.topic or ""
        if not rows or (rows[-1].topic, rows[-1].topic_id) != (name, partition.topic_id):
            rows.append(FetchableTopicResponse(topic=name, topic_id=partition.topic_id))
        rows[-1].partitions.append(data)
    return rows
