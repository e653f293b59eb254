"""Streams groups on a clock that is moved."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.admin import SyncAdminClient
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.messages.streams_group_heartbeat_request import (
    Endpoint,
    KeyValue,
    Subtopology,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records import read_known_record
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.groups.records import CoordinatorRecord
from kafka_admin_proto.server.groups.shard import Shard
from kafka_admin_proto.server.groups.streams.members import StreamsMember
from kafka_admin_proto.server.groups.streams.records import (
    assignment_record,
    epoch_record,
    member_record,
    topology_record,
)
from kafka_admin_proto.server.groups.streams.topology import topology_value
from kafka_admin_proto.server.inspection.stored_records import records_of
from kafka_admin_proto.server.security.authorizer import rules
from kafka_admin_proto.server.topics.names import CONSUMER_OFFSETS
from tests.server.groups.coordinated import Coordinated
from tests.server.groups.test_commands import kap_on

_AT_ONCE = {
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
}
_PLAIN = Topology(0, [Subtopology("0", ["orders"])])
_WITH_STATE = Topology(
    0, [Subtopology("0", ["orders"], [], [TopicInfo("store", 0, 1, [KeyValue("a.b", "1")])])]
)
_SESSION_S = 45.0


class Thread:
    """A member: its id and epoch, and the tasks that it has."""

    def __init__(self, cluster: Coordinated, name: str, process: str = "", **fields: Any) -> None:
        self._cluster = cluster
        self.id = name
        self._fields = {"process_id": process or name, "topology": _PLAIN, **fields}
        self.epoch = 0
        self.tasks: list[list[TaskIds]] = [[], [], []]

    def beat(self, **fields: Any) -> Any:
        """The response to a heartbeat, after which the topics are there that it creates."""
        active, standby, warmup = self.tasks
        given: dict[str, Any] = {
            "active_tasks": active, "standby_tasks": standby, "warmup_tasks": warmup,
        }  # fmt: skip
        if self.epoch == 0:
            given |= {"rebalance_timeout_ms": 60_000, **self._fields}
        elif "instance_id" in self._fields:
            given["instance_id"] = self._fields["instance_id"]
        request = m.StreamsGroupHeartbeatRequest("g", self.id, self.epoch, **given)
        for name, value in fields.items():
            setattr(request, name, value)
        waiting = self._cluster.send(request)
        response = waiting.response
        self._cluster.state.append(waiting.records)
        if not response.error_code:
            self.epoch = response.member_epoch
            if response.active_tasks is not None:
                roles = (response.active_tasks, response.standby_tasks, response.warmup_tasks)
                self.tasks = [[TaskIds(*_of(each)) for each in role] for role in roles]
        return response

    @property
    def active(self) -> list[int]:
        """The numbers of the active tasks."""
        return [number for each in self.tasks[0] for number in each.partitions]

    def leave(self, epoch: int = -1) -> Any:
        """The response when the member leaves."""
        return self.beat(
            member_epoch=epoch, topology=None, active_tasks=None, standby_tasks=None,
            warmup_tasks=None,
        )  # fmt: skip


def _of(row: Any) -> tuple[str, list[int]]:
    return row.subtopology_id, row.partitions


@pytest.fixture
def cluster() -> Coordinated:
    return Coordinated(configs=_AT_ONCE)


def _shard(cluster: Coordinated) -> Shard:
    return cluster.state.coordinators.led("g")


def _described(cluster: Coordinated) -> Any:
    (row,) = cluster.ask(m.StreamsGroupDescribeRequest(["g"])).groups
    return row


def _statuses(response: Any) -> list[int]:
    return [each.status_code for each in response.status]


def test_threads_share_the_tasks(cluster: Coordinated) -> None:
    one, two = Thread(cluster, "one"), Thread(cluster, "two")
    assert one.beat().error_code == 0
    assert (one.epoch, one.active) == (2, [0, 1])
    assert (two.beat().member_epoch, two.active) == (3, [])
    one.beat()
    assert (one.epoch, len(one.active)) == (2, 1)
    one.beat()
    two.beat()
    assert sorted(one.active + two.active) == [0, 1]
    assert _described(cluster).group_state == "Stable"
    two.leave()
    one.beat()
    assert one.active == [0, 1]


def test_internal_topics_are_created_and_then_tasks_assigned(cluster: Coordinated) -> None:
    topology = Topology(
        1,
        [
            Subtopology("0", ["orders"], [], [], ["repartition"]),
            Subtopology(
                "1", [], [], [TopicInfo("store")], [], [TopicInfo("repartition")],
            ),
        ],
    )  # fmt: skip
    one = Thread(cluster, "one", topology=topology)
    response = one.beat()
    assert _statuses(response) == [3]
    assert response.status[0].status_detail == "Internal topics are missing: store, repartition"
    assert _described(cluster).group_state == "NotReady"
    assert _statuses(one.beat()) == []
    assert {each.subtopology_id: each.partitions for each in one.tasks[0]} == {
        "0": [0, 1], "1": [0, 1],
    }  # fmt: skip
    for name in ("store", "repartition"):
        found = cluster.state.topic(name)
        assert found is not None
        assert len(found.partitions) == 2


def test_a_topic_that_cannot_be_created_is_tried_again_later(cluster: Coordinated) -> None:
    one = Thread(cluster, "one", topology=_WITH_STATE)
    one.beat()
    for _ in range(2):
        (status,) = one.beat().status
    assert status.status_detail == (
        "Internal topics are missing: store; Creation failed: store (Unknown topic config name: "
        "a.b)."
    )
    cluster.clock.pass_time(11)
    (status,) = one.beat().status
    assert status.status_detail == "Internal topics are missing: store"


def test_topics_are_created_with_the_rights_of_the_caller() -> None:
    secured = {"authorizer.class.name": rules.STANDARD_AUTHORIZER, "super.users": "User:ANONYMOUS"}
    cluster = Coordinated(configs={**_AT_ONCE, **secured})
    for kind, name, operation in (
        (rules.GROUP, "g", rules.READ), (rules.TOPIC, "orders", rules.DESCRIBE),
        (rules.TOPIC, "store", rules.DESCRIBE),
    ):  # fmt: skip
        row = AclCreation(kind, name, rules.LITERAL, "User:eve", "*", operation, rules.ALLOW)
        cluster.served.ask(m.CreateAclsRequest([row]))
    topology = Topology(0, [Subtopology("0", ["orders"], [], [TopicInfo("store")])])
    request = m.StreamsGroupHeartbeatRequest(
        "g", "one", 0, rebalance_timeout_ms=1000, topology=topology, active_tasks=[],
        standby_tasks=[], warmup_tasks=[], process_id="p",
    )  # fmt: skip
    response = cluster.served.ask(request, node=cluster.node, principal="User:eve")
    (status,) = response.status
    assert status.status_detail == (
        "Internal topics are missing: store; Unauthorized to CREATE on topics store."
    )
    assert cluster.state.topic("store") is None


def test_the_first_assignment_waits_for_more_members() -> None:
    cluster = Coordinated(configs={"group.streams.assignment.interval.ms": "0"})
    one, two = Thread(cluster, "one"), Thread(cluster, "two")
    assert [_statuses(each.beat()) for each in (one, two)] == [[5], [5]]
    cluster.clock.pass_time(3)
    for each in (one, two):
        assert _statuses(each.beat()) == []
        assert len(each.active) == 1


def test_the_delay_ends_with_a_streams_group_alone() -> None:
    """One that the log has not taken goes on, whatever group of that name ends meanwhile."""
    cluster = Coordinated(configs={**_AT_ONCE, "group.streams.initial.rebalance.delay.ms": "3000"})
    cluster.refuse_records()
    assert Thread(cluster, "one").beat().error_code == codes.UNKNOWN_SERVER_ERROR
    cluster.refuse_records(no_more=True)
    joining = m.ConsumerGroupHeartbeatRequest(
        "g", "two", 0, rebalance_timeout_ms=1000, subscribed_topic_names=["orders"],
        topic_partitions=[],
    )  # fmt: skip
    assert cluster.ask(joining).error_code == 0
    assert cluster.ask(m.ConsumerGroupHeartbeatRequest("g", "two", -1)).error_code == 0
    cluster.clock.pass_time(2)
    (row,) = cluster.ask(m.DeleteGroupsRequest(["g"])).results
    assert row.error_code == 0
    one = Thread(cluster, "one")
    assert (one.beat().error_code, one.active) == (0, [])
    cluster.clock.pass_time(1)
    one.beat()
    assert one.active == [0, 1]


def test_a_session_ends_and_who_does_not_give_back_is_removed(cluster: Coordinated) -> None:
    one, two = Thread(cluster, "one"), Thread(cluster, "two")
    one.beat()
    two.beat()
    held = list(one.tasks)
    one.beat()
    for _ in range(2):
        one.tasks = held
        one.beat()
        two.beat()
        cluster.clock.pass_time(30)
    assert one.beat().error_code == codes.UNKNOWN_MEMBER_ID
    two.beat()
    assert two.active == [0, 1]
    cluster.clock.pass_time(_SESSION_S)
    assert two.beat().error_code == codes.UNKNOWN_MEMBER_ID
    assert _described(cluster).group_state == "Empty"


def test_a_group_is_what_its_records_say(cluster: Coordinated) -> None:
    """Another coordinator has the same group, whose members go on."""
    one, two = Thread(cluster, "one"), Thread(cluster, "two", instance_id="i")
    for each in (one, two, one, one, two):
        each.beat()
    before = _described(cluster)
    shard = _shard(cluster)
    coordinators = cluster.state.coordinators
    coordinators.left(cluster.node)
    assert _shard(cluster) is not shard
    assert _described(cluster) == before
    assert [each.beat().error_code for each in (one, two)] == [0, 0]
    cluster.clock.pass_time(_SESSION_S)
    assert _described(cluster).group_state == "Empty"


def test_states_of_members_have_kafkas_numbers_in_records(cluster: Coordinated) -> None:
    """One gives a task back, for which the other one waits: 1 stable, 2 unrevoked, 3 unreleased."""
    one, two = Thread(cluster, "one"), Thread(cluster, "two")
    for each in (one, two, one, two, one, two):
        each.beat()
    found: dict[str, list[int]] = {"one": [], "two": []}
    for record in records_of(cluster.state, CONSUMER_OFFSETS):
        known = read_known_record(CONSUMER_OFFSETS, record.key, record.value)
        if isinstance(known.value, m.StreamsGroupCurrentMemberAssignmentValue):
            assert isinstance(known.key, m.StreamsGroupCurrentMemberAssignmentKey)
            found[known.key.member_id].append(known.value.state)
    assert found == {"one": [1, 2, 1], "two": [3, 3, 1]}


@pytest.mark.parametrize("kind", [m.ConsumerGroupHeartbeatRequest, m.StreamsGroupHeartbeatRequest])
def test_a_state_that_kafka_does_not_know_is_the_unknown_one(kind: Any) -> None:
    """A member whose record has it is fenced, as long as it may have something."""
    cluster = Coordinated(configs=_AT_ONCE)
    records: list[CoordinatorRecord] = [
        (m.ConsumerGroupMetadataKey("g"), m.ConsumerGroupMetadataValue(2), 0),
        (m.ConsumerGroupMemberMetadataKey("g", "one"), m.ConsumerGroupMemberMetadataValue(), 0),
        (
            m.ConsumerGroupCurrentMemberAssignmentKey("g", "one"),
            m.ConsumerGroupCurrentMemberAssignmentValue(2, state=9), 0,
        ),
    ]  # fmt: skip
    if kind is m.StreamsGroupHeartbeatRequest:
        records = [
            topology_record("g", topology_value(_PLAIN)), epoch_record("g", 2, 0, 0, {}, (-1, -1)),
            member_record("g", StreamsMember("one", process_id="p")),
            assignment_record("g", StreamsMember("one", 2, state=-1)),  # 0 in the record
        ]  # fmt: skip
    _shard(cluster).append(records)
    assert cluster.ask(kind("g", "one", 2)).error_code == codes.FENCED_MEMBER_EPOCH


def test_a_static_member_comes_again_and_keeps_its_tasks(cluster: Coordinated) -> None:
    one = Thread(cluster, "one", instance_id="i", process="p")
    one.beat()
    again = Thread(cluster, "again", instance_id="i", process="p")
    assert again.beat().error_code == codes.UNRELEASED_INSTANCE_ID
    assert one.leave(-2).member_epoch == -2
    assert (again.beat().error_code, again.active, again.epoch) == (0, [0, 1], 2)
    assert one.beat(member_epoch=2).error_code == codes.FENCED_INSTANCE_ID


def test_members_hear_who_has_which_partitions_and_that_all_shall_end(
    cluster: Coordinated,
) -> None:
    one = Thread(cluster, "one", user_endpoint=Endpoint("here", 1))
    two = Thread(cluster, "two")
    for each in (two, one, two, two, one):
        each.beat()
    (row,) = two.beat().partitions_by_user_endpoint
    assert (row.user_endpoint.host, row.active_partitions[0].topic) == ("here", "orders")
    assert _statuses(two.beat(shutdown_application=True)) == [4]
    assert _statuses(one.beat()) == [4]


def test_a_group_has_room_for_so_many() -> None:
    cluster = Coordinated(configs={**_AT_ONCE, "group.streams.max.size": "1"})
    assert Thread(cluster, "one").beat().error_code == 0
    assert Thread(cluster, "two").beat().error_code == codes.GROUP_MAX_SIZE_REACHED


def test_offsets_of_members_that_could_not_join_are_not_kept(cluster: Coordinated) -> None:
    Thread(cluster, "one").beat(task_offsets=[TaskOffset("0", 0, 5)])
    cluster.refuse_records()
    for number in range(3):
        offsets = [TaskOffset("0", 1, number)]
        response = Thread(cluster, f"more-{number}").beat(task_offsets=offsets)
        assert response.error_code == codes.UNKNOWN_SERVER_ERROR
    kept = _shard(cluster).streams_groups["g"]
    assert [*kept.members] == ["one"]
    assert len(kept.offsets) == len(kept.end_offsets) <= 2


def test_a_broker_without_the_protocol_refuses() -> None:
    cluster = Coordinated(configs={"group.coordinator.rebalance.protocols": "classic,consumer"})
    assert Thread(cluster, "one").beat().error_code == codes.UNSUPPORTED_VERSION


def test_a_cluster_of_4_3_has_them_with_the_configs_that_it_knows() -> None:
    cluster = Coordinated("4.3", configs=_AT_ONCE)
    one = Thread(cluster, "one")
    response = one.beat()
    assert (response.error_code, one.active, response.task_offset_interval_ms) == (0, [0, 1], 0)


def test_a_group_is_described_reset_and_deleted_by_the_client() -> None:
    """An empty classic group of offsets becomes one, and an empty one becomes a classic group."""
    with SyncCluster(topics={"orders": 2}, configs=_AT_ONCE) as cluster:
        cluster.produce("orders", ["a", "b", "c"])

        def beat(epoch: int) -> None:
            joins = epoch == 0
            request = m.StreamsGroupHeartbeatRequest(
                "words", "one", epoch, rebalance_timeout_ms=1000 if joins else -1,
                topology=_PLAIN if joins else None, process_id="p",
                active_tasks=[] if joins else None, standby_tasks=[] if joins else None,
                warmup_tasks=[] if joins else None,
            )  # fmt: skip
            with SyncAdminClient(cluster.bootstrap_servers) as admin:
                for asked in (m.FindCoordinatorRequest(coordinator_keys=["words"]), request):
                    name = asked.message_name.replace("Request", "Response")
                    answer: Any = admin.call(asked, getattr(m, name))
            assert answer.body.error_code == 0, answer

        reset = ("offsets", "reset", "--group", "words", "--topic", "orders", "--to-latest", "-y")
        assert kap_on(cluster, *reset)[0] == 0
        beat(0)
        assert kap_on(cluster, *reset)[0] == 1, "it has a member"
        code, said, answer = kap_on(cluster, "groups", "describe", "words")
        (group,) = answer["groups"]
        assert (code, group["type"], group["state"]) == (0, "streams", "Stable"), said
        stored = cluster.group("words")
        assert (stored.type, stored.state) == ("streams", "Stable")
        assert stored.members[0].partitions == (("orders", 0), ("orders", 1))
        beat(-1)
        assert kap_on(cluster, *reset)[0] == 0
        delete = ("groups", "delete", "words", "-y")
        code, said, _ = kap_on(cluster, *delete)
        assert code == 0, said
        assert kap_on(cluster, "groups", "list")[2]["groups"] == []
