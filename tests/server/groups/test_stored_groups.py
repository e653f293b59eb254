"""Groups as tests look at them, rebalances that tests begin, and faults of one group."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.admin import NewTopic, SyncAdminClient
from kafka_admin_proto.codec import codec
from kafka_admin_proto.control_socket import control_socket, send
from kafka_admin_proto.messages.consumer_protocol_assignment import TopicPartition
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.offset_fetch_request import OffsetFetchRequestGroup
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.brokers.control import commands_of
from kafka_admin_proto.server.inspection.stored_groups import group_of_name, rebalance
from kafka_admin_proto.server.inspection.stored_records import produce
from tests.server.differential.wire import Nodes
from tests.server.groups.consumers import Consumer
from tests.server.groups.coordinated import DELAY_S, Coordinated


def _assigned(*numbers: int) -> bytes:
    given = m.ConsumerProtocolAssignment([TopicPartition("orders", list(numbers))])
    return b"\0\1" + codec("ConsumerProtocolAssignment", 1).encode(given)


def test_a_group_has_members_offsets_and_lag() -> None:
    cluster = Coordinated()
    with pytest.raises(ValueError, match=r"there is no group .g.; its coordinator has none"):
        group_of_name(cluster.state, "g")
    produce(cluster.state, "orders", [{"value": "a", "partition": 0}] * 3 + [b"b"])
    cluster.commit(1)
    joining = cluster.join(version=3, instance_id=None)
    cluster.clock.pass_time(DELAY_S)
    member_id = joining.response.member_id
    cluster.sync(member_id, 1, {member_id: _assigned(1, 0)})
    found = group_of_name(cluster.state, "g")
    assert (found.state, found.protocol, found.generation) == ("Stable", "range", 1)
    (member,) = found.members
    assert (member.id, member.client_id, member.host) == (member_id, "client", "127.0.0.1")
    assert member.partitions == (("orders", 0), ("orders", 1))
    assert found.committed == {("orders", 0): 1}
    assert found.lag == {("orders", 0): 2, ("orders", 1): 1}


def test_a_rebalance_lets_members_join_again() -> None:
    cluster = Coordinated()
    cluster.commit(1)
    with pytest.raises(ValueError, match="has no members"):
        rebalance(cluster.state, "g")
    member_id = cluster.member()
    assert cluster.heartbeat(member_id) == 0
    rebalance(cluster.state, "g")
    assert cluster.heartbeat(member_id) == codes.REBALANCE_IN_PROGRESS
    assert cluster.join(member_id).response.generation_id == 2


def test_a_group_of_the_consumer_protocol() -> None:
    cluster = Coordinated(configs={"group.consumer.assignment.interval.ms": "0"})
    one = Consumer(cluster, "one")
    one.beat()
    found = group_of_name(cluster.state, "g")
    assert (found.type, found.state, found.protocol) == ("consumer", "Stable", "uniform")
    (member,) = found.members
    assert (member.id, member.generation, found.generation) == ("one", 2, 2)
    assert member.partitions == (("orders", 0), ("orders", 1))
    rebalance(cluster.state, "g")
    assert one.beat().member_epoch == 3


@pytest.mark.exhaustive
def test_what_is_no_assignment_has_no_partitions() -> None:
    cluster = Coordinated()
    cluster.member()
    (member,) = group_of_name(cluster.state, "g").members
    assert member.partitions == ()


def test_a_group_over_the_control_socket(tmp_path: Path) -> None:
    async def said() -> list[str]:
        async with Cluster(1) as cluster, control_socket(tmp_path / "socket", commands_of(cluster)):
            row = OffsetCommitRequestPartition(0, 2)
            topics = [OffsetCommitRequestTopic("orders", partitions=[row])]

            def send_all() -> list[str]:
                with SyncAdminClient(cluster.bootstrap_servers) as admin:
                    admin.create_topics([NewTopic("orders", 1)])
                with Nodes(cluster.bootstrap_servers) as nodes:
                    nodes.ask(0, m.FindCoordinatorRequest(coordinator_keys=["g"]), 4)
                    nodes.ask(0, m.OffsetCommitRequest("g", topics=topics), 8)
                return [send(tmp_path / "socket", each) for each in ("group g", "rebalance g")]

            return await asyncio.to_thread(send_all)

    seen, refused = asyncio.run(said())
    assert json.loads(seen)["committed"] == {"orders-0": 2}
    assert refused == "error: the group g has no members that could join again"


def test_a_fault_of_one_group() -> None:
    with SyncCluster(1) as cluster, Nodes(cluster.bootstrap_servers) as nodes:

        def codes_of(*names: str) -> list[int]:
            groups = [OffsetFetchRequestGroup(each, topics=None) for each in names]
            answer = nodes.ask(0, m.OffsetFetchRequest(groups=groups), 9)
            return [each.error_code for each in answer.groups]

        nodes.ask(0, m.FindCoordinatorRequest(coordinator_keys=["billing"]), 4)
        with cluster.faults.add(api="OffsetFetch", group="bill*", error="NOT_COORDINATOR") as fault:
            assert codes_of("audit") == [0]
            assert codes_of("audit", "billing") == [codes.NOT_COORDINATOR] * 2
        with cluster.faults.add(group="billing", error="COORDINATOR_LOAD_IN_PROGRESS") as found:
            for keys, kind, code in ((["audit"], 0, 0), (["billing"], 0, 14), (["billing"], 1, 15)):
                asked = m.FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)
                (row,) = nodes.ask(0, asked, 4).coordinators
                assert row.error_code == code
        assert (fault.fired, found.fired) == (1, 1)
