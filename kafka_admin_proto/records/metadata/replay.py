"""Apply the records of the metadata log, one after another, to the state of the cluster.

Transactions (KIP-868) are handled as in Kafka's ``MetadataBatchLoader``: the records between
BeginTransactionRecord and EndTransactionRecord are applied together, or not at all if the
transaction is aborted or never ends. A record that Kafka would refuse changes nothing.
"""

from __future__ import annotations

from kafka_admin_proto.errors import MetadataReplayError
from kafka_admin_proto.messages import KRaftVersionRecord, VotersRecord
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.entities import Endpoint, Voter
from kafka_admin_proto.records.metadata.rules import apply_record
from kafka_admin_proto.values import Message

_TRANSACTION_RECORDS = ("BeginTransactionRecord", "EndTransactionRecord", "AbortTransactionRecord")


class MetadataReplay:
    """Applies records to ``state``; the records of a transaction wait until it ends.

    ``open_since`` is the offset of the open transaction's BeginTransactionRecord, or None.
    """

    def __init__(self, state: ClusterState | None = None) -> None:
        self.state: ClusterState = ClusterState() if state is None else state
        self.open_since: int | None = None
        self._held: list[tuple[int, Message]] = []

    def apply(
        self, message: Message, offset: int, epoch: int
    ) -> list[tuple[int, MetadataReplayError]]:
        """Apply the record at ``offset``; yields the errors of refused records with their offsets.

        A record that ends a transaction applies all records of the transaction.
        """
        self.state.offset, self.state.epoch = offset, epoch
        name = message.message_name
        if name not in _TRANSACTION_RECORDS:
            if self.open_since is None:
                return self._apply_all([(offset, message)])
            self._held.append((offset, message))
            return []
        if (name == "BeginTransactionRecord") == (self.open_since is not None):
            fault = (
                "no transaction has begun"
                if self.open_since is None
                else f"the transaction begun at offset {self.open_since} has not ended"
            )
            return [(offset, MetadataReplayError(fault, record=name))]
        held, self._held = self._held, []
        self.open_since = offset if name == "BeginTransactionRecord" else None
        return self._apply_all(held) if name == "EndTransactionRecord" else []

    def skip(self, offset: int, epoch: int) -> None:
        """Skip an offset that changes nothing, such as that of an unreadable record."""
        self.state.offset, self.state.epoch = offset, epoch

    def apply_control(self, message: Message) -> None:
        """Apply the value of a control record; only records about voters change the state.

        They are applied at once, even inside of a transaction, as in Kafka's
        ``KRaftControlRecordStateMachine``.
        """
        if isinstance(message, KRaftVersionRecord):
            self.state.kraft_version = message.kraft_version
        elif isinstance(message, VotersRecord):
            self.state.voters = {
                voter.voter_id: Voter(
                    id=voter.voter_id,
                    directory_id=voter.voter_directory_id,
                    endpoints=[Endpoint(e.name, e.host, e.port) for e in voter.endpoints],
                    kraft_versions=(
                        voter.kraft_version_feature.min_supported_version,
                        voter.kraft_version_feature.max_supported_version,
                    ),
                )
                for voter in message.voters
            }

    def _apply_all(
        self, records: list[tuple[int, Message]]
    ) -> list[tuple[int, MetadataReplayError]]:
        refused = []
        for offset, message in records:
            try:
                apply_record(self.state, message)
            except MetadataReplayError as error:
                refused.append((offset, error))
        return refused
