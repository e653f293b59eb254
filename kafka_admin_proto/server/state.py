"""The active controller's state of the cluster: the replay of the metadata log, and the log itself.

Only ``append`` changes it: it applies records of the log by the rules of ``records/``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from kafka_admin_proto.messages import PartitionChangeRecord, PartitionRecord
from kafka_admin_proto.policies.policies import AlterConfigPolicy, CreateTopicPolicy
from kafka_admin_proto.protocol.versions import Api
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.server.brokers.view import Quorum, View
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.delegation_tokens import DelegationTokens
from kafka_admin_proto.server.groups.coordinators import GroupCoordinators
from kafka_admin_proto.server.quorum.sessions import Sessions
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.replication.partitions import Partitions
from kafka_admin_proto.server.share.brokers import ShareBrokers
from kafka_admin_proto.server.share.coordinators import ShareCoordinators
from kafka_admin_proto.server.transactions.coordinators import TransactionCoordinators
from kafka_admin_proto.values import Message

if TYPE_CHECKING:
    from kafka_admin_proto.server.quorum.metadata_log import MetadataLog
    from kafka_admin_proto.server.quotas.byte_rates import ByteRates
    from kafka_admin_proto.server.quotas.throttling import Owner, TokenBucket

#: Called with a batch's records (none for a control record) and its first offset.
Appended = Callable[[Sequence[Message], int], None]
#: Calls a function after a delay, in seconds.
Later = Callable[[float, Callable[[], None]], object]


class Log(Protocol):
    """Stores the records; ``append`` returns when they are on disk."""

    def append(self, records: Sequence[Message], offset: int) -> None:
        """Store a batch; ``offset`` is that of its first record."""

    def applied(self, cluster: ClusterState) -> None:
        """The state has all stored batches: a snapshot of it may be written."""


class State(View):
    """The active controller's state of a cluster of one release.

    ``static`` are the configs that each node was started with, by its id. ``log`` is None for a
    cluster in memory.
    """

    def __init__(
        self,
        release: ReleaseNumber,
        cluster_id: str,
        static: Mapping[int, Mapping[str, str]],
        cluster: ClusterState | None = None,
        log: Log | None = None,
    ) -> None:
        super().__init__(release, cluster_id, static, Quorum(min(static)), cluster)
        self.controller_state: State = self
        #: "shipped", "kip-4" for CreateTopics by the letter of the proposal, a draft's dialect, or
        #: "controllers" where all brokers are processes of their own.
        self.rules = "shipped"
        self.clock: Clock = Clock()
        #: The apis that the nodes list, if they are fewer than the release has; else empty.
        self.apis: tuple[Api, ...] = ()
        self.create_topic_policy: CreateTopicPolicy | None = None
        self.alter_config_policy: AlterConfigPolicy | None = None
        #: Seconds until a replica on a running broker is in sync.
        self.sync_delay_s: float = 0.1
        #: Partitions, by topic id and number, with replicas that are not in sync.
        self.out_of_sync: set[tuple[UUID, int]] = {
            (topic.id, number)
            for topic in self.cluster.topics.values()
            for number, partition in topic.partitions.items()
            if len(partition.isr) < len(partition.replicas)
        }
        #: Partitions whose preferred leader is being elected by a draft's request.
        self.elections: list[tuple[UUID, int]] = []
        #: Calls a function after a delay, in seconds.
        self.later: Later = _at_once
        #: Called with each batch after it is stored and applied here.
        self.followers: list[Appended] = []
        #: The producer ids that each node may give away: the next one, and the end of its block.
        self.producer_ids: dict[int, tuple[int, int]] = {}
        #: The tokens of clients with a quota for mutations; each controller counts its own.
        self.token_buckets: dict[int, dict[Owner, TokenBucket]] = {}
        #: The rates of clients with a quota for bytes, by node.
        self.byte_rates: dict[int, ByteRates] = {}
        self.partitions: Partitions = Partitions(self)
        self.coordinators: GroupCoordinators = GroupCoordinators(self)
        self.transactions: TransactionCoordinators = TransactionCoordinators(self)
        self.share_states: ShareCoordinators = ShareCoordinators(self)
        self.shares: ShareBrokers = ShareBrokers(self)
        self.delegation_tokens: DelegationTokens = DelegationTokens(self)
        #: The brokers in processes of their own, by their heartbeats.
        self.sessions: Sessions = Sessions(self)
        #: The log as these brokers fetch it; None in a cluster that has none of them.
        self.metadata_log: MetadataLog | None = None
        self._log = log

    def append(self, records: Sequence[Message]) -> None:
        """Write records to the log, all or none, and apply them.

        Raises OSError if the log cannot be written; then nothing has changed.
        """
        if not records:
            return
        offset = self.end_offset
        if self._log is not None:
            self._log.append(records, offset)
        self.apply(records, offset, self.quorum.epoch)
        for record in records:
            if isinstance(record, PartitionChangeRecord) or (
                isinstance(record, PartitionRecord) and len(record.isr) < len(record.replicas)
            ):
                self._compare_sync(record.topic_id, record.partition_id)
        if self._log is not None:
            self._log.applied(self.cluster)
        for follow in self.followers:
            follow(records, offset)

    def pass_offset(self) -> None:
        """Pass the control record that the log has at the end offset."""
        offset = self.end_offset
        self.skip(offset, self.quorum.epoch)
        for follow in self.followers:
            follow((), offset)

    def _compare_sync(self, topic_id: UUID, number: int) -> None:
        """Note whether all replicas of a partition are in sync."""
        topic = self.topic_by_id(topic_id)  # None if a later record removes it
        if topic is not None:
            partition = topic.partitions[number]
            if len(partition.isr) < len(partition.replicas):
                self.out_of_sync.add((topic_id, number))
            else:
                self.out_of_sync.discard((topic_id, number))


def _at_once(delay_s: float, function: Callable[[], None]) -> None:
    """Call a function at once: without an event loop no time passes."""
    function()
