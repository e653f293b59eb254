"""The quota request_percentage: clients that keep the cluster busy wait, as KIP-124 has it."""

from __future__ import annotations

import asyncio

import pytest

from kafka_admin_proto import codec
from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.alter_client_quotas_request import EntityData, EntryData, OpData
from kafka_admin_proto.messages.fetch_request import ReplicaState
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.quotas.request_time import request_throttle_ms
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.server.state import State
from kafka_admin_proto.values import Message
from tests.server.served import Served
from tests.server.still_clock import StillClock

_SECOND_NS = 10**9


def _limit(state: State, percentage: float | None) -> None:
    change = OpData("request_percentage", percentage or 0.0, percentage is None)
    entry = EntryData([EntityData("user", None)], [change])
    request = m.AlterClientQuotasRequest([entry])
    state.append(respond(state, request.api_key or 0, request, Caller(1, 1)).records)


@pytest.fixture
def state() -> State:
    found = Served(nodes=1).state
    found.clock = StillClock()
    return found


def _used(state: State, seconds: float, request: Message | None = None) -> int:
    asked = m.MetadataRequest() if request is None else request
    assert asked.api_key is not None
    used_ns = int(seconds * _SECOND_NS)
    return request_throttle_ms(state, Caller(1, 12, "c"), asked.api_key, asked, used_ns)


def test_the_time_of_all_windows_counts_and_one_is_waited_for(state: State) -> None:
    assert _used(state, 100) == 0  # without a quota
    _limit(state, 10.0)
    assert _used(state, 1) == 0  # 100 % of one second in ten windows of one
    assert _used(state, 0.05) == 500
    assert _used(state, 100) == 1000
    assert isinstance(state.clock, StillClock)
    state.clock.move(11)
    assert _used(state, 1) == 0
    _limit(state, None)
    assert _used(state, 100) == 0


@pytest.mark.parametrize(
    "request_",
    [
        m.FetchRequest(replica_id=2),
        m.FetchRequest(replica_state=ReplicaState(2, 0)),
        m.WriteTxnMarkersRequest([]),
    ],
)
def test_requests_of_brokers_do_not_count(state: State, request_: Message) -> None:
    _limit(state, 0.001)
    assert _used(state, 100, request_) == 0
    assert _used(state, 0) == 0
    assert _used(state, 1) == 1000


@pytest.mark.parametrize("version", [0, 3])
async def test_a_busy_client_is_throttled(version: int) -> None:
    """An answer that is kept as bytes says so too; versions without the field are not read."""

    async with Cluster(1, topics={"t": 1}) as cluster:
        host, _, port = cluster.bootstrap_servers.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))

        async def ask() -> m.MetadataResponse:
            writer.write(frame(write_request(m.MetadataRequest([]), version, 1)))
            data = await reader.readexactly(4)
            body = (await reader.readexactly(int.from_bytes(data, "big")))[4:]
            return codec(m.MetadataResponse, version).decode(body)

        assert [(await ask()).throttle_time_ms for _ in range(2)] == [0, 0]
        _limit(cluster.state, 1e-9)
        throttled = (await ask()).throttle_time_ms
        assert throttled == (1000 if version else 0)
        later = asyncio.ensure_future(ask())
        await asyncio.sleep(0.05)
        assert not later.done()
        await cluster.clock.advance(1)
        await asyncio.wait_for(later, 30)
        writer.close()
