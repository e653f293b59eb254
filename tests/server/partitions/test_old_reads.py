"""What old consumers read of a log, beside Kafka's own conversion of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from kafka_admin_proto.records.batches.batches import Batch, read_records
from tests.helpers.profile import draws
from tests.server.partitions.kafkas_log import KafkasLog
from tests.server.partitions.steps import READ_BY_OLD, Ours, usable

_RELEASE = "3.9"


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkasLog]:
    found = KafkasLog(_RELEASE)
    yield found
    found.close()


@settings(max_examples=draws(96), deadline=None)
@given(drawn=READ_BY_OLD)
@pytest.mark.exhaustive
def test_as_kafka(kafka: KafkasLog, drawn: tuple[dict[str, str], list[tuple[str, Any]]]) -> None:
    configs, done = usable(drawn[0], _RELEASE), drawn[1]
    ours = Ours(configs, _RELEASE)
    steps = [ours.do(name, argument) for name, argument in [("now", 0), *done]]
    answers = kafka.ask(configs, [line for line, _ in steps])
    is_plain = all(argument["compression"] == "none" for name, argument in done if name == "append")
    for (line, answer), theirs in zip(steps, answers, strict=True):
        if line.startswith("old") and not is_plain and theirs.startswith("ok"):
            _check_contents(answer, theirs)
        elif theirs.startswith("err\t-1"):
            assert answer.startswith("err\t-1"), (line, answer, theirs)
        else:
            assert answer == theirs, line


def _check_contents(ours: str, theirs: str) -> None:
    """Where each compresses by itself, other bytes may not fit in."""
    left, right = (_batches(answer) for answer in (ours, theirs))
    assert abs(len(left) - len(right)) <= 1
    shared = min(len(left), len(right))
    assert left[:shared] == right[:shared]
    assert shared or left == right == []


def _batches(answer: str) -> list[Batch]:
    found = read_records(bytes.fromhex(answer.removeprefix("ok\t")))
    assert not list(found.errors())
    for batch in found.batches:
        batch.size = batch.offset_in_data = 0
    return found.batches
