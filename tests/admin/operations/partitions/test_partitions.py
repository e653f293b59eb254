"""Partitions added, moved and led, on a cluster without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kafka_admin_proto.admin import (
    ConfigChange,
    ConfigResource,
    Missing,
    NewPartitions,
    OngoingReassignment,
    RequestTimedOutError,
    TopicAlteration,
)
from kafka_admin_proto.admin.operations.partitions import creation, moves
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.messages.create_partitions_request import CreatePartitionsTopic
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, Handler
from tests.admin.operations.partitions.served_caller import Cluster
from tests.helpers.mistyped import mistyped

REQUEST_TIMED_OUT, TOPIC_AUTHORIZATION_FAILED = 7, 29


async def test_each_topic_gets_its_partitions_or_its_error() -> None:
    cluster = Cluster({"a": [[1]], "b": [[1], [2]]})
    found = await cluster.create_partitions(
        [
            NewPartitions("a", 3, [[2], [3]]),
            NewPartitions("b", 2, [[3]]),
            NewPartitions("c", 2, [[3]]),
        ]
    )
    assert [(each.topic, each.error, each.complete) for each in found] == [
        ("a", None, True),
        ("b", "INVALID_PARTITIONS", None),
        ("c", "UNKNOWN_TOPIC_OR_PARTITION", None),
    ]
    assert cluster.replicas("a") == [[1], [2], [3]]


async def test_no_partition_is_added_when_it_is_validated_only() -> None:
    cluster = Cluster({"a": [[1]]})
    (found,) = await cluster.create_partitions(
        [NewPartitions("a", 3, [[2], [3]])], validate_only=True
    )
    assert (found.error, found.complete) == (None, None)
    assert cluster.replicas("a") == [[1]]
    assert not cluster.sent(MetadataRequest)


def test_a_topic_gets_partitions_once_in_a_call() -> None:
    with pytest.raises(ValueError, match="twice"):
        asyncio.run(Cluster({}).create_partitions([NewPartitions("a", 2), NewPartitions("a", 3)]))


@pytest.mark.parametrize(("count", "error"), [(2, None), (3, "INVALID_PARTITIONS")])
async def test_a_lost_answer_is_looked_at(count: int, error: str | None) -> None:
    """Another client adds one more partition in between."""

    cluster = Cluster({"a": [[1]]})
    create = cluster.handlers[CreatePartitionsRequest]

    def handle(request: Any, call: Call) -> Message | Exception:
        answer = create(request, call)
        if count > 2:
            cluster.served.ask(
                CreatePartitionsRequest([CreatePartitionsTopic("a", count, None)], 1000)
            )
        return answer

    cluster.handlers[CreatePartitionsRequest] = handle
    cluster.lost.add(CreatePartitionsRequest)
    (found,) = await cluster.create_partitions([NewPartitions("a", 2, [[2]])])
    assert found.error == error
    assert f"the topic has {count} partitions now" in (found.message or "")


@pytest.mark.parametrize("comes", [True, False])
async def test_partitions_that_a_controller_was_late_with_may_still_come(comes: bool) -> None:
    cluster, timeout = Cluster({"a": [[1]]}), 30.0 if comes else 0.3
    create = cluster.handlers[CreatePartitionsRequest]

    def handle(request: Message, call: Call) -> Message | Exception:
        answer = create(request, call)
        assert isinstance(request, CreatePartitionsRequest)
        assert isinstance(answer, CreatePartitionsResponse)
        if not request.validate_only:
            answer.results[0].error_code = REQUEST_TIMED_OUT
        return answer

    cluster.handlers[CreatePartitionsRequest] = handle
    if not comes:
        cluster.deafen(2)
    (found,) = await cluster.create_partitions([NewPartitions("a", 2, [[2]])], timeout=timeout)
    if not comes:
        assert (found.error, found.complete) == ("REQUEST_TIMED_OUT", False)
        assert any((each.topic, each.broker) == ("a", 2) for each in found.missing)
        assert "the rest may still come" in (found.message or "")
        return
    assert (found.error, found.message, found.complete) == (None, None, True)
    more = TopicAlteration("a", partitions=3)
    (altered,) = await cluster.alter_topics([more], timeout=timeout)
    assert (altered.error, altered.complete) == (None, True)


@pytest.mark.parametrize("begun", [True, False])
async def test_a_cancelled_move_whose_answer_was_lost(begun: bool) -> None:
    cluster = Cluster({"a": [[1, 2]]}, instantly=False)
    if begun:
        await cluster.alter_partition_reassignments({("a", 0): [3, 2]})
    cluster.lost.add(AlterPartitionReassignmentsRequest)
    (found,) = await cluster.alter_partition_reassignments({("a", 0): None})
    if begun:
        assert (found.error, found.repeated) == (None, True)
        assert "that attempt cancelled it" in (found.message or "")
        assert cluster.replicas("a") == [[2, 1]]
    else:
        assert (found.error, found.repeated) == ("NO_REASSIGNMENT_IN_PROGRESS", False)


async def test_a_move_that_ended_before_it_was_cancelled() -> None:
    cluster = Cluster({"a": [[1, 2]]}, instantly=False)
    await cluster.alter_partition_reassignments({("a", 0): [3, 2]})
    reassign = cluster.handlers[AlterPartitionReassignmentsRequest]

    def handle(request: Message, call: Call) -> Message | Exception:
        cluster.arrive()
        return reassign(request, call)

    cluster.handlers[AlterPartitionReassignmentsRequest] = handle
    cluster.lost.add(AlterPartitionReassignmentsRequest)
    (found,) = await cluster.alter_partition_reassignments({("a", 0): None})
    assert (found.error, found.repeated) == ("NO_REASSIGNMENT_IN_PROGRESS", True)
    assert "have arrived at [3, 2]" in (found.message or "")


async def test_moves_are_begun_listed_and_cancelled() -> None:
    cluster = Cluster({"a": [[1, 2], [2, 3]]}, instantly=False)
    assert await cluster.list_partition_reassignments() == []
    wanted = {("a", 0): [3, 2], ("a", 7): [1], ("b", 0): [1]}
    found = await cluster.alter_partition_reassignments(wanted)
    unknown = "UNKNOWN_TOPIC_OR_PARTITION"
    assert [each.error for each in found] == [None, unknown, unknown]
    moving = [OngoingReassignment("a", 0, [3, 2, 1], adding=[3], removing=[1])]
    assert await cluster.list_partition_reassignments() == moving
    assert await cluster.list_partition_reassignments([("a", 0), ("a", 1)]) == moving
    assert moving[0].target == [3, 2]
    assert await cluster.list_partition_reassignments([("a", 1)]) == []
    found = await cluster.alter_partition_reassignments({("a", 0): None, ("a", 1): None})
    assert [each.error for each in found] == [None, "NO_REASSIGNMENT_IN_PROGRESS"]
    assert cluster.replicas("a")[0] == [2, 1]


async def test_a_held_number_of_replicas_needs_a_broker_that_knows_of_it() -> None:
    cluster = Cluster({"a": [[1, 2]]})
    moves = {("a", 0): [2, 3]}
    await cluster.alter_partition_reassignments(moves, allow_replication_factor_change=False)
    (call,) = cluster.sent(AlterPartitionReassignmentsRequest)
    assert isinstance(call.request, AlterPartitionReassignmentsRequest)
    assert not call.request.allow_replication_factor_change
    key = AlterPartitionReassignmentsRequest.api_key
    assert key is not None
    cluster.spoken[key] = VersionRange(0, 0)
    with pytest.raises(UnsupportedVersionError):
        await cluster.alter_partition_reassignments(moves, allow_replication_factor_change=False)


async def test_preferred_leaders_of_all_partitions() -> None:
    cluster = Cluster({"a": [[1, 2], [2, 3]], "b": [[3, 1]]})
    cluster.lead("a", 1, 3)
    (found,) = await cluster.elect_leaders()
    assert (found.topic, found.partition, found.elected, found.complete) == ("a", 1, True, True)
    assert await cluster.elect_leaders([]) == []
    for call in cluster.sent(ElectLeadersRequest):
        assert isinstance(call.request, ElectLeadersRequest)
        assert call.request.topic_partitions is None
    assert cluster.topic("a").partitions[1].leader == 2


async def test_elections_of_some_partitions() -> None:
    cluster = Cluster({"a": [[1, 2], [2, 3]]})
    cluster.lead("a", 0, 2)
    found = await cluster.elect_leaders([("a", 0), ("a", 1), ("c", 0)])
    assert [(each.elected, each.error, each.complete) for each in found] == [
        (True, None, True),
        (False, None, True),
        (False, "UNKNOWN_TOPIC_OR_PARTITION", None),
    ]
    cluster.lead("a", 0, 2)
    (found_now,) = await cluster.elect_leaders([("a", 0)], timeout=0)
    assert (found_now.elected, found_now.complete) == (True, None)


async def test_a_broker_that_has_another_leader_is_named() -> None:
    cluster = Cluster({"a": [[1, 2], [2, 3]]})
    cluster.lead("a", 0, 2)
    cluster.handlers[MetadataRequest] = _slow(cluster)
    found = await cluster.elect_leaders([("a", 0), ("a", 1)], timeout=0.2)
    assert [each.complete for each in found] == [False, True]
    assert found[0].missing == [
        Missing("a", "partition 0 of topic 'a' is led by 2, not yet by 1", partition=0, broker=3)
    ]


def _slow(cluster: Cluster) -> Handler:
    """Broker 3 does not hear of the election."""
    metadata = cluster.handlers[MetadataRequest]

    def handle(request: Any, call: Call) -> Message | Exception:
        answer = metadata(request, call)
        assert isinstance(answer, MetadataResponse)
        if call.broker == 3:
            answer.topics[0].partitions[0].leader_id = 2
        return answer

    return handle


async def test_unclean_elections_need_brokers_from_2_4() -> None:
    cluster = Cluster({"a": [[1, 2]]})
    (found,) = await cluster.elect_leaders([("a", 0)], election="unclean")
    assert found.complete
    key = ElectLeadersRequest.api_key
    assert key is not None
    cluster.spoken[key] = VersionRange(0, 0)
    assert await cluster.elect_leaders([("a", 0)])
    with pytest.raises(UnsupportedVersionError):
        await cluster.elect_leaders([("a", 0)], election="unclean")
    with pytest.raises(ValueError, match="'preferred' or 'unclean'"):
        await cluster.elect_leaders(election=mistyped("clean"))


async def test_what_an_answer_leaves_out_is_an_error_of_the_client() -> None:
    cluster = Cluster({"a": [[1, 2]]})
    cluster.handlers[CreatePartitionsRequest] = lambda *_: CreatePartitionsResponse()
    cluster.handlers[ElectLeadersRequest] = lambda *_: ElectLeadersResponse()
    cluster.handlers[AlterPartitionReassignmentsRequest] = lambda *_: (
        AlterPartitionReassignmentsResponse()
    )
    (created,) = await cluster.create_partitions([NewPartitions("a", 2)])
    (elected,) = await cluster.elect_leaders([("a", 0)])
    (moved,) = await cluster.alter_partition_reassignments({("a", 0): [2]})
    assert created.error == elected.error == moved.error == "RemoteProtocolError"


def _second_fails(cluster: Cluster, kind: type[Message]) -> None:
    """The second request of that kind has no answer."""
    answer = cluster.handlers[kind]
    late = RequestTimedOutError("no answer")
    cluster.handlers[kind] = lambda request, call: (
        late if len(cluster.sent(kind)) == 2 else answer(request, call)
    )


async def test_what_a_first_request_did_is_known_when_the_second_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(creation, "_TOPICS_PER_REQUEST", 2)
    monkeypatch.setattr(moves, "_PARTITIONS_PER_REQUEST", 2)
    wanted = [None, None, "RequestTimedOutError"]

    cluster = Cluster({"a": [[1]], "b": [[1]], "c": [[1]]})
    _second_fails(cluster, CreatePartitionsRequest)
    _second_fails(cluster, AlterPartitionReassignmentsRequest)
    more = [NewPartitions(name, 2, [[2]]) for name in ("a", "b", "c")]
    created = await cluster.create_partitions(more)
    assert [each.error for each in created] == wanted
    assert [each.complete for each in created] == [True, True, None]
    moved = await cluster.alter_partition_reassignments(
        {(name, 0): [2] for name in ("a", "b", "c")}
    )
    assert [each.error for each in moved] == wanted


async def test_configs_of_many_resources_go_out_in_several_requests() -> None:
    """A KRaft controller refuses a request that would write over 10,000 records."""

    names = [f"t{each}" for each in range(2_001)]
    cluster = Cluster({each: [[1]] for each in names})
    found = await cluster.alter_configs(
        ConfigChange(resource=ConfigResource("topic", each), set={"retention.ms": "1"})
        for each in names
    )
    assert [each.name for each in found] == names
    assert not any(each.error for each in found)
    assert len(cluster.sent(IncrementalAlterConfigsRequest)) > 1


async def test_what_was_done_is_known_where_the_client_may_not_look() -> None:
    cluster = Cluster({"a": [[1, 2]]})
    cluster.lead("a", 0, 2)
    refused = MetadataResponseTopic(name="a", error_code=TOPIC_AUTHORIZATION_FAILED)
    cluster.handlers[MetadataRequest] = lambda *_: MetadataResponse(topics=[refused])
    (elected,) = await cluster.elect_leaders([("a", 0)])
    assert (elected.elected, elected.error, elected.complete) == (True, None, None)
    assert "not waited for: topic 'a': TOPIC_AUTHORIZATION_FAILED" in (elected.message or "")
    (created,) = await cluster.create_partitions([NewPartitions("a", 2, [[2, 1]])])
    assert (created.error, created.complete) == (None, None)
    assert "TOPIC_AUTHORIZATION_FAILED" in (created.message or "")
