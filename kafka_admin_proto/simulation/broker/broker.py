"""The broker: one life between a start and a crash."""

from __future__ import annotations

from typing import Any

from kafka_admin_proto.messages import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    FetchRequest,
    LeaderAndIsrRequest,
    ListOffsetsRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    StopReplicaRequest,
)
from kafka_admin_proto.messages.kip_516 import ListOffsetsRequest as ListByIdRequest
from kafka_admin_proto.messages.kip_516 import OffsetForLeaderEpochRequest as EpochsByIdRequest
from kafka_admin_proto.messages.kip_516 import StopReplicaRequest as StopByIdRequest
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.broker import control, offsets
from kafka_admin_proto.simulation.broker.fetch import fetch
from kafka_admin_proto.simulation.broker.follower import Follower
from kafka_admin_proto.simulation.broker.produce import produce
from kafka_admin_proto.simulation.broker.replica import Replica
from kafka_admin_proto.simulation.broker.state import BrokerState
from kafka_admin_proto.simulation.broker.storage.disk import Disk
from kafka_admin_proto.simulation.broker.storage.logs import Logs, Partition
from kafka_admin_proto.simulation.node import NodeContext, Request
from kafka_admin_proto.simulation.rules import Rules
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message


class Broker:
    """Answers a controller, clients and followers, and follows leaders itself.

    ``migration`` is Kafka's zookeeper.metadata.migration.enable: full requests of a KRaft
    controller then reconcile under the shipped rules too.
    """

    def __init__(
        self, context: NodeContext, disk: Disk, rules: Rules, *, migration: bool = False
    ) -> None:
        self._disk = disk
        logs = Logs(context, disk, rules)
        self._state = BrokerState(context, rules, logs, migration)
        self._state.on_follower = lambda replica: Follower(self._state, replica).start()

    @property
    def broker_epoch(self) -> int:
        """The epoch of this life, given when the broker registers; -1 before."""
        return self._state.broker_epoch

    @broker_epoch.setter
    def broker_epoch(self, epoch: int) -> None:
        self._state.broker_epoch = epoch

    def start(self) -> None:
        """Read what is on the disk. Raises PartitionMetadataError where a file does not read."""
        self._state.logs.load()

    def handle(self, request: Request) -> Message | None:
        """The response, or None for a request without one. Raises TypeError for another api."""
        return self.answer(request.body, request.version)

    def answer(self, body: Message, version: int) -> Message | None:
        """``handle`` for the body of a request alone."""
        state = self._state
        match body:
            case LeaderAndIsrRequest():
                return control.leader_and_isr(state, body, version)
            case StopReplicaRequest():
                return control.stop_replica(state, body, version)
            case StopByIdRequest():
                return control.stop_replica_by_id(state, body)
            case FetchRequest():
                return fetch(state, body, version)
            case ListOffsetsRequest() | ListByIdRequest():
                return offsets.list_offsets(state, body)
            case OffsetForLeaderEpochRequest() | EpochsByIdRequest():
                return offsets.offset_for_leader_epoch(state, body)
            case ProduceRequest():
                return produce(state, body)
            case AlterReplicaLogDirsRequest():
                return self._alter_log_dirs(body)
        if body.message_name == "UpdateMetadataRequest":  # the draft's, or the shipped one
            return control.update_metadata(state, body)
        raise TypeError(f"no broker here answers {body.message_name}")

    def state(self) -> dict[str, Any]:
        """The broker's metadata and replicas, and the folders on its disk."""
        state = self._state
        return {
            "broker_epoch": state.broker_epoch,
            "controller_epoch": state.controller_epoch,
            "topics": sorted(state.metadata.partitions),
            "topic_ids": {
                name: topic_id_to_text(topic_id)
                for name, topic_id in sorted(state.metadata.topic_ids.items())
            },
            "logs": [
                {
                    "topic": topic,
                    "partition": index,
                    "topic_id": topic_id_to_text(log.topic_id) if log.topic_id else None,
                }
                for (topic, index), log in sorted(state.logs, key=lambda each: each[0])
            ],
            "replicas": [
                self._replica_state(replica) for _, replica in sorted(state.replicas.items())
            ],
            "folders": [
                {
                    "log_dir": folder.log_dir,
                    "name": folder.name,
                    "kind": folder.kind,
                    "topic_id": topic_id_to_text(folder.topic_id) if folder.topic_id else None,
                }
                for folder in self._disk.folders()
            ],
        }

    def _replica_state(self, replica: Replica) -> dict[str, Any]:
        topic_id = replica.topic_id(self._state.logs)
        return {
            "topic": replica.partition[0],
            "partition": replica.partition[1],
            "topic_id": topic_id_to_text(topic_id) if topic_id else None,
            "leader": replica.leader,
            "leader_epoch": replica.leader_epoch,
            "end_offset": replica.log.end_offset if replica.log else None,
            "high_watermark": replica.log.high_watermark if replica.log else None,
        }

    def _alter_log_dirs(self, body: AlterReplicaLogDirsRequest) -> Message:
        """Move partitions between log directories; the file goes along."""
        answer = AlterReplicaLogDirsResponse()
        for log_dir in body.dirs:
            for topic in log_dir.topics:
                row = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult(topic.name)
                for index in topic.partitions:
                    code = self._move((topic.name, index), log_dir.path)
                    row.partitions.append(
                        AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult(index, code)
                    )
                answer.results.append(row)
        return answer

    def _move(self, partition: Partition, log_dir: str) -> int:
        state = self._state
        if log_dir not in self._disk.log_dirs:
            return codes.LOG_DIR_NOT_FOUND
        log = state.logs.get(partition)
        if log is None or log.log_dir != log_dir:  # made again, it will be made there
            state.logs.prefer(partition, log_dir)
        replica = state.hosted(partition)
        if isinstance(replica, int):
            unknown = replica == codes.UNKNOWN_TOPIC_OR_PARTITION
            return codes.UNKNOWN_TOPIC_OR_PARTITION if unknown else codes.REPLICA_NOT_AVAILABLE
        if replica.log is None:
            return codes.REPLICA_NOT_AVAILABLE
        state.logs.move(partition, log_dir)
        return 0
