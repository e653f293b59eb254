"""Envelopes: requests that a broker forwards, over the socket of a controller."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_admin_proto.codec import codec
from kafka_admin_proto.messages import (
    AlterClientQuotasRequest,
    CreateDelegationTokenRequest,
    CreateTopicsRequest,
    DefaultPrincipalData,
    DescribeAclsRequest,
    DescribeQuorumRequest,
    EnvelopeRequest,
    EnvelopeResponse,
    ListPartitionReassignmentsRequest,
)
from kafka_admin_proto.messages.alter_client_quotas_request import EntityData, EntryData, OpData
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.protocol import codes, frame, read_response, write_request
from kafka_admin_proto.server import Cluster
from tests.server.quorum.controller import PRINCIPAL, asked

_HOST = bytes([192, 0, 2, 7])


def _quorum() -> bytes:
    topics = [TopicData("__cluster_metadata", [PartitionData(0)])]
    return write_request(DescribeQuorumRequest(topics), 2, 71, "inner")


async def _opened(cluster: Cluster, data: bytes) -> EnvelopeResponse:
    found = await asked(cluster, EnvelopeRequest(data, PRINCIPAL, _HOST))
    assert isinstance(found, EnvelopeResponse)
    return found


async def test_the_answer_is_that_to_the_request_in_it() -> None:
    async with Cluster(0) as cluster:
        found = await _opened(cluster, _quorum())
        assert found.error_code == 0
        assert found.response_data is not None
        response = read_response(found.response_data, 55, 2)
        assert response.header is not None
        assert response.header.correlation_id == 71
        body: Any = response.body
        assert body.topics[0].partitions[0].leader_id == 3000
        (seen,) = cluster.requests.of("DescribeQuorum")
        assert (seen.client_id, seen.principal) == ("inner", "User:alice")
        assert not [each for each in cluster.requests if each.api == "Envelope"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"request_principal": None}, codes.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"request_principal": b"\0\1"}, codes.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"request_principal": PRINCIPAL[:-3]}, codes.PRINCIPAL_DESERIALIZATION_FAILURE),
        ({"client_host_address": b"\1\2\3"}, codes.INVALID_REQUEST),
        ({"request_data": b""}, codes.UNSUPPORTED_VERSION),
        ({"request_data": _quorum()[:-1]}, codes.UNSUPPORTED_VERSION),
        ({"request_data": b"\x00\x37\x00\x63" + _quorum()[4:]}, codes.UNSUPPORTED_VERSION),
        # Apis that nobody forwards.
        (
            {"request_data": write_request(EnvelopeRequest(b"", b"", b""), 0, 1)},
            codes.INVALID_REQUEST,
        ),
        ({"request_data": write_request(DescribeAclsRequest(), 3, 1)}, codes.INVALID_REQUEST),
    ],
)  # fmt: skip
async def test_envelopes_that_are_refused(fields: dict[str, Any], code: int) -> None:
    given = {
        "request_data": _quorum(),
        "request_principal": PRINCIPAL,
        "client_host_address": _HOST,
        **fields,
    }
    async with Cluster(0) as cluster:
        found = await asked(cluster, EnvelopeRequest(**given))
        assert (found.error_code, found.response_data) == (code, None)


async def test_a_client_that_waits_lets_no_other_request_of_its_broker_wait() -> None:
    """The next envelope on the connection, which cannot be opened, nor what comes behind it."""
    configs = {"quota.window.size.seconds": "600"}
    async with Cluster(0, configs=configs) as cluster:
        client = EntityData("client-id", "inner")
        quota = EntryData([client], [OpData("request_percentage", 1e-6)])
        await asked(cluster, AlterClientQuotasRequest([quota]), 1)
        requests = [EnvelopeRequest(data, PRINCIPAL, _HOST) for data in (_quorum(), b"") * 2]
        host, port = cluster.bootstrap_servers.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.writelines(frame(write_request(each, 0, 1)) for each in requests)
            async with asyncio.timeout(30):
                for _ in requests:
                    size = int.from_bytes(await reader.readexactly(4), "big")
                    await reader.readexactly(size)
        finally:
            writer.close()
            await writer.wait_closed()


@pytest.mark.parametrize("user", ["ANONYMOUS", "alice"])
async def test_whoever_forwards_needs_a_right(user: str) -> None:
    """ClusterAction is the broker's; the request itself is its client's."""
    allowed = {"super.users": f"User:{user}", "authorizer.class.name":
               "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}  # fmt: skip
    create = CreateTopicsRequest(topics=[CreatableTopic("a", 1, 1)], timeout_ms=1000)
    async with Cluster(0, configs=allowed) as cluster:
        found = await _opened(cluster, write_request(create, 7, 1))
        if user == "alice":
            assert found.error_code == codes.CLUSTER_AUTHORIZATION_FAILED
            return
        assert found.response_data is not None
        body: Any = read_response(found.response_data, 19, 7).body
        assert body.topics[0].error_code == codes.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize("by_token", [False, True])
async def test_a_token_is_its_clients(by_token: bool) -> None:
    """The broker's connection has no login; the client has, as the principal says."""
    principal = DefaultPrincipalData(type="User", name="alice", token_authenticated=by_token)
    data = bytes(2) + codec(DefaultPrincipalData, 0).encode(principal)
    create = write_request(CreateDelegationTokenRequest(), 3, 1)
    async with Cluster(0, configs={"delegation.token.secret.key": "key"}) as cluster:
        found = await asked(cluster, EnvelopeRequest(create, data, _HOST))
        body: Any = read_response(found.response_data, 38, 3).body
        tokens = cluster.state.cluster.delegation_tokens
        if by_token:
            assert body.error_code == codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
            assert tokens == {}
            return
        assert (body.principal_name, body.error_code) == ("alice", 0)
        assert [each.owner for each in tokens.values()] == ["User:alice"]


async def test_faults_are_those_of_the_request_in_it() -> None:
    async with Cluster(0) as cluster:
        cluster.faults.add_text("api=DescribeQuorum error=NOT_LEADER_OR_FOLLOWER count=1")
        found = await _opened(cluster, _quorum())
        assert found.response_data is not None
        body: Any = read_response(found.response_data, 55, 2).body
        assert body.error_code == codes.NOT_LEADER_OR_FOLLOWER
        # A broker looks for another controller by the code of the envelope.
        cluster.faults.add_text("api=ListPartitionReassignments error=NOT_CONTROLLER")
        reassigned = write_request(ListPartitionReassignmentsRequest(timeout_ms=1000), 0, 1)
        found = await _opened(cluster, reassigned)
        assert (found.error_code, found.response_data) == (codes.NOT_CONTROLLER, None)
