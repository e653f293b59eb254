"""What aiokafka's producers and consumers print of records, groups and transactions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import wraps
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from tests.server.clients.pair import Side
from tests.server.clients.record_clients import CODECS, PATIENCE_S, ROWS, Row
from tests.server.clients.record_scripts.scene import TIMES_MS, create_topics, is_shared, when
from tests.server.clients.steps import Shown, Steps

_PAUSE_S = 0.05
_ALICE = {
    "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN",
    "sasl_plain_username": "alice", "sasl_plain_password": "alice-secret",
}  # fmt: skip


def _script(script: Callable[[Steps], Awaitable[None]]) -> Callable[[Side], Shown]:
    """A script of coroutines as a function of a cluster."""

    @wraps(script)
    def run(side: Side) -> Shown:
        steps = Steps(side)
        asyncio.run(script(steps))  # type: ignore[arg-type]
        return steps.shown

    return run


def _address(side: Side, given: dict[str, Any]) -> dict[str, Any]:
    """A client's configs; ``allowed`` is whether it is one that may do everything."""
    if given.pop("allowed", True):
        return {"bootstrap_servers": side.bootstrap, **given}
    return {"bootstrap_servers": side.secured, **_ALICE, **given}


def _producer(side: Side, **given: Any) -> Any:
    return AIOKafkaProducer(**_address(side, {"linger_ms": 50, **given}))


def _consumer(side: Side, *topics: str, **given: Any) -> Any:
    given = {"enable_auto_commit": False, "metadata_max_age_ms": 1000, **given}
    return AIOKafkaConsumer(*topics, **_address(side, given))


async def _sent(producer: Any, topic: str, rows: Sequence[Row], partition: int = 0) -> list[Any]:
    """What a producer hears of each record."""
    futures = []
    for each in rows:
        futures.append(
            await producer.send(
                topic, key=each.key, value=each.value, headers=list(each.headers),
                timestamp_ms=each.timestamp, partition=partition,
            )
        )  # fmt: skip
    found = await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), PATIENCE_S)
    return [_outcome(each) for each in found]


def _outcome(found: Any) -> Any:
    if isinstance(found, BaseException):
        return f"{type(found).__name__}: {found}"
    return [found.topic, found.partition, found.offset, when(found.timestamp),
            found.timestamp_type, found.log_start_offset]  # fmt: skip


async def _read(consumer: Any, count: int, patience_s: float = PATIENCE_S) -> list[Any]:
    found = []
    for _ in range(count):
        each = await asyncio.wait_for(consumer.getone(), patience_s)
        found.append([each.partition, each.offset, each.key, each.value, each.headers,
                      each.timestamp_type, when(each.timestamp)])  # fmt: skip
    return sorted(found, key=lambda row: row[:2])


@_script
async def producing(steps: Steps) -> None:
    """Records in each compression, with each acknowledgement, and batches that are refused."""
    side = steps.side
    names = ("plain", "stamped", "recoded", "small", "compacted", "late")
    await asyncio.to_thread(create_topics, side, "aip", *names)

    async def ask(name: str, topic: str, *rows: Row, **given: Any) -> None:
        async def asked() -> Any:
            async with _producer(side, **given) as producer:
                return await _sent(producer, topic, rows)

        await steps.wait(name, asked)

    for codec in CODECS:
        await ask(codec, "aip-plain", *ROWS, compression_type=None if codec == "none" else codec)
    for acks in (0, 1, "all"):
        await ask(f"acks={acks}", "aip-plain", *ROWS[:2], acks=acks)
    await ask("log append time", "aip-stamped", *ROWS)
    await ask("compressed by the broker", "aip-recoded", *ROWS)
    big = Row(None, b"x" * 1000, (), ROWS[0].timestamp)
    for idempotent in (False, True):
        kind, given = "idempotent" if idempotent else "plain", {"enable_idempotence": idempotent}
        await ask(f"{kind} too large", "aip-small", big, **given)
        await ask(f"{kind} fits", "aip-small", ROWS[0], **given)
        await ask(f"{kind} no key", "aip-compacted", *ROWS, **given)
        await ask(f"{kind} too old", "aip-late", *ROWS, **given)
        await ask(f"{kind} not allowed", "aip-plain", ROWS[0], allowed=False, **given)
    await ask("no name", "a b", ROWS[0])
    await ask("a new topic", "aip-new", ROWS[0])
    async with _consumer(side, "aip-plain", auto_offset_reset="earliest") as consumer:
        await steps.wait("all of it", lambda: _read(consumer, 26))


@_script
async def reading(steps: Steps) -> None:
    """Positions, times, ends, offsets that are not there, and topics that are not."""
    side = steps.side
    await asyncio.to_thread(create_topics, side, "air", "plain", "wide", "stamped")
    async with _producer(side) as producer:
        for topic in ("air-plain", "air-stamped"):
            await _sent(producer, topic, ROWS)
        for partition in range(2):
            await _sent(producer, "air-wide", ROWS[: partition + 1], partition)
    plain, stamped = TopicPartition("air-plain", 0), TopicPartition("air-stamped", 0)
    wide = [TopicPartition("air-wide", each) for each in range(3)]
    async with _consumer(side, group_id="air") as consumer:
        consumer.assign([plain, *wide])
        consumer.pause(*wide)
        await consumer.seek_to_beginning(plain)
        await steps.wait("from the start", lambda: _read(consumer, 4))
        await steps.wait("position", lambda: consumer.position(plain))
        steps.ask("high watermark", lambda: consumer.highwater(plain))
        steps.ask("last stable offset", lambda: consumer.last_stable_offset(plain))
        consumer.seek(plain, 2)
        await steps.wait("from an offset", lambda: _read(consumer, 2))
        for name, time_ms in TIMES_MS.items():
            times = dict.fromkeys([plain, *wide], time_ms)
            await steps.wait(
                f"offset of {name}", lambda t=times: _by_place(consumer.offsets_for_times(t))
            )
        for name, asked in {
            "first": consumer.beginning_offsets, "last": consumer.end_offsets,
        }.items():  # fmt: skip
            await steps.wait(name, lambda asked=asked: _by_place(asked([plain, *wide])))
        await steps.wait("nothing committed", lambda: consumer.committed(plain))
        consumer.assign(wide)
        await consumer.seek_to_beginning()
        await steps.wait("three partitions", lambda: _read(consumer, 3))
        consumer.assign([stamped])
        await consumer.seek_to_beginning()
        await steps.wait("log append time", lambda: _read(consumer, 4))
    for reset, count in (("earliest", 4), ("latest", 1), ("none", 1)):
        async with _consumer(side, auto_offset_reset=reset) as consumer:
            consumer.assign([plain])
            consumer.seek(plain, 9)
            await steps.wait(
                f"beyond the end, {reset}",
                lambda n=count, s=1.0 if reset == "latest" else PATIENCE_S: _read(consumer, n, s),
            )
    refused = _consumer(side, "air-plain", allowed=False)
    await steps.wait("not allowed", lambda: asyncio.wait_for(refused.start(), PATIENCE_S))
    await refused.stop()


async def _by_place(asked: Awaitable[Any]) -> Any:
    return sorted((str(place), str(each)) for place, each in (await asked).items())


@_script
async def groups(steps: Steps) -> None:
    """Members with each strategy, static ones, and offsets that are committed."""
    side = steps.side
    await asyncio.to_thread(create_topics, side, "aig", "plain", "wide")
    async with _producer(side) as producer:
        for partition in range(3):
            await _sent(producer, "aig-wide", ROWS, partition)
    for strategy, sizes in (
        (RangePartitionAssignor, [1, 3]),
        (RoundRobinPartitionAssignor, [2, 2]),
        (StickyPartitionAssignor, [2, 2]),
    ):
        await _share(steps, strategy, sizes)
    place, absent = TopicPartition("aig-wide", 0), TopicPartition("aig-absent", 0)
    given = {"group_id": "commits", "auto_offset_reset": "earliest"}
    async with _consumer(side, "aig-wide", **given) as consumer:
        await steps.wait("joined", lambda: _settled([consumer], [3]))
        for name, offsets in {
            "committed": {place: (2, "with a note")},
            "committed for nothing": {absent: (1, "")},
            "a long note": {place: (3, "x" * 5000)},
        }.items():
            await steps.wait(name, lambda o=offsets: asyncio.wait_for(consumer.commit(o), 3))
        await steps.wait("kept", lambda: consumer.committed(place))
    async with _consumer(side, "aig-wide", **given) as consumer:
        await steps.wait("goes on", lambda: _read(consumer, 10))
        async with _consumer(side, group_id="commits") as other:
            other.assign([place])
            await steps.wait("not a member", lambda: other.commit({place: 2}))
    await _statics(steps)
    refused = _consumer(side, group_id="refused", allowed=False)
    await steps.wait("not allowed", lambda: asyncio.wait_for(refused.start(), PATIENCE_S))
    await refused.stop()


async def _share(steps: Steps, strategy: Any, sizes: Sequence[int]) -> None:
    """Two members of a strategy come and go."""
    name, topics = strategy.name, ("aig-wide", "aig-plain")

    def member(client_id: str) -> Any:
        return _consumer(
            steps.side, *topics, group_id=name, client_id=client_id,
            partition_assignment_strategy=[strategy], heartbeat_interval_ms=100,
        )  # fmt: skip

    async with member("a") as one:
        await steps.wait(f"{name}: one", lambda: _settled([one], [4]))
        async with member("b") as two:
            await steps.wait(f"{name}: two", lambda: _shown(name, _settled([one, two], sizes)))
        await steps.wait(f"{name}: one again", lambda: _settled([one], [4]))


async def _shown(strategy: str, asked: Awaitable[list[Any]]) -> list[Any]:
    """Who has what; what the sticky strategy moves is in sets, which have no order."""
    found = await asked
    return sorted(found) if strategy == "sticky" else found


async def _statics(steps: Steps) -> None:
    """A static member keeps its partitions while it is away for a moment."""

    @asynccontextmanager
    async def joined(instance: str) -> AsyncIterator[Any]:
        async with _consumer(
            steps.side, "aig-wide", group_id="static", group_instance_id=instance,
            client_id=instance, heartbeat_interval_ms=100,
        ) as consumer:  # fmt: skip
            yield consumer

    async with joined("i") as one:
        async with joined("j") as two:
            await steps.wait("static members", lambda: _settled([one, two], [1, 2]))
        async with joined("j") as two:
            await steps.wait("back again", lambda: _settled([one, two], [1, 2]))


async def _settled(members: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Who has which partitions as soon as each has as many, or what they have after a while."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = [sorted(each.assignment()) for each in members]
        if is_shared(found, sizes) or time.monotonic() > deadline:
            return found
        await asyncio.sleep(_PAUSE_S)


@_script
async def transactions(steps: Steps) -> None:
    """Committed and aborted transactions, offsets in them, and producers that are fenced."""
    side = steps.side
    await asyncio.to_thread(create_topics, side, "ait", "plain", "wide", "small")
    async with AsyncExitStack() as stack:
        made = _producer(side, transactional_id="ait", linger_ms=0)
        producer = await stack.enter_async_context(made)
        for number, commit in enumerate((True, False, True)):
            await steps.wait(
                f"{number}", lambda c=commit, n=number: _transaction(producer, c, str(n))
            )
        for level, count in (("read_committed", 2), ("read_uncommitted", 3)):
            given = {"isolation_level": level, "auto_offset_reset": "earliest"}
            async with _consumer(side, "ait-plain", **given) as consumer:
                await steps.wait(level, lambda n=count: _read(consumer, n))
        place = TopicPartition("ait-plain", 0)
        given = {"group_id": "ait", "auto_offset_reset": "earliest"}
        async with _consumer(side, "ait-plain", **given) as consumer:
            await steps.wait("a group reads", lambda: _read(consumer, 1))
            for commit in (False, True):
                await producer.begin_transaction()
                await steps.wait(
                    f"offsets {commit}",
                    lambda: producer.send_offsets_to_transaction({place: 1}, "ait"),
                )
                end = producer.commit_transaction if commit else producer.abort_transaction
                await steps.wait(f"end {commit}", end)
                await steps.wait(
                    f"committed {commit}", lambda c=commit: _committed(consumer, place, c)
                )
        await producer.begin_transaction()
        await steps.wait("of a zombie", lambda: _sent(producer, "ait-plain", ROWS[:1]))
        other = _producer(side, transactional_id="ait", linger_ms=0)
        await stack.enter_async_context(other)
        await steps.wait("fenced", producer.commit_transaction)
        await steps.wait("of the other", lambda: _transaction(other, True, "kept"))
        await other.begin_transaction()
        big = Row(None, b"x" * 1000, (), ROWS[0].timestamp)
        await steps.wait("too large", lambda: _sent(other, "ait-small", [big]))
        await steps.wait("cannot be committed", other.commit_transaction)
        await steps.wait("aborted", other.abort_transaction)
        await steps.wait("goes on", lambda: _transaction(other, True, "after an abort"))
        refused: dict[str, dict[str, Any]] = {
            "timeout": {"transaction_timeout_ms": 2_000_000}, "not allowed": {"allowed": False},
        }  # fmt: skip
        for name, given in refused.items():
            failing = _producer(side, transactional_id="ait", **given)
            await steps.wait(name, lambda f=failing: asyncio.wait_for(f.start(), PATIENCE_S))
            await failing.stop()


async def _committed(consumer: Any, place: Any, expected: bool) -> Any:
    """A group's offset; its transaction has been committed before the coordinator hears of that."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        found = await consumer.committed(place)
        if (found is not None) == expected or time.monotonic() > deadline:
            return found


async def _transaction(producer: Any, commit: bool, value: str) -> Any:
    row = Row(None, value.encode(), (), ROWS[0].timestamp)
    await producer.begin_transaction()
    found = [await _sent(producer, "ait-plain", [row]), await _sent(producer, "ait-wide", [row], 2)]
    await (producer.commit_transaction() if commit else producer.abort_transaction())
    return found


SCRIPTS: dict[str, Callable[[Side], Shown]] = {
    "producing": producing,
    "reading": reading,
    "groups": groups,
    "transactions": transactions,
}
