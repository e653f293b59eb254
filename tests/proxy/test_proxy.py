"""The proxy on sockets, in front of the reference cluster, for clients that others wrote."""

from __future__ import annotations

import contextlib
import gc
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_admin_proto.admin import AdminClient, NewTopic, SyncAdminClient
from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol.tls import TlsSettings
from kafka_admin_proto.proxy import Call, Proxy, SyncProxy
from kafka_admin_proto.proxy.connection.link import Link
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.testing import Certificates, certificates
from kafka_admin_proto.values import Message
from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer
from tests.helpers.waiting import until
from tests.server.network.test_connection import answers, asked, ids, sends_at_once
from tools.clusters import free_ports

_SECONDS = 30
_ALL_TOPICS = MetadataRequest(topics=None)
_USERS = {"alice": "alice-secret"}


class _Slips:
    """Fails for a topic of that name."""

    def on_request(self, request: CreateTopicsRequest, call: Call) -> None:
        if request.topics[0].name == "slip":
            raise KeyError("slip")

    def on_response(self, response: FetchResponse, call: Call) -> None:
        """Has records decoded to nobody's end."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(3, topics={"orders": 3}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def proxy(cluster: SyncCluster) -> Iterator[SyncProxy]:
    with SyncProxy(cluster.bootstrap_servers, [_Slips()]) as proxy:
        yield proxy


def connect(proxy: SyncProxy) -> socket.socket:
    host, _, port = proxy.bootstrap_servers.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=_SECONDS)


def test_clients_know_no_other_addresses(cluster: SyncCluster, proxy: SyncProxy) -> None:
    with SyncAdminClient(proxy.bootstrap_servers) as client:
        described = client.describe_cluster()
    assert [each.id for each in described.nodes] == [1, 2, 3]
    ports = {each.port for each in described.nodes}
    real = {int(each.rpartition(":")[2]) for each in cluster.bootstrap_servers.split(",")}
    assert len(ports) == 3
    assert not ports & real


def test_the_proxy_writes_at_once(proxy: SyncProxy) -> None:
    with connect(proxy) as client:
        client.sendall(asked(_ALL_TOPICS, 12, 1))
        answers(client, 1)
        links = list(proxy._proxy._links)
        ends = [end for each in links for end in (each.client, each.broker)]
        assert links
        assert all(sends_at_once(each) for each in ends if each)


def test_kafka_python_produces_and_consumes(cluster: SyncCluster, proxy: SyncProxy) -> None:
    servers = proxy.bootstrap_servers
    with kafka_python() as kafka:
        producer = kafka.KafkaProducer(bootstrap_servers=servers)
        for number in range(500):
            producer.send("orders", b"%d" % number)
        producer.close()
        consumer = kafka_python_consumer(
            kafka, bootstrap_servers=servers, consumer_timeout_ms=20_000
        )
        consumer.assign([kafka.TopicPartition("orders", number) for number in range(3)])
        consumer.seek_to_beginning()
        found = sorted(int(next(consumer).value) for _ in range(500))
        consumer.close()
    assert found == list(range(500))


@pytest.mark.exhaustive
@pytest.mark.parametrize("end", [SyncCluster.stop_broker, SyncCluster.kill_broker])
def test_librdkafka_produces_while_a_broker_ends(
    cluster: SyncCluster, proxy: SyncProxy, end: Callable[[SyncCluster, int], None]
) -> None:
    from confluent_kafka import Producer

    producer = Producer(
        {
            "bootstrap.servers": proxy.bootstrap_servers,
            "enable.idempotence": True,
            "reconnect.backoff.max.ms": 100,
        }
    )
    before = len(cluster.records("orders"))
    mark = end.__name__[:1].encode()
    for number in range(300):
        producer.produce("orders", b"%s%d" % (mark, number))
        producer.poll(0)
        if number == 100:
            end(cluster, 2)
        if number == 200:
            cluster.start_broker(2)
    assert producer.flush(_SECONDS) == 0
    found = [
        each.value for each in cluster.records("orders") if (each.value or b"").startswith(mark)
    ]
    assert len(cluster.records("orders")) == before + 300
    assert len(set(found)) == 300


def test_a_filter_that_raises_ends_one_connection(
    proxy: SyncProxy, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(proxy) as client, connect(proxy) as other:
        client.sendall(asked(_create("slip"), 7, 1))
        assert answers(client) == []
        other.sendall(asked(_create("fine"), 7, 2))
        assert ids(answers(other, 1)) == [2]
    (record,) = [each for each in caplog.records if each.name == "kafka_admin_proto.proxy"]
    assert record.exc_info is not None
    assert "KeyError: 'slip'" in record.getMessage()


class _Team:
    """Puts the team in front of client ids, and asks the broker something."""

    def on_request(self, request: Message, call: Call) -> Any:
        call.client_id = None if call.client_id == "none" else f"team-{call.client_id}"
        if isinstance(request, CreateTopicsRequest):
            yield MetadataRequest(topics=None)


class _Ids:
    """Keeps the client ids of CreateTopics."""

    def __init__(self) -> None:
        self.found: list[str | None] = []

    def on_request(self, request: CreateTopicsRequest, call: Call) -> None:
        self.found.append(call.client_id)


def test_a_filter_renames_clients() -> None:
    """Brokers and later filters have the new name, in what a filter asks as well."""
    ids = _Ids()
    with SyncCluster() as cluster, SyncProxy(cluster.bootstrap_servers, [_Team(), ids]) as proxy:
        for name in ("me", "none"):
            with SyncAdminClient(proxy.bootstrap_servers, client_id=name) as client:
                client.create_topics([NewTopic(name, 1, 1)])
        assert {each.client_id for each in cluster.requests} == {"team-me", None}
        assert {each.api for each in cluster.requests} >= {"CreateTopics", "Metadata"}
    assert ids.found == ["team-me", None]


def _create(name: str) -> Message:
    topic = CreateTopicsRequest.CreatableTopic
    return CreateTopicsRequest([topic(name, 1, 1)], 1000)


@pytest.mark.exhaustive
def test_a_client_that_does_not_read_costs_little(proxy: SyncProxy) -> None:
    """Its requests wait, and so do the broker's answers."""
    count = 1000
    with SyncAdminClient(proxy.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("large", 1000)])
    with connect(proxy) as client, connect(proxy) as other:
        client.sendall(b"".join(asked(_ALL_TOPICS, 12, number) for number in range(count)))
        for number in range(50):
            other.sendall(asked(MetadataRequest(topics=[]), 12, number))
            assert ids(answers(other, 1)) == [number]
        sizes = [
            each.get_write_buffer_size()
            for link in proxy._proxy._links
            for each in (link.client, link.broker)
            if each
        ]
        assert (len(sizes), max(sizes) < 1 << 20) == (4, True)
        found = answers(client, count)
        assert ids(found) == list(range(count))
        assert sum(map(len, found)) > 10 << 20


def test_a_half_request_and_an_end_leave_nothing(proxy: SyncProxy) -> None:
    with connect(proxy) as client:
        client.sendall(asked(MetadataRequest(), 12, 1)[:9])
    with connect(proxy) as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert answers(client) == []
    until(lambda: not proxy._proxy._links)


def test_a_cluster_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    (port,) = free_ports(1)
    with SyncProxy(f"127.0.0.1:{port}") as proxy, connect(proxy) as client:
        assert answers(client) == []
    assert f"the bootstrap address: no broker for a client: 127.0.0.1:{port}: " in caplog.text


def test_a_stopped_proxy_ends_its_connections(cluster: SyncCluster) -> None:
    proxy = SyncProxy(cluster.bootstrap_servers)
    with pytest.raises(RuntimeError, match="the proxy does not run"):
        assert proxy.bootstrap_servers
    proxy.start()
    with connect(proxy) as client:
        client.sendall(asked(MetadataRequest(), 12, 1))
        assert ids(answers(client, 1)) == [1]
        proxy.stop()
        assert answers(client) == []


def _free_run(count: int) -> int:
    """The first of so many ports in a row that are free, none of which a connection is given."""
    while True:
        (port,) = free_ports(1)
        with contextlib.ExitStack() as opened, contextlib.suppress(OSError):
            for each in range(count):
                opened.enter_context(socket.create_server(("127.0.0.1", port + each)))
            return port


def test_ports_follow_the_ids_of_brokers(cluster: SyncCluster) -> None:
    port = _free_run(5)
    with (
        SyncProxy(
            cluster.bootstrap_servers, listen=f"127.0.0.1:{port}", advertised_host="localhost"
        ) as proxy,
        SyncAdminClient(proxy.bootstrap_servers) as client,
    ):
        nodes = client.describe_cluster().nodes
        assert [(each.host, each.port - port) for each in nodes] == [
            ("localhost", each.id + 1) for each in nodes
        ]


@pytest.mark.parametrize(
    "text", ["9092", ":9092", "host:", "host:99999", "host:-1", "host:x", f"host:{'9' * 5000}"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="is not host:port"):
        Proxy("127.0.0.1:1", listen=text)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_logins_pass_through_with_tls_on_both_sides(
    made: Certificates, mechanism: str
) -> None:
    properties = {"ssl.keystore.location": str(made.server.bundle)}
    to_clients = TlsSettings.from_properties(properties).server_context("none")
    trust = {"ssl.truststore.location": str(made.authority.file)}
    settings = TlsSettings.from_properties(trust)

    cluster = Cluster(2, listeners={"SECURE": "SASL_SSL"}, users=_USERS, configs=properties)
    proxy = None
    async with cluster:
        proxy = Proxy(
            cluster.bootstrap_servers, tls=to_clients, upstream_tls=settings.client_context()
        )
        async with proxy:
            for password, works in (("alice-secret", True), ("wrong", False)):
                client = AdminClient(
                    proxy.bootstrap_servers,
                    sasl_mechanism=mechanism,
                    sasl_username="alice",
                    sasl_password=password,
                    ssl_context=settings.client_context(),
                )
                async with client:
                    if works:
                        await client.create_topics([NewTopic("orders", 4)])
                        continue
                    with pytest.raises(Exception, match=r"refused|Authentication"):
                        await client.list_topics()


def test_what_is_no_filter_is_refused() -> None:
    class Silent:
        pass

    class Vague:
        def on_request(self, request, call):  # type: ignore[no-untyped-def]
            return None

    class Other:
        def on_response(self, response: DeleteTopicsRequest, call: Call) -> None:
            return None

    class Late:
        async def on_request(self, request: Message, call: Call) -> None:
            return None

    class Narrow:
        def on_request(self, request: Message) -> None:
            return None

    class Asking:
        def on_response(self, response: Message, call: Call) -> Any:
            yield MetadataRequest()

    class Number:
        on_request = 5

    for given, said in (
        (Narrow(), r"on_request of .*Narrow takes \(request: .*; expected \(message, call\)"),
        (Asking(), "on_response of .*Asking is a generator function; only on_request may ask"),
        (Number(), "on_request of .*Number is 5; expected a method"),
        (Silent(), "neither on_request nor on_response"),
        (Vague(), "does not name its messages"),
        (Other(), "does not name its messages"),
        (Late(), "write it without async"),
        (Vague, "give an object of it"),
    ):
        with pytest.raises(TypeError, match=said):
            Proxy("127.0.0.1:1", [given])
    with pytest.raises(TypeError, match="expected a collection"):
        Proxy("127.0.0.1:1", "Silent")


class _Gives:
    """A filter that returns, or asks for, what a test wants to."""

    def __init__(self, asked: Any = None, request: Any = None, response: Any = None) -> None:
        self.asked, self.request, self.response = asked, request, response

    def on_request(self, request: CreateTopicsRequest, call: Call) -> Any:
        if self.asked is not None:
            yield self.asked
        return self.request

    def on_response(self, response: CreateTopicsResponse, call: Call) -> Any:
        return self.response


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (_Gives(request=5), "on_request of _Gives returned 5; expected None or a CreateTopicsResp"),
        (_Gives(request=False), "on_request of _Gives returned False; expected None or a Create"),
        (_Gives(request=MetadataResponse()), "on_request of _Gives returned a MetadataResponse"),
        (_Gives(request=CreateTopicsRequest()), "on_request of _Gives returned a CreateTopicsReq"),
        (_Gives(response=0), "on_response of _Gives returned 0; expected None or a CreateTopics"),
        (_Gives(response=MetadataResponse()), "on_response of _Gives returned a MetadataResponse"),
        (_Gives(asked=5), "on_request of _Gives yielded 5; expected a request to the broker"),
        (_Gives(asked=MetadataResponse()), "on_request of _Gives yielded a MetadataResponse"),
    ],
)
def test_what_a_filter_may_not_give_is_in_the_log(
    cluster: SyncCluster, caplog: pytest.LogCaptureFixture, given: Any, said: str
) -> None:
    """It ends the connection; nothing of it reaches a client."""
    with SyncProxy(cluster.bootstrap_servers, [given]) as proxy, connect(proxy) as client:
        client.sendall(asked(CreateTopicsRequest(validate_only=True), 7, 1))
        assert client.recv(1) == b""
    assert said in caplog.text


@pytest.mark.exhaustive
def test_ended_connections_leave_nothing_for_the_collector(proxy: SyncProxy) -> None:
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            with connect(proxy) as client:
                client.sendall(asked(MetadataRequest(topics=[]), 12, 1))
                answers(client, 1)
        until(lambda: not proxy._proxy._links)
        until(lambda: not any(isinstance(each, Link) for each in gc.get_objects()))
    finally:
        gc.enable()


def test_a_port_of_a_broker_that_is_taken(
    cluster: SyncCluster, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says which one, without a traceback; clients have no address for that broker."""
    listen = _free_run(3)
    port = listen + 2
    with (
        socket.create_server(("127.0.0.1", port)),
        SyncProxy(cluster.bootstrap_servers, listen=f"127.0.0.1:{listen}") as proxy,
        connect(proxy) as client,
    ):
        client.sendall(asked(_ALL_TOPICS, 12, 1))
        assert client.recv(1) == b""
    (record,) = caplog.records
    assert f"cannot listen on 127.0.0.1:{port} for broker 1: Address already in" in record.message
    assert not record.exc_info
