"""Members of groups on a clock that is moved; stories of several beside a real broker are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.leave_group_request import MemberIdentity
from kafka_admin_proto.messages.list_groups_request import ListGroupsRequest
from kafka_admin_proto.messages.offset_delete_request import (
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kafka_admin_proto.messages.partition_change_record import PartitionChangeRecord
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.groups.group import Group, Member
from tests.server.groups.coordinated import DELAY_S, SESSION_S, Coordinated

#: The user data of a subscription, null, behind its topics.
_NO_DATA = b"\xff" * 4


def test_the_first_members_have_time_to_come() -> None:
    cluster = Coordinated()
    first = cluster.join(version=3)
    cluster.clock.pass_time(DELAY_S - 1)
    second = cluster.join(version=3)
    cluster.clock.pass_time(1)
    assert first.waits, "a member has come, so the delay begins again"
    cluster.clock.pass_time(DELAY_S)
    leader, other = first.response, second.response
    assert [each.generation_id for each in (leader, other)] == [1, 1]
    assert leader.leader == other.leader == leader.member_id
    assert len(leader.members) == 2
    assert other.members == []
    waiting = cluster.sync(other.member_id, 1)
    assert waiting.waits
    assigned = {leader.member_id: b"one", other.member_id: b"two"}
    assert cluster.sync(leader.member_id, 1, assigned).response.assignment == b"one"
    assert waiting.response.assignment == b"two"
    assert cluster.described().group_state == "Stable"


def test_an_id_is_given_before_a_member_joins() -> None:
    cluster = Coordinated()
    refused = cluster.join().response
    assert refused.error_code == codes.MEMBER_ID_REQUIRED
    joining = cluster.join(refused.member_id)
    cluster.clock.pass_time(DELAY_S)
    assert joining.response.member_id == refused.member_id
    forgotten = cluster.join().response.member_id
    cluster.clock.pass_time(SESSION_S)
    assert cluster.join(forgotten).response.error_code == codes.UNKNOWN_MEMBER_ID


def test_a_session_ends_without_heartbeats() -> None:
    cluster = Coordinated()
    member_id = cluster.member()
    for _ in range(3):
        cluster.clock.pass_time(SESSION_S - 1)
        assert cluster.heartbeat(member_id) == 0
    cluster.clock.pass_time(SESSION_S)
    assert cluster.heartbeat(member_id) == codes.UNKNOWN_MEMBER_ID
    assert cluster.described().group_state == "Empty"


def test_who_does_not_join_again_is_removed() -> None:
    cluster = Coordinated()
    member_id = cluster.member()
    joining = cluster.join(version=3)
    assert cluster.heartbeat(member_id) == codes.REBALANCE_IN_PROGRESS
    for _ in range(7):
        assert joining.waits
        assert cluster.heartbeat(member_id) == codes.REBALANCE_IN_PROGRESS
        cluster.clock.pass_time(SESSION_S - 1)
    assert joining.response.generation_id == 2
    assert cluster.heartbeat(member_id) == codes.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("release", "shown"), [("4.4", b"kept"), ("4.3", b"kept"), ("3.9", b"")])
def test_assignments_are_shown_amid_a_rebalance(release: str, shown: bytes) -> None:
    """Kafka 4's coordinator describes members with what they were assigned before it."""
    cluster = Coordinated(release)
    joining = cluster.join(version=3)
    cluster.clock.pass_time(DELAY_S)
    member_id = joining.response.member_id
    cluster.sync(member_id, 1, {member_id: b"kept"})
    cluster.join(version=3)
    assert cluster.described().group_state == "PreparingRebalance"
    members = {each.member_id: each for each in cluster.described().members}
    assert members[member_id].member_assignment == shown


def test_who_does_not_sync_is_removed() -> None:
    cluster = Coordinated()
    joining = cluster.join(version=3)
    cluster.clock.pass_time(DELAY_S)
    member_id = joining.response.member_id
    for _ in range(7):
        cluster.heartbeat(member_id)
        cluster.clock.pass_time(SESSION_S - 1)
    assert cluster.heartbeat(member_id) == codes.UNKNOWN_MEMBER_ID


def test_a_member_that_leaves_while_it_waits_is_answered() -> None:
    """As where an administrator removes it: its client joins anew."""
    cluster = Coordinated()
    cluster.member()
    new_id = cluster.join().response.member_id
    joining = cluster.join(new_id)
    assert cluster.leave(new_id) == [0]
    assert joining.response.error_code == codes.UNKNOWN_MEMBER_ID
    assert joining.response.member_id == ""


def test_a_new_member_that_has_waited_for_minutes_is_answered() -> None:
    cluster = Coordinated()
    member_id = cluster.member(rebalance_s=1000)
    joining = cluster.join(version=3, rebalance_s=1000)
    for _ in range(60):
        assert joining.waits
        assert cluster.heartbeat(member_id) == codes.REBALANCE_IN_PROGRESS
        cluster.clock.pass_time(SESSION_S / 2)
    assert joining.response.error_code == codes.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("release", "generations"), [("4.4", [2]), ("3.9", [2, 3])])
def test_members_leave_at_once(release: str, generations: list[int]) -> None:
    """Kafka 4 removes all before it looks who is left; 3.9 begins a generation after the first."""
    cluster = Coordinated(release)
    ids = cluster.members(3)
    first, second = (cluster.join(each, version=3) for each in ids[:2])
    assert first.waits
    assert second.waits
    assert cluster.leave(ids[2], ids[1]) == [0, 0]
    seen = [first.response.generation_id]
    assert len(first.response.members) == (1 if release == "4.4" else 2)
    if cluster.heartbeat(ids[0], seen[0]) == codes.REBALANCE_IN_PROGRESS:
        seen.append(cluster.join(ids[0], version=3).response.generation_id)
    assert seen == generations


@pytest.mark.parametrize(
    ("release", "code"), [("4.4", codes.UNKNOWN_SERVER_ERROR), ("3.9", codes.NONE)]
)
def test_the_last_member_leaves_while_the_log_refuses_records(release: str, code: int) -> None:
    """The group is empty all the same; before Kafka 4 the answer does not wait for the log."""
    cluster = Coordinated(release)
    member_id = cluster.member()
    cluster.refuse_records()
    request = m.LeaveGroupRequest("g", members=[MemberIdentity(member_id, None)])
    response = cluster.ask(request)
    assert (response.error_code, len(response.members)) == (code, 0 if code else 1)
    assert cluster.described().group_state == "Empty"


@pytest.mark.parametrize(
    ("release", "code", "states"),
    [
        ("4.4", codes.UNKNOWN_SERVER_ERROR, ("Dead", "Dead")),
        ("3.9", codes.NONE, ("CompletingRebalance", "Empty")),
    ],
)
def test_a_first_member_joins_while_the_log_refuses_records(
    release: str, code: int, states: tuple[str, str]
) -> None:
    """Since Kafka 4 a group begins with a record."""
    cluster = Coordinated(release)
    cluster.refuse_records()
    joining = cluster.join(version=3)
    cluster.clock.pass_time(DELAY_S)
    assert joining.response.error_code == code
    before = cluster.described().group_state
    cluster.clock.pass_time(SESSION_S)
    assert (before, cluster.described().group_state) == states


@pytest.mark.parametrize(
    ("release", "code"), [("4.4", codes.REBALANCE_IN_PROGRESS), ("3.9", codes.NONE)]
)
def test_an_id_without_a_member_leaves(release: str, code: int) -> None:
    """The members of a stable group join again in Kafka 4, though none of them has left."""
    cluster = Coordinated(release)
    member_id = cluster.member()
    assert cluster.leave(cluster.join().response.member_id) == [0]
    assert cluster.heartbeat(member_id) == code


@pytest.mark.parametrize(("release", "waits"), [("4.4", False), ("3.9", True)])
def test_a_first_generation_whose_last_missing_member_does_not_come(
    release: str, waits: bool
) -> None:
    """Kafka 4 does not wait for the rest of the delay."""
    delay_s = 2 * SESSION_S
    configs = {"group.initial.rebalance.delay.ms": str(int(delay_s * 1000))}
    cluster = Coordinated(release, configs=configs)
    cluster.join()
    joining = cluster.join(version=3)
    cluster.clock.pass_time(SESSION_S)
    assert joining.waits is waits
    cluster.clock.pass_time(delay_s - SESSION_S)
    assert joining.response.error_code == 0


def test_the_only_member_leaves_amid_the_first_rebalance() -> None:
    cluster = Coordinated()
    leaves, stays = (cluster.join().response.member_id for _ in range(2))
    cluster.join(leaves)
    assert cluster.leave(leaves) == [0]
    assert cluster.described().group_state == "PreparingRebalance"
    joining = cluster.join(stays, names=("another",))
    cluster.clock.pass_time(2 * DELAY_S)
    assert (joining.response.error_code, joining.response.generation_id) == (0, 1)


def test_an_id_that_was_given_is_for_no_instance() -> None:
    cluster = Coordinated()
    given = cluster.join().response.member_id
    refused = cluster.join(given, "i").response
    assert (refused.error_code, refused.member_id) == (codes.UNKNOWN_SERVER_ERROR, "")


@pytest.mark.parametrize(("version", "leads"), [(9, True), (5, False)])
def test_a_static_member_comes_again_without_a_rebalance(version: int, leads: bool) -> None:
    cluster = Coordinated()
    joining = cluster.join(instance_id="i")
    cluster.clock.pass_time(DELAY_S)
    old = joining.response.member_id
    cluster.sync(old, 1, {old: b"kept"})
    again = cluster.join(instance_id="i", version=version).response
    assert (again.error_code, again.generation_id) == (0, 1)
    assert again.skip_assignment is leads
    assert (again.leader == again.member_id) is leads
    assert cluster.heartbeat(old, 1, "i") == codes.FENCED_INSTANCE_ID
    assert cluster.sync(again.member_id, 1).response.assignment == b"kept"
    removed = cluster.ask(m.LeaveGroupRequest("g", members=[MemberIdentity("", "i")]))
    assert [each.error_code for each in removed.members] == [0]
    assert cluster.described().members == []


def test_a_static_member_without_time_to_join_again_leaves_with_its_session() -> None:
    """A rebalance that nobody joins begins again, here with a limit of 0 ms."""
    cluster = Coordinated()
    leads = cluster.join(version=3)
    joining = cluster.join(instance_id="i", rebalance_s=0)
    cluster.clock.pass_time(2 * DELAY_S)
    leader, static = leads.response.member_id, joining.response.member_id
    cluster.sync(leader, 1, {leader: b"", static: b""})
    assert cluster.leave(leader) == [0]
    assert cluster.described().group_state == "PreparingRebalance"
    cluster.clock.pass_time(SESSION_S)
    assert cluster.described().group_state == "Empty"


def test_offsets_are_those_of_members_while_there_are_some() -> None:
    cluster = Coordinated()

    def code(*given: int | str) -> int:
        ((row,),) = (each.partitions for each in cluster.commit(*given).response.topics)  # type: ignore[arg-type]
        return int(row.error_code)

    assert code(1) == 0
    member_id = cluster.member()
    assert code(2) == codes.UNKNOWN_MEMBER_ID
    assert code(3, 2, member_id) == codes.ILLEGAL_GENERATION
    assert code(4, 1, member_id) == 0
    assert cluster.committed() == {0: 4}
    (row,) = cluster.ask(m.DeleteGroupsRequest(["g"])).results
    assert row.error_code == codes.NON_EMPTY_GROUP
    assert cluster.leave(member_id) == [0]
    (row,) = cluster.ask(m.DeleteGroupsRequest(["g"])).results
    assert row.error_code == 0
    assert (cluster.committed(), cluster.ask(ListGroupsRequest()).groups) == ({}, [])


def test_offsets_expire_after_their_time() -> None:
    cluster = Coordinated(configs={"offsets.retention.minutes": "60"})
    cluster.commit(5)
    cluster.clock.pass_time(3000)
    assert cluster.committed() == {0: 5}
    cluster.clock.pass_time(1200)
    assert cluster.committed() == {}
    assert cluster.ask(ListGroupsRequest()).groups == []


def test_another_coordinator_loads_the_log() -> None:
    """What the topic has is all that a broker has to know."""
    cluster = Coordinated()
    cluster.commit(5)
    member_id = cluster.member()
    waiting = cluster.join(version=3)
    before = cluster.described()
    cluster.state.coordinators.left(cluster.node)
    assert waiting.response.error_code == codes.NOT_COORDINATOR
    after = cluster.described()
    assert after.group_state == "Stable", "the rebalance that was under way is forgotten"
    assert [each.member_id for each in after.members] == [member_id]
    assert before.members[0].client_host == after.members[0].client_host == "/127.0.0.1"
    assert after.members[0].member_assignment == b"all"
    assert cluster.committed() == {0: 5}
    assert cluster.heartbeat(member_id) == 0
    cluster.clock.pass_time(SESSION_S)
    assert cluster.heartbeat(member_id) == codes.UNKNOWN_MEMBER_ID


def test_offsets_of_a_deleted_topic_are_deleted() -> None:
    cluster = Coordinated()
    cluster.commit(5)
    topic = m.DeleteTopicsRequest(topic_names=["orders"], timeout_ms=1000)
    cluster.served.ask(topic, 5)
    assert cluster.committed() == {}


@pytest.mark.parametrize(
    ("release", "code"),
    [("4.4", codes.GROUP_ID_NOT_FOUND), ("3.9", codes.ILLEGAL_GENERATION)],
)
def test_a_member_commits_to_a_group_that_is_not_there(release: str, code: int) -> None:
    ((row,),) = (each.partitions for each in Coordinated(release).commit(1, 2, "m").response.topics)
    assert row.error_code == code


@pytest.mark.parametrize(("release", "code"), [("4.3", 69), ("3.9", 0)])
def test_a_group_that_is_not_there(release: str, code: int) -> None:
    cluster = Coordinated(release)
    (row,) = cluster.ask(m.DescribeGroupsRequest(["nothing"])).groups
    assert (row.group_state, row.error_code) == ("Dead", code)


@pytest.mark.parametrize(("release", "bits"), [("4.3", 3400), ("3.9", 328)])
def test_operations_on_a_group(release: str, bits: int) -> None:
    cluster = Coordinated(release)
    (row,) = cluster.ask(m.DescribeGroupsRequest(["g"], True), 5).groups
    assert row.authorized_operations == bits


def test_a_commit_waits_for_all_replicas_in_sync() -> None:
    """A broker that was killed is in the ISR until its session is over."""
    cluster = Coordinated(nodes=3)
    assert not cluster.commit(1).waits
    cluster.state.partitions.left(cluster.node % 3 + 1)
    waiting = cluster.commit(2)
    assert waiting.waits
    cluster.clock.pass_time(5)
    ((row,),) = (each.partitions for each in waiting.response.topics)
    assert row.error_code == codes.COORDINATOR_NOT_AVAILABLE


def test_a_request_without_records_waits_for_those_before_it() -> None:
    """As in Kafka 4; errors, and answers that other members decide, do not wait."""
    cluster = Coordinated(nodes=3)
    member_id = cluster.member()
    cluster.state.partitions.left(cluster.node % 3 + 1)
    commit = cluster.commit(1, 1, member_id)
    beat = cluster.send(m.HeartbeatRequest("g", 1, member_id))
    assert cluster.heartbeat(member_id, 2) == codes.ILLEGAL_GENERATION
    assert cluster.join().response.error_code == codes.MEMBER_ID_REQUIRED
    cluster.clock.pass_time(2)
    leaves = cluster.send(m.LeaveGroupRequest("g", members=[MemberIdentity(member_id, None)]))
    assert commit.waits
    assert beat.waits
    cluster.clock.pass_time(3)
    assert beat.response.error_code == codes.COORDINATOR_NOT_AVAILABLE
    assert leaves.waits
    cluster.clock.pass_time(2)
    assert leaves.response.error_code == codes.COORDINATOR_NOT_AVAILABLE


def test_a_request_without_records_is_answered_once_those_before_it_are_replicated() -> None:
    cluster = Coordinated(nodes=3)
    member_id = cluster.member()
    cluster.state.partitions.delay(cluster.node % 3 + 1, 1.0)
    cluster.commit(1, 1, member_id)
    cluster.clock.pass_time(0.5)
    beat = cluster.send(m.HeartbeatRequest("g", 1, member_id))
    assert beat.waits
    cluster.clock.pass_time(0.5)
    assert beat.response.error_code == 0


def test_before_kafka_4_a_request_without_records_does_not_wait() -> None:
    cluster = Coordinated("3.9", nodes=3)
    member_id = cluster.member()
    cluster.state.partitions.left(cluster.node % 3 + 1)
    assert cluster.commit(1, 1, member_id).waits
    assert cluster.heartbeat(member_id) == 0
    assert cluster.leave(member_id) == [0]


@pytest.mark.parametrize("topic", [None, "absent"])
@pytest.mark.parametrize(("group", "code"), [("", 24), ("absent", 69)])
def test_offsets_of_no_group_are_not_deleted(topic: str | None, group: str, code: int) -> None:
    """Also where no partition is left that there is: the coordinator is asked all the same."""
    rows = [OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(0)])] if topic else []
    assert Coordinated().ask(m.OffsetDeleteRequest(group, rows)).error_code == code


@pytest.mark.parametrize(
    ("topics", "code"),
    [
        (b"\0\0\0\0" + _NO_DATA, 0),
        (b"\0\0\0\1\0\6orders" + _NO_DATA, 86),
        (b"\0\0\0\1", 86),
        (b"", 86),
    ],
    ids=["none", "this one", "cut off", "nothing"],
)
@pytest.mark.parametrize("version", [b"\0\0", b"\0\1", b"\0\3", b"\0\7", b"\xff\xff"])
@pytest.mark.parametrize("release", ["4.4", "3.9"])
def test_offsets_of_subscribed_topics_are_kept(
    release: str, version: bytes, topics: bytes, code: int
) -> None:
    """All that counts is how every version begins: some clients write no more than that."""
    cluster = Coordinated(release)
    member_id = cluster.member(subscription=version + topics)
    cluster.commit(7, 1, member_id)
    rows = [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(0)])]
    ((row,),) = (each.partitions for each in cluster.ask(m.OffsetDeleteRequest("g", rows)).topics)
    assert row.error_code == code
    assert cluster.committed() == ({0: 7} if code else {})


PROTOCOLS = st.lists(
    st.tuples(st.sampled_from(["range", "roundrobin", "sticky"]), st.just(b"")), max_size=4
)


@given(steps=st.lists(st.tuples(st.integers(0, 3), st.none() | PROTOCOLS), max_size=12))
def test_a_group_supports_what_all_members_do(
    steps: list[tuple[int, list[tuple[str, bytes]] | None]],
) -> None:
    """However members come, join again with other protocols, start again and go."""
    group = Group("g", 0)
    for number, protocols in steps:
        name, instance = f"m{number}", f"i{number}"
        if protocols is None:
            group.remove(group.static.get(instance, name))
        elif instance not in group.static:
            member = Member(name, instance, "c", "h", 1, 1, protocols)
            group.add(member, "consumer")
        elif number % 2:
            group.change_protocols(group.members[group.static[instance]], protocols)
        else:
            group.replace_static(instance, f"{name}+{len(group.static[instance])}")
    group.state = "Stable"
    names = [{name for name, _ in each.protocols} for each in group.members.values()]
    for name in ("range", "roundrobin", "sticky") if names else ():
        assert group.supports("consumer", [(name, b"")]) is all(name in each for each in names)


@pytest.fixture
def refusing() -> Iterator[Callable[[Coordinated], None]]:
    """Lets the log of the group take no record until the end of the test."""
    with pytest.MonkeyPatch.context() as patch:

        def refuse(cluster: Coordinated) -> None:
            shard = cluster.state.coordinators.led("g")
            patch.setattr(shard, "write", lambda *given, **_: given[2](_REFUSED))

        yield refuse


_REFUSED = codes.COORDINATOR_NOT_AVAILABLE


def test_a_group_that_is_full_takes_nobody() -> None:
    cluster = Coordinated(configs={"group.max.size": "1"})
    member_id = cluster.member()
    assert cluster.join().response.error_code == codes.GROUP_MAX_SIZE_REACHED
    assert cluster.heartbeat(member_id) == 0


def test_a_member_joins_no_group_that_is_not_there() -> None:
    joined = Coordinated().join("somebody").response
    assert (joined.error_code, joined.member_id) == (codes.UNKNOWN_MEMBER_ID, "somebody")


def test_a_protocol_that_the_group_has_not_chosen() -> None:
    cluster = Coordinated()
    request = m.SyncGroupRequest("g", 1, cluster.member(), None, "consumer", "roundrobin")
    assert cluster.ask(request).error_code == codes.INCONSISTENT_GROUP_PROTOCOL


def test_members_join_again_where_the_log_takes_no_assignment(
    refusing: Callable[[Coordinated], None],
) -> None:
    cluster = Coordinated()
    joining = cluster.join(version=3)
    cluster.clock.pass_time(DELAY_S)
    member_id = joining.response.member_id
    refusing(cluster)
    assert cluster.sync(member_id, 1, {member_id: b"all"}).response.error_code == _REFUSED
    assert cluster.described().group_state == "PreparingRebalance"
    assert cluster.join(member_id).response.generation_id == 2


def test_a_static_member_stays_where_the_log_takes_no_other_id(
    refusing: Callable[[Coordinated], None],
) -> None:
    cluster = Coordinated()
    joining = cluster.join(instance_id="static")
    cluster.clock.pass_time(DELAY_S)
    member_id = joining.response.member_id
    cluster.sync(member_id, 1, {member_id: b"all"})
    refusing(cluster)
    assert cluster.join(instance_id="static").response.error_code == _REFUSED
    assert cluster.heartbeat(member_id, instance="static") == 0


def test_a_group_is_deleted_once_replicas_know_that() -> None:
    cluster = Coordinated(nodes=3)
    cluster.commit(1)
    follower = cluster.node % 3 + 1
    cluster.state.partitions.delay(follower, 1.0)
    deleting = cluster.send(m.DeleteGroupsRequest(["g"]))
    assert deleting.waits
    cluster.clock.pass_time(1)
    (row,) = deleting.response.results
    assert (row.group_id, row.error_code) == ("g", 0)
    assert cluster.committed() == {}


def test_a_log_with_too_few_replicas_in_sync_takes_no_commit() -> None:
    cluster = Coordinated("3.9", 2, {"min.insync.replicas": "2"})
    cluster.commit(1)
    topic = cluster.state.topic("__consumer_offsets")
    assert topic is not None
    cluster.state.partitions.delay(3 - cluster.node, math.inf)
    cluster.state.append([
        PartitionChangeRecord(number, topic.id, isr=[part.leader])
        for number, part in topic.partitions.items()
    ])  # fmt: skip
    ((row,),) = (each.partitions for each in cluster.commit(2).response.topics)
    assert row.error_code == codes.COORDINATOR_NOT_AVAILABLE
    assert cluster.committed() == {0: 1}


def test_all_offsets_by_topic_ids_are_those_of_topics_that_are_there() -> None:
    """Also where some may still be committed by an open transaction (KIP-848)."""
    cluster = Coordinated()
    cluster.commit(1)
    orders = cluster.state.topic("orders")
    assert orders is not None
    for topics in (None, [OffsetFetchRequestTopics(topic_id=orders.id, partition_indexes=[0])]):
        group = OffsetFetchRequestGroup("g", topics=topics)
        (row,) = cluster.ask(m.OffsetFetchRequest(groups=[group], require_stable=True), 10).groups
        (topic,) = row.topics
        assert (topic.topic_id, topic.partitions[0].committed_offset) == (orders.id, 1)
