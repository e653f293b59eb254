"""Which partition of the coordinators' topic a key belongs to, and the end of what it had."""

from __future__ import annotations

from operator import attrgetter

import pytest

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.coordination.routing import partition_of
from tests.server.coordination.coordinators import TOPICS, filled

_PARTITIONS = 50


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("", 0),
        ("g", 3),
        ("connect-cluster", 13),
        ("absent", 39),  # its hash is negative, as those of the next two
        ("orders", 31),
        ("my-group", 12),
        ("polygenelubricants", 0),  # the least number of an int
    ],
)
def test_a_key_has_the_partition_that_kafka_gives_it(key: str, number: int) -> None:
    """As ``Utils.abs(key.hashCode()) % 50`` in Java."""
    assert partition_of(key, _PARTITIONS) == number


@pytest.mark.parametrize(
    ("kind", "topic"),
    list(zip(("coordinators", "transactions", "share_states"), TOPICS, strict=True)),
)
def test_a_shard_that_has_ended_leaves_the_log_to_the_next_leader(kind: str, topic: str) -> None:
    """Another coordinator that it has asked calls it back, when its broker leads no more."""
    ask = filled()
    (shard,) = ask.shards(attrgetter(kind)(ask.state))
    ask.load_again()
    end_offset = ask.log(topic).end_offset
    answered: list[int] = []
    called: list[bool] = []
    shard.write([(b"key", b"value")], answered.append, answered.append, timeout_ms=1000)
    shard.after_writes(answered.append, 1000)
    shard.later("key", 0, lambda: called.append(True))
    ask.pass_time(0.001)
    assert answered == [codes.NOT_COORDINATOR] * 2
    assert not called
    assert ask.log(topic).end_offset == end_offset
