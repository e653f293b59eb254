"""The counts of a proxy, as Prometheus reads them."""

from __future__ import annotations

import urllib.request
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import ProduceRequest
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.proxy import SyncProxy
from kafka_admin_proto.proxy.metrics import Metrics
from kafka_admin_proto.proxy.observation import Observed
from kafka_admin_proto.server import SyncCluster

_ENDS: Any = (("127.0.0.1", 1000), ("127.0.0.1", 9092))


def _scraped(port: int) -> dict[tuple[Any, ...], float]:
    """Name and values of labels, in the order of their names → value."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_a_client_does_is_counted() -> None:
    metrics = Metrics()
    port = metrics.serve("127.0.0.1", 0)
    with (
        SyncCluster(1) as cluster,
        SyncProxy(cluster.bootstrap_servers, observers=[metrics]) as proxy,
        SyncAdminClient(proxy.bootstrap_servers, client_id="tester") as client,
    ):
        client.create_topics([NewTopic("orders", 1)])
        (again,) = client.create_topics([NewTopic("orders", 1)])
        assert again.error == "TOPIC_ALREADY_EXISTS"
        versions = client.versions()
    found = _scraped(port)
    version = str(versions[19].highest)
    assert found["kafka_proxy_requests_total", "CreateTopics", "tester", version] == 2
    assert found["kafka_proxy_errors_total", "CreateTopics", "TOPIC_ALREADY_EXISTS"] == 1
    assert found["kafka_proxy_latency_seconds_count", "CreateTopics"] == 2
    assert found["kafka_proxy_bytes_total", "client"] > 100
    assert not any(name.startswith("kafka_proxy_removed_requests") for name, *_ in found)
    assert not any(name.startswith("kafka_proxy_undecoded") for name, *_ in found)


def _send(observed: Observed, data: bytes) -> None:
    connection = observed.connection(_ENDS)
    assert connection is not None
    connection.passed(0, data)


def test_removed_versions_and_many_clients() -> None:
    metrics = Metrics()
    observed = Observed([metrics], 1 << 20)
    for number in range(1005):
        request = ProduceRequest(acks=1, timeout_ms=1)
        _send(observed, frame(write_request(request, 2, number, f"client {number}")))
    _send(observed, frame(write_request(ProduceRequest(), 2, 0, "client 3")))
    sample = metrics.registry.get_sample_value
    removed = {"api": "Produce", "version": "2", "removed_in": "4.0"}
    name = "kafka_proxy_removed_requests_total"
    assert sample(name, {**removed, "client": "client 3"}) == 2
    assert sample(name, {**removed, "client": "client 999"}) == 1
    assert sample(name, {**removed, "client": "client 1000"}) is None
    assert sample(name, {**removed, "client": "(others)"}) == 5


def test_bytes_of_strangers_are_no_labels() -> None:
    metrics = Metrics()
    observed = Observed([metrics], 1 << 20)
    for data in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\x08secret!!",
        b"\0\0\0\x0a\0\x12\0\x03\0\0\0\1\xff\xff",
    ):
        _send(observed, data)
    labels = [
        set(sample.labels.values())
        for family in metrics.registry.collect()
        for sample in family.samples
    ]
    assert not any("secret" in str(each) or "GET" in str(each) for each in labels)


def test_an_address_that_is_taken() -> None:
    metrics = Metrics()
    port = metrics.serve("127.0.0.1", 0)
    with pytest.raises(SettingsError, match=f"cannot serve metrics on 127.0.0.1:{port}: "):
        metrics.serve("127.0.0.1", port)


def test_a_frame_without_an_api_is_counted_in_bytes_alone() -> None:
    metrics = Metrics()
    metrics.frame(DecodedFrame("", "data", b"1234"), _ENDS, 1)
    assert metrics.registry.get_sample_value("kafka_proxy_bytes_total", {"sender": "proxy"}) == 4
