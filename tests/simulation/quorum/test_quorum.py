"""Elections of the metadata topic's quorum: what holds in every run, and the text's own course."""

from __future__ import annotations

from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages.fetch_request import FetchRequest
from kafka_admin_proto.messages.kip_516.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kafka_admin_proto.messages.kip_516.end_quorum_epoch_request import EndQuorumEpochRequest
from kafka_admin_proto.messages.kip_516.vote_request import VoteRequest
from kafka_admin_proto.records.segments.partition_metadata import PartitionMetadata
from kafka_admin_proto.simulation.quorum.folder import MetadataFolder, MetadataLog
from kafka_admin_proto.simulation.quorum.followers import successor_backoff_ms
from kafka_admin_proto.simulation.scenarios.election import election, leader_of, nodes_of
from kafka_admin_proto.simulation.world.frames import read_request_frame
from kafka_admin_proto.simulation.world.trace import TraceEvent
from kafka_admin_proto.simulation.world.world import World
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID
from tests.helpers.profile import draws, sample
from tests.simulation.quorum.invariants import unsettled, violations
from tests.simulation.quorum.mutants import MUTANTS
from tests.simulation.quorum.schedules import play

#: Each run of this list keeps all invariants; each mutant is found within the first of them.
SEEDS = range(300)
FOUND_WITHIN = 100


def body_of(event: TraceEvent) -> object:
    assert event.frame is not None
    return read_request_frame(event.frame, "kip-516")[1]


def requests(world: World, api: str) -> list[object]:
    return [
        body_of(event)
        for event in world.trace.events
        if (event.kind, event.type, event.api) == ("send", "request", api)
    ]


@pytest.mark.parametrize("seed", sample(SEEDS, 15))
def test_invariants_of_drawn_runs(seed: int) -> None:
    assert play(seed)[1] == []


@pytest.mark.parametrize("name", sample(sorted(MUTANTS), 2))
def test_each_mutant_is_found(name: str) -> None:
    mutant = MUTANTS[name]
    with patch.object(mutant.of, mutant.method, mutant.broken):
        assert any(play(seed)[1] for seed in range(FOUND_WITHIN))


def test_a_seed_is_a_run_to_the_byte() -> None:
    assert election(3, 99).trace.to_bytes() == election(3, 99).trace.to_bytes()
    assert election(3, 99).trace.digest() != election(4, 99).trace.digest()


@pytest.fixture(scope="module")
def world() -> World:
    return election(1, 99)


def test_the_sentinel_comes_first_and_then_the_id(world: World) -> None:
    """t102, t131, t157, t252–t256, t260–t262: the leader gives the topic its id."""
    leader = leader_of(world)
    assert leader is not None
    topic_id = leader.folder.topic_id
    for api in ("Vote", "Fetch", "BeginQuorumEpoch", "EndQuorumEpoch"):
        ids = []
        for each in requests(world, api):
            assert isinstance(
                each, VoteRequest | FetchRequest | BeginQuorumEpochRequest | EndQuorumEpochRequest
            )
            ids.append(each.topics[0].topic_id)
        assert ids[-1] == topic_id
        if api != "EndQuorumEpoch":
            assert ids[0] == METADATA_TOPIC_ID
        assert set(ids) <= {METADATA_TOPIC_ID, topic_id}


def test_the_scenario_ends_settled(world: World) -> None:
    assert list(violations(world.trace)) == []
    assert list(unsettled(nodes_of(world))) == []
    assert {each.topic_id for each in nodes_of(world)} != {METADATA_TOPIC_ID}


@pytest.mark.parametrize("seed", sample(range(40), 5))
def test_nobody_waits_long_after_a_crash(seed: int) -> None:
    """An observer too finds the leader that was elected in the place of a crashed one."""
    played = election(seed, 99)
    assert list(unsettled(nodes_of(played))) == []
    assert played.now_ms < 30_000


def test_the_first_successor_is_elected(world: World) -> None:
    request = requests(world, "EndQuorumEpoch")[-1]
    assert isinstance(request, EndQuorumEpochRequest)
    (partition,) = request.topics[0].partitions
    leader = leader_of(world)
    assert leader is not None
    assert leader.context.node_id == partition.preferred_successors[0]
    assert leader.quorum.epoch == partition.leader_epoch + 1


def test_files_are_what_a_restart_reads(world: World) -> None:
    for node in nodes_of(world):
        assert node.folder.saved() == node.quorum.saved()
        assert MetadataLog(node.folder).entries == node.fetching.log.entries
        text = node.folder.files["partition.metadata"]
        assert PartitionMetadata.parse(text).topic_id == node.topic_id


@settings(max_examples=draws(200))
@given(st.lists(st.integers(1, 5), max_size=12).map(sorted), st.integers(0, 6))
def test_logs_are_compared_by_the_end_of_an_epoch(epochs: list[int], asked: int) -> None:
    log = MetadataLog(MetadataFolder())
    for epoch in epochs:
        log.append_topic_id(UUID(int=epoch, version=4), epoch, 0)
    end = log.end_of(asked)
    assert end.offset == sum(epoch <= asked for epoch in epochs)
    assert end.epoch == max((epoch for epoch in epochs if epoch <= asked), default=0)
    log.cut_to(end.offset)
    assert log.end == end


@given(st.integers(1, 9))
def test_successors_wait_longer_one_after_the_other(count: int) -> None:
    waits = [successor_backoff_ms(position, count, 1000) for position in range(count + 1)]
    assert waits[0] == 0
    assert waits == sorted(waits)
    assert waits[-1] == 1000
