"""``docs/examples/threaded_client.py`` against a server over the same connection."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import pytest

from kafka_admin_proto import (
    ListGroupsRequest,
    ListGroupsResponse,
    Message,
    MetadataRequest,
    MetadataResponse,
    SaslError,
)
from kafka_admin_proto.messages.metadata_response import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_admin_proto.protocol.connection import RequestReceived
from tests.docs.pages import example
from tests.protocol.connection.pair import SASL_SERVER, login
from tests.protocol.connection.small_server import serving


def answer(event: RequestReceived) -> Message | None:
    body = event.request.body
    if isinstance(body, MetadataRequest):
        partitions = [MetadataResponsePartition(partition_index=index) for index in range(3)]
        return MetadataResponse(
            brokers=[MetadataResponseBroker(7, "broker", 9092)],
            topics=[MetadataResponseTopic(name="orders", partitions=partitions)],
            throttle_time_ms=len(body.topics or []),
        )
    return ListGroupsResponse() if event.request.api_version == 5 else None


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return example("threaded_client")


def test_what_it_prints(
    module: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(answer) as port:
        monkeypatch.setattr(sys, "argv", ["threaded_client.py", f"127.0.0.1:{port}"])
        module.main()
    assert capsys.readouterr().out == "broker 7 at broker:9092\ntopic orders, 3 partitions\n"


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_many_threads_share_it(module: ModuleType, mechanism: str) -> None:
    from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic

    def ask(count: int) -> int:
        topics = [MetadataRequestTopic(name="x" * 100)] * count
        body = client.call(MetadataRequest(topics=topics)).result(10)
        return int(body.throttle_time_ms)

    with serving(answer, SASL_SERVER) as port:
        client = module.ThreadedClient("127.0.0.1", port, login(mechanism))
        try:
            with ThreadPoolExecutor(8) as pool:
                assert list(pool.map(ask, range(100))) == list(range(100))
        finally:
            client.close()


def test_how_it_fails(module: ModuleType) -> None:
    with serving(answer, SASL_SERVER) as port:
        with pytest.raises(SaslError, match="SASL_AUTHENTICATION_FAILED"):
            module.ThreadedClient("127.0.0.1", port, login("PLAIN", "alice", "wrong"))
        client = module.ThreadedClient("127.0.0.1", port, login("PLAIN"))
        try:
            assert isinstance(client.call(ListGroupsRequest()).result(10), ListGroupsResponse)
            with client._lock:
                client._connection._versions = {16: 1}
            lost = client.call(ListGroupsRequest())
            with pytest.raises(ConnectionError, match="closed the connection while it was ready"):
                lost.result(10)
            with pytest.raises(ConnectionError):
                client.call(ListGroupsRequest())
        finally:
            client.close()
