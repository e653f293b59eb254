"""A partition that the broker hosts: its log, its leader, and how far followers are."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.broker.storage.log import Log
from kafka_admin_proto.simulation.broker.storage.logs import Logs, Partition

#: A leader epoch that is not compared.
ANY_EPOCH = -1


@dataclass(slots=True, eq=False)
class Replica:
    """Kafka's Partition: made by the first LeaderAndIsr, even by one that is refused.

    ``log`` is None until the replica leads or follows; the log may be on the disk all the same.
    """

    partition: Partition
    broker_id: int
    leader: int | None = None
    leader_epoch: int = -1
    partition_epoch: int = 0
    isr: frozenset[int] = frozenset()
    replicas: tuple[int, ...] = ()
    log: Log | None = None
    #: Follower → the offset that it fetches next.
    fetched: dict[int, int] = field(default_factory=dict)
    #: The leader's log end when it began to lead.
    epoch_start: int = 0
    _topic_id: UUID | None = None

    @property
    def is_leader(self) -> bool:
        return self.leader == self.broker_id

    def topic_id(self, logs: Logs) -> UUID | None:
        """The id of the log, and after it is once known, for good."""
        if self._topic_id is None:
            log = self.log or logs.get(self.partition)
            self._topic_id = log.topic_id if log else None
        return self._topic_id

    def log_or_error(self, epoch: int, *, leader_only: bool) -> Log | int:
        """The log for a request with this current leader epoch, or why it is not to be had."""
        if epoch != ANY_EPOCH and self.leader_epoch > epoch:
            return codes.FENCED_LEADER_EPOCH
        if epoch != ANY_EPOCH and self.leader_epoch < epoch:
            return codes.UNKNOWN_LEADER_EPOCH
        if self.log is None or (leader_only and not self.is_leader):
            return codes.NOT_LEADER_OR_FOLLOWER
        return self.log

    def advance(self) -> None:
        """Raise the leader's high watermark to what the whole ISR has."""
        if self.log is not None and self.is_leader:
            others = self.isr - {self.broker_id}
            have = [self.log.end_offset, *(self.fetched.get(each, 0) for each in others)]
            self.log.keep_high_watermark(max(self.log.high_watermark, min(have)))
