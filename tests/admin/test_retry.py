"""Pauses stay within their bounds; transient errors are retriable ones of Kafka."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.retry import TRANSIENT, Backoff, Deadline, is_transient
from kafka_admin_proto.protocol.error_codes import all_errors, error_code

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
    assert {each.name for each in all_errors() if is_transient(each.code)} == TRANSIENT
    assert not is_transient(-12345)


def test_a_deadline_ends() -> None:
    assert Deadline(0).is_over
    assert Deadline(float("inf")).left == float("inf")
    for no_time in (float("nan"), -1, -0.5, float("-inf")):
        with pytest.raises(ValueError, match=f"a number of seconds, 0 or more, not {no_time:g}"):
            Deadline(no_time)
    assert 9 < Deadline(10).left <= 10


def test_what_is_left_knows_what_was_given() -> None:
    inner = Deadline(Deadline(Deadline(10).left).left)
    assert inner.seconds == 10
    assert 9 < inner.left < 10
    assert Deadline(min(Deadline(10).left, 3.0)).seconds == 3
