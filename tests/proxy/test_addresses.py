"""Wherever a response has the address of a broker, clients get the proxy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto import messages
from kafka_admin_proto.codec import codec
from kafka_admin_proto.codec.entities import struct_in
from kafka_admin_proto.messages import (
    FetchRequest,
    ProduceRequest,
    ShareAcknowledgeRequest,
    ShareFetchRequest,
)
from kafka_admin_proto.protocol import api_versions, frame, read_response, write_response
from kafka_admin_proto.proxy.apis import has_addresses
from kafka_admin_proto.values import Message
from kafka_admin_proto.wire.types.containers import StructType
from tests.proxy.connection.test_relay import asked, relay, taken

#: What brokers and controllers say to each other, and addresses that are no broker's: of the
#: quorum's voters, of an application, and of the members of a group.
_NO_BROKERS = {
    "BeginQuorumEpochResponse.node_endpoints", "DescribeQuorumResponse.nodes.listeners",
    "EndQuorumEpochResponse.node_endpoints", "FetchSnapshotResponse.node_endpoints",
    "StreamsGroupDescribeResponse.groups.members.user_endpoint",
    "StreamsGroupHeartbeatResponse.partitions_by_user_endpoint.user_endpoint",
    "UpdateRaftVoterResponse.current_leader", "VoteResponse.node_endpoints",
}  # fmt: skip


def test_no_address_of_a_broker_is_unknown() -> None:
    """By the definitions: a host with a port beside it."""
    left = set()
    for api in api_versions(unstable=True):
        name = f"{api.name}Response"
        for version in range(api.versions.lowest, api.versions.highest + 1):
            if not has_addresses(api.api_key, version):
                left |= {*_places(codec(name, version).grammar, name)}
    assert left == _NO_BROKERS


def _places(struct: StructType, path: str) -> Iterator[str]:
    attributes = {each.attribute for each in struct.members if each.wire_type is not None}
    if {"host", "port"} <= attributes:
        yield path
    for member in struct.members:
        inside = None if member.wire_type is None else struct_in(member.wire_type)
        if inside is not None:
            yield from _places(inside, f"{path}.{member.attribute}")


@pytest.mark.parametrize(
    ("request_body", "first"),
    [
        (ProduceRequest(acks=-1), 10),
        (FetchRequest(), 16),
        (ShareFetchRequest(), 1),
        (ShareAcknowledgeRequest(), 1),
    ],
    ids=lambda each: getattr(each, "message_name", ""),
)
def test_hints_to_leaders_name_the_proxy(request_body: Message, first: int) -> None:
    assert request_body.api_key is not None
    name = request_body.message_name.replace("Request", "Response")
    of_response: Any = getattr(messages, name)
    for version in range(first, _newest(request_body) + 1):
        passed = relay()
        passed.from_client(asked(request_body, version))
        response = of_response(node_endpoints=[of_response.NodeEndpoint(3, "kafka", 9092, "r")])
        passed.from_broker(frame(write_response(response, version, 7)))
        found: Any = read_response(taken(passed.to_client)[4:], request_body.api_key, version).body
        (hint,) = found.node_endpoints
        assert (hint.node_id, hint.host, hint.port, hint.rack) == (3, "proxy", 10_003, "r")


def _newest(request: Message) -> int:
    """The newest version of a request."""
    return max(each.versions.highest for each in api_versions() if each.api_key == request.api_key)
