"""A request reaches the right broker, which is found anew where it has changed."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import pytest

from kafka_admin_proto.admin import (
    AdminError,
    ConnectionFailedError,
    ConnectionLostError,
    NoSuchBrokerError,
    Reply,
    RequestTimedOutError,
    UnresolvedError,
    client_config,
)
from kafka_admin_proto.admin.network.opening import open_connection
from kafka_admin_proto.admin.operations.cluster.pinging import ping_brokers
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.admin.session.cluster_view import cluster_call
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DescribeClusterRequest,
    DescribeClusterResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.protocol.addresses import parse_addresses
from kafka_admin_proto.values import Message
from tests.admin.scripted_broker import CLOSE, SILENCE, ScriptedBroker, ScriptedCluster
from tests.admin.session.requests import (
    NOBODY,
    answers_its_id,
    create,
    created,
    groups,
    list_groups,
    session,
)


async def test_each_broker_is_asked_by_its_id_over_one_connection() -> None:
    cluster = ScriptedCluster([1, 2, 3])
    cluster.on(ListGroupsRequest, answers_its_id)
    async with cluster, session(cluster.bootstrap) as client:
        assert sorted(await client.brokers()) == [1, 2, 3]
        for broker in (1, 2, 3, 2):
            reply = await list_groups(client, to=broker)
            assert (reply.broker, reply.version) == (broker, 5)
            assert reply.body == groups(str(broker))
        everybody = await client.call_all(ListGroupsRequest(), ListGroupsResponse)
        bodies = {id_: each.body for id_, each in everybody.items() if isinstance(each, Reply)}
        assert bodies == {id_: groups(str(id_)) for id_ in (1, 2, 3)}
        assert all(node.accepted == 1 for node in cluster.nodes.values())
        assert (await client.versions(2))[3] == cluster.nodes[2].versions[3]


async def test_the_controller_is_found_anew() -> None:
    cluster = ScriptedCluster([1, 2], controller=1)

    def moved(request: Any, broker: ScriptedBroker) -> Any:
        if broker.id == 2:
            return created()
        cluster.controller = 2
        return created("NOT_CONTROLLER")

    cluster.on(CreateTopicsRequest, moved)
    async with cluster, session(cluster.bootstrap) as client:
        reply = await create(client)
        assert (reply.broker, reply.maybe_repeated) == (2, False)
        assert reply.body == created()


async def test_a_cluster_without_a_controller_is_waited_for() -> None:
    cluster = ScriptedCluster([1], controller=-1)
    cluster.on(CreateTopicsRequest, lambda request, broker: created())
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(RequestTimedOutError, match="no active controller") as caught:
            await create(client, timeout=1.0)
        assert not caught.value.may_have_acted
        waiting = asyncio.create_task(create(client))
        await asyncio.sleep(0.05)
        cluster.controller = 1
        assert (await waiting).broker == 1


async def test_a_silent_broker_is_given_up_for_another() -> None:
    cluster = ScriptedCluster([1, 2])
    silent: list[int] = []

    def once(request: Any, broker: ScriptedBroker) -> Any:
        if not silent:
            silent.append(broker.id)
        return SILENCE if broker.id in silent else groups()

    cluster.on(ListGroupsRequest, once)
    async with cluster, session(cluster.bootstrap, request_timeout=0.1) as client:
        await client.brokers()
        reply = await list_groups(client)
        assert reply.maybe_repeated
        assert [reply.broker] != silent


@pytest.mark.parametrize(
    "times", [{"timeout": 1.0}, {"request_timeout": 0.05}], ids=["timeout", "request timeout"]
)
async def test_a_broker_that_is_silent_to_a_question_leaves_another_its_turn(
    times: dict[str, float],
) -> None:
    """Well before the time of the whole call is over, and without asking the silent one again."""

    cluster = ScriptedCluster([1, 2])
    metadata = cluster.handlers[MetadataRequest]
    cluster.on(MetadataRequest, lambda r, node: SILENCE if node.id == 1 else metadata(r, node))
    async with cluster, session(cluster.bootstrap, **times) as client:
        assert sorted(await client.brokers()) == [1, 2]
        assert [each.count(MetadataRequest) for each in cluster.nodes.values()] == [1, 1]


@pytest.mark.parametrize("asked", [ApiVersionsRequest, MetadataRequest])
@pytest.mark.parametrize("ids", [[1], [1, 2, 3]], ids=str)
async def test_all_addresses_that_were_silent_are_named(
    asked: type[Message], ids: list[int]
) -> None:
    """To calls that wait for the answer to another one as well."""

    cluster = ScriptedCluster(ids)
    cluster.on(asked, lambda request, broker: SILENCE)
    async with cluster, session(cluster.bootstrap, timeout=0.4, request_timeout=0.02) as client:
        calls = (ping_brokers(client), list_groups(client, to=1, timeout=0.3))
        for error in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(error, RequestTimedOutError)
            for address in cluster.bootstrap.split(","):
                assert address in str(error)


async def test_a_call_that_waits_names_what_is_asked_after_an_earlier_one_ended() -> None:
    cluster = ScriptedCluster([1, 2])
    cluster.on(MetadataRequest, lambda request, broker: SILENCE)
    async with cluster, session(cluster.bootstrap) as client:
        calls = (
            client.brokers(timeout=0.1),
            client.brokers(timeout=0.25),
            list_groups(client, to=1, timeout=0.2),
        )
        _, second, third = await asyncio.gather(*calls, return_exceptions=True)
        asked = [each for each in cluster.bootstrap.split(",") if each in str(second)]
        assert asked
        assert all(each in str(third) for each in asked), f"{second}\n{third}"


def test_an_address_within_another_one_is_named_too() -> None:
    call = cluster_call(Deadline(1), asks_controllers=False)
    call.waiting = "the answer of broker 2 (my-kafka:9092)"
    call.last_error = "cannot connect to [::1]:9092: refused"
    silent = ["kafka:9092", "my-kafka:9092", "my-kafka:909", "[::1]:9092"]
    call.failed = dict.fromkeys(parse_addresses(silent))
    said = str(call.timed_out())
    assert said.endswith("refused; kafka:9092 and my-kafka:909 did not answer either")


async def test_a_live_bootstrap_address_is_found_among_dead_ones() -> None:
    async with ScriptedCluster([1]) as cluster:
        async with session(f"{NOBODY},no-such-host.invalid:9,{cluster.bootstrap}") as client:
            assert list(await client.brokers()) == [1]
        start = time.monotonic()
        async with ScriptedCluster([2]) as slow:
            slow.on(ApiVersionsRequest, lambda request, broker: SILENCE)
            async with session(f"{slow.bootstrap},{cluster.bootstrap}") as client:
                assert list(await client.brokers()) == [1]
        assert time.monotonic() - start < 5


async def test_no_address_that_answers_is_an_error_at_once() -> None:
    start = time.monotonic()
    async with session(f"{NOBODY},no-such-host.invalid:9092") as client:
        with pytest.raises(ConnectionFailedError) as caught:
            await client.brokers()
    assert time.monotonic() - start < 5
    assert f"cannot connect to {NOBODY}: connection refused" in str(caught.value)
    assert "no-such-host.invalid:9092 does not resolve" in str(caught.value)


async def test_an_advertised_address_that_does_not_resolve_is_named() -> None:
    cluster = ScriptedCluster([1, 2])
    cluster.on(ListGroupsRequest, answers_its_id)
    async with cluster:
        bootstrap = f"{cluster.nodes[1].address}, {NOBODY}"
        cluster.nodes[2].host = "kafka-2.invalid"
        async with session(bootstrap) as client:
            with pytest.raises(UnresolvedError) as caught:
                await list_groups(client, to=2)
            assert (await list_groups(client, to=1)).body == groups("1")
    said = f"broker 2 advertises kafka-2.invalid:{cluster.nodes[2].port}, which does not resolve"
    assert f"{said}; one of the bootstrap addresses {bootstrap} did:" in str(caught.value)


async def test_an_advertised_address_that_refuses_or_is_silent_is_named() -> None:
    async def failure(address: str, **settings: Any) -> str:
        config = client_config("there:9092", **settings)
        with pytest.raises(ConnectionFailedError) as caught:
            await open_connection(parse_addresses(address)[0], config, broker=2)
        return str(caught.value)

    refused = await failure(NOBODY)
    said = f"broker 2 advertises {NOBODY}: cannot connect to {NOBODY}: connection refused"
    assert said in refused
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        silent = await failure(address, connect_timeout=0.05)
    said = f"broker 2 advertises {address}: no connection to {address} within 0.05 s"
    assert said in silent
    remedy = "the bootstrap address there:9092 did answer: unless the broker is down, set its"
    assert f"{remedy} advertised.listeners" in refused
    assert f"{remedy} advertised.listeners" in silent


async def test_a_bootstrap_address_is_nothing_that_a_broker_only_advertises() -> None:
    async with ScriptedCluster([1, 2]) as cluster, session(cluster.bootstrap) as client:
        await client.brokers()
        await cluster.nodes[2].stop()
        with pytest.raises(RequestTimedOutError) as caught:
            await list_groups(client, to=2, timeout=1)
    assert "connection refused" in str(caught.value)
    assert "advertise" not in str(caught.value)


async def test_a_controller_that_is_out_of_reach_is_asked_through_others() -> None:
    cluster = ScriptedCluster([1, 2], controller=2)
    cluster.on(CreateTopicsRequest, lambda request, broker: created())
    async with cluster:
        cluster.nodes[2].host = "kafka-2.invalid"
        async with session(cluster.nodes[1].address) as client:
            assert (await create(client)).broker == 1


async def test_a_broker_that_never_was_is_an_error_and_one_that_was_is_waited_for() -> None:
    cluster = ScriptedCluster([1, 2])
    cluster.on(ListGroupsRequest, answers_its_id)
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(NoSuchBrokerError, match=r"broker 9 is not .*: 1, 2"):
            await list_groups(client, to=9)
        await list_groups(client, to=1)
        gone = cluster.nodes.pop(2)
        await gone.stop()
        with pytest.raises(RequestTimedOutError, match="broker 2"):
            await list_groups(client, to=2, timeout=1)
        both = await client.call_all(
            ListGroupsRequest(), ListGroupsResponse, brokers=[1, 2], timeout=1
        )
        assert isinstance(both[1], Reply)
        assert isinstance(both[2], RequestTimedOutError)


async def test_short_calls_leave_a_silent_broker_too() -> None:
    """Their time is over long before that of the request, after which a connection is closed."""

    cluster = ScriptedCluster([1, 2])
    cluster.on(ListGroupsRequest, lambda _, broker: SILENCE if broker.id == 1 else groups("2"))
    async with cluster, session(cluster.bootstrap, request_timeout=30) as client:
        with pytest.raises(RequestTimedOutError, match="the answer of"):
            await list_groups(client, timeout=0.2, repeatable=False)
        reply = await list_groups(client, timeout=5)
        assert reply.body == groups("2")
        assert cluster.nodes[1].count(ListGroupsRequest) == 1


async def test_a_broker_that_names_very_many_others_costs_little() -> None:
    many = 15_000

    def names_many(request: Any, broker: ScriptedBroker) -> MetadataResponse:
        row = MetadataResponse.MetadataResponseBroker
        return MetadataResponse(brokers=[row(id_, "", 1) for id_ in range(many)])

    cluster = ScriptedCluster([1])
    cluster.on(MetadataRequest, names_many)
    cluster.on(ListGroupsRequest, lambda *_: CLOSE)
    async with cluster, session(cluster.bootstrap, timeout=1) as client:
        assert len(await client.brokers()) == many
        start = time.monotonic()
        with pytest.raises(AdminError) as caught:
            await list_groups(client)
        assert time.monotonic() - start < 3
        assert len(str(caught.value)) < 2000


async def test_each_address_of_a_host_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first address swallows packets, as a firewall does."""

    loop = asyncio.get_running_loop()
    connect = loop.sock_connect
    tried = []

    async def sock_connect(sock: socket.socket, where: Any) -> None:
        tried.append(where)
        if len(tried) == 1:
            await asyncio.sleep(60)
        await connect(sock, where)

    async with ScriptedCluster([1]) as cluster:
        (address,) = client_config(cluster.bootstrap).addresses
        way = (socket.AF_INET, socket.SOCK_STREAM, 0, "", (address.host, address.port))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [way, way])
        monkeypatch.setattr(loop, "sock_connect", sock_connect)
        async with session(cluster.bootstrap, connect_timeout=1) as client:
            assert list(await client.brokers()) == [1]
    assert len(tried) == 2


async def test_a_client_that_never_got_an_answer_gives_up() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(MetadataRequest, lambda request, broker: CLOSE)
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(ConnectionLostError, match="listeners with SASL do so"):
            await client.brokers()
        assert cluster.nodes[1].accepted == 2


async def test_a_client_that_got_an_answer_before_is_not_asked_to_log_in() -> None:
    """The connection to the controller is ended at its first request, that to the other was not."""

    cluster = ScriptedCluster([1, 2], controller=2)
    cluster.on(CreateTopicsRequest, lambda request, broker: CLOSE)
    async with cluster, session(cluster.nodes[1].address) as client:
        assert [*await client.brokers()] == [1, 2]
        with pytest.raises(RequestTimedOutError) as lost:
            await create(client, timeout=0.2)
        assert "ended the connection" in str(lost.value)
        assert "SASL" not in str(lost.value)


async def test_controllers_are_asked_for_the_active_one() -> None:
    cluster = ScriptedCluster([1, 2], controller=2)

    def described(request: DescribeClusterRequest, broker: ScriptedBroker) -> Any:
        if request.endpoint_type != 2:
            return DescribeClusterResponse(error_code=114)
        rows = [
            DescribeClusterResponse.DescribeClusterBroker(each.id, each.host, each.port)
            for each in cluster.nodes.values()
        ]
        return DescribeClusterResponse(controller_id=cluster.controller, brokers=rows)

    cluster.on(DescribeClusterRequest, described)
    cluster.on(CreateTopicsRequest, lambda request, broker: created())
    cluster.on(ListGroupsRequest, answers_its_id)
    async with cluster:
        config = client_config(bootstrap_controllers=cluster.nodes[1].address)
        async with Session(config) as client:
            assert (await create(client)).broker == 2
            cluster.on(
                CreateTopicsRequest,
                lambda request, broker: created("NOT_CONTROLLER"),
                lambda request, broker: created("TOPIC_ALREADY_EXISTS"),
            )
            assert (await create(client)).maybe_repeated
            assert (await list_groups(client)).broker == 2
        cluster.on(DescribeClusterRequest, lambda *_: DescribeClusterResponse(error_code=114))
        async with Session(config) as client:
            with pytest.raises(NoSuchBrokerError, match="given as bootstrap_servers"):
                await client.brokers()
        del cluster.nodes[1].versions[3]
        async with session(cluster.nodes[1].address) as client:
            with pytest.raises(NoSuchBrokerError, match="given as bootstrap_controllers"):
                await client.brokers()


async def test_a_broker_that_has_come_since_is_found() -> None:
    cluster = ScriptedCluster([1, 2])
    cluster.on(ListGroupsRequest, answers_its_id)
    new = cluster.nodes.pop(2)
    async with cluster, session(cluster.bootstrap) as client:
        assert list(await client.brokers()) == [1]
        cluster.nodes[2] = new
        await new.start()
        assert (await list_groups(client, to=2)).body == groups("2")


async def test_what_the_list_of_brokers_waits_for_is_said() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(MetadataRequest, lambda request, broker: SILENCE)
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(RequestTimedOutError) as caught:
            await create(client, timeout=0.3)
        where = f"the answer of {cluster.bootstrap}, to know the brokers"
        assert str(caught.value) == f"CreateTopics was not done within 0.3 s; waiting for {where}"
        assert not caught.value.may_have_acted
