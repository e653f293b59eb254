"""Only items with a transient error are asked for again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.errors import AdminError, BrokerError
from kafka_admin_proto.admin.operations.common.item_retries import retry_items
from kafka_admin_proto.admin.retry import TRANSIENT, Backoff, Deadline
from tests.admin.fake_caller import FakeCaller


class Result(msgspec.Struct, frozen=True):
    error: str | None = None
    message: str | None = None


def caller() -> FakeCaller:
    fake = FakeCaller({})
    fake.backoff = Backoff(0, 0)
    return fake


answers = st.lists(
    st.sampled_from([None, "INVALID_REPLICATION_FACTOR", "REQUEST_TIMED_OUT", *sorted(TRANSIENT)]),
    min_size=1,
    max_size=5,
)


@given(st.dictionaries(st.integers(0, 20), answers))
def test_each_item_gets_its_first_lasting_answer(script: dict[int, list[str | None]]) -> None:
    asked: dict[int, int] = dict.fromkeys(script, 0)

    async def attempt(items: list[int], left: float) -> Mapping[int, Result]:
        assert left > 0
        found = {}
        for item in items:
            planned = script[item]
            last = planned[min(asked[item], len(planned) - 1)]
            asked[item] += 1
            found[item] = Result(None if asked[item] > len(planned) else last, str(asked[item]))
        return found

    results = asyncio.run(retry_items(caller(), list(script), attempt, timeout=30))
    assert list(results) == list(script)
    for item, planned in script.items():
        lasting = [n for n, error in enumerate(planned, 1) if error not in TRANSIENT]
        expected = lasting[0] if lasting else len(planned) + 1
        assert asked[item] == expected
        assert results[item].message == str(expected)


def test_the_first_attempt_has_what_an_earlier_step_has_left() -> None:
    async def attempt(items: list[int], left: float) -> Mapping[int, Result]:
        return {item: Result(message=f"{left:g}") for item in items}

    async def run() -> Mapping[int, Result]:
        return await retry_items(caller(), [1], attempt, timeout=Deadline(0).left)

    assert asyncio.run(run())[1].message == "0"


def test_results_are_kept_when_a_later_attempt_fails() -> None:
    calls = []

    async def attempt(items: list[str], left: float) -> Mapping[str, Result]:
        calls.append(items)
        if len(calls) > 1:
            raise BrokerError(87)
        return {"a": Result(), "b": Result("THROTTLING_QUOTA_EXCEEDED", "slow down")}

    results = asyncio.run(retry_items(caller(), ["a", "b"], attempt, timeout=30))
    assert calls == [["a", "b"], ["b"]]
    assert results["a"] == Result()
    assert results["b"].error == "THROTTLING_QUOTA_EXCEEDED"
    assert "slow down; asked again" in (results["b"].message or "")


def test_the_first_exception_is_raised_and_time_ends_the_rest() -> None:
    async def fails(items: list[str], left: float) -> Mapping[str, Result]:
        raise AdminError("no")

    async def never(items: list[str], left: float) -> Mapping[str, Result]:
        return {item: Result("THROTTLING_QUOTA_EXCEEDED") for item in items}

    try:
        asyncio.run(retry_items(caller(), ["a"], fails))
    except AdminError as error:
        assert str(error) == "no"
    fake = caller()
    fake.backoff = Backoff(0.01, 0.01)
    results = asyncio.run(retry_items(fake, ["a"], never, timeout=0.1))
    assert results["a"].error == "THROTTLING_QUOTA_EXCEEDED"
