"""A follower's side: ask the leader where epochs end, truncate, then fetch again and again.

Under the text each request has the topic's id, so that a leader with another topic's log refuses.
"""

from __future__ import annotations

from typing import cast

from kafka_admin_proto.messages import (
    FetchResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafka_admin_proto.messages.kip_516 import OffsetForLeaderEpochRequest as EpochsByIdRequest
from kafka_admin_proto.messages.kip_516 import OffsetForLeaderEpochResponse as EpochsByIdResponse
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker.replica import Replica
from kafka_admin_proto.simulation.broker.state import BrokerState
from kafka_admin_proto.simulation.broker.storage.log import UNDEFINED, Log
from kafka_admin_proto.values import Message

#: Between two fetches when there was nothing new, and after an error (replica.fetch.backoff.ms).
_INTERVAL_MS, _BACKOFF_MS = 500, 1_000
_MAX_BYTES = 1 << 20
#: Versions by name and by id.
_FETCH, _FETCH_BY_ID = 12, 13
_EPOCHS, _EPOCHS_BY_ID = 3, 4


class Follower:
    """Keeps one replica up with its leader, until that is another one."""

    def __init__(self, broker: BrokerState, replica: Replica) -> None:
        assert replica.leader is not None
        assert replica.log is not None
        self._broker = broker
        self._replica = replica
        self._leader: int = replica.leader
        self._epoch: int = replica.leader_epoch
        self._log: Log = replica.log

    def start(self) -> None:
        """Begin, with the next turn of the clock."""
        self._broker.context.call_later(0, self._truncate)

    @property
    def _current(self) -> bool:
        known = self._broker.replicas.get(self._replica.partition)
        if known is not self._replica or self._replica.log is not self._log:
            return False
        followed = self._replica.leader, self._replica.leader_epoch
        return followed == (self._leader, self._epoch)

    def _truncate(self) -> None:
        if not self._current:
            return
        if not self._log.epochs:
            self._fetch()
            return
        topic, index = self._replica.partition
        last = self._log.epochs[-1][0]
        by_id = self._broker.rules.ids_resolved_by == "replicas" and self._log.topic_id is not None
        if by_id:
            wanted = EpochsByIdRequest.Partition(index, self._epoch, last)
            rows = [EpochsByIdRequest.Topic(self._log.topic_id or ZERO_UUID, [wanted])]
            body: Message = EpochsByIdRequest(self._broker.broker_id, rows)
        else:
            each = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(index, self._epoch, last)
            named = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic, [each])
            body = OffsetForLeaderEpochRequest(self._broker.broker_id, [named])
        version = _EPOCHS_BY_ID if by_id else _EPOCHS
        self._broker.context.send(self._leader, body, version, self._truncated)

    def _truncated(self, answer: Message | None) -> None:
        if not self._current:
            return
        if answer is None:
            self._later(_BACKOFF_MS, truncated=False)
            return
        epochs = cast("EpochsByIdResponse | OffsetForLeaderEpochResponse", answer)
        row = epochs.topics[0].partitions[0]
        if row.error_code:
            self._refused("OffsetForLeaderEpoch", row.error_code, truncated=False)
            return
        if row.end_offset != UNDEFINED:
            self._log.truncate(row.end_offset)
        self._fetch()

    def _fetch(self) -> None:
        if not self._current:
            return
        topic, index = self._replica.partition
        topic_id = self._log.topic_id
        wanted = FetchPartition(
            partition=index,
            current_leader_epoch=self._epoch,
            fetch_offset=self._log.end_offset,
            log_start_offset=0,
            partition_max_bytes=_MAX_BYTES,
        )
        row = FetchTopic(topic, partitions=[wanted])
        if topic_id is not None:
            row = FetchTopic(topic_id=topic_id, partitions=[wanted])
        body = FetchRequest(replica_id=self._broker.broker_id, topics=[row])
        version = _FETCH_BY_ID if topic_id is not None else _FETCH
        self._broker.context.send(self._leader, body, version, self._fetched)

    def _fetched(self, answer: Message | None) -> None:
        if not self._current:
            return
        if answer is None:
            self._later(_BACKOFF_MS)
            return
        response = cast("FetchResponse", answer)
        row = response.responses[0].partitions[0]
        if row.error_code:
            self._refused("Fetch", row.error_code)
            return
        if row.records:
            self._log.append_from_leader(row.records)
        self._log.keep_high_watermark(min(row.high_watermark, self._log.end_offset))
        self._later(0 if row.records else _INTERVAL_MS)

    def _refused(self, api: str, code: int, *, truncated: bool = True) -> None:
        topic, index = self._replica.partition
        self._broker.context.note(
            f"{api} refused by the leader",
            folder=f"{topic}-{index}", leader=self._leader, error_code=code,
        )  # fmt: skip
        self._later(_BACKOFF_MS, truncated=truncated)

    def _later(self, delay_ms: int, *, truncated: bool = True) -> None:
        self._broker.context.call_later(delay_ms, self._fetch if truncated else self._truncate)
