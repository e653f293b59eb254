"""Members of groups get what they get of a real broker."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.join_group_request import JoinGroupRequestProtocol
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server import SyncCluster
from tests.server.groups.consumer_stories import consumer_differences
from tests.server.groups.stories import CONFIGS, GROUPS, Member, Side, beside, differences
from tests.server.groups.streams_stories import streams_differences
from tests.server.groups.streams_topologies import topology_differences
from tests.server.releases import real_releases
from tools.clusters import Cluster

#: Of the first twenty seeds the one with the most kinds of answers.
_SEED, _STEPS = 1, 100
_PATIENCE_S = 20.0
#: A story in which groups are downgraded, by members that leave and by one that is replaced.
_OF_BOTH = 9
#: One in which tasks go from process to process, and groups end.
_OF_STREAMS = 8


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker"))
def test_as_a_real_broker(release: str, one_broker: Callable[[str], Cluster]) -> None:
    real = one_broker(release)
    with beside(real) as ours:
        minor = release.rpartition(".")[0]
        different = differences(_SEED, minor, _STEPS, real.bootstrap, ours)
    assert not different, "\n".join(different)


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker")[:1])
def test_consumers_of_both_protocols_as_a_real_broker(
    release: str, one_broker: Callable[[str], Cluster]
) -> None:
    real = one_broker(release)
    with beside(real) as ours:
        assert consumer_differences(_OF_BOTH, 4 * _STEPS, real.bootstrap, ours) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker")[:1])
def test_streams_groups_as_a_real_broker(
    release: str, one_broker: Callable[[str], Cluster]
) -> None:
    real = one_broker(release)
    with beside(real) as ours:
        assert streams_differences(_OF_STREAMS, 2 * _STEPS, real.bootstrap, ours) == []
        assert topology_differences(_SEED, _STEPS, real.bootstrap, ours) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker")[:1])
def test_a_member_leaves_behind_its_join_though_its_client_has_ended(
    release: str, one_broker: Callable[[str], Cluster]
) -> None:
    """Its LeaveGroup is read when its JoinGroup is answered, and the others join again."""
    real = one_broker(release)
    with beside(real) as ours:
        found = []
        for bootstrap in (real.bootstrap, ours):
            side = Side(bootstrap, GROUPS)
            side.prepare()
            stays, leaves = side.member("stays"), side.member("leaves")
            first = stays.ask(joining(), 3)
            synced = m.SyncGroupRequest("left", first.generation_id, first.member_id)
            stays.ask(synced, 3)
            given = leaves.ask(joining(), 5).member_id
            leaves.send(joining(given), 5)
            leaves.send(m.LeaveGroupRequest("left", members=[MemberIdentity(given, None)]), 4)
            leaves.close()
            beat = m.HeartbeatRequest("left", first.generation_id, first.member_id)
            sizes: list[int] = []
            for _ in range(2):
                assert error_of(stays, beat) == codes.REBALANCE_IN_PROGRESS, (bootstrap, sizes)
                again = stays.ask(joining(first.member_id), 3)
                beat.generation_id = again.generation_id
                sizes.append(len(again.members))
            found.append(sizes)
            side.close()
    assert found == [[2, 1]] * 2


def error_of(member: Member, beat: m.HeartbeatRequest) -> int:
    """The first error of a member's heartbeats; 0 if there is none in time."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        code: int = member.ask(beat, 4).error_code
        if code:
            return code
    return 0


def joining(member_id: str = "") -> m.JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol("range", b"")]
    return m.JoinGroupRequest("left", 45_000, 60_000, member_id, None, "consumer", protocols)


@pytest.mark.exhaustive
def test_a_story_sees_groups_without_members_but_none_of_an_earlier_story() -> None:
    rows = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 1)])]
    with SyncCluster(1, configs=CONFIGS) as cluster:
        side = Side(cluster.bootstrap_servers, GROUPS)
        side.prepare()
        side.ask(m.OffsetCommitRequest("simple", topics=rows), 8)
        assert "'simple'" in side.seen("admin", side.ask(m.ListGroupsRequest(), 5))
        side.prepare()
        assert "'simple'" not in side.seen("admin", side.ask(m.ListGroupsRequest(), 5))
        side.close()
