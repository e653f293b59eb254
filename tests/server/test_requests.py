"""What clients asked, and waiting for what they do."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, NewTopic, SyncAdminClient
from kafka_admin_proto.messages import CreateTopicsRequest, MetadataRequest, ProduceRequest
from kafka_admin_proto.protocol import read_request, write_request
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.apis import Caller, served_apis
from kafka_admin_proto.server.inspection import asked_requests
from kafka_admin_proto.server.inspection.asked_requests import (
    MOST_BYTES,
    AskedRequest,
    AskedRequests,
)
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.helpers.memory import traced
from tests.server.differential.wire import Nodes


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(2) as cluster:
        yield cluster


def test_requests_are_typed(cluster: SyncCluster) -> None:
    with SyncAdminClient(cluster.bootstrap_servers, client_id="me") as client:
        client.create_topics([NewTopic("orders", 3)])
    (found,) = cluster.requests.of("CreateTopics")
    assert isinstance(found.body, CreateTopicsRequest)
    assert [each.name for each in found.body.topics] == ["orders"]
    assert (found.client_id, found.principal, found.version) == ("me", "User:ANONYMOUS", 7)
    assert found.node in (1, 2)
    assert 0 <= cluster.clock._clock.now_ms() - found.time_ms < 60_000
    assert {"ApiVersions", "Metadata"} <= {each.api for each in cluster.requests}
    cluster.requests.clear()
    assert list(cluster.requests) == []


def test_an_api_that_is_not_there(cluster: SyncCluster) -> None:
    with pytest.raises(ValueError, match="there is no api 'Product' here; there are Produce, "):
        cluster.requests.of("Product")


def test_the_oldest_make_room(cluster: SyncCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_requests, "MOST_REQUESTS", 20)
    with Nodes(cluster.bootstrap_servers) as nodes:
        for _ in range(25):
            nodes.ask(0, MetadataRequest(topics=[]), 12)
        assert (len(cluster.requests), cluster.requests.dropped) == (20, 5)
        topic = MetadataRequest.MetadataRequestTopic
        large = MetadataRequest([topic(name="x" * 200)] * 4000, allow_auto_topic_creation=False)
        for _ in range(8):
            nodes.ask(0, large, 9)
    sizes = [len(each.body.encode(each.version)) for each in cluster.requests]
    assert MOST_BYTES / 2 < sum(sizes) <= MOST_BYTES


def test_requests_are_kept_as_they_came() -> None:
    """Decoded, a small one takes several times its bytes."""
    topic = ProduceRequest.TopicProduceData(
        "orders", partition_data=[ProduceRequest.PartitionProduceData(0, b"")] * 600
    )
    data = write_request(ProduceRequest(topic_data=[topic]), 9, 1)
    requests = AskedRequests(served_apis(ReleaseNumber.parse("4.4")))
    requests.add(Caller(1, 9, "me"), read_request(data), 5)  # what is made once, is
    requests.clear()
    with traced() as memory:
        requests.add(Caller(1, 9, "me"), read_request(bytes(bytearray(data))), 5)
    assert len(data) <= memory.kept < len(data) + 2000 < 8000
    (found,) = requests.of("Produce")
    assert found == AskedRequest(1, "Produce", 9, "me", "User:ANONYMOUS", 5, found.body)
    assert isinstance(found.body, ProduceRequest)
    assert found.body.topic_data == [topic]
    assert next(iter(requests)).body is found.body  # read once


def test_waiting_for_a_client(cluster: SyncCluster) -> None:
    def client() -> None:
        with SyncAdminClient(cluster.bootstrap_servers) as admin:
            admin.create_topics([NewTopic("orders", 1)])
        cluster.produce("orders", ["a", "b", "c"])

    thread = threading.Thread(target=client)
    thread.start()
    found = cluster.wait_for(lambda: len(cluster.records("orders")) == 3 and "all three")
    thread.join()
    assert found == "all three"


def test_what_there_is_instead(cluster: SyncCluster) -> None:
    with SyncAdminClient(cluster.bootstrap_servers, client_id="me") as admin:
        admin.create_topics([NewTopic("orders", 2)])
    cluster.produce("orders", ["a", "b"])
    with pytest.raises(TimeoutError) as raised:
        cluster.wait_for(lambda: len(cluster.records("orders")) == 3, timeout=0.05)
    text = str(raised.value)
    assert text.startswith("the condition did not hold within 0.05 s; records by topic: orders 2; ")
    assert "last requests: " in text
    assert "CreateTopics v7 of 'me'" in text
    with pytest.raises(TimeoutError, match=r"\(there is no topic 'other'; there are orders\)"):
        cluster.wait_for(lambda: cluster.records("other"), timeout=0)


def test_an_error_of_the_condition_is_raised(cluster: SyncCluster) -> None:
    with pytest.raises(ZeroDivisionError):
        cluster.wait_for(lambda: 1 // 0)
    with pytest.raises(TypeError, match="a function without arguments"):
        cluster.wait_for(True)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a number of seconds, not '5'"):
        cluster.wait_for(lambda: True, timeout="5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0 or more seconds, not nan"):
        cluster.wait_for(lambda: False, timeout=math.nan)
    with pytest.raises(ValueError, match="0 or more seconds, not -1"):
        cluster.wait_for(lambda: False, timeout=-1)


def test_a_condition_with_async_never_counts_as_true(cluster: SyncCluster) -> None:
    async def is_false() -> bool:
        return False

    conditions: list[Callable[[], Any]] = [is_false, lambda: is_false()]
    for condition in conditions:
        with pytest.raises(TypeError, match="without async: its result is looked at, not awaited"):
            cluster.wait_for(condition)


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([{"timestamp": "x"}], "the timestamp of record 0 is 'x'; expected milliseconds"),
        ([{"timestamp": 1 << 63}], "the timestamp of record 0 is 9223372036854775808"),
        (["a", {"partition": [0]}], r"orders has no partition \[0\]; see record 1"),
        ([{"partition": True}], "orders has no partition True"),
        ([{"headers": "ab"}], "record 0 has the header 'ab'; expected a text and a value"),
        ([{"headers": ["ab"]}], "record 0 has the header 'ab'"),
        ([{"headers": [("a",)]}], "record 0 has the header"),
        ([{"headers": {1: "x"}}], "record 0 has the header"),
        ([{"headers": 5}], "record 0 has the header 5"),
        ([{"headers": 0}], "record 0 has the header 0"),
        ([{"headers": ""}], "record 0 has the header ''"),
        ([{"headers": {"a": 5}}], "the header 'a' of record 0 is 5"),
        (["\ud800"], "the value of record 0 is no text"),
        ([("k", "v", "h")], "the value of record 0 is .*expected bytes, text or None"),
    ],
)
def test_records_that_cannot_be_produced(
    cluster: SyncCluster, records: list[Any], said: str
) -> None:
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders", 2)])
    with pytest.raises(ValueError, match=said):
        cluster.produce("orders", records)
    assert cluster.records("orders") == []


@pytest.mark.parametrize("record", [("key", "value"), ("key", "value", "more"), ()], ids=repr)
def test_a_record_alone_is_no_list_of_records(cluster: SyncCluster, record: Any) -> None:
    """A tuple is a record: in the place of a list its key and value would be two."""
    with pytest.raises(TypeError, match="records: expected a list, got a tuple, which is a record"):
        cluster.produce("orders", record)


def test_before_the_start_and_after_the_end_nothing_is_waited_for() -> None:
    for found in (ended := SyncCluster(), SyncCluster()):
        if found is ended:
            with found:
                assert found.bootstrap_servers
                assert found.wait_for(lambda: "now") == "now"
        with pytest.raises(RuntimeError, match="has ended" if found is ended else "not been start"):
            found.wait_for(lambda: True)
    calls: list[Callable[[], object]] = [
        lambda: found.bootstrap_servers,
        lambda: found.addresses("PLAINTEXT"),
        lambda: found.broker_states,
    ]
    for ask in calls:
        with pytest.raises(RuntimeError, match="the cluster has not been started; enter it first"):
            ask()


def test_a_number_of_seconds_that_is_out_of_all_bounds(cluster: SyncCluster) -> None:
    huge = 10**400
    calls: list[Callable[[], object]] = [
        lambda: cluster.wait_for(lambda: True, timeout=huge),
        lambda: cluster.delay_metadata(huge),
        lambda: cluster.clock.advance(huge),
        lambda: SyncCluster(sync_delay_s=huge),
        lambda: SyncCluster(propagation_delay_s=huge),
    ]
    for ask in calls:
        with pytest.raises(ValueError, match=r"0 or more"):
            ask()


@pytest.mark.parametrize("name", [5, None, [], b"orders"], ids=repr)
def test_a_topic_is_named_by_text(cluster: SyncCluster, name: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: cluster.records(name), lambda: cluster.produce(name, []),
    ]  # fmt: skip
    for ask in calls:
        with pytest.raises(ValueError, match=r"there is no topic .*; there are none"):
            ask()


async def test_waiting_in_the_loop() -> None:
    async with Cluster() as cluster, AdminClient(cluster.bootstrap_servers) as client:
        task = asyncio.create_task(client.create_topics([NewTopic("orders", 1)]))
        assert await cluster.wait_for(lambda: cluster.records("orders") == [])
        await task
