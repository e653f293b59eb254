"""Members whose sessions end while the log of the coordinators refuses what ends them."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.streams_group_heartbeat_request import Subtopology, Topology
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.inspection.stored_groups import group_of_name
from tests.server.groups.coordinated import Coordinated

_AT_ONCE = {
    "group.consumer.assignment.interval.ms": "0",
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
}
_SESSION_S, _REBALANCE_S, _RETRY_S = 45.0, 10.0, 0.5
_TOPOLOGY = Topology(0, [Subtopology("0", ["orders"])])


def _joining(kind: str, name: str) -> Any:
    timeout_ms = int(_REBALANCE_S * 1000)
    if kind == "share":
        return m.ShareGroupHeartbeatRequest("g", name, 0, None, ["orders"])
    if kind == "consumer":
        return m.ConsumerGroupHeartbeatRequest(
            "g", name, 0, None, None, timeout_ms, ["orders"], None, None, []
        )
    return m.StreamsGroupHeartbeatRequest(
        "g", name, 0, -1, None, None, timeout_ms, _TOPOLOGY, [], [], [], name
    )


def _members(cluster: Coordinated) -> list[str]:
    return [each.id for each in group_of_name(cluster.state, "g").members]


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_a_member_whose_session_is_over_leaves_once_the_log_takes_it(kind: str) -> None:
    cluster = Coordinated(configs=_AT_ONCE)
    assert cluster.ask(_joining(kind, "one")).error_code == 0
    cluster.refuse_records()
    cluster.clock.pass_time(2 * _SESSION_S)
    assert _members(cluster) == ["one"]
    cluster.refuse_records(no_more=True)
    cluster.clock.pass_time(_RETRY_S)
    assert _members(cluster) == []


@pytest.mark.parametrize("kind", ["consumer", "share", "streams"])
def test_a_member_that_comes_again_meanwhile_stays(kind: str) -> None:
    cluster = Coordinated(configs=_AT_ONCE)
    assert cluster.ask(_joining(kind, "one")).error_code == 0
    cluster.refuse_records()
    cluster.clock.pass_time(_SESSION_S)
    cluster.refuse_records(no_more=True)
    assert cluster.ask(_joining(kind, "one")).error_code == 0
    cluster.clock.pass_time(_SESSION_S - 1)
    assert _members(cluster) == ["one"]
    cluster.clock.pass_time(1)
    assert _members(cluster) == []


@pytest.mark.parametrize("kind", ["consumer", "streams"])
def test_a_member_that_does_not_give_back_leaves_once_the_log_takes_it(kind: str) -> None:
    cluster = Coordinated(configs=_AT_ONCE)
    for name in ("one", "two"):
        assert cluster.ask(_joining(kind, name)).error_code == 0
    stays = _joining(kind, "one")
    stays.member_epoch = 2
    if kind == "streams":
        stays.topology = stays.active_tasks = stays.standby_tasks = stays.warmup_tasks = None
    else:
        stays.topic_partitions = None
    assert cluster.ask(stays).error_code == codes.NONE
    cluster.refuse_records()
    cluster.clock.pass_time(_REBALANCE_S)
    assert _members(cluster) == ["one", "two"]
    cluster.refuse_records(no_more=True)
    cluster.clock.pass_time(_RETRY_S)
    assert _members(cluster) == ["two"]
