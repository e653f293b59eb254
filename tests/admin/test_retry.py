"""Pauses stay within their bounds, and only items with a transient error are asked for again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.errors import AdminError, BrokerError
from kafka_admin_proto.admin.retry import TRANSIENT, Backoff, Deadline, is_transient, retry_items
from kafka_admin_proto.protocol.error_codes import all_errors, error_code
from tests.admin.fake_caller import FakeCaller


class Result(msgspec.Struct, frozen=True):
    error: str | None = None
    message: str | None = None


seconds = st.floats(0, 100)


@given(seconds, seconds, st.floats(0, 1), st.integers(1, 10_000))
def test_a_pause_is_within_its_bounds(
    first: float, longest: float, jitter: float, attempts: int
) -> None:
    backoff = Backoff(first, longest, jitter)
    plain = first * 2.0 ** min(attempts - 1, 62)
    pause = backoff.pause(attempts)
    assert min(plain * (1 - jitter), longest) <= pause * 1.000001
    assert pause <= min(plain * (1 + jitter) * 1.000001, longest)


def test_transient_errors_are_errors_of_kafka_that_are_retriable() -> None:
    assert all(error_code(name).retriable for name in TRANSIENT)
    assert {each.name for each in all_errors() if is_transient(each.code or 0)} == TRANSIENT
    assert not is_transient(-12345)


def test_a_deadline_ends() -> None:
    assert Deadline(0).is_over
    assert Deadline(-1).left == 0
    assert Deadline(float("inf")).left == float("inf")
    with pytest.raises(ValueError, match="a number of seconds"):
        Deadline(float("nan"))
    assert 9 < Deadline(10).left <= 10


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
