"""A proxy of public parts alone: a server's end for a client, and a client's end for a broker."""

from __future__ import annotations

import pytest

from kafka_admin_proto import DescribeClusterRequest, MetadataRequest, MetadataResponse
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.protocol import Api, shared_apis, supported
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    Connection,
    Ready,
    RequestReceived,
    ResponseReceived,
)
from kafka_admin_proto.schema.versions import VersionRange
from tests.protocol.connection.pair import Pair

#: What the broker has: of Metadata more than is known here, an api that is not, no DescribeCluster.
BROKER = [
    Api(3, "Metadata", VersionRange(4, 99)),
    Api(18, "ApiVersions", VersionRange(0, 3)),
    Api(9999, "Newer", VersionRange(0, 1)),
]


def proxy() -> tuple[Pair, Pair]:
    """A client with the proxy's server, and the proxy's client with a broker."""
    behind = Pair({"client_id": "proxy"}, {"apis": BROKER}).start()
    (ready,) = behind.at_client
    assert isinstance(ready, Ready)
    client = {"client_id": "me", "first_correlation_id": 40}
    return Pair(client, {"apis": shared_apis(ready.apis)}).start(), behind


def test_both_ends_see_the_same_ids() -> None:
    front, behind = proxy()
    for number in (42, 43):  # 40 and 41 asked for versions
        front.exchange(front.client.send(MetadataRequest(), context=number))
        received = front.at_server[-1]
        assert isinstance(received, RequestReceived)
        request = received.request
        assert request.header is not None
        assert request.body is not None
        behind.exchange(behind.client.send(request.body, header=request.header, context=received))
        forwarded = behind.at_server[-1]
        assert isinstance(forwarded, RequestReceived)
        assert forwarded.request.data == request.data
        assert (request.header.correlation_id, request.header.client_id) == (number, "me")
        answer = MetadataResponse(cluster_id=f"c{number}")
        behind.exchange(to_client=behind.server.send(answer, to=forwarded))
        answered = behind.at_client[-1]
        assert isinstance(answered, ResponseReceived)
        assert answered.response.body == answer
        front.exchange(to_client=front.server.send(answer, to=answered.request.context))
        arrived = front.at_client[-1]
        assert isinstance(arrived, ResponseReceived)
        assert arrived.response.data == answered.response.data
        assert arrived.request.context == number


def test_clients_of_a_proxy_see_what_both_the_broker_and_it_have() -> None:
    front, _ = proxy()
    (ready,) = front.at_client
    assert isinstance(ready, Ready)
    newest = supported("Metadata").highest
    assert ready.apis == {3: VersionRange(4, newest), 18: VersionRange(0, 3)}
    with pytest.raises(UnsupportedVersionError, match="the broker does not have DescribeCluster"):
        front.client.send(DescribeClusterRequest())
    # The other way: a client that asks nothing takes what a server would have.
    known = Connection(CLIENT, apis=shared_apis(ready.apis), negotiate=False)
    known.start()
    again = known.next_event()
    assert isinstance(again, Ready)
    assert again.apis == ready.apis
