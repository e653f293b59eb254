"""Groups of KIP-848's protocol on a clock that is moved."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.codec import codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.releases import RELEASES
from kafka_admin_proto.topic_ids import topic_id_from_text, topic_id_to_text
from tests.server.groups.consumers import Consumer
from tests.server.groups.coordinated import Coordinated

_SESSION_S = 45.0
#: Regular expressions are not resolved again within this time.
_RESOLVED_S = 10.0
#: At once, for epochs that follow each other.
_CONFIGS = {"group.consumer.assignment.interval.ms": "0"}


@pytest.fixture
def cluster() -> Coordinated:
    return Coordinated(configs=_CONFIGS)


def _shard(cluster: Coordinated) -> Shard:
    return cluster.state.coordinators.led("g")


def _described(cluster: Coordinated) -> object:
    (row,) = cluster.ask(m.ConsumerGroupDescribeRequest(["g"])).groups
    return row


def test_members_share_the_partitions(cluster: Coordinated) -> None:
    one, two = Consumer(cluster, "one"), Consumer(cluster, "two")
    first = one.beat()
    assert (first.error_code, first.member_epoch, one.partitions) == (0, 2, [0, 1])
    assert two.beat().member_epoch == 3
    assert two.partitions == [], "the first member has not given anything back yet"
    assert one.beat().member_epoch == 2
    assert len(one.partitions) == 1
    assert two.beat().assignment is None
    assert one.beat().member_epoch == 3
    two.beat()
    assert sorted(one.partitions + two.partitions) == [0, 1]
    assert _described(cluster).group_state == "Stable"  # type: ignore[attr-defined]
    assert two.leave().member_epoch == -1
    one.settle()
    assert (one.partitions, one.epoch) == ([0, 1], 4)


@pytest.mark.parametrize(
    ("release", "epoch", "next_one"), [("4.4", 3, (4, [0, 1])), ("4.3", 2, (2, []))]
)
def test_the_last_member_leaves(release: str, epoch: int, next_one: object) -> None:
    """Since 4.4 the next member does not wait for the end of an interval."""
    cluster = Coordinated(release)
    one = Consumer(cluster, "one")
    one.beat()
    cluster.clock.pass_time(0.1)
    one.leave()
    row: Any = _described(cluster)
    assert (row.group_state, row.group_epoch, row.assignment_epoch) == ("Empty", 3, epoch)
    two = Consumer(cluster, "two")
    two.beat()
    assert (two.epoch, two.partitions) == next_one


def test_a_session_ends(cluster: Coordinated) -> None:
    one = Consumer(cluster, "one")
    one.beat()
    cluster.clock.pass_time(_SESSION_S - 1)
    assert one.beat().error_code == 0
    cluster.clock.pass_time(_SESSION_S)
    assert one.beat().error_code == codes.UNKNOWN_MEMBER_ID
    assert _described(cluster).group_state == "Empty"  # type: ignore[attr-defined]


def test_who_does_not_give_back_is_removed(cluster: Coordinated) -> None:
    one = Consumer(cluster, "one", rebalance_timeout_ms=20_000)
    two = Consumer(cluster, "two")
    one.beat()
    two.beat()
    held = dict(one.owned)
    one.beat()
    for _ in range(2):
        one.owned = held
        one.beat()
        two.beat()
        cluster.clock.pass_time(10)
    assert one.beat().error_code == codes.UNKNOWN_MEMBER_ID
    two.settle()
    assert two.partitions == [0, 1]


def test_a_static_member_comes_again(cluster: Coordinated) -> None:
    one = Consumer(cluster, "one", instance_id="i")
    one.beat()
    again = Consumer(cluster, "again", instance_id="i")
    assert again.beat().error_code == codes.UNRELEASED_INSTANCE_ID
    assert one.leave(-2).member_epoch == -2
    assert (again.beat().error_code, again.partitions, again.epoch) == (0, [0, 1], 2)
    assert one.beat(member_epoch=2).error_code == codes.FENCED_INSTANCE_ID


def test_a_member_with_another_instance_id_has_given_up_its_first(cluster: Coordinated) -> None:
    """As since 4.4; before, Kafka knew it by both."""
    one = Consumer(cluster, "one", instance_id="i")
    one.beat()
    one.leave(-2)
    again = Consumer(cluster, "one", instance_id="j")
    assert again.beat().error_code == 0
    one.epoch = again.epoch
    refused = one.beat()
    assert refused.error_code == codes.UNKNOWN_MEMBER_ID
    assert refused.error_message == "Instance id i is unknown."
    assert again.beat().error_code == 0


def test_a_member_that_takes_over_an_instance_counts_twice(cluster: Coordinated) -> None:
    """What it subscribed under its old one is in the hash of the topics, until that is next made.

    So the topics of its regular expression, of which there are none, begin another epoch.
    """
    cluster.served.ask(m.CreateTopicsRequest([CreatableTopic("bills", 1, 1)], 1000))
    away = Consumer(cluster, "away", instance_id="i")
    away.settle()
    away.leave(-2)
    Consumer(cluster, "one", instance_id="j", subscribed_topic_names=["bills"]).settle()
    fields: dict[str, Any] = {"subscribed_topic_names": [], "subscribed_topic_regex": "nothing.*"}
    one = Consumer(cluster, "one", instance_id="i", **fields)
    assert [one.beat().member_epoch, one.beat().member_epoch] == [4, 5]


def test_epochs_that_are_not_the_members(cluster: Coordinated) -> None:
    one = Consumer(cluster, "one")
    one.beat()
    for epoch in (1, 7):
        assert one.beat(member_epoch=epoch).error_code == codes.FENCED_MEMBER_EPOCH
    assert one.beat(group_id="nothing").error_code == codes.GROUP_ID_NOT_FOUND
    assert Consumer(cluster, "").beat().error_code == codes.INVALID_REQUEST
    refused = Consumer(cluster, "two", server_assignor="sticky").beat()
    assert refused.error_code == codes.UNSUPPORTED_ASSIGNOR


def test_supported_assignors_are_those_of_a_set() -> None:
    """Kafka lists them in the order of a HashSet, whatever their order in the config is."""
    cluster = Coordinated(configs={"group.consumer.assignors": "range,uniform"})
    refused = Consumer(cluster, "one", server_assignor="sticky").beat()
    assert refused.error_message.endswith("Supported assignors: uniform, range.")


@pytest.mark.parametrize(("release", "epochs"), [("4.4", [3, 3, 4]), ("4.3", [2, 2, 2])])
def test_another_preferred_assignor_begins_an_epoch(release: str, epochs: list[int]) -> None:
    """Since 4.4: before, the next target is made with it."""
    cluster = Coordinated(release, configs=_CONFIGS)
    one = Consumer(cluster, "one", server_assignor="uniform")
    one.beat()
    found = [one.beat(server_assignor=each).member_epoch for each in ("range", "range", "uniform")]
    assert found == epochs


def test_the_coordinator_gives_ids_as_kafkas(cluster: Coordinated) -> None:
    """22 characters of base64url, to members of either protocol."""
    request = m.ConsumerGroupHeartbeatRequest(
        "g", "", 0, rebalance_timeout_ms=1000, subscribed_topic_names=[], topic_partitions=[]
    )
    found = [cluster.ask(request, 0).member_id, cluster.join().response.member_id]
    for each in found:
        assert topic_id_to_text(topic_id_from_text(each)) == each


def test_a_group_has_room_for_so_many() -> None:
    cluster = Coordinated(configs={"group.consumer.max.size": "1"})
    one = Consumer(cluster, "one")
    assert one.beat().error_code == one.beat().error_code == 0
    assert Consumer(cluster, "two").beat().error_code == codes.GROUP_MAX_SIZE_REACHED


@pytest.mark.parametrize(
    ("release", "code"),
    [("4.4", codes.UNRELEASED_INSTANCE_ID), ("4.3", codes.GROUP_MAX_SIZE_REACHED)],
)
def test_the_instance_of_a_member_in_a_full_group(release: str, code: int) -> None:
    """Since 4.4 a static member is not counted as one more."""
    cluster = Coordinated(release, configs={"group.consumer.max.size": "1"})
    assert Consumer(cluster, "one", instance_id="i").beat().error_code == 0
    assert Consumer(cluster, "two", instance_id="i").beat().error_code == code


def test_commits_have_the_epoch_of_the_member(cluster: Coordinated) -> None:
    one = Consumer(cluster, "one")
    one.beat()

    def code(epoch: int, member_id: str = "one") -> int:
        ((row,),) = (
            each.partitions for each in cluster.commit(5, epoch, member_id).response.topics
        )
        return int(row.error_code)

    assert code(2) == 0
    assert code(3) == code(1) == codes.STALE_MEMBER_EPOCH
    assert code(2, "two") == codes.UNKNOWN_MEMBER_ID
    assert code(-1, "") == codes.UNKNOWN_MEMBER_ID
    assert cluster.committed() == {0: 5}


def test_another_coordinator_loads_the_log(cluster: Coordinated) -> None:
    one, two = Consumer(cluster, "one"), Consumer(cluster, "two", subscribed_topic_regex="or.*")
    one.beat()
    two.beat()
    one.beat()
    before = _described(cluster)
    cluster.state.coordinators.left(cluster.node)
    assert _described(cluster) == before
    for _ in range(4):
        one.beat()
        two.beat()
    assert sorted(one.partitions + two.partitions) == [0, 1]
    cluster.clock.pass_time(_SESSION_S)
    assert _shard(cluster).consumer_groups["g"].members == {}


def test_topics_of_a_regular_expression(cluster: Coordinated) -> None:
    one = Consumer(cluster, "one", subscribed_topic_names=None, subscribed_topic_regex="or.*")
    assert one.beat().error_code == 0
    one.settle()
    assert one.partitions == [0, 1]
    bad = Consumer(cluster, "two", subscribed_topic_regex="(").beat()
    assert bad.error_code == codes.INVALID_REGULAR_EXPRESSION


def test_a_regular_expression_that_changes_is_resolved_later(cluster: Coordinated) -> None:
    """Within 10 s of the last time, which Kafka forgets with the topics of the last one."""
    one = Consumer(cluster, "one", subscribed_topic_names=None, subscribed_topic_regex="x.*")
    one.settle()
    changed = one.beat(subscribed_topic_regex="or.*")
    assert [changed.member_epoch, one.beat().member_epoch, one.beat().member_epoch] == [1, 1, 2]
    assert one.partitions == [0, 1]


def test_a_changed_regular_expression_waits_for_the_others(cluster: Coordinated) -> None:
    """With the topics of another one the last time is known, and 10 s have to pass."""
    one = Consumer(cluster, "one", subscribed_topic_names=None, subscribed_topic_regex="x.*")
    two = Consumer(cluster, "two", subscribed_topic_names=None, subscribed_topic_regex="y.*")
    for each in (one, two):
        each.settle()
    cluster.clock.pass_time(_RESOLVED_S + 1)
    for each in (one, two, one):
        each.settle()
    one.beat(subscribed_topic_regex="or.*")
    one.settle()
    assert one.partitions == []
    cluster.clock.pass_time(_RESOLVED_S + 1)
    one.settle()
    assert one.partitions == [0, 1]


def test_a_member_that_comes_to_a_regular_expression_gets_its_topics(cluster: Coordinated) -> None:
    """Kafka assigns to it as to the others, whose subscriptions were equal, and takes that back."""
    fields: dict[str, Any] = {"server_assignor": "range", "subscribed_topic_names": []}
    one = Consumer(cluster, "one", subscribed_topic_regex="or.*", **fields)
    one.beat()
    two = Consumer(cluster, "two", **fields)
    two.beat()
    one.settle()
    assert (one.partitions, two.partitions) == ([0], [])


def test_topics_of_who_left_count_until_a_member_changes(cluster: Coordinated) -> None:
    """Kafka compares subscriptions when a member changes or leaves, before its topics are gone.

    So the one that is left and one without topics are assigned to as two that differ.
    """
    cluster.served.ask(m.CreateTopicsRequest([CreatableTopic("bills", 1, 1)], 1000))
    fields: dict[str, Any] = {"server_assignor": "range"}
    two = Consumer(cluster, "two", **fields)
    two.settle()
    regex: dict[str, Any] = {"subscribed_topic_names": [], "subscribed_topic_regex": "b.*"}
    gone = Consumer(cluster, "gone", **fields, **regex)
    gone.settle()
    assert gone.leave().error_code == 0
    Consumer(cluster, "one", **fields, subscribed_topic_names=[]).beat()
    two.settle()
    assert two.partitions == [0, 1]


@pytest.mark.parametrize(
    ("release", "code"),
    [("4.4", codes.INCONSISTENT_GROUP_PROTOCOL), ("4.3", codes.UNKNOWN_SERVER_ERROR)],
)
def test_a_member_whose_subscription_cannot_be_read(release: str, code: int) -> None:
    cluster = Coordinated(release, configs=_CONFIGS)
    Consumer(cluster, "one").beat()
    assert cluster.join("old", subscription=b"\0\1\0").response.error_code == code


def test_a_member_of_the_classic_protocol_lets_topics_be_found(cluster: Coordinated) -> None:
    """Any member that comes does, when the last time is long ago and there are new topics."""
    one = Consumer(cluster, "one", subscribed_topic_names=None, subscribed_topic_regex="or.*")
    one.settle()
    cluster.served.ask(m.CreateTopicsRequest([CreatableTopic("order-lines", 1, 1)], 1000))
    cluster.clock.pass_time(_RESOLVED_S + 1)
    metadata = b"\0\1" + codec("ConsumerProtocolSubscription", 1).encode(
        m.ConsumerProtocolSubscription([])
    )
    protocols = [JoinGroupRequestProtocol("range", metadata)]
    request = m.JoinGroupRequest("g", 60_000, 60_000, "old", None, "consumer", protocols)
    assert cluster.ask(request, 5).error_code == 0
    (regex,) = _shard(cluster).consumer_groups["g"].regexes.values()
    assert sorted(regex.topics) == ["order-lines", "orders"]


@pytest.mark.parametrize("release", RELEASES)
def test_a_cluster_without_the_protocol(release: str) -> None:
    configs = {"group.coordinator.rebalance.protocols": "classic"}
    cluster = Coordinated(release, configs=configs)
    assert Consumer(cluster, "one").beat().error_code == codes.UNSUPPORTED_VERSION
    (row,) = cluster.ask(m.ConsumerGroupDescribeRequest(["g"])).groups
    assert row.error_code == codes.UNSUPPORTED_VERSION
