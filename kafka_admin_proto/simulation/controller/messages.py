"""The controller's requests to brokers, before and after the bump of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from kafka_admin_proto.messages import StopReplicaRequest, StopReplicaResponse, kip_516
from kafka_admin_proto.messages.leader_and_isr_request import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from kafka_admin_proto.messages.update_metadata_request import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from kafka_admin_proto.simulation.controller.topics import DURING_DELETE, Partition, Topic
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from kafka_admin_proto.values import Message

#: Types of LeaderAndIsr (``AbstractControlRequest.Type``).
INCREMENTAL, FULL = 1, 2
#: A topic and those of its partitions that a request is about.
Part = tuple[Topic, list[int]]
#: A request's body and its version.
Built = tuple[Message, int]

_HOST, _FIRST_PORT, _LISTENER = "broker", 9092, "PLAINTEXT"


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """Builds the requests of one controller, in its epoch and protocol version."""

    controller_id: int
    controller_epoch: int
    #: Whether the protocol has topic ids.
    topic_ids: bool
    #: "kip-516" or "kafka".
    dialect: str

    def leader_and_isr(
        self, broker_epoch: int, parts: Iterable[Part], kind: int, live: Iterable[int]
    ) -> Built:
        """LeaderAndIsr: v5 with ids and a type, v4 without either."""
        states = [
            LeaderAndIsrTopicState(
                topic_name=topic.name,
                topic_id=topic.topic_id or ZERO_TOPIC_ID,
                partition_states=[
                    self._leader(number, topic.partitions[number]) for number in numbers
                ],
            )
            for topic, numbers in parts
        ]
        body = LeaderAndIsrRequest(
            **self._epochs(broker_epoch),
            type=kind,
            topic_states=states,
            live_leaders=[
                LeaderAndIsrLiveLeader(broker_id=each, host_name=_host(each), port=_FIRST_PORT)
                for each in live
            ],
        )
        if self.topic_ids:
            return body, 5
        body.type = 0
        for state in states:
            state.topic_id = ZERO_TOPIC_ID
        return body, 4

    def update_metadata(
        self, broker_epoch: int, parts: Iterable[Part], live: Iterable[int], *, deleted: bool
    ) -> Built:
        """UpdateMetadata: v7 with ids, v6 without; ``deleted`` has -2 for each leader."""
        request: Any = UpdateMetadataRequest
        topic_state: Any = UpdateMetadataTopicState
        partition_state: Any = UpdateMetadataPartitionState
        if self._by_draft:
            request = kip_516.UpdateMetadataRequest
            topic_state = request.TopicState
            partition_state = request.UpdateMetadataPartitionState
        states = [
            topic_state(
                topic_name=topic.name,
                topic_id=(topic.topic_id if self.topic_ids else None) or ZERO_TOPIC_ID,
                partition_states=[
                    partition_state(
                        partition_index=number,
                        controller_epoch=self.controller_epoch,
                        leader=DURING_DELETE if deleted else topic.partitions[number].leader,
                        leader_epoch=topic.partitions[number].leader_epoch,
                        isr=topic.partitions[number].isr,
                        zk_version=topic.partitions[number].partition_epoch,
                        replicas=topic.partitions[number].replicas,
                    )
                    for number in numbers
                ],
            )
            for topic, numbers in parts
        ]
        brokers = map(_draft_broker if self._by_draft else _broker, live)
        body = request(
            **self._epochs(broker_epoch), topic_states=states, live_brokers=list(brokers)
        )
        return body, 7 if self.topic_ids else 6

    def stop_replica(self, broker_epoch: int, topic: Topic, numbers: Iterable[int]) -> Built:
        """StopReplica that deletes: the draft's v4 by id, or v3 by name."""
        request: Any = StopReplicaRequest
        partition_state: Any = StopReplicaRequest.StopReplicaPartitionState
        if self._by_draft:
            request = kip_516.StopReplicaRequest
            partition_state = request.PartitionState
        states = [
            partition_state(
                partition_index=number, leader_epoch=DURING_DELETE, delete_partition=True
            )
            for number in numbers
        ]
        state: Any = StopReplicaRequest.StopReplicaTopicState(
            topic_name=topic.name, partition_states=states
        )
        if self._by_draft:
            state = request.TopicState(topic.topic_id or ZERO_TOPIC_ID, states)
        body = request(**self._epochs(broker_epoch), topic_states=[state])
        return body, 4 if self._by_draft else 3

    @property
    def _by_draft(self) -> bool:
        """Whether UpdateMetadata and StopReplica are the draft's."""
        return self.topic_ids and self.dialect == "kip-516"

    def _epochs(self, broker_epoch: int) -> dict[str, Any]:
        return {
            "controller_id": self.controller_id,
            "controller_epoch": self.controller_epoch,
            "broker_epoch": broker_epoch,
        }

    def _leader(self, number: int, partition: Partition) -> LeaderAndIsrPartitionState:
        return LeaderAndIsrPartitionState(
            partition_index=number,
            controller_epoch=self.controller_epoch,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=partition.isr,
            partition_epoch=partition.partition_epoch,
            replicas=partition.replicas,
            is_new=partition.leader_epoch == 0,
        )


def _draft_broker(broker: int) -> Any:
    draft = kip_516.UpdateMetadataRequest
    endpoint = draft.Endpoint(port=_FIRST_PORT, host=_host(broker), listener=_LISTENER)
    return draft.LiveBroker(
        id=broker, v0_host=_host(broker), v0_port=_FIRST_PORT, endpoints=[endpoint]
    )


def _broker(broker: int) -> UpdateMetadataBroker:
    endpoint = UpdateMetadataEndpoint(port=_FIRST_PORT, host=_host(broker), listener=_LISTENER)
    return UpdateMetadataBroker(id=broker, endpoints=[endpoint], rack=None)


def stopped(body: Message | None, topic: Topic) -> Mapping[int, int]:
    """Partition → error code of a StopReplica response; empty for a lost or a refused one."""
    if isinstance(body, kip_516.StopReplicaResponse):
        errors = body.partition_errors if body.error_code == 0 else []
        wanted: UUID | None = topic.topic_id
        return {each.partition_index: each.error_code for each in errors if each.topic_id == wanted}
    if isinstance(body, StopReplicaResponse) and body.error_code == 0:
        rows = [each for each in body.partition_errors if each.topic_name == topic.name]
        return {each.partition_index: each.error_code for each in rows}
    return {}


def _host(broker: int) -> str:
    return f"{_HOST}-{broker}"
