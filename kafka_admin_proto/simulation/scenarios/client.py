"""A client of the cluster: creates and deletes topics, writes and reads records by topic id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsResponse,
    FetchResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kafka_admin_proto.records.batches.batches import read_batches, write_batch
from kafka_admin_proto.records.batches.model import Batch, Record
from kafka_admin_proto.simulation.node import NodeContext, Request
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message

CREATE_VERSION = 7
DELETE_VERSION = 6
PRODUCE_BY_ID, PRODUCE_BY_NAME = 13, 9
FETCH_BY_ID = 13
#: The error code that stands for a connection that was lost before the answer came.
LOST = -100
_MAX_BYTES = 1 << 20
_PRODUCE_TIMEOUT_MS = 1_000


@dataclass(slots=True)
class Call:
    """A request of the client, and its result."""

    what: str
    topic: str
    topic_id: UUID | None
    sent_ms: int
    #: None until it has ended.
    error_code: int | None = None
    #: Of a Fetch: the records' values.
    values: list[str] = field(default_factory=list)

    @property
    def ended(self) -> bool:
        """Whether it was answered, or its connection was lost."""
        return self.error_code is not None


#: Called with a call once it has ended.
OnEnd = Callable[[Call], None]


class Client:
    """Sends what it is asked to; ``calls`` are all requests in their order."""

    def __init__(self, context: NodeContext) -> None:
        self.calls: list[Call] = []
        self._context = context

    def start(self) -> None:
        """Nothing to do before the first call."""

    def handle(self, request: Request) -> Message | None:
        raise ValueError(f"node {request.source} sent {request.api} to a client")

    def state(self) -> dict[str, Any]:
        """The calls that have not ended."""
        return {"waiting": [f"{each.what} {each.topic}" for each in self.calls if not each.ended]}

    def create_topic(
        self, node: int, name: str, assignment: dict[int, list[int]], on_end: OnEnd | None = None
    ) -> Call:
        """Ask a node, the controller if all is well, for a topic; the call gets its id."""
        rows = [
            CreateTopicsRequest.CreatableReplicaAssignment(
                partition_index=number, broker_ids=replicas
            )
            for number, replicas in assignment.items()
        ]
        topic = CreateTopicsRequest.CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=rows
        )
        body = CreateTopicsRequest(topics=[topic])
        call = Call("CreateTopics", name, None, self._context.now_ms)

        def read(answer: CreateTopicsResponse) -> int:
            result = answer.topics[0]
            call.topic_id = result.topic_id if result.topic_id.int else None
            return result.error_code

        return self._send(node, call, body, CREATE_VERSION, on_end, read)

    def delete_topic(
        self, node: int, name: str, timeout_ms: int, on_end: OnEnd | None = None
    ) -> Call:
        """Ask a node, the controller if all is well, to delete a topic."""
        body = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=timeout_ms)
        call = Call("DeleteTopics", name, None, self._context.now_ms)

        def read(answer: DeleteTopicsResponse) -> int:
            return answer.responses[0].error_code

        return self._send(node, call, body, DELETE_VERSION, on_end, read)

    def produce(
        self,
        node: int,
        name: str,
        topic_id: UUID | None,
        partition: int,
        on_end: OnEnd | None = None,
    ) -> Call:
        """Write one record, whose value is the id that it is meant for, or the name without one."""
        value = name if topic_id is None else topic_id_to_text(topic_id)
        batch = write_batch(Batch.of([Record(0, self._context.now_ms, None, value.encode())]))
        data = ProduceRequest.PartitionProduceData(index=partition, records=batch)
        topic = ProduceRequest.TopicProduceData(partition_data=[data])
        if topic_id is None:
            topic.name = name
        else:
            topic.topic_id = topic_id
        body = ProduceRequest(acks=1, timeout_ms=_PRODUCE_TIMEOUT_MS, topic_data=[topic])
        call = Call("Produce", name, topic_id, self._context.now_ms)

        def read(answer: ProduceResponse) -> int:
            return answer.responses[0].partition_responses[0].error_code

        version = PRODUCE_BY_NAME if topic_id is None else PRODUCE_BY_ID
        return self._send(node, call, body, version, on_end, read)

    def fetch(
        self, node: int, name: str, topic_id: UUID, partition: int, on_end: OnEnd | None = None
    ) -> Call:
        """Read a partition of the topic with that id from its start; the name is for the reader."""
        wanted = FetchPartition(partition=partition, partition_max_bytes=_MAX_BYTES)
        topic = FetchTopic(topic_id=topic_id, partitions=[wanted])
        body = FetchRequest(max_bytes=_MAX_BYTES, topics=[topic])
        call = Call("Fetch", name, topic_id, self._context.now_ms)

        def read(answer: FetchResponse) -> int:
            if answer.error_code or not answer.responses:
                return answer.error_code
            partition = answer.responses[0].partitions[0]
            batches = read_batches(partition.records or b"")
            values = [each.value or b"" for batch in batches for each in batch.records]
            call.values = [value.decode() for value in values]
            return partition.error_code

        return self._send(node, call, body, FETCH_BY_ID, on_end, read)

    def _send(
        self,
        node: int,
        call: Call,
        body: Message,
        version: int,
        on_end: OnEnd | None,
        read: Callable[[Any], int],
    ) -> Call:
        """Send a request; ``read`` has the error code of the answer, and fills in the call."""
        self.calls.append(call)

        def ended(answer: Message | None) -> None:
            call.error_code = LOST if answer is None else read(answer)
            if on_end is not None:
                on_end(call)

        self._context.send(node, body, version, ended)
        return call
