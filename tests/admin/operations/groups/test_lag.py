"""What a group reads and has committed, beside where the logs end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.admin.operations.common.topic_partitions import topic_partitions
from kafka_admin_proto.admin.operations.groups.lag import (
    group_partitions,
    idle_members,
    partition_lags,
)
from kafka_admin_proto.admin.operations.groups.model import (
    GroupDescription,
    GroupMember,
    GroupOffset,
    GroupOffsets,
)
from kafka_admin_proto.admin.operations.partitions.records import ListedOffset
from kafka_admin_proto.server import SyncCluster

places = st.tuples(st.sampled_from("ab"), st.integers(0, 2))
errors = st.none() | st.just("NOT_LEADER_OR_FOLLOWER")


@given(
    st.dictionaries(places, st.sampled_from(["x", "y"])),
    st.dictionaries(places, st.tuples(st.none() | st.integers(0, 9), errors)),
    st.dictionaries(places, errors),
)
def test_each_partition_is_there_once_and_its_lag_is_known_or_none(
    read: dict[tuple[str, int], str],
    offsets: dict[tuple[str, int], tuple[int | None, str | None]],
    failed: dict[tuple[str, int], str | None],
) -> None:
    members = [
        GroupMember(name, "c", "h", assignment=topic_partitions(
            (topic, [number]) for (topic, number), reader in read.items() if reader == name))
        for name in "xyz"
    ]  # fmt: skip
    group = GroupDescription("g", members=members)
    committed = GroupOffsets(
        "g", [GroupOffset(*place, offset, error=error)
              for place, (offset, error) in offsets.items()],
    )  # fmt: skip
    wanted = group_partitions(group, committed)
    assert wanted == sorted(read.keys() | offsets.keys())
    ends = {
        place: ListedOffset(topic=place[0], partition=place[1], offset=9, error=failed.get(place))
        for place in wanted
    }
    lags = partition_lags(group, committed, ends)
    assert [(each.topic, each.partition) for each in lags] == wanted
    for place, each in zip(wanted, lags, strict=True):
        offset, error = offsets.get(place, (None, None))
        known = offset is not None and error is None and failed.get(place) is None
        assert each.lag == (9 - (offset or 0) if known else None)
        assert each.error == (error or failed.get(place))
        assert (each.offset, each.member_id) == (offset, read.get(place))
    assert {each.member_id for each in idle_members(group)} == set("xyz") - set(read.values())


def test_members_whose_assignment_cannot_be_read_are_not_idle() -> None:
    connect = GroupMember("m", "c", "h", assignment=None, raw_assignment=b"\x01")
    assert idle_members(GroupDescription("g", members=[connect])) == []


def test_a_coordinator_that_is_silent_leaves_time_for_the_groups_of_another() -> None:
    configs = {"offsets.topic.num.partitions": 2, "offsets.topic.replication.factor": 1}
    with (
        SyncCluster(2, topics={"t": 1}, configs=configs) as cluster,
        SyncAdminClient(cluster.bootstrap_servers) as admin,
    ):
        for group in ("a", "b"):
            admin.alter_group_offsets(group, {("t", 0): 0})
        coordinators = [each.coordinator for each in admin.describe_groups(["a", "b"])]
        assert sorted(map(str, coordinators)) == ["1", "2"]
        cluster.faults.add(api="DescribeGroups", node=coordinators[1], drop="request")
        a, b = admin.describe_group_lags(["a", "b"], timeout=2)
        assert (a.error, [each.lag for each in a.offsets]) == (None, [0])
        assert (b.error, list(b.offsets)) == ("RequestTimedOutError", [])
