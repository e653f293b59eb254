"""Values that are refused: of absent fields, of other dialects, collections that are no lists."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from kafka_admin_proto import (
    BeginQuorumEpochRequest,
    CreateTopicsRequest,
    EncodeError,
    EndQuorumEpochRequest,
    codec,
)
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.wire.emit.runtime import Fallback
from tests.fuzz.seeds import filled
from tests.helpers.absent_fields import absent_fields, holding
from tests.helpers.every_message import each_layout
from tests.helpers.mistyped import mistyped

#: What fused code raises for a value that it does not write: the tree is asked then.
REFUSALS = (Fallback, TypeError, AttributeError, struct.error)


@each_layout()
def test_values_of_absent_fields(found: Codec[Any]) -> None:
    """The tree and the fused code agree at any depth; ``lenient`` drops no wrong type either."""
    value = filled(found.grammar)
    write = found._fused_write.function
    data = write(value)
    for owner, member in absent_fields(found.grammar, value):
        assert member.absent_type is not None
        with holding(owner, member.attribute, filled(member.absent_type)):
            assert found.encode(value, lenient=True) == data
            if member.ignorable:
                assert write(value) == found.grammar.build(value) == data
        for wrong in (object(), {}):
            with holding(owner, member.attribute, wrong):
                for lenient in (False, True):
                    with pytest.raises(EncodeError) as caught:
                        found.encode(value, lenient=lenient)
                    assert caught.value.path.endswith(member.attribute)
                with pytest.raises(REFUSALS):
                    write(value)


def test_arguments_that_an_absent_field_has_shifted() -> None:
    """The voter's directory came in version 1, in front of the leader: 1 took its place unseen."""
    partition = BeginQuorumEpochRequest.PartitionData(0, mistyped(1), 5)
    topic = BeginQuorumEpochRequest.TopicData(topic_name="t", partitions=[partition])
    with pytest.raises(EncodeError) as caught:
        BeginQuorumEpochRequest(topics=[topic]).encode(0)
    assert str(caught.value) == (
        "BeginQuorumEpochRequest v0, topics[0].partitions[0].voter_directory_id: "
        "expected a uuid.UUID, got 1"
    )


def test_what_is_inside_an_absent_field_is_looked_at() -> None:
    Endpoint = EndQuorumEpochRequest.LeaderEndpoint
    request = EndQuorumEpochRequest(leader_endpoints=[Endpoint(), Endpoint(port=1 << 16)])
    with pytest.raises(EncodeError) as caught:
        request.encode(0)
    assert caught.value.path == "leader_endpoints[1].port"
    assert EndQuorumEpochRequest(leader_endpoints=[Endpoint(port=9092)]).encode(0)


@pytest.mark.parametrize(
    "topics",
    [(CreatableTopic(each) for each in "a"), iter([]), map(CreatableTopic, "a")],
    ids=["gen", "iter", "map"],
)
def test_an_iterator_is_a_sentence(topics: Any) -> None:
    with pytest.raises(EncodeError, match="can be read once only; make a list of it"):
        codec(CreateTopicsRequest, 5).encode(CreateTopicsRequest(topics=topics))


#: Messages that a dialect and Kafka both have.
NAMESAKES = [
    (dialect, name)
    for dialect in catalog().dialects()
    if dialect != "kafka"
    for name in catalog().names(dialect)
    if name in catalog().names()
]


@pytest.mark.parametrize(("dialect", "name"), NAMESAKES)
def test_a_namesake_of_another_dialect_is_a_sentence(dialect: str, name: str) -> None:
    codecs = {
        each: codec(name, catalog().entry(name, each).versions.highest, dialect=each)
        for each in (dialect, "kafka")
    }
    for mine, other in ((dialect, "kafka"), ("kafka", dialect)):
        value = codecs[other].value_class()
        for write in (codecs[mine].encode, codecs[mine].to_json):
            with pytest.raises(EncodeError) as refused:
                write(value)
            text = f"{name} of the dialect {mine}, got one of the dialect {other}; take the codec"
            assert text in str(refused.value)
