"""The transactional ids that each broker coordinates."""

from __future__ import annotations

from kafka_admin_proto.server.coordination.routing import Coordinators
from kafka_admin_proto.server.coordination.shard import Leads
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.server.topics.names import TRANSACTION_STATE
from kafka_admin_proto.server.transactions.ending import begin
from kafka_admin_proto.server.transactions.shard import TransactionShard


class TransactionCoordinators(Coordinators[TransactionShard]):
    """The transactions of a cluster, by partition of ``__transaction_state``."""

    topic_name = TRANSACTION_STATE

    def _make(self, leads: Leads, replicas: ReplicatedLog) -> TransactionShard:
        return TransactionShard(self._state, leads, replicas, self.sent)

    def _begin(self, shard: TransactionShard) -> None:
        begin(shard)
