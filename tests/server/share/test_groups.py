"""Share groups on a clock that is moved: members, their partitions, and the records of both."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages import alter_share_group_offsets_request as alter
from kafka_admin_proto.messages import describe_share_group_offsets_request as describe
from kafka_admin_proto.messages.create_partitions_request import CreatePartitionsTopic
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.segments.known_topics import CONSUMER_OFFSETS, read_known_record
from kafka_admin_proto.server.groups.share.assignor import assign_shares
from kafka_admin_proto.server.inspection import stored_groups, stored_records
from kafka_admin_proto.topic_ids import topic_id_to_text
from tests.server.groups.consumers import Consumer
from tests.server.groups.coordinated import Coordinated
from tests.server.share.sharing import Sharer, kept_states, shared_cluster

_SESSION_S = 45.0


@pytest.fixture
def cluster() -> Coordinated:
    return shared_cluster()


def test_a_member_gets_partitions_once_they_have_a_state(cluster: Coordinated) -> None:
    one = Sharer(cluster, "one")
    first = one.beat()
    assert (first.member_epoch, first.heartbeat_interval_ms, one.partitions) == (2, 5000, [])
    cluster.clock.pass_time(0.001)
    assert (one.beat().member_epoch, one.partitions) == (3, [0, 1])
    assert one.beat().assignment is None
    starts = {number: each.start_offset for number, each in kept_states(cluster).items()}
    assert starts == {0: -1, 1: -1}


def test_members_share_partitions_and_each_other_s(cluster: Coordinated) -> None:
    members = [Sharer(cluster, str(each)) for each in range(3)]
    for each in members:
        each.join()
    for each in members:
        each.beat()
    found = sorted(number for each in members for number in each.partitions)
    assert found == [0, 0, 1, 1]


def test_a_topic_that_is_missing_lets_subscriptions_differ(cluster: Coordinated) -> None:
    """Members of equal subscriptions balance all partitions, others those of each topic."""
    for name in ("bills", "notes"):
        cluster.served.ask(m.CreateTopicsRequest([CreatableTopic(name, 1, 1)], 1000))
    one = Sharer(cluster, "one", ("bills", "notes"))
    two = Sharer(cluster, "two", ("bills", "notes", "missing"))
    one.join()
    two.join()
    one.beat()
    assert (one.partitions, two.partitions) == ([0, 0], [0, 0])
    two.beat(subscribed_topic_names=["bills", "notes"])
    one.beat()
    assert [sorted(each.assigned.values()) for each in (one, two)] == [[[], [0]]] * 2


def test_members_leave_and_sessions_end(cluster: Coordinated) -> None:
    one, two = Sharer(cluster, "one"), Sharer(cluster, "two")
    one.join()
    two.join()
    one.beat()
    assert (len(one.partitions), len(two.partitions)) == (1, 1)
    assert two.beat(member_epoch=-1).member_epoch == -1
    one.beat()
    assert one.partitions == [0, 1]
    cluster.clock.pass_time(_SESSION_S)
    assert one.beat().error_code == codes.UNKNOWN_MEMBER_ID
    (row,) = cluster.ask(m.ShareGroupDescribeRequest(["g"])).groups
    assert (row.group_state, row.members) == ("Empty", [])


def test_refused_heartbeats(cluster: Coordinated) -> None:
    one = Sharer(cluster, "one")
    one.join()
    for given_fields, code in (
        ({"member_epoch": 9}, codes.FENCED_MEMBER_EPOCH),
        ({"member_epoch": 1}, codes.FENCED_MEMBER_EPOCH),
        ({"member_epoch": -2}, codes.INVALID_REQUEST),
        ({"member_id": ""}, codes.INVALID_REQUEST),
        ({"member_id": "x" * 37}, codes.INVALID_REQUEST),
        ({"member_id": "two"}, codes.UNKNOWN_MEMBER_ID),
        ({"member_id": "two", "member_epoch": 0}, codes.INVALID_REQUEST),
        ({"group_id": "none"}, codes.GROUP_ID_NOT_FOUND),
        ({"group_id": " "}, codes.INVALID_REQUEST),
        ({"rack_id": ""}, codes.INVALID_REQUEST),
    ):
        assert one.beat(**given_fields).error_code == code, given_fields
    assert one.beat(member_id="x" * 37).error_message is None, "as in Kafka"
    assert one.beat(member_epoch=2).error_code == 0, "the answer with the next one may be lost"


def test_a_group_has_room_for_so_many() -> None:
    cluster = shared_cluster(configs={"group.share.max.size": "1"})
    assert Sharer(cluster, "one").beat().error_code == 0
    assert Sharer(cluster, "two").beat().error_code == codes.GROUP_MAX_SIZE_REACHED


def test_a_name_is_of_one_type(cluster: Coordinated) -> None:
    """Members of other protocols, and offsets, are refused where a share group is."""
    Sharer(cluster, "one").join()
    assert Consumer(cluster, "two").beat().error_code == codes.GROUP_ID_NOT_FOUND
    joining = cluster.join(version=3).response
    assert joining.error_code == codes.INCONSISTENT_GROUP_PROTOCOL
    (topic,) = cluster.commit(1).response.topics
    assert topic.partitions[0].error_code == codes.GROUP_ID_NOT_FOUND
    (row,) = cluster.ask(m.DescribeGroupsRequest(["g"])).groups
    assert row.error_message == "Group g is not a classic group."
    (row,) = cluster.ask(m.ConsumerGroupDescribeRequest(["g"])).groups
    assert row.error_message == "Group g is not a consumer group."
    consumers = Coordinated()
    Consumer(consumers, "one").beat()
    refused = Sharer(consumers, "two").beat()
    assert refused.error_message == "Group g is not a share group."


@pytest.mark.parametrize(("release", "epoch"), [("4.4", 3), ("4.3", 2)])
def test_the_last_member_leaves(release: str, epoch: int) -> None:
    cluster = Coordinated(release)
    one = Sharer(cluster, "one")
    one.join()
    one.beat(member_epoch=-1)
    (row,) = cluster.ask(m.ShareGroupDescribeRequest(["g"])).groups
    assert (row.group_state, row.group_epoch, row.assignment_epoch) == ("Empty", 3, epoch)


def test_a_group_is_listed_described_and_deleted(cluster: Coordinated) -> None:
    one = Sharer(cluster, "one")
    one.join()
    (row,) = cluster.ask(m.ListGroupsRequest(types_filter=["Share"])).groups
    assert (row.group_id, row.group_type, row.group_state) == ("g", "share", "Stable")
    (row,) = cluster.ask(m.ShareGroupDescribeRequest(["g"])).groups
    assert (row.assignor_name, row.group_epoch, row.assignment_epoch) == ("simple", 3, 3)
    (member,) = row.members
    assert [each.partitions for each in member.assignment.topic_partitions] == [[0, 1]]
    asked = m.DeleteGroupsRequest(["g"])
    assert cluster.ask(asked).results[0].error_code == codes.NON_EMPTY_GROUP
    one.beat(member_epoch=-1)
    assert cluster.ask(asked).results[0].error_code == 0
    assert cluster.ask(asked).results[0].error_code == codes.GROUP_ID_NOT_FOUND
    assert kept_states(cluster) == {}


def test_a_test_looks_at_a_group(cluster: Coordinated) -> None:
    """Partitions are lagging by all records until somebody has begun with them."""
    stored_records.produce(cluster.state, "orders", [{"value": "a", "partition": 0}])
    Sharer(cluster, "one").join()
    found = stored_groups.group_of_name(cluster.state, "g")
    assert (found.type, found.protocol, found.state) == ("share", "simple", "Stable")
    assert [each.partitions for each in found.members] == [(("orders", 0), ("orders", 1))]
    assert (found.committed, found.lag) == ({}, {("orders", 0): 1, ("orders", 1): 0})
    with pytest.raises(ValueError, match="g is a share group"):
        stored_groups.rebalance(cluster.state, "g")


def test_new_partitions_and_deleted_topics(cluster: Coordinated) -> None:
    """A group reads what a topic gets later from its first record on."""
    one = Sharer(cluster, "one")
    one.join()
    topic = CreatePartitionsTopic("orders", 3, None)
    cluster.served.ask(m.CreatePartitionsRequest([topic], 1000))
    one.join()
    assert one.partitions == [0, 1, 2]
    group = cluster.state.coordinators.led("g").share_groups["g"]
    (initialized,) = group.partitions.initialized.values()
    assert initialized.partitions == {0, 1, 2}
    starts = {number: each.start_offset for number, each in kept_states(cluster).items()}
    assert starts == {0: -1, 1: -1, 2: 0}
    cluster.served.ask(m.DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000), 5)
    one.beat()
    assert (one.partitions, dict(group.partitions.initialized)) == ([], {})


def test_a_moved_coordinator_knows_the_group() -> None:
    """All is in the records of the log, which the next leader of the partition reads."""
    cluster = shared_cluster()
    one = Sharer(cluster, "one")
    one.join()
    before = cluster.state.coordinators.led("g").share_groups["g"]
    cluster.state.coordinators.left(cluster.node)
    after = cluster.state.coordinators.led("g").share_groups["g"]
    assert after is not before
    assert (after.members, after.target, after.epoch) == (
        before.members, before.target, before.epoch,
    )  # fmt: skip
    assert set(after.partitions.initialized) == set(before.partitions.initialized)
    assert one.beat().error_code == 0
    cluster.clock.pass_time(_SESSION_S)
    assert one.beat().error_code == codes.UNKNOWN_MEMBER_ID


def test_the_records_are_kafkas(cluster: Coordinated) -> None:
    Sharer(cluster, "one").join()
    records = stored_records.records_of(cluster.state, CONSUMER_OFFSETS)
    found = [read_known_record(CONSUMER_OFFSETS, each.key, each.value) for each in records]
    assert not any(each.problem for each in found)
    assert [type(each.key).__name__.removeprefix("ShareGroup") for each in found] == [
        "MemberMetadataKey",
        "MetadataKey",
        "TargetAssignmentMemberKey",
        "TargetAssignmentMetadataKey",
        "CurrentMemberAssignmentKey",
        "StatePartitionMetadataKey",
        "StatePartitionMetadataKey",
        "MetadataKey",
        "TargetAssignmentMemberKey",
        "TargetAssignmentMetadataKey",
        "CurrentMemberAssignmentKey",
    ]


@pytest.mark.parametrize("level", [0, 1])
def test_the_feature_share_version(level: int) -> None:
    cluster = shared_cluster()
    cluster.state.cluster.features["share.version"] = level
    code = 0 if level else codes.UNSUPPORTED_VERSION
    assert Sharer(cluster, "one").beat().error_code == code
    (row,) = cluster.ask(m.ShareGroupDescribeRequest(["g"])).groups
    assert row.error_code == code


def test_an_absent_state_topic_is_created() -> None:
    cluster = Coordinated(configs={"share.coordinator.state.topic.replication.factor": "1"})
    request = m.ShareGroupHeartbeatRequest("g", "one", 0, subscribed_topic_names=["orders"])
    cluster.served.ask(request, node=cluster.node)
    cluster.clock.pass_time(0.001)
    request.member_epoch = 2
    request.subscribed_topic_names = None
    cluster.clock.pass_time(5)
    assert cluster.served.ask(request, node=cluster.node).assignment.topic_partitions


def test_a_group_without_share_coordinators_tries_again() -> None:
    """Nobody makes the topic: the group gives up, and the next heartbeat asks anew."""
    cluster = Coordinated()
    one = Sharer(cluster, "one")
    one.beat()
    group = cluster.state.coordinators.led("g").share_groups["g"]
    assert group.partitions.initializing
    cluster.clock.pass_time(5)
    assert not group.partitions.initializing
    one.beat()
    assert group.partitions.initializing


_TOPICS = [UUID(int=each) for each in range(1, 4)]


@given(
    topics=st.dictionaries(
        st.sampled_from("abcdefgh"), st.sets(st.sampled_from(_TOPICS)), min_size=1
    ),
    counts=st.lists(st.integers(0, 6), min_size=3, max_size=3),
    data=st.data(),
)
def test_every_partition_has_members_in_balance(
    topics: dict[str, set[UUID]], counts: list[int], data: st.DataObject
) -> None:
    """Members have only topics that they subscribe; of one topic one has as many as another."""
    partitions = {each: range(count) for each, count in zip(_TOPICS, counts, strict=True)}
    places = [(topic, number) for topic in _TOPICS for number in partitions[topic]]
    before: dict[str, dict[UUID, list[int]]] = {}
    for name in topics:
        chosen = data.draw(st.sets(st.sampled_from(places))) if places else set()
        for topic, number in sorted(chosen):
            before.setdefault(name, {}).setdefault(topic, []).append(number)
    are_equal = len({frozenset(each) for each in topics.values()}) == 1
    found = assign_shares(topics, before, partitions, are_equal=are_equal)
    assert found.keys() == topics.keys()
    for name, each in found.items():
        assert each.keys() <= topics[name]
    for topic in _TOPICS:
        names = [name for name in topics if topic in topics[name]]
        for number in partitions[topic] if names else ():
            assert any(number in found[name].get(topic, ()) for name in names)
    again = assign_shares(topics, found, partitions, are_equal=are_equal)
    assert again == found, "what is in balance stays"
    if are_equal:
        sizes = [sum(map(len, each.values())) for each in found.values()]
        assert max(sizes) - min(sizes) <= 1


def _altered(
    cluster: Coordinated, group: str, *topics: alter.AlterShareGroupOffsetsRequestTopic
) -> Any:
    return cluster.ask(m.AlterShareGroupOffsetsRequest(group, list(topics)))


def _refusals(cluster: Coordinated, group: str) -> dict[str, tuple[int, str | None]]:
    """How each request about a group's state is refused: the code and its text."""
    described = m.ShareGroupDescribeRequest([group])
    rows = [describe.DescribeShareGroupOffsetsRequestGroup(group, None)]
    (one,) = cluster.ask(described).groups
    (two,) = cluster.ask(m.DescribeShareGroupOffsetsRequest(rows)).groups
    three = _altered(cluster, group)
    four = cluster.ask(m.DeleteShareGroupOffsetsRequest(group, []))
    return {
        name: (each.error_code, each.error_message)
        for name, each in (
            ("describe", one), ("describe offsets", two), ("alter", three), ("delete", four),
        )
    }  # fmt: skip


def test_a_coordinator_s_refusals_have_kafkas_texts() -> None:
    cluster = shared_cluster(nodes=3)
    Sharer(cluster, "one").join()
    not_empty = (codes.NON_EMPTY_GROUP, "The group is not empty.")
    found = _refusals(cluster, "g")
    assert (found["alter"], found["delete"]) == (not_empty, not_empty)
    no_id = (codes.INVALID_GROUP_ID, "The group id is invalid.")
    found = _refusals(cluster, "")
    assert (found["alter"], found["delete"]) == (no_id, no_id)
    assert found["describe"] == (codes.INVALID_GROUP_ID, None)
    cluster.node = cluster.node % 3 + 1
    elsewhere = (codes.NOT_COORDINATOR, "This is not the correct coordinator.")
    assert set(_refusals(cluster, "g").values()) == {elsewhere}


@pytest.mark.parametrize(
    ("group", "name", "numbers", "is_refused"),
    [
        ("g", "orders", [0], False),
        ("never", "orders", [0], False),
        ("g", "none", [], False),
        ("g", "orders", [], True),
        ("g", "orders", [0, -1], True),
        ("", "orders", [0], True),
    ],
)
def test_any_broker_describes_named_partitions(
    group: str, name: str, numbers: list[int], is_refused: bool
) -> None:
    cluster = shared_cluster(nodes=3)
    topics = [describe.DescribeShareGroupOffsetsRequestTopic(name, numbers)]
    rows = [describe.DescribeShareGroupOffsetsRequestGroup(group, topics)]
    text = "The server experienced an unexpected error when processing the request."
    for cluster.node in (1, 2, 3):
        (row,) = cluster.ask(m.DescribeShareGroupOffsetsRequest(rows)).groups
        refused = (codes.UNKNOWN_SERVER_ERROR, text, 0)
        assert (row.error_code, row.error_message, len(row.topics)) == (
            refused if is_refused else (0, None, 1)
        )


@pytest.mark.parametrize(("name", "rows"), [("orders", [[0, 1]]), ("none", [[0, 0], [1, 0]])])
def test_a_described_partition_has_one_row(
    cluster: Coordinated, name: str, rows: list[list[int]]
) -> None:
    topics = [
        describe.DescribeShareGroupOffsetsRequestTopic(name, each) for each in ([0, 0], [1, 0])
    ]
    asked = [describe.DescribeShareGroupOffsetsRequestGroup("g", topics)]
    (group,) = cluster.ask(m.DescribeShareGroupOffsetsRequest(asked)).groups
    found = [[part.partition_index for part in each.partitions] for each in group.topics]
    assert found == rows


def test_a_brokers_own_refusals_have_texts_for_changes_of_offsets_alone() -> None:
    cluster = shared_cluster()
    cluster.state.cluster.features["share.version"] = 0
    found = _refusals(cluster, "g")
    text = "The version of API is not supported."
    assert found["alter"] == found["delete"] == (codes.UNSUPPORTED_VERSION, text)
    assert found["describe"] == found["describe offsets"] == (codes.UNSUPPORTED_VERSION, None)


@pytest.mark.parametrize(("start", "lag"), [(0, 0), (-1, -1), (-2, 2), (5, -5)])
def test_the_lag_of_any_start(cluster: Coordinated, start: int, lag: int) -> None:
    """Of a partition without records; -1 leaves the start to the group's config."""
    row = alter.AlterShareGroupOffsetsRequestPartition(0, start)
    altered = alter.AlterShareGroupOffsetsRequestTopic("orders", [row])
    cluster.send(m.AlterShareGroupOffsetsRequest("new", [altered]))
    cluster.clock.pass_time(0.001)
    topics = [describe.DescribeShareGroupOffsetsRequestTopic("orders", [0])]
    rows = [describe.DescribeShareGroupOffsetsRequestGroup("new", topics)]
    (group,) = cluster.ask(m.DescribeShareGroupOffsetsRequest(rows)).groups
    (found,) = group.topics[0].partitions
    assert (found.start_offset, found.lag) == (start, lag)


def test_offsets_of_a_partition_below_0_are_refused_with_all_others(cluster: Coordinated) -> None:
    """After the group was made, as in Kafka."""
    number = alter.AlterShareGroupOffsetsRequestPartition
    rows = [number(0, 0), number(-1, 0)]
    refused = _altered(cluster, "new", alter.AlterShareGroupOffsetsRequestTopic("orders", rows))
    assert (refused.error_code, refused.responses) == (codes.UNKNOWN_SERVER_ERROR, [])
    topic = cluster.state.topic("orders")
    assert topic is not None
    assert refused.error_message == (
        "Initialize share group parameters has invalid partitionId - new "
        f"{topic_id_to_text(topic.id)} -1"
    )
    cluster.clock.pass_time(0.001)
    assert kept_states(cluster) == {}
    (row,) = cluster.ask(m.ShareGroupDescribeRequest(["new"])).groups
    assert row.group_state == "Empty"


def test_a_topic_that_is_there_makes_a_group_though_no_partition_is_named(
    cluster: Coordinated,
) -> None:
    topic = alter.AlterShareGroupOffsetsRequestTopic
    number = alter.AlterShareGroupOffsetsRequestPartition
    for topics, state in (
        ([], ""),
        ([topic("none", [number(0, 0)]), topic("none as well", [])], ""),
        ([topic("orders", [])], "Empty"),
    ):
        answer = _altered(cluster, "new", *topics)
        assert [each.topic_name for each in answer.responses] == [
            each.topic_name for each in topics[:1]
        ]
        cluster.clock.pass_time(0.001)
        (row,) = cluster.ask(m.ShareGroupDescribeRequest(["new"])).groups
        assert row.group_state == state, topics
