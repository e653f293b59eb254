"""Items find their broker, however often it changes, and none is asked for twice in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import (
    BrokerError,
    ConnectionFailedError,
    ConnectionLostError,
    RequestTimedOutError,
)
from kafka_admin_proto.admin.operations.common.coordinators import KeyType, find_coordinators
from kafka_admin_proto.admin.operations.common.failures import Failure, failure
from kafka_admin_proto.admin.operations.common.routing import ask_brokers, ask_every_broker
from kafka_admin_proto.messages import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_admin_proto.messages.find_coordinator_response import Coordinator
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller

NOT_COORDINATOR, LOADING, UNKNOWN_MEMBER = 16, 14, 25

#: What happens to an item at one attempt, before the one that answers: (broker, code); code None
#: is a broker that cannot be reached, and broker None an item that nobody has for the moment.
_STEPS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(1, 3)),
        st.sampled_from([None, NOT_COORDINATOR, LOADING]),
    ),
    max_size=4,
)


#: The steps, then who answers and with which final code.
_PLANS = st.tuples(_STEPS, st.integers(1, 3), st.sampled_from([0, UNKNOWN_MEMBER]))


class Outcome(msgspec.Struct, frozen=True):
    item: str
    broker: int | None
    error: str | None = None
    message: str | None = None


@given(st.dictionaries(st.text("abc", max_size=3), _PLANS, min_size=1))
def test_each_item_ends_with_the_answer_of_its_broker(
    plans: dict[str, tuple[list[tuple[int | None, int | None]], int, int]],
) -> None:
    attempts = dict.fromkeys(plans, 0)
    answered: list[str] = []

    def step(item: str) -> tuple[int | None, int | None]:
        steps, broker, code = plans[item]
        at = attempts[item]
        return steps[at] if at < len(steps) else (broker, code)

    async def find(items: list[str], seconds: float) -> Mapping[str, int | Failure]:
        places: dict[str, int | Failure] = {}
        for item in items:
            broker, _ = step(item)
            places[item] = failure(LOADING) if broker is None else broker
            if broker is None:
                attempts[item] += 1
        return places

    async def ask(broker: int, items: list[str], seconds: float) -> Mapping[str, Outcome]:
        steps = {item: step(item) for item in items}
        assert {place for place, _ in steps.values()} == {broker}
        for item in items:
            attempts[item] += 1
        if any(code is None for _, code in steps.values()):
            raise ConnectionFailedError("nobody listens there", address=f"b{broker}:9092")
        codes = {item: code or 0 for item, (_, code) in steps.items()}
        answered.extend(item for item, code in codes.items() if code in (0, UNKNOWN_MEMBER))
        return {item: Outcome(item, broker, **failure(code)) for item, code in codes.items()}

    def failed(item: str, why: Failure) -> Outcome:
        return Outcome(item, None, **why)

    async def run() -> list[Outcome]:
        return await ask_brokers(FakeCaller({}), list(plans), find, ask, failed, timeout=None)

    results = asyncio.run(run())
    assert [result.item for result in results] == list(plans)
    for result in results:
        _, broker, code = plans[result.item]
        assert (result.broker, result.error) == (broker, failure(code)["error"])
    # Broker answers that are no transient errors are final: asked for once. (A connection that
    # fails takes all items of its broker along, whose turn it then was.)
    assert sorted(answered) == sorted(plans)


def test_a_broker_that_is_gone_is_the_error_of_its_items_alone() -> None:
    async def find(items: list[str], seconds: float) -> Mapping[str, int | Failure]:
        return {item: int(item) for item in items}

    async def ask(broker: int, items: list[str], seconds: float) -> Mapping[str, Outcome]:
        if broker == 2:
            raise ConnectionFailedError("no route", address="b2:9092")
        return {item: Outcome(item, broker) for item in items}

    def failed(item: str, why: Failure) -> Outcome:
        return Outcome(item, None, **why)

    async def run(items: list[str]) -> list[Outcome]:
        return await ask_brokers(FakeCaller({}), items, find, ask, failed, timeout=0.05)

    one, two = asyncio.run(run(["1", "2"]))
    assert one == Outcome("1", 1)
    assert (two.error, two.message) == ("ConnectionFailedError", "no route")
    with pytest.raises(ConnectionFailedError):
        asyncio.run(run(["2"]))
    assert asyncio.run(run([])) == []


def test_every_broker_answers_or_is_named() -> None:
    attempts: list[int] = []
    caller = FakeCaller({}, brokers=(1, 2, 3, 4))
    caller.gone.add(2)

    async def ask(broker: int, seconds: float) -> int:
        attempts.append(broker)
        if broker == 2:
            raise ConnectionFailedError("no route", address="b2:9092")
        if broker == 3 and attempts.count(3) < 3:
            raise ConnectionLostError("it restarts", address="b3:9092")
        if broker == 4:
            raise BrokerError(LOADING if attempts.count(4) < 3 else UNKNOWN_MEMBER)
        return broker * 10

    good, failed = asyncio.run(ask_every_broker(caller, ask, timeout=None))
    assert good == [10, 30]
    assert [(each.broker, each.error) for each in failed] == [
        (2, "ConnectionFailedError"),
        (4, "UNKNOWN_MEMBER_ID"),
    ]
    assert [attempts.count(broker) for broker in (1, 2, 3, 4)] == [1, 1, 3, 3]


_KEYS = st.dictionaries(st.text(min_size=1, max_size=5), st.sampled_from([0, 15, 24]), min_size=1)


@given(_KEYS, st.sampled_from(list(KeyType)), st.integers(0, 6))
def test_coordinators_are_the_same_by_one_request_and_by_many(
    codes: dict[str, int], key_type: KeyType, version: int
) -> None:
    def place(key: str) -> tuple[int, int]:
        return (1 + len(key) % 3, 0) if codes[key] == 0 else (-1, codes[key])

    def answer(request: Message, call: Call) -> Message:
        assert isinstance(request, FindCoordinatorRequest)
        assert request.key_type == key_type
        if call.version < 4:
            broker, code = place(request.key)
            return FindCoordinatorResponse(error_code=code, node_id=broker)
        rows = [(key, *place(key)) for key in request.coordinator_keys]
        return FindCoordinatorResponse(
            coordinators=[Coordinator(key, id_, error_code=code) for key, id_, code in rows]
        )

    if key_type is KeyType.TRANSACTION and version == 0:
        version = 1
    caller = FakeCaller({FindCoordinatorRequest: answer}, versions={10: VersionRange(0, version)})
    found = asyncio.run(find_coordinators(caller, list(codes), key_type, timeout=1))
    assert found == {
        key: (1 + len(key) % 3) if code == 0 else failure(code) for key, code in codes.items()
    }
    assert len(caller.calls) == (1 if version >= 4 else len(codes))


def test_a_silent_cluster_does_not_outlast_the_timeout_and_is_named() -> None:
    async def ask(broker: int, seconds: float) -> int:
        return broker

    caller = FakeCaller({})
    caller.silent = "a connection to 127.0.0.1:9"
    with pytest.raises(RequestTimedOutError, match=r"127\.0\.0\.1:9"):
        asyncio.run(ask_every_broker(caller, ask, timeout=0.1))
