"""Quotas for bytes: Produce and Fetch throttle as Kafka's ClientQuotaManager does."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import fetch_request, produce_request
from kafka_admin_proto.messages.alter_client_quotas_request import EntityData, EntryData, OpData
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.apis import Caller
from kafka_admin_proto.server.quotas.byte_rates import ByteRate, most_bytes
from kafka_admin_proto.server.respond import respond
from tests.helpers.profile import draws
from tests.helpers.release_tool import RELEASES, ReleaseTool
from tests.server.served import Served
from tests.server.still_clock import StillClock

_BATCH = write_batch(Batch.of([Record(0, int(time.time() * 1000), None, bytes(9_900))]))
#: Bytes a second; a broker takes the last two too.
_BOUNDS = [0.5, 10.0, 333.3, 2e4, 1e12, 1e-300, math.nan]
#: (milliseconds that pass, bytes; those that are taken back are below 0)
_STEPS = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 10, 499, 500, 999, 1000, 1001, 2500, 10_999, 11_000, 30_000])
        | st.integers(0, 40_000),
        st.integers(-500, 5_000) | st.integers(1 << 20, 1 << 34),
    ),
    max_size=60,
)


@pytest.fixture(scope="module", params=[*RELEASES])
def manager(request: pytest.FixtureRequest) -> Iterator[tuple[str, ReleaseTool]]:
    tool = ReleaseTool("ClientQuotas.java", request.param)
    yield request.param, tool
    tool.close()


@pytest.mark.exhaustive
def test_throttle_times_are_those_of_kafkas_class(manager: tuple[str, ReleaseTool]) -> None:
    release, tool = manager

    @settings(max_examples=draws(400), deadline=None)
    @given(st.integers(1, 12), st.integers(1, 3), st.sampled_from(_BOUNDS), _STEPS)
    def holds(count: int, seconds: int, bound: float, steps: list[tuple[int, int]]) -> None:
        rate, now_ms = ByteRate(count, seconds * 1000), 1_000_000
        shown = str(bound).replace("nan", "NaN")
        lines, found = (
            [f"new\t{count}\t{seconds}\t{shown}", "most"],
            ["", str(most_bytes(bound, count, seconds))],
        )
        for passed_ms, size in steps:
            now_ms += passed_ms
            rate.record(size, now_ms)
            if size < 0:
                lines.append(f"unrecord\t{now_ms}\t{-size}")
                found.append("")
            else:
                lines.append(f"record\t{now_ms}\t{size}")
                found.append(str(rate.throttle_ms(bound, now_ms, wraps=release == "3.9")))
        assert found == tool.ask(lines)

    holds()


@pytest.fixture
def served() -> Served:
    found = Served(nodes=1)
    found.state.clock = StillClock()
    found.ask(m.CreateTopicsRequest([CreatableTopic("t", 1, 1)], 1000))
    return found


def _limit(served: Served, key: str, rate: float | None) -> None:
    entry = EntryData([EntityData("user", "anna")], [OpData(key, rate or 0.0, rate is None)])
    (row,) = served.ask(m.AlterClientQuotasRequest([entry])).entries
    assert row.error_code == 0, row


def _produce() -> m.ProduceRequest:
    row = produce_request.PartitionProduceData(0, _BATCH)
    topic = produce_request.TopicProduceData("t", partition_data=[row])
    return m.ProduceRequest(None, 1, 1000, [topic])


def _produced(served: Served, principal: str = "User:anna") -> m.ProduceResponse:
    caller = Caller(1, 9, "c", principal, request_bytes=10_000)
    response = respond(served.state, 0, _produce(), caller).response
    assert isinstance(response, m.ProduceResponse)
    assert response.responses[0].partition_responses[0].error_code == 0
    return response


def _fetched(
    served: Served, principal: str = "User:anna", session: tuple[int, int] = (0, -1)
) -> m.FetchResponse:
    row = fetch_request.FetchPartition(0, partition_max_bytes=1 << 20)
    request = m.FetchRequest(
        max_wait_ms=0, max_bytes=1 << 20, session_id=session[0], session_epoch=session[1],
        topics=[fetch_request.FetchTopic("t", partitions=[row])],
    )  # fmt: skip
    response = respond(served.state, 1, request, Caller(1, 12, "c", principal)).response
    assert isinstance(response, m.FetchResponse)
    return response


def _pass(served: Served, milliseconds: float) -> None:
    assert isinstance(served.state.clock, StillClock)
    served.state.clock.move(milliseconds / 1000)


def test_produce_is_taken_and_throttled(served: Served) -> None:
    _limit(served, "producer_byte_rate", 1000.0)
    assert _produced(served).throttle_time_ms == 0  # 10,000 bytes in ten windows
    assert _produced(served).throttle_time_ms == 10_000
    assert _produced(served, "User:bert").throttle_time_ms == 0
    _pass(served, 11_000)
    assert _produced(served).throttle_time_ms == 0
    _limit(served, "producer_byte_rate", None)
    assert _produced(served).throttle_time_ms == 0
    (log,) = [served.state.partitions.log(each, 0) for each in served.state.cluster.topics.values()]
    assert log.log.end_offset == 5


def test_fetch_is_empty_and_counts_nothing(served: Served) -> None:
    _produced(served)
    first = _fetched(served, session=(0, 0))
    assert first.session_id
    _limit(served, "consumer_byte_rate", 1010.0)
    assert len(_fetched(served).responses[0].partitions[0].records or b"") == len(_BATCH)
    throttled = _fetched(served)
    assert throttled.throttle_time_ms > 9_000
    assert (throttled.responses, throttled.session_id, throttled.error_code) == ([], 0, 0)
    again = _fetched(served, session=(first.session_id, 1))  # what was not sent does not count
    assert abs(again.throttle_time_ms - throttled.throttle_time_ms) < 100
    assert (again.responses, again.session_id) == ([], first.session_id)
    _pass(served, 11_000)
    known = _fetched(served, session=(first.session_id, 2))
    assert len(known.responses[0].partitions[0].records or b"") == len(_BATCH)
    assert _fetched(served, "User:bert").throttle_time_ms == 0


def test_a_fetch_reads_what_fits_into_the_quota(served: Served) -> None:
    """All that the windows give may come at once, and the first batch whole in any case."""
    for _ in range(5):
        _produced(served)
    _limit(served, "consumer_byte_rate", 2010.0)
    found = _fetched(served).responses[0].partitions[0].records
    assert found is not None
    assert len(found) == 2 * len(_BATCH)


async def test_a_throttled_connection_is_not_read() -> None:
    """The answer goes out at once, and the next request waits on the cluster's clock."""

    async with Cluster(1, topics={"t": 1}) as cluster:
        quota = EntryData([EntityData("user", None)], [OpData("producer_byte_rate", 900.0)])
        request = m.AlterClientQuotasRequest([quota])
        cluster.state.append(respond(cluster.state, 49, request, Caller(1, 1)).records)
        host, _, port = cluster.bootstrap_servers.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        for number in range(3):
            writer.write(frame(write_request(_produce(), 9, number)))
        await _answer(reader)
        later = asyncio.ensure_future(_answer(reader))
        await asyncio.sleep(0.05)
        assert not later.done()
        await cluster.clock.advance(2)  # 9,975 bytes in ten windows are 1,083 ms too many
        await asyncio.wait_for(later, 30)
        writer.close()


async def _answer(reader: asyncio.StreamReader) -> None:
    await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
