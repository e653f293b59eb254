"""Topics altered on a cluster without a network: planned, validated, carried out, waited for."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import (
    InstructionError,
    PartitionReplicas,
    RequestTimedOutError,
    SetConfigStep,
    TopicAlteration,
)
from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    ConfigRecord,
    CreatePartitionsRequest,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    MetadataRequest,
)
from kafka_admin_proto.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.schema.versions import VersionRange
from tests.admin.operations.partitions.served_caller import Cluster

CHANGING = (
    CreatePartitionsRequest, AlterPartitionReassignmentsRequest, IncrementalAlterConfigsRequest,
)  # fmt: skip


@given(st.integers(0, 2**32))
def test_what_was_asked_is_there_and_a_second_time_nothing_is_sent(seed: int) -> None:
    draw = random.Random(seed)

    async def run() -> None:
        topics = {}
        for name in ("a", "b"):
            factor = draw.randint(1, 3)
            topics[name] = [draw.sample([1, 2, 3], factor) for _ in range(draw.randint(1, 4))]
        cluster = Cluster(topics)
        asked = [
            TopicAlteration(
                name,
                partitions=draw.choice([None, len(topics[name]) + draw.randint(0, 3)]),
                replication_factor=draw.choice([None, draw.randint(1, 3)]),
                assignment=draw.choice([None, None, {0: draw.sample([1, 2, 3], 2)}]),
                configs=draw.choice([{}, {"retention.ms": "5"}]),
            )
            for name in topics
        ]
        results = await cluster.alter_topics(asked)
        for each, result in zip(asked, results, strict=True):
            assert result.error is None
            assert result.complete is (True if result.steps else None)
            assert result.done == len(result.steps)
            replicas = cluster.replicas(each.name)
            if each.assignment:
                assert replicas[0] == each.assignment[0]
            else:
                assert len(replicas) == (each.partitions or len(topics[each.name]))
                if each.replication_factor:
                    assert {len(one) for one in replicas} == {each.replication_factor}
            assert cluster.configs.get(f"topic {each.name}", {}) == each.configs
        before = len(cluster.calls)
        again = await cluster.alter_topics(asked)
        assert not any(result.steps for result in again)
        assert not any(isinstance(call.request, CHANGING) for call in cluster.calls[before:])

    asyncio.run(run())


async def test_a_dry_run_validates_and_changes_nothing() -> None:
    cluster = Cluster({"a": [[1]], "b": [[1]]})
    results = await cluster.alter_topics(
        [
            TopicAlteration("a", partitions=2, replication_factor=2, configs={"retention.ms": "1"}),
            TopicAlteration("b", partitions=2, configs={"no.such.config": "1"}),
        ],
        dry_run=True,
    )
    assert [each.error for each in results] == [None, "INVALID_CONFIG"]
    assert [each.done for each in results] == [0, 0]
    assert cluster.replicas("a") == cluster.replicas("b") == [[1]]
    assert cluster.configs == {}
    for call in cluster.sent(CreatePartitionsRequest):
        assert isinstance(call.request, CreatePartitionsRequest)
        assert call.request.validate_only
        assert [each.name for each in call.request.topics] == ["a"]
    assert not cluster.sent(AlterPartitionReassignmentsRequest)


async def test_a_config_that_is_refused_is_known_before_partitions_are_added() -> None:
    cluster = Cluster({"a": [[1]], "b": [[1]]})
    first, second = await cluster.alter_topics(
        [
            TopicAlteration("a", partitions=3, configs={"no.such.config": "1"}),
            TopicAlteration("b", partitions=3),
        ]
    )
    assert (first.error, first.done) == ("INVALID_CONFIG", 0)
    assert (first.message or "").startswith("configs: ")
    assert len(cluster.replicas("a")) == 1
    assert (second.error, second.complete) == (None, True)
    assert len(cluster.replicas("b")) == 3


async def test_a_step_that_fails_leaves_those_before_it_done() -> None:
    cluster = Cluster({"a": [[1]]})

    def refuse(request: object, call: object) -> IncrementalAlterConfigsResponse:
        assert isinstance(request, IncrementalAlterConfigsRequest)
        code = 0 if request.validate_only else codes.INVALID_CONFIG
        failed = AlterConfigsResourceResponse(error_code=code, resource_type=2, resource_name="a")
        return IncrementalAlterConfigsResponse(responses=[failed])

    cluster.handlers[IncrementalAlterConfigsRequest] = refuse
    (result,) = await cluster.alter_topics(
        [TopicAlteration("a", partitions=2, configs={"retention.ms": "1"})]
    )
    assert (result.error, result.done, result.complete) == ("INVALID_CONFIG", 1, None)
    assert (result.message or "").endswith("1 of 2 steps had been taken")
    assert len(cluster.replicas("a")) == 2


async def test_a_broker_that_does_not_hear_of_it_is_named() -> None:
    cluster = Cluster({"a": [[1]]})
    cluster.deafen(3)
    (result,) = await cluster.alter_topics(
        [TopicAlteration("a", partitions=2, replication_factor=2)], timeout=0.3
    )
    assert (result.error, result.complete, result.done) == (None, False, 3)
    assert str(result.missing[0]) == "broker 3: topic 'a' has 1 of 2 partitions"
    assert any("not yet" in each.text for each in result.missing)
    assert not any(each.broker == 1 for each in result.missing)
    assert "may still come" in (result.message or "")


async def test_copies_that_take_longer_than_the_time_go_on() -> None:
    cluster = Cluster({"a": [[1, 2]]}, instantly=False)
    asked = [TopicAlteration("a", assignment={0: [3, 1]})]
    (result,) = await cluster.alter_topics(asked, timeout=0.2)
    assert result.complete is False
    assert str(result.missing[0]).startswith("broker 1: partition 0 of topic 'a' has the replicas")
    (again,) = await cluster.alter_topics(asked, timeout=0.2)
    assert again.steps == []  # it is on its way
    (refused,) = await cluster.alter_topics([TopicAlteration("a", assignment={0: [2, 3]})])
    assert refused.error == "REASSIGNMENT_IN_PROGRESS"
    cluster.arrive()
    assert cluster.replicas("a") == [[3, 1]]


@pytest.mark.parametrize("timeout", [0, -1])
async def test_without_a_timeout_nothing_is_waited_for(timeout: float) -> None:
    cluster = Cluster({"a": [[1, 2]]}, instantly=False)
    (result,) = await cluster.alter_topics(
        [TopicAlteration("a", replication_factor=3)], timeout=timeout
    )
    assert (result.error, result.complete, result.done) == (None, None, 1)
    assert len(cluster.sent(MetadataRequest)) == 1


async def test_several_instructions_for_one_topic() -> None:
    cluster = Cluster({"a": [[1]]})
    asked = [TopicAlteration("a", partitions=5), TopicAlteration("a", partitions=2)]
    with pytest.raises(InstructionError, match="'a'"):
        await cluster.alter_topics(asked)
    assert cluster.calls == []
    (result,) = await cluster.alter_topics(asked, duplicates="last")
    assert result.error is None
    assert len(cluster.replicas("a")) == 2


async def test_a_lost_answer_about_new_partitions_is_no_error() -> None:
    cluster = Cluster({"a": [[1]]})
    cluster.lost.add(CreatePartitionsRequest)
    (result,) = await cluster.alter_topics([TopicAlteration("a", partitions=2)])
    assert (result.error, result.complete) == (None, True)
    assert "that attempt added them" in (result.message or "")
    assert len(cluster.sent(CreatePartitionsRequest)) == 3


async def test_topics_of_a_batch_share_the_brokers() -> None:
    names = [f"t{number}" for number in range(30)]
    cluster = Cluster({name: [[1]] for name in names})
    await cluster.alter_topics([TopicAlteration(name, partitions=2) for name in names])
    new = [cluster.replicas(name)[1][0] for name in names]
    assert {new.count(2), new.count(3)} == {15}


async def test_brokers_before_2_4_have_no_reassignments() -> None:
    cluster = Cluster({"a": [[1]]})
    key = ListPartitionReassignmentsRequest.api_key
    assert key is not None
    cluster.spoken[key] = VersionRange.NONE
    (result,) = await cluster.alter_topics([TopicAlteration("a", partitions=2)])
    assert result.complete is True


async def test_who_may_not_see_the_cluster_may_still_alter_a_topic() -> None:
    cluster = Cluster({"a": [[1]]})
    cluster.handlers[ListPartitionReassignmentsRequest] = lambda request, call: (
        ListPartitionReassignmentsResponse(error_code=codes.CLUSTER_AUTHORIZATION_FAILED)
    )
    (result,) = await cluster.alter_topics(
        [TopicAlteration("a", partitions=2, configs={"retention.ms": "1"})]
    )
    assert result.complete is True


async def test_the_values_of_configs_go_out_as_they_are() -> None:
    cluster = Cluster({"a": [[1]]})
    before = {"retention.ms": "1", "flush.ms": "2"}
    cluster.served.state.append([ConfigRecord(2, "a", *config) for config in before.items()])
    after = {"retention.ms": "3", "follower.replication.throttled.replicas": ""}
    plan = await cluster.plan_alter_topics(
        [TopicAlteration("a", configs=after, delete_configs=["flush.ms"])]
    )
    wanted = SetConfigStep(name="retention.ms", value="3", current="1")
    assert wanted in plan.topics[0].steps
    (result,) = await cluster.run_alter_plan(plan)
    assert result.complete is True
    assert cluster.configs["topic a"] == after


async def test_a_silent_cluster_does_not_outlast_the_timeout_and_is_named() -> None:
    cluster = Cluster({"a": [[1]]})
    cluster.silent = "a connection to 127.0.0.1:9"
    cluster.default_timeout = 60
    row = PartitionReplicas("a", 0, [2])
    for late in (
        cluster.alter_topics([TopicAlteration("a", partitions=2)], timeout=0.1),
        cluster.generate_reassignment(["a"], [1], timeout=0.1),
        cluster.execute_reassignment([row], timeout=0.1),
    ):
        with pytest.raises(RequestTimedOutError, match=r"127\.0\.0\.1:9"):
            await late
