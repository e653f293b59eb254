"""The partition of a key beside that of another client."""

from __future__ import annotations

import warnings

from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.records.partitioner import murmur2, partition_of_key

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from kafka.partitioner.default import murmur2 as their_murmur2


@given(st.binary(max_size=40))
def test_the_hash_of_a_key_is_that_of_kafkas_clients(key: bytes) -> None:
    assert murmur2(key) == their_murmur2(key) & 0xFFFFFFFF


@given(st.binary(max_size=40), st.integers(1, 1000))
def test_the_partition_of_a_key_is_one_of_the_topics(key: bytes, count: int) -> None:
    assert 0 <= partition_of_key(key, count) < count
