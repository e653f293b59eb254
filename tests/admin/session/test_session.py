"""A call: its attempts, its versions and its time, whatever the broker answers or does not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_admin_proto.admin import (
    AdminClient,
    AdminError,
    ConnectionLostError,
    Reply,
    RequestTimedOutError,
    Target,
    TraceEvent,
    client_config,
)
from kafka_admin_proto.admin.network.opening import open_connection
from kafka_admin_proto.admin.retry import Backoff
from kafka_admin_proto.admin.session.session import Session
from kafka_admin_proto.errors import RemoteProtocolError, UnsupportedVersionError
from kafka_admin_proto.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafka_admin_proto.protocol.error_codes import error_code
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.values import Message
from tests.admin.leaks import run_without_leaks
from tests.admin.scripted_broker import CLOSE, SILENCE, Handler, ScriptedBroker, ScriptedCluster
from tests.admin.session.requests import (
    answers_its_id,
    create,
    created,
    groups,
    list_groups,
    session,
)


async def test_more_calls_than_may_be_in_flight_share_a_connection() -> None:
    cluster = ScriptedCluster([1])

    async def named(request: ListGroupsRequest, broker: ScriptedBroker) -> Any:
        await asyncio.sleep(0)
        return groups(*request.states_filter)

    cluster.on(ListGroupsRequest, named)
    async with cluster, session(cluster.bootstrap) as client:
        requests = [ListGroupsRequest(states_filter=[str(n)]) for n in range(1200)]
        replies = await asyncio.gather(
            *(client.call(each, ListGroupsResponse) for each in requests)
        )
        assert [each.body for each in replies] == [groups(str(n)) for n in range(1200)]
        assert cluster.nodes[1].accepted == 1


async def test_a_lost_answer_is_said() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(
        CreateTopicsRequest,
        lambda request, broker: CLOSE,
        lambda request, broker: created("TOPIC_ALREADY_EXISTS"),
    )
    async with cluster, session(cluster.bootstrap) as client:
        reply = await create(client)
        assert reply.maybe_repeated
        assert reply.body == created("TOPIC_ALREADY_EXISTS")


async def test_what_is_not_repeatable_is_sent_once() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(CreateTopicsRequest, lambda request, broker: CLOSE)
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(ConnectionLostError, match="before it answered CreateTopics") as got:
            await create(client, repeatable=False)
        assert got.value.may_have_acted
        assert cluster.nodes[1].count(CreateTopicsRequest) == 1


async def test_what_was_not_sent_is_no_repetition() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(CreateTopicsRequest, lambda request, broker: created())
    async with cluster, session(cluster.bootstrap) as client:
        await client.brokers()
        node = cluster.nodes[1]
        await node.stop()
        waiting = asyncio.create_task(create(client, repeatable=False))
        await asyncio.sleep(0.1)
        await node.start()
        assert not (await waiting).maybe_repeated


async def test_a_request_that_only_reads_cannot_act_later() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(ListGroupsRequest, lambda request, broker: SILENCE)
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(RequestTimedOutError, match="was not done within") as caught:
            await client.call(ListGroupsRequest(), ListGroupsResponse, timeout=0.3)
        assert "act" not in str(caught.value)
        assert not caught.value.may_have_acted


async def test_silence_ends_in_time_and_names_the_broker() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(CreateTopicsRequest, lambda request, broker: SILENCE)
    async with cluster, session(cluster.bootstrap) as client:
        start = time.monotonic()
        with pytest.raises(RequestTimedOutError) as caught:
            await create(client, timeout=0.3)
        assert 0.3 <= time.monotonic() - start < 5
        assert "CreateTopics was not done within 0.3 s" in str(caught.value)
        assert f"the answer of broker 1 ({cluster.bootstrap})" in str(caught.value)
        assert caught.value.may_have_acted


async def test_a_throttled_client_waits() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(
        ListGroupsRequest,
        lambda request, broker: ListGroupsResponse(throttle_time_ms=200),
        lambda request, broker: ListGroupsResponse(throttle_time_ms=60_000),
    )
    async with cluster, session(cluster.bootstrap) as client:
        await list_groups(client)
        start = time.monotonic()
        await list_groups(client)
        assert 0.19 < time.monotonic() - start < 9
        with pytest.raises(RequestTimedOutError, match=r"wants no request for [56]\d\.\d s"):
            await list_groups(client, timeout=0.1)


async def test_a_transient_error_is_asked_again_until_the_time_is_over() -> None:
    loading = error_code("COORDINATOR_LOAD_IN_PROGRESS").code

    cluster = ScriptedCluster([1])

    def fails(request: Any, broker: Any) -> ListGroupsResponse:
        return ListGroupsResponse(error_code=loading)

    cluster.on(ListGroupsRequest, fails, fails, lambda request, broker: groups("a"))
    async with cluster, session(cluster.bootstrap) as client:
        assert (await list_groups(client)).body == groups("a")
        cluster.on(ListGroupsRequest, fails)
        client.backoff = Backoff(60, 60)  # longer than what is left
        assert (await list_groups(client, timeout=9)).body.error_code == loading


async def test_other_errors_are_left_to_the_caller() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(ListGroupsRequest, lambda request, broker: ListGroupsResponse(error_code=31))
    async with cluster, session(cluster.bootstrap) as client:
        assert (await list_groups(client)).body.error_code == 31
        assert cluster.nodes[1].count(ListGroupsRequest) == 1


async def test_a_cancelled_call_leaves_the_connection_in_use() -> None:
    cluster = ScriptedCluster([1])
    gate = asyncio.Event()

    async def held(request: ListGroupsRequest, broker: ScriptedBroker) -> Any:
        await gate.wait()
        return groups(*request.states_filter)

    cluster.on(ListGroupsRequest, held)
    async with cluster, session(cluster.bootstrap) as client:
        tasks = [
            asyncio.create_task(
                client.call(ListGroupsRequest(states_filter=[name]), ListGroupsResponse)
            )
            for name in "abc"
        ]
        await asyncio.sleep(0.1)
        tasks[1].cancel()
        await asyncio.sleep(0)
        gate.set()
        first, _, third = await asyncio.gather(*tasks, return_exceptions=True)
        assert tasks[1].cancelled()
        assert isinstance(first, Reply)
        assert isinstance(third, Reply)
        assert (first.body, third.body) == (groups("a"), groups("c"))
        assert (await list_groups(client)).body == groups()
        assert cluster.nodes[1].accepted == 1


@pytest.mark.parametrize("to", [1, Target.ANY], ids=["one broker", "any"])
async def test_the_next_call_does_not_wait_for_the_answer_to_a_cancelled_one(
    to: int | Target,
) -> None:
    """Brokers answer in order: what comes over the same connection would wait for it."""
    cluster = ScriptedCluster([1])
    is_asked = asyncio.Event()

    async def never(request: ListGroupsRequest, broker: ScriptedBroker) -> Any:
        is_asked.set()
        await asyncio.Event().wait()

    cluster.on(ListGroupsRequest, never, answers_its_id)
    async with cluster, session(cluster.bootstrap, request_timeout=30) as client:
        task = asyncio.create_task(list_groups(client, to=to))
        await is_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(2):
            assert (await list_groups(client, to=to, timeout=5)).body == groups("1")
        assert cluster.nodes[1].accepted == 2


async def test_a_call_that_found_the_connection_answered_is_not_lost_when_it_is_replaced() -> None:
    cluster = ScriptedCluster([1])
    gates = [asyncio.Event() for _ in range(3)]
    versions = cluster.handlers[ApiVersionsRequest]

    def held(gate: asyncio.Event, answer: Handler) -> Handler:
        async def handler(request: Any, broker: ScriptedBroker) -> Any:
            await gate.wait()
            return answer(request, broker)

        return handler

    cluster.on(ListGroupsRequest, held(gates[0], answers_its_id), held(gates[1], answers_its_id),
               answers_its_id)  # fmt: skip
    cluster.on(ApiVersionsRequest, versions, held(gates[2], versions))

    async def until(happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not happened():
                await asyncio.sleep(0.001)

    async with cluster, session(cluster.bootstrap) as client:
        node = cluster.nodes[1]
        cancelled = asyncio.create_task(list_groups(client, to=1))
        await until(lambda: node.count(ListGroupsRequest) == 1)
        cancelled.cancel()
        await asyncio.wait([cancelled])
        second = asyncio.create_task(list_groups(client, to=1))  # opens another connection
        await until(lambda: node.count(ApiVersionsRequest) == 2)
        gates[0].set()
        await until(lambda: client._pool.usable[0].in_flight == 0)
        third = asyncio.create_task(list_groups(client, to=1))  # over the first one
        await until(lambda: node.count(ListGroupsRequest) == 2)
        gates[2].set()
        assert (await second).body == groups("1")
        gates[1].set()
        reply = await third
        assert (reply.body, reply.maybe_repeated) == (groups("1"), False)


async def test_a_cancelled_first_call_leaves_nothing() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(ApiVersionsRequest, lambda request, broker: SILENCE)
    async with cluster, session(cluster.bootstrap) as client:
        task = asyncio.create_task(client.brokers())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("stage", [ApiVersionsRequest, MetadataRequest, ListGroupsRequest])
async def test_closing_ends_calls_on_their_way(stage: type[Message]) -> None:
    cluster = ScriptedCluster([1])
    cluster.on(stage, lambda request, broker: SILENCE)
    async with cluster:
        client = session(cluster.bootstrap)
        task = asyncio.create_task(list_groups(client, to=1))
        while not cluster.nodes[1].count(stage):
            await asyncio.sleep(0.01)
        await client.close()
        with pytest.raises(AdminError, match="closed"):
            await task
        with pytest.raises(AdminError, match="closed"):
            await client.brokers()


async def test_a_client_that_is_not_closed_warns() -> None:
    async with ScriptedCluster([1]) as cluster:
        client = session(cluster.bootstrap)
        await client.brokers()
        with pytest.warns(ResourceWarning, match="was not closed"):
            client.__del__()
        await client.close()


async def test_versions_are_agreed_with_the_broker_that_is_asked() -> None:
    cluster = ScriptedCluster([1, 2])
    cluster.nodes[1].versions[16] = VersionRange(0, 2)
    del cluster.nodes[2].versions[16]
    cluster.on(ListGroupsRequest, answers_its_id)
    async with cluster, session(cluster.bootstrap) as client:
        assert (await list_groups(client, to=1)).version == 2
        with pytest.raises(UnsupportedVersionError, match=r"broker 1 \(.*ListGroups in .* 0-2"):
            await list_groups(client, to=1, versions=VersionRange(3, 5))
        with pytest.raises(UnsupportedVersionError, match=r"broker 2 \(.*not have ListGroups"):
            await list_groups(client, to=2)


async def test_an_answer_that_does_not_read_is_an_error_of_that_call_alone() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(
        ListGroupsRequest,
        lambda request, broker: b"\x00\x00\x00\x06\x00\x00\x00\x01\x00\xff",
        answers_its_id,
    )
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(RemoteProtocolError, match="the answer to ListGroups v5 cannot be"):
            await list_groups(client)
        assert (await list_groups(client)).body == groups("1")
        assert cluster.nodes[1].accepted == 1


async def test_a_broken_protocol_ends_the_connection() -> None:
    cluster = ScriptedCluster([1])
    stranger = b"\x00\x00\x00\x05\x00\x00\x12\x34\x00"  # another correlation id
    cluster.on(ListGroupsRequest, lambda request, broker: stranger, answers_its_id)
    async with cluster, session(cluster.bootstrap) as client:
        await client.brokers()
        reply = await list_groups(client)
        assert reply.maybe_repeated
        assert cluster.nodes[1].accepted == 2


async def test_what_is_asked_of_an_ended_connection_has_not_acted() -> None:
    async with ScriptedCluster([1]) as cluster:
        (address,) = client_config(cluster.bootstrap).addresses
        connection = await open_connection(address, client_config(cluster.bootstrap))
        connection.close(ConnectionLostError("it was silent", may_have_acted=True))
        with pytest.raises(ConnectionLostError, match="it was silent") as caught:
            await connection.request(ListGroupsRequest(), 0)
        assert not caught.value.may_have_acted
        await connection.wait_closed()


def test_a_trace_function_that_fails_does_no_harm() -> None:
    async def run() -> list[Any]:
        failures: list[Any] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: failures.append(context["message"]))
        cluster = ScriptedCluster([1])
        cluster.on(ListGroupsRequest, answers_its_id)

        def fails(event: TraceEvent) -> None:
            raise ValueError(event.api)

        async with cluster, session(cluster.bootstrap, trace=fails) as client:
            await client.brokers()
            assert (await list_groups(client)).body == groups("1")
        return failures

    assert run_without_leaks(run()) == ["a trace function has failed"] * 6


async def test_requests_and_responses_are_shown_as_they_pass() -> None:
    seen: list[TraceEvent] = []
    cluster = ScriptedCluster([1])
    cluster.on(ListGroupsRequest, answers_its_id)
    async with cluster, session(cluster.bootstrap, trace=seen.append) as client:
        await client.brokers()
        await list_groups(client)
    seen = seen
    assert [(each.kind, each.api, each.broker) for each in seen] == [
        (kind, api, broker)
        for api, broker in (("ApiVersions", None), ("Metadata", None), ("ListGroups", 1))
        for kind in ("request", "response")
    ]
    assert seen[-1].message == groups("1")
    assert (seen[-1].latency_s or 0) > 0


async def test_any_request_can_be_sent() -> None:
    cluster = ScriptedCluster([1, 2])
    cluster.on(ListGroupsRequest, answers_its_id)
    async with cluster, AdminClient(cluster.bootstrap) as admin:
        sent = await admin.send(ListGroupsRequest(), broker=2, version=1)
        assert sent == groups("2")
        assert isinstance(await admin.send(MetadataRequest()), MetadataResponse)
        with pytest.raises(AdminError, match="acks 0 has no response"):
            await admin.send(ProduceRequest(acks=0))
        with pytest.raises(AdminError, match="acks 0 has no response"):
            await admin.call(ProduceRequest(acks=0), ProduceResponse, timeout=1)


async def test_brokers_and_versions_have_a_time_of_their_own() -> None:
    cluster = ScriptedCluster([1])
    cluster.on(ApiVersionsRequest, lambda request, broker: SILENCE)
    async with cluster, session(cluster.bootstrap) as client:
        with pytest.raises(RequestTimedOutError, match=r"within 0\.1 s"):
            await client.brokers(refresh=True, timeout=0.1)
        with pytest.raises(RequestTimedOutError, match=r"within 0\.1 s"):
            await client.versions(timeout=0.1)


@pytest.mark.parametrize(
    "use",
    [
        list_groups,
        lambda client: client.call_owner(ListGroupsRequest(), ListGroupsResponse, to=1),
        lambda client: client.brokers(),
        lambda client: client.versions(),
        lambda client: client.call_all(ListGroupsRequest(), ListGroupsResponse),
        lambda client: client.close(),
    ],
    ids=["call", "call_owner", "brokers", "versions", "call_all", "close"],
)
def test_another_event_loop_is_a_sentence(use: Callable[[Session], Any]) -> None:
    with SyncCluster() as cluster, asyncio.Runner() as first:
        client = session(cluster.bootstrap_servers)
        first.run(client.brokers())
        with asyncio.Runner() as second, pytest.raises(AdminError, match="take a SyncAdminClient"):
            second.run(use(client))
        first.run(client.brokers())
        first.run(client.close())
