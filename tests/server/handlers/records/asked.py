"""A cluster in this process with topics of three replicas, and answers of it that wait."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka_admin_proto import codec
from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    PartitionChangeRecord,
    ProduceRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopicConfig
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.records import Batch, Record, read_batches, write_batch
from kafka_admin_proto.server.apis import Answer, Caller, WaitKey
from kafka_admin_proto.server.replication.replicas import ReplicatedLog
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.values import Message
from tests.server.handlers.test_create_topics import topic
from tests.server.served import Served
from tests.server.still_clock import StillClock


class Waiting:
    """An answer that may wait; there is no ``response`` as long as it does."""

    def __init__(self, served: Asked, answer: Answer, node: int, version: int) -> None:
        self._served = served
        self._answer = answer
        self._version = version
        self._node = node
        self._wait = answer.wait
        if answer.wait is not None:
            served.state.partitions.changed.append(self.changed)
            if None in answer.wait.keys:
                self._complete(None)

    def waits(self) -> bool:
        return self._wait is not None

    @property
    def response(self) -> Any:
        assert not self.waits()
        sent = codec(type(self._answer.response), self._version)
        return sent.decode(sent.encode(self._answer.response))

    def changed(self, key: WaitKey) -> None:
        if self._wait is not None and key in self._wait.keys:
            self._complete(key)

    def _complete(self, *changed: WaitKey, is_over: bool = False) -> None:
        assert self._wait is not None
        if self._wait.complete(self._answer, self._served.state, set(changed), is_over):
            self._wait = None

    def end_time(self) -> Any:
        """The response at the end of its time."""
        if self._wait is not None:
            assert self._wait.wait_ms is not None
            self._served.clock.move(self._wait.wait_ms / 1000)
            self._complete(is_over=True)
        return self.response


class Asked(Served):
    """Three nodes; partition n of a topic has replicas on all, its leader is n % 3 + 1."""

    def __init__(self, *names: str, release: str = "4.4", **configs: str) -> None:
        super().__init__(release, configs={k.replace("_", "."): v for k, v in configs.items()})
        self.clock = StillClock()
        self.state.clock = self.clock
        for each in names:
            self.create(each)

    def create(self, name: str, partitions: int = 1, **configs: str) -> None:
        replicas = {each: [(each + n) % 3 + 1 for n in range(3)] for each in range(partitions)}
        row = topic(name, assignment=replicas)
        row.configs = [CreatableTopicConfig(k.replace("_", "."), v) for k, v in configs.items()]
        request = CreateTopicsRequest([row], 1000)
        (created,) = self.ask(request).topics
        assert created.error_code == 0, created.error_message

    def delete(self, name: str) -> None:
        (row,) = self.ask(DeleteTopicsRequest(topic_names=[name], timeout_ms=1000), 5).responses
        assert row.error_code == 0, row.error_message

    def id_of(self, name: str) -> UUID:
        found = self.state.topic(name)
        assert found is not None
        return found.id

    def log(self, name: str, number: int = 0) -> ReplicatedLog:
        found = self.state.topic(name)
        assert found is not None
        return self.state.partitions.log(found, number)

    def change(self, name: str, number: int = 0, **fields: Any) -> None:
        """Change a partition as the controller does: leader, ISR."""
        self.state.append([PartitionChangeRecord(number, self.id_of(name), **fields)])

    def begin(self, request: Message, version: int, node: int = 1) -> Waiting:
        """Ask, without waiting for the answer."""
        assert request.api_key is not None
        seen = codec(type(request), version)
        body = seen.decode(seen.encode(request))
        answer = respond(self.state, request.api_key, body, Caller(node, version, "client"))
        self.state.append(answer.records)
        return Waiting(self, answer, node, version)

    def produce(self, name: str, *values: bytes, number: int = 0, **fields: Any) -> Any:
        """The row of a partition after its first leader was asked to append a batch."""
        return self.produce_at(number % 3 + 1, name, *values, number=number, **fields)

    def produce_at(self, node: int, name: str, *values: bytes, **fields: Any) -> Any:
        """The row of a partition after a node was asked to append a batch."""
        waiting = self.begin(produced(name, *values, **fields), 9, node)
        (item,) = waiting.end_time().responses
        (row,) = item.partition_responses
        return row


def produced(
    name: str, *values: bytes, number: int = 0, acks: int = 1, timeout_ms: int = 500, **fields: Any
) -> ProduceRequest:
    """A request with one batch; ``fields`` are those of its header."""
    batch = Batch.of([Record(offset, 1, b"k", each) for offset, each in enumerate(values)])
    for field, value in fields.items():
        setattr(batch, field, value)
    data = PartitionProduceData(number, write_batch(batch))
    return ProduceRequest(None, acks, timeout_ms, [TopicProduceData(name, partition_data=[data])])


def fetching(*rows: tuple[str | UUID, int, int], **fields: Any) -> FetchRequest:
    """A request for (topic, partition, offset); ``fields`` are its own, or its partitions'."""
    of_partition = FetchPartition.__struct_fields__
    own = {each: fields.pop(each) for each in list(fields) if each in of_partition}
    topics = []
    for name, number, offset in rows:
        part = FetchPartition(
            number, fetch_offset=offset, **{"partition_max_bytes": 1 << 20, **own}
        )
        named = FetchTopic("", name) if isinstance(name, UUID) else FetchTopic(name)
        named.partitions = [part]
        topics.append(named)
    usual = {"max_wait_ms": 500, "min_bytes": 1, "max_bytes": 1 << 20, "session_epoch": -1}
    return FetchRequest(topics=topics, **{**usual, **fields})


def values(data: bytes | None) -> list[bytes | None]:
    """The values of the records in a response."""
    return [record.value for batch in read_batches(data or b"") for record in batch.records]
