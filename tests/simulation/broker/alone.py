"""A broker without a world: its clock is turned by the test, and what it sends goes nowhere."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from kafka_admin_proto import (
    FetchRequest,
    FetchResponse,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    ProduceRequest,
    ProduceResponse,
    StopReplicaRequest,
    StopReplicaResponse,
    UpdateMetadataRequest,
)
from kafka_admin_proto.messages import kip_516
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker import Broker, Disk
from kafka_admin_proto.simulation.node import Cancel, OnResponse, Request
from kafka_admin_proto.simulation.rules import Rules
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message

#: The broker's own id, and another one's.
ME, OTHER = 1, 2
FULL, INCREMENTAL = 2, 1


class Context:
    """A clock and a list of what was noted and sent."""

    def __init__(self, seed: int = 1, node_id: int = ME) -> None:
        self.node_id: int = node_id
        self.now_ms: int = 0
        self.random: random.Random = random.Random(seed)
        self.notes: list[str] = []
        self.sent: list[tuple[int, Message, int, OnResponse]] = []
        self._calls: list[tuple[int, Callable[[], None]]] = []

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Cancel:
        row = self.now_ms + delay_ms, call
        self._calls.append(row)
        return lambda: self._calls.remove(row) if row in self._calls else None

    def send(self, node_id: int, body: Message, version: int, on_response: OnResponse) -> None:
        self.sent.append((node_id, body, version, on_response))

    def respond(self, request: Request, body: Message) -> None:
        raise AssertionError("a broker answers at once")

    def note(self, text: str, **fields: Any) -> None:
        self.notes.append(text)

    def advance(self, delay_ms: int) -> None:
        """Let time pass, and do what was due."""
        self.now_ms += delay_ms
        while due := [row for row in self._calls if row[0] <= self.now_ms]:
            first = min(due, key=lambda row: row[0])
            self._calls.remove(first)
            first[1]()


class Alone:
    """A broker, its disk, and a controller that is the test."""

    def __init__(self, rules: Rules, disk: Disk | None = None, *, migration: bool = False) -> None:
        self.rules: Rules = rules
        self.disk: Disk = disk or Disk()
        self.migration: bool = migration
        self.lives: int = 0
        self.restart()

    def restart(self) -> None:
        """Crash and start: the disk alone is kept."""
        self.lives += 1
        self.context = Context(self.lives)
        self.broker = Broker(self.context, self.disk, self.rules, migration=self.migration)
        self.broker.start()

    def lead(
        self,
        name: str,
        topic_id: UUID = ZERO_UUID,
        epoch: int = 1,
        *,
        kind: int = INCREMENTAL,
        version: int = 5,
        controller_epoch: int = 1,
        replicas: Sequence[int] = (ME,),
        leader: int = ME,
        kraft: bool = False,
    ) -> int:
        """LeaderAndIsr of one partition; its error code."""
        return self.lead_many(
            [(name, topic_id, epoch)], kind=kind, version=version, kraft=kraft,
            controller_epoch=controller_epoch, replicas=replicas, leader=leader,
        )[0]  # fmt: skip

    def lead_many(
        self,
        topics: Sequence[tuple[str, UUID, int]],
        *,
        kind: int = INCREMENTAL,
        version: int = 5,
        controller_epoch: int = 1,
        replicas: Sequence[int] = (ME,),
        leader: int = ME,
        kraft: bool = False,
    ) -> list[int]:
        """LeaderAndIsr of partition 0 of topics; the error codes in their order."""
        states = []
        for name, topic_id, epoch in topics:
            state = LeaderAndIsrRequest.LeaderAndIsrPartitionState(
                leader=leader, leader_epoch=epoch, isr=[leader], replicas=list(replicas)
            )
            states.append(LeaderAndIsrRequest.LeaderAndIsrTopicState(name, topic_id, [state]))
        answer = self.ask(
            LeaderAndIsrRequest(
                type=kind, is_kraft_controller=kraft, controller_epoch=controller_epoch,
                topic_states=states,
            ),
            version,
        )  # fmt: skip
        assert isinstance(answer, LeaderAndIsrResponse)
        codes = {row.topic_id: row.partition_errors[0].error_code for row in answer.topics}
        return [codes[topic_id] for _, topic_id, _ in topics]

    def know(
        self,
        name: str,
        topic_id: UUID,
        live: Sequence[int] = (ME, OTHER),
        *,
        leader: int = ME,
        controller_epoch: int = 1,
    ) -> int:
        """UpdateMetadata of one topic with a partition."""
        if self.rules.dialect == "kip-516":
            draft = kip_516.UpdateMetadataRequest
            state = draft.UpdateMetadataPartitionState(0, 1, leader, 1, [ME], 1, [ME])
            topic = draft.TopicState(name, topic_id, [state])
            body: Message = draft(
                controller_epoch=controller_epoch, broker_epoch=-1, topic_states=[topic],
                live_brokers=[draft.LiveBroker(each) for each in live],
            )  # fmt: skip
        else:
            shipped = UpdateMetadataRequest
            row = shipped.UpdateMetadataPartitionState(leader=leader, leader_epoch=1, isr=[ME])
            known = shipped.UpdateMetadataTopicState(name, topic_id, [row])
            brokers = [shipped.UpdateMetadataBroker(each) for each in live]
            body = shipped(
                controller_epoch=controller_epoch, topic_states=[known], live_brokers=brokers
            )
        answer: Any = self.ask(body, 7)
        code: int = answer.error_code
        return code

    @property
    def topic_ids(self) -> list[str]:
        """The topics whose ids the broker knows from UpdateMetadata."""
        return list(self.broker.state()["topic_ids"])

    def stop(self, name: str, epoch: int = -2, *, delete: bool = True) -> int:
        """StopReplica v3 of one partition; its error code."""
        state = StopReplicaRequest.StopReplicaPartitionState(0, epoch, delete)
        topic = StopReplicaRequest.StopReplicaTopicState(name, [state])
        answer = self.ask(StopReplicaRequest(controller_epoch=1, topic_states=[topic]), 3)
        assert isinstance(answer, StopReplicaResponse)
        return answer.error_code or answer.partition_errors[0].error_code

    def stop_by_id(self, topic_id: UUID, epoch: int = -2, *, delete: bool = True) -> int:
        """StopReplica v4 of the text; its error code."""
        state = kip_516.StopReplicaRequest.PartitionState(0, epoch, delete)
        topic = kip_516.StopReplicaRequest.TopicState(topic_id, [state])
        body = kip_516.StopReplicaRequest(controller_epoch=1, broker_epoch=-1, topic_states=[topic])
        answer = self.ask(body, 4)
        assert isinstance(answer, kip_516.StopReplicaResponse)
        return answer.error_code or answer.partition_errors[0].error_code

    def write(self, name: str, *values: bytes) -> int:
        """Produce by name; the error code."""
        records = [Record(at, 0, None, value) for at, value in enumerate(values)]
        data = write_batch(Batch.of(records))
        partition = ProduceRequest.PartitionProduceData(0, data)
        topic = ProduceRequest.TopicProduceData(name, partition_data=[partition])
        answer = self.ask(ProduceRequest(acks=1, topic_data=[topic]), 9)
        assert isinstance(answer, ProduceResponse)
        return answer.responses[0].partition_responses[0].error_code

    def read(self, name: str | UUID) -> int | bytes:
        """Fetch from the start, by name or by id: an error code, or the batches."""
        partition = FetchRequest.FetchPartition()
        if isinstance(name, UUID):
            topic = FetchRequest.FetchTopic(topic_id=name, partitions=[partition])
        else:
            topic = FetchRequest.FetchTopic(name, partitions=[partition])
        version = 13 if isinstance(name, UUID) else 12
        answer = self.ask(FetchRequest(topics=[topic]), version)
        assert isinstance(answer, FetchResponse)
        row = answer.responses[0].partitions[0]
        return row.error_code or row.records or b""

    def leads(self, name: str, topic_id: UUID, index: int) -> bool:
        """Whether the broker leads the partition of this name or id."""
        return any(
            row["leader"] == ME
            for row in self.broker.state()["replicas"]
            if row["partition"] == index
            and (row["topic"] == name or row["topic_id"] == topic_id_to_text(topic_id))
        )

    def follows(self, name: str, index: int) -> bool:
        """Whether another broker leads this partition, of which the broker has a replica."""
        return any(
            row["leader"] != ME
            for row in self.broker.state()["replicas"]
            if (row["topic"], row["partition"]) == (name, index)
        )

    def ask(self, body: Message, version: int) -> Message:
        """An answer, both messages through their bytes."""
        again = type(body).decode(body.encode(version), version=version)
        answer = self.broker.answer(again, version)
        assert answer is not None
        return type(answer).decode(answer.encode(version), version=version)

    @property
    def folders(self) -> list[tuple[str, str, UUID | None]]:
        """Kind, topic and id of each folder, sorted."""
        rows = [(each.kind, each.topic, each.topic_id) for each in self.disk.folders()]
        return sorted(rows, key=str)
