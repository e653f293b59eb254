"""The text's scenarios: what each step shows, and one run for a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto.messages.fetch_response import FetchResponse
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.simulation.rules import SHIPPED
from kafka_admin_proto.simulation.scenarios import SCENARIOS
from kafka_admin_proto.simulation.scenarios.client import Client
from kafka_admin_proto.simulation.scenarios.cluster import CLIENT, Cluster
from kafka_admin_proto.simulation.scenarios.deleted_topics import (
    bump,
    delete,
    stale_read,
    stale_state,
)
from kafka_admin_proto.simulation.world.frames import read_response_frame
from kafka_admin_proto.simulation.world.trace import TraceEvent
from kafka_admin_proto.simulation.world.world import World

FETCH_KEY = 1
SEEDS = range(3)


def chapters(world: World) -> dict[str, list[TraceEvent]]:
    """The scenario's sentences and the events behind each."""
    found: dict[str, list[TraceEvent]] = {"": []}
    for event in world.trace.events:
        if event.kind == "step":
            found[event.text] = []
        else:
            list(found.values())[-1].append(event)
    return found


def chapter(world: World, start: str) -> list[TraceEvent]:
    """The events behind the sentence that starts like this."""
    (found,) = (events for text, events in chapters(world).items() if text.startswith(start))
    return found


def last_states(events: list[TraceEvent]) -> list[Mapping[str, Any]]:
    """What the brokers know at the end of a chapter; those whose state has changed in it."""
    found = {event.node: event.fields for event in events if event.kind == "state"}
    return [state for state in found.values() if "topics" in state]


def notes(events: list[TraceEvent], text: str) -> list[TraceEvent]:
    return [event for event in events if event.kind == "note" and event.text == text]


def sent(events: list[TraceEvent], api: str, kind: str = "request") -> list[TraceEvent]:
    return [e for e in events if e.kind == "send" and (e.api, e.type) == (api, kind)]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stale_read_gets_no_record(seed: int) -> None:
    """t57–t65: a leader that has not heard of id1 refuses to be read by it."""
    world = stale_read(seed, 9)
    stale = chapter(world, "5. Broker B2")
    refused = notes(stale, "Fetch refused by the leader")
    assert refused
    assert all(event.fields["error_code"] == codes.UNKNOWN_TOPIC_ID for event in refused)
    for event in sent(stale, "Fetch", "response"):
        assert event.frame is not None
        _, body = read_response_frame(event.frame, FETCH_KEY, event.version, world.trace.dialect)
        assert isinstance(body, FetchResponse)
        rows = [row for topic in body.responses for row in topic.partitions]
        assert all(row.error_code == codes.UNKNOWN_TOPIC_ID and not row.records for row in rows)
    client = world.node(CLIENT)
    assert isinstance(client, Client)
    *_, refused_call, produced, read = client.calls
    assert refused_call.error_code == codes.UNKNOWN_TOPIC_ID
    assert produced.error_code == read.error_code == 0
    assert len(read.values) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_stale_state_makes_place(seed: int) -> None:
    """t40, t50, t51, t67–t75: the log of id0 goes to the deleting folder, and StopReplica finds
    nothing left.
    """
    world = stale_state(seed, 9)
    met = chapter(world, "5. Broker B1")
    (moved,) = notes(met, "another id: the log goes to the deleting folder")
    assert moved.node == 1
    written = [e for e in notes(met, "partition.metadata written") if e.node == 1]
    assert [event.fields["topic_id"] for event in written] == [moved.fields["new"]]
    again = chapter(world, "StopReplica is sent again")
    assert sent(again, "StopReplica")
    assert notes(again, "deletion finalized")[0].fields["topic_id"] == moved.fields["old"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_deletion_is_answered_while_a_broker_is_down(seed: int) -> None:
    """t36, t38, t53: its replicas there are stale for the FULL request that the broker gets when
    it starts.
    """
    world = delete(seed, 9)
    answered = chapter(world, "Topic A id0 is deleted")
    (asked,) = (
        e for e in answered if e.kind == "receive" and e.type == "request" and e.peer == CLIENT
    )
    (answer,) = sent(answered, "DeleteTopics", "response")
    assert answer.at_ms == asked.at_ms
    (given_up,) = notes(chapter(world, "StopReplica to broker 2"), "deletion given up")
    assert given_up.fields["brokers"] == [2]
    started = chapter(world, "Broker 2 starts")
    stale = notes(started, "stale partition")
    assert [(e.node, e.fields["folder"]) for e in stale] == [(2, "A-0"), (2, "A-1")]


def test_an_immediate_deletion_ends_with_its_controller() -> None:
    """t46, t53: it is in that controller's memory alone; FULL takes away what is left."""
    cluster = Cluster(1, brokers=(3, 1, 2))
    cluster.create("A", {0: [1, 2]})
    cluster.wait_for_metadata()
    cluster.world.crash(2)
    cluster.world.run(1_000)
    assert cluster.delete("A") == 0
    assert not cluster.world.store.children("/admin/delete_topics")
    cluster.resign()
    cluster.wait_for_metadata()
    after = len(cluster.world.trace.events)
    cluster.world.run(cluster.config.deletion_give_up_ms)
    assert not sent(cluster.world.trace.events[after:], "StopReplica")
    assert [folder.kind for folder in cluster.disks[2].folders()] == ["live"]
    cluster.world.start(2)
    cluster.wait_for_metadata()
    assert [folder.kind for folder in cluster.disks[2].folders()] == ["deleting"]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bump_finds_a_staged_deletion(seed: int) -> None:
    """t38, t40, t44–t45, t47, t48–t49: it goes on by StopReplica v4, and the next one is
    answered at once.
    """
    world = bump(seed, 9)
    timed_out = chapter(world, "Topic B is deleted")
    assert notes(timed_out, "deletion staged")
    assert not sent(timed_out, "StopReplica")  # the old logic waits for all brokers
    before, after = True, set()
    for event in world.trace.events:
        before = before and event.text != "inter.broker.protocol.version is bumped"
        if event.kind == "send" and event.type == "request":
            if before:
                assert (event.api, event.version) not in {("StopReplica", 4), ("LeaderAndIsr", 5)}
            else:
                after.add((event.api, event.version))
    assert {("StopReplica", 4), ("LeaderAndIsr", 5), ("UpdateMetadata", 7)} <= after
    assert not {("StopReplica", 3), ("LeaderAndIsr", 4), ("UpdateMetadata", 6)} & after
    finalized = notes(world.trace.events, "deletion finalized")
    assert [event.fields["topic"] for event in finalized] == ["B", "A"]
    assert not world.store.children("/brokers/topics")
    assert not world.store.children("/admin/delete_topics")
    ends = {
        "The new controller gives both": ["A"],
        "Broker 2 starts": ["A"],
        "Topic A has an id now": [],
    }
    for start, names in ends.items():
        known = last_states(chapter(world, start))
        assert known
        for state in known:
            assert state["topics"] == list(state["topic_ids"]) == names, start


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("story", [stale_read, stale_state, delete])
def test_by_the_shipped_rules_a_name_is_taken_until_all_is_gone(
    story: Callable[..., World], seed: int
) -> None:
    world = story(seed, 9, SHIPPED)
    client = world.node(CLIENT)
    assert isinstance(client, Client)
    answered = [call.error_code for call in client.calls if "Topics" in call.what]
    assert answered == [0, codes.REQUEST_TIMED_OUT, codes.TOPIC_ALREADY_EXISTS, 0]
    assert notes(chapter(world, "The replica is reached"), "deletion finalized")
    made_again = chapter(world, "Topic A id1 is created")
    assert notes(made_again, "log made")
    assert not notes(made_again, "stale partition")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_seed_gives_one_run(name: str) -> None:
    run = SCENARIOS[name](7, 10).trace.to_bytes()
    assert run == SCENARIOS[name](7, 10).trace.to_bytes()
    assert run != SCENARIOS[name](8, 10).trace.to_bytes()


def test_a_log_without_a_file_takes_whatever_id_it_meets_first() -> None:
    """What the text leaves open: before ids reached it, a log cannot be told from a later one."""
    cluster = Cluster(1, brokers=(3, 1, 2), topic_ids=False)
    cluster.create("A", {0: [1, 2]})
    cluster.wait_for_metadata()
    cluster.client.produce(1, "A", None, 0)
    cluster.world.run(1_000)
    cluster.world.crash(2)
    cluster.world.run(1_000)
    cluster.bump()
    cluster.world.run(1_000)
    assert cluster.delete("A") == 0
    again = cluster.create("A", {0: [2]})
    cluster.world.start(2)
    cluster.wait_for_metadata()
    (folder,) = cluster.disks[2].folders()
    assert folder.topic_id == again.topic_id
    assert isinstance(folder.topic_id, UUID)
    assert len(cluster.disks[2].records(folder)) == 1  # it was written to the first A
