"""Markers: the control batches with which transactions end in the logs of partitions (KIP-98)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from kafka_admin_proto.loggers import SERVER
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS
from kafka_admin_proto.server.transactions.transaction import Place

if TYPE_CHECKING:
    from kafka_admin_proto.records.metadata.entities import Topic
    from kafka_admin_proto.server.state import State

#: The codes of a marker that the partition never takes: another coordinator has ended more since.
_FENCED = (codes.INVALID_PRODUCER_EPOCH, codes.TRANSACTION_COORDINATOR_FENCED)


class Marker(msgspec.Struct, frozen=True):
    """The end of a producer's transaction, as its coordinator writes it."""

    producer_id: int
    epoch: int
    commit: bool
    coordinator_epoch: int
    version: int


def write_marker(state: State, topic: Topic, number: int, marker: Marker) -> int:
    """Append a marker to a partition that has a leader; the end of its log then.

    Raises ApiFailure.
    """
    replicas = state.partitions.log(topic, number)
    if replicas.in_sync < replicas.min_isr:
        raise ApiFailure(codes.NOT_ENOUGH_REPLICAS)
    appended = replicas.append_marker(
        marker.producer_id,
        marker.epoch,
        commit=marker.commit,
        coordinator_epoch=marker.coordinator_epoch,
        leader_epoch=topic.partitions[number].leader_epoch,
        now_ms=state.clock.now_ms(),
        transaction_version=marker.version,
    )
    if topic.name == CONSUMER_OFFSETS:
        state.coordinators.end_transaction(number, marker.producer_id, commit=marker.commit)
    return appended.last_offset + 1


def unwritten(
    state: State, marker: Marker, places: Iterable[Place], written: dict[Place, int]
) -> bool:
    """Write a marker to the partitions that lack it; whether some still do, or their replicas.

    A partition that is gone needs none.
    """
    is_left = False
    for place in sorted(places):
        name, number = place
        topic = state.topic(name)
        if topic is None or number not in topic.partitions:
            continue
        leader = topic.partitions[number].leader
        if leader < 0 or not state.partitions.runs(leader):
            is_left = True
            continue
        if place not in written:
            try:
                written[place] = write_marker(state, topic, number, marker)
            except ApiFailure as failure:
                if failure.code in _FENCED:
                    SERVER.warning("%s-%s: a marker was not written: %s", name, number, failure)
                    written[place] = 0
                else:
                    is_left = True
                    continue
        is_left |= state.partitions.log(topic, number).log.high_watermark < written[place]
    return is_left
