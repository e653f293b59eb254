"""Whole reassignments: generated, executed, verified, cancelled, with throttles and log dirs."""

from __future__ import annotations

import asyncio
import pickle

import pytest

from kafka_admin_proto.admin import (
    AdminError,
    BrokerError,
    InstructionError,
    NoSuchBrokerError,
    PartitionReplicas,
)
from kafka_admin_proto.admin.operations.partitions.throttles import (
    FOLLOWERS,
    LEADERS,
    LOG_DIRS_RATE,
    RATES,
)
from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kafka_admin_proto.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
)
from tests.admin.operations.partitions.served_caller import Cluster
from tests.placement.clusters import difference, replica_counts

TOPICS = {"a": [[1, 2], [2, 1], [1, 2]], "b": [[1], [1], [1], [1]]}


async def test_generated_replicas_are_on_the_brokers_and_even_with_few_moves() -> None:
    cluster = Cluster(TOPICS)
    cluster.paths["a", 0, 1] = "/b"
    found = await cluster.generate_reassignment(["a", "b"], [1, 2, 3])
    assert found.current[0] == PartitionReplicas("a", 0, [1, 2], ["/b", "any"])
    assert [each.replicas for each in found.current] == [*TOPICS["a"], *TOPICS["b"]]
    assert found.moves == 4
    for topic in TOPICS:
        replicas = [each.replicas for each in found.proposed if each.topic == topic]
        assert difference(replica_counts(replicas), [1, 2, 3]) <= 1
    assert difference(replica_counts([each.replicas for each in found.proposed]), [1, 2, 3]) <= 1
    assert found == await cluster.generate_reassignment(["a", "b"], [1, 2, 3])


async def test_what_cannot_be_generated() -> None:
    cluster = Cluster(TOPICS)
    with pytest.raises(NoSuchBrokerError, match=r"broker 9 is not among the live ones \(1, 2, 3"):
        await cluster.generate_reassignment(["a"], [1, 9])
    with pytest.raises(BrokerError, match="topic 'c': UNKNOWN_TOPIC_OR_PARTITION"):
        await cluster.generate_reassignment(["c"], [1])
    with pytest.raises(InstructionError, match="topic 'a': a partition of 2 replicas"):
        await cluster.generate_reassignment(["a"], [1])


async def test_a_throttle_holds_what_moves_and_goes_when_all_is_done() -> None:
    cluster = Cluster(TOPICS, instantly=False)
    rows = [PartitionReplicas("a", 0, [3, 2]), PartitionReplicas("b", 1, [2])]
    found = await cluster.execute_reassignment(rows, throttle=1000)
    assert found.throttled
    assert [each.error for each in found.partitions] == [None, None]
    assert [each.replicas for each in found.rollback] == [[1, 2], [1]]
    assert cluster.configs == {
        "topic a": {LEADERS: "0:1,0:2", FOLLOWERS: "0:3"},
        "topic b": {LEADERS: "1:1", FOLLOWERS: "1:2"},
        **{f"broker {id_}": dict.fromkeys(RATES, "1000") for id_ in (1, 2, 3)},
    }
    states = await cluster.verify_reassignment(rows)
    assert not states.done
    assert {each.state for each in states.partitions} == {"in_progress"}
    assert not states.throttles_removed
    cluster.arrive()
    kept = await cluster.verify_reassignment(rows, preserve_throttles=True)
    assert kept.done
    assert cluster.configs["broker 1"]
    states = await cluster.verify_reassignment(rows)
    assert states.throttles_removed
    assert {each.state for each in states.partitions} == {"completed"}
    assert not any(cluster.configs.values())


async def test_a_broker_that_is_down_gets_no_limit() -> None:
    cluster = Cluster({"a": [[1, 9], [9, 2]]}, instantly=False)
    rows = [PartitionReplicas("a", 0, [1, 3]), PartitionReplicas("a", 1, [2, 3])]
    found = await cluster.execute_reassignment(rows, throttle=7)
    assert [each.error for each in found.partitions] == [None, None]
    assert cluster.configs == {
        "topic a": {LEADERS: "0:1,0:9,1:2,1:9", FOLLOWERS: "0:3,1:3"},
        **{f"broker {id_}": dict.fromkeys(RATES, "7") for id_ in (1, 2, 3)},
    }
    cluster.arrive()
    assert (await cluster.verify_reassignment(rows)).throttles_removed
    assert not any(cluster.configs.values())


async def test_a_reassignment_under_way_is_not_overlooked() -> None:
    cluster = Cluster(TOPICS, instantly=False)
    await cluster.execute_reassignment([PartitionReplicas("a", 0, [3, 2])])
    more = [PartitionReplicas("b", 0, [3])]
    with pytest.raises(AdminError, match="1 partition already being moved, such as 0"):
        await cluster.execute_reassignment(more)
    await cluster.execute_reassignment(more, additional=True, throttle=5)
    assert cluster.configs["topic a"] == {LEADERS: "0:1,0:2", FOLLOWERS: "0:3"}
    assert cluster.configs["broker 2"] == dict.fromkeys(RATES, "5")


async def test_nothing_is_changed_for_a_wrong_reassignment() -> None:
    cluster = Cluster(TOPICS)
    with pytest.raises(NoSuchBrokerError, match="broker 9"):
        await cluster.execute_reassignment([PartitionReplicas("a", 0, [9])], throttle=1)
    with pytest.raises(BrokerError, match="topic 'a' partition 7: UNKNOWN") as raised:
        await cluster.execute_reassignment([PartitionReplicas("a", 7, [1])], throttle=1)
    assert raised.value.about == {"topic": "a", "partition": 7}
    assert pickle.loads(pickle.dumps(raised.value)).about == raised.value.about
    with pytest.raises(InstructionError, match="no replicas"):
        await cluster.execute_reassignment([PartitionReplicas("a", 0, [])], throttle=1)
    cluster.handlers[IncrementalAlterConfigsRequest] = _refuse
    with pytest.raises(AdminError, match="nothing was moved: topic a: TOPIC_AUTHORIZATION_FAI"):
        await cluster.execute_reassignment([PartitionReplicas("a", 0, [3])], throttle=1)
    assert cluster.configs == {}
    assert not cluster.sent(AlterPartitionReassignmentsRequest)
    states = await cluster.verify_reassignment([PartitionReplicas("a", 0, [1, 2])])
    assert (states.done, states.throttles_removed) == (True, False)
    assert "throttles are still set: topic a:" in (states.message or "")


def _refuse(request: object, call: object) -> IncrementalAlterConfigsResponse:
    assert isinstance(request, IncrementalAlterConfigsRequest)
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=29, resource_type=each.resource_type, resource_name=each.resource_name
            )
            for each in request.resources
        ]
    )


async def test_states_of_partitions() -> None:
    cluster = Cluster(TOPICS)
    rows = [
        PartitionReplicas("a", 0, [1, 2]),
        PartitionReplicas("a", 1, [1, 2]),
        PartitionReplicas("a", 9, [1, 2]),
        PartitionReplicas("c", 0, [1, 2]),
    ]
    found = await cluster.verify_reassignment(rows)
    assert [each.state for each in found.partitions] == [
        "completed", "other_replicas", "unknown", "unknown",
    ]  # fmt: skip
    assert found.partitions[1].replicas == [2, 1]


async def test_replicas_go_into_log_dirs_once_they_are_there() -> None:
    cluster = Cluster(TOPICS, instantly=False)
    cluster.paths["a", 0, 2] = "/a"
    rows = [PartitionReplicas("a", 0, [3, 2], ["/a", "/b"])]
    asyncio.get_running_loop().call_later(0.25, cluster.arrive)
    found = await cluster.execute_reassignment(rows, log_dirs_throttle=7, timeout=3)
    assert [(each.broker, each.path, each.error) for each in found.log_dirs] == [
        (3, "/a", None), (2, "/b", None),
    ]  # fmt: skip
    assert cluster.configs["broker 3"] == {LOG_DIRS_RATE: "7"}
    cluster.future = {("a", 0, 2): "/b"}
    cluster.paths = {("a", 0, 2): "/a"}
    states = await cluster.verify_reassignment(rows)
    assert [each.state for each in states.log_dirs] == ["unknown", "in_progress"]
    assert not states.done
    cluster.paths["a", 0, 3] = "/b"
    cluster.arrive()
    states = await cluster.verify_reassignment(rows)
    assert [each.state for each in states.log_dirs] == ["not_moving", "completed"]
    assert states.done
    cluster.future = {("a", 0, 2): "/a"}
    states = await cluster.verify_reassignment(rows)
    assert states.log_dirs[1].state == "other_log_dir"


async def test_a_replica_that_does_not_come_in_time_is_named() -> None:
    cluster = Cluster(TOPICS, instantly=False)
    rows = [PartitionReplicas("a", 0, [3, 2], ["/a", "any"])]
    found = await cluster.execute_reassignment(rows, timeout=0.3)
    assert [each.error for each in found.log_dirs] == ["REPLICA_NOT_AVAILABLE"]


async def test_a_cancelled_reassignment_goes_back_with_its_throttles() -> None:
    cluster = Cluster(TOPICS, instantly=False)
    cluster.paths["a", 0, 2] = "/a"
    rows = [
        PartitionReplicas("a", 0, [3, 2], ["any", "/b"]),
        PartitionReplicas("a", 1, [2, 1]),
    ]
    await cluster.execute_reassignment(rows, throttle=9, timeout=0.2)
    assert cluster.future == {("a", 0, 2): "/b"}
    found = await cluster.cancel_reassignment(rows)
    # That partition 1 was to stay as it is counts as a move of nothing, which is none.
    assert [(each.partition, each.error) for each in found.partitions] == [(0, None)]
    assert [(each.broker, each.path, each.error) for each in found.log_dirs] == [(2, "/a", None)]
    assert cluster.future == {}
    assert found.throttles_removed
    assert not any(cluster.configs.values())
    assert cluster.replicas("a")[0] == [2, 1]
    again = await cluster.cancel_reassignment(rows, preserve_throttles=True)
    assert (again.partitions, again.log_dirs, again.throttles_removed) == ([], [], False)
