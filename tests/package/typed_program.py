"""A program that checkers of types must let pass, and mistakes in it that they must find."""

from __future__ import annotations

TYPED_PROGRAM = """
from typing import Any
from uuid import UUID

from kafka_admin_proto import (
    Codec, CreateTopicsRequest, CreateTopicsResponse, DecodeError, ErrorCode, UpdateMetadataRequest,
    codec, error_code
)
from kafka_admin_proto.admin import AdminClient, Reply, SyncAdminClient, TopicDescription
from kafka_admin_proto.messages.create_topics_request import CreatableTopic, CreatableTopicConfig
from kafka_admin_proto.server import StoredRecord, SyncCluster

request = CreateTopicsRequest(
    topics=[CreatableTopic("t", 3, configs=[CreatableTopicConfig("k", None)])], timeout_ms=1
)
c: Codec[CreateTopicsRequest] = codec(CreateTopicsRequest, 1)
data: bytes = c.encode(request)
try:
    back: CreateTopicsRequest = c.decode(data)
except DecodeError as error:
    place: tuple[str, int] = (error.path, error.offset)
    raise
name: str = back.topics[0].name
value: str | None = back.topics[0].configs[0].value
again: CreateTopicsRequest = CreateTopicsRequest.decode(request.encode(version=1), version=1)
ids: list[UUID] = [state.topic_id for state in UpdateMetadataRequest().topic_states]
obj: dict[str, object] = c.to_json(back)
nested: list[CreateTopicsRequest.CreatableTopic] = [CreateTopicsRequest.CreatableTopic("u", 1)]
request.topics += [CreatableTopic("u"), *nested, back.topics[0]]
del request.topics[1:]
by_name: Codec[Any] = codec("CreateTopicsRequest", 1)
code: int = error_code("POLICY_VIOLATION").code
named: str | None = ErrorCode.__doc__ and error_code(0).name

async def described(names: list[str]) -> list[TopicDescription]:
    async with AdminClient("localhost:9092", timeout=5) as admin:
        return await admin.describe_topics(names)

def described_without_asyncio(names: list[str]) -> list[TopicDescription]:
    with SyncAdminClient("localhost:9092", timeout=5) as admin:
        reply: Reply[CreateTopicsResponse] = admin.call(request, CreateTopicsResponse)
        print(reply.body.topics[0].error_code)
        return admin.describe_topics(names)

def stored(cluster: SyncCluster) -> list[StoredRecord]:
    cluster.delay_metadata(0.5, broker=2)
    return cluster.produce("t", [b"value", ("key", None)])

print(name, value, again == request == c.from_json(obj), ids, back.topics[0].num_partitions)
"""

#: A line put to the end of the program above, and the error code that mypy must give for it.
MISTAKES = [
    ("from kafka_admin_proto import CreateTopicRequest", "attr-defined"),
    ("request.timeout", "attr-defined"),
    ("back.topics[0].partitions", "attr-defined"),
    ("CreateTopicsRequest(timeout_ms='1')", "arg-type"),
    ("CreateTopicsRequest(timeout=1)", "call-arg"),
    ("CreatableTopic(name=None)", "arg-type"),
    ("request.topics = [1]", "list-item"),
    ("codec(UpdateMetadataRequest, 7).encode(request)", "arg-type"),
    ("codec(CreateTopicsRequest, '1')", "call-overload"),
    ("value.upper()", "union-attr"),
    ("CreateTopicsRequest.CreatableTopik()", "attr-defined"),
    ("CreateTopicsRequest.CreatableTopic(names='t')", "call-arg"),
    ("DecodeError('').paht", "attr-defined"),
    ("c.grammar.pares(b'')", "attr-defined"),
    ("SyncAdminClient('localhost:9092').describe_topics(5)", "arg-type"),
    ("SyncAdminClient('localhost:9092').describe_topic(['a'])", "attr-defined"),
    ("SyncAdminClient('localhost:9092', bootstrap='localhost:9092')", "call-arg"),
    ("SyncAdminClient('localhost:9092').describe_topics(['a']).keys()", "attr-defined"),
    ("SyncCluster().produce('t', 5)", "arg-type"),
    ("SyncCluster().group('g').lags", "attr-defined"),
]
