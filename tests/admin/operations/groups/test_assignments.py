"""What members of consumer groups send each other is read as Java does, and nothing is an error."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.operations.groups.describing import read_assignment, read_subscription
from kafka_admin_proto.messages import ConsumerProtocolAssignment, ConsumerProtocolSubscription

_TOPICS = st.dictionaries(
    st.text("ab", min_size=1, max_size=3), st.sets(st.integers(0, 99), min_size=1), max_size=4
)


@given(_TOPICS, st.integers(0, 6), st.binary(max_size=6))
def test_assignments_of_all_versions_are_read(
    topics: dict[str, set[int]], version: int, added: bytes
) -> None:
    partition = ConsumerProtocolAssignment.TopicPartition
    value = ConsumerProtocolAssignment(
        [partition(topic, list(own)) for topic, own in topics.items()]
    )
    data = version.to_bytes(2, "big") + value.encode(min(version, 3))
    # A version to come may add fields behind those that are known.
    read = read_assignment(data + (added if version > 3 else b""))
    assert read is not None
    assert {each.topic: each.partitions for each in read} == {
        topic: sorted(own) for topic, own in topics.items()
    }
    assert [each.topic for each in read] == sorted(topics)


@given(st.lists(st.text(max_size=3)), st.integers(0, 6))
def test_subscriptions_of_all_versions_are_read(topics: list[str], version: int) -> None:
    value = ConsumerProtocolSubscription(topics)
    read = read_subscription(version.to_bytes(2, "big") + value.encode(min(version, 3)))
    assert read is not None
    assert read.topics == topics


@given(st.binary(max_size=40))
def test_other_bytes_are_none_and_no_error(data: bytes) -> None:
    read_subscription(data)
    if not data:
        assert read_assignment(data) == []
    elif len(data) < 2 or data[0] >= 0x80:
        assert read_assignment(data) is None
        assert read_subscription(data) is None
    else:
        read_assignment(data)
