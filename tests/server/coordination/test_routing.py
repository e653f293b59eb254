"""Which partition of the coordinators' topic a key belongs to."""

from __future__ import annotations

import pytest

from kafka_admin_proto.server.coordination.routing import partition_of

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
