"""The world: order in connections, losses, crashes, sessions of the store, one run for a seed."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.messages.fetch_request import FetchRequest
from kafka_admin_proto.messages.heartbeat_request import HeartbeatRequest
from kafka_admin_proto.messages.heartbeat_response import HeartbeatResponse
from kafka_admin_proto.messages.vote_request import VoteRequest
from kafka_admin_proto.simulation.node import ConnectionRefused, NodeContext, Request
from kafka_admin_proto.simulation.world.store import (
    BadVersionError,
    NodeExistsError,
    SessionExpiredError,
)
from kafka_admin_proto.simulation.world.world import World
from kafka_admin_proto.values import Message

VERSION = 4


class Counter:
    """Answers each heartbeat with its number, and keeps what came; another node's id asks it."""

    def __init__(self, context: NodeContext) -> None:
        self.context = context
        self.got: list[int] = []
        self.answers: list[int | None] = []
        self.refuses = False

    def start(self) -> None:
        self.context.note("started", node=self.context.node_id)

    def ask(self, node_id: int, number: int) -> None:
        body = HeartbeatRequest(group_id="g", generation_id=number, member_id="m")
        self.context.send(node_id, body, VERSION, self._answered)

    def handle(self, request: Request) -> Message | None:
        if self.refuses:
            raise ConnectionRefused
        assert isinstance(request.body, HeartbeatRequest)
        self.got.append(request.body.generation_id)
        if request.body.generation_id < 0:
            self.context.call_later(50, lambda: self.context.respond(request, _answer(request)))
            return None
        return _answer(request)

    def _answered(self, body: Message | None) -> None:
        assert body is None or isinstance(body, HeartbeatResponse)
        self.answers.append(None if body is None else body.throttle_time_ms)

    def state(self) -> dict[str, Any]:
        return {"got": list(self.got)}


def _answer(request: Request) -> HeartbeatResponse:
    assert isinstance(request.body, HeartbeatRequest)
    return HeartbeatResponse(throttle_time_ms=request.body.generation_id)


def two(seed: int = 1, *, record_states: bool = False) -> tuple[World, Counter, Counter]:
    world = World(seed, record_states=record_states)
    world.add(1, "counter 1", Counter)
    world.add(2, "counter 2", Counter)
    return world, node(world, 1), node(world, 2)


def node(world: World, node_id: int) -> Counter:
    found = world.node(node_id)
    assert isinstance(found, Counter)
    return found


@given(st.integers(0, 1 << 32), st.integers(0, 60))
def test_order_is_kept_and_each_request_ends_once(seed: int, cut_at_ms: int) -> None:
    world, one, other = two(seed)
    for number in range(20):
        one.ask(2, number)
    world.run(cut_at_ms)
    world.network.cut(1, 2)
    world.run(100)
    assert other.got == list(range(len(other.got)))
    answered = [number for number in one.answers if number is not None]
    assert answered == list(range(len(answered)))
    assert one.answers == answered + [None] * (20 - len(answered))
    world.network.heal(1, 2)
    one.ask(2, 20)
    world.run(100)
    assert one.answers[-1] == 20


@given(st.integers(0, 1 << 32))
def test_losses_end_requests_with_none(seed: int) -> None:
    world, one, other = two(seed)
    world.network.loss = 0.3
    for number in range(50):
        world.scheduler.call_later(number * 40, partial(one.ask, 2, number))
    world.run(50 * 40 + 100)
    assert len(one.answers) == 50
    assert other.got == sorted(set(other.got))
    assert None in one.answers
    assert {number for number in one.answers if number is not None} <= set(other.got)


def test_a_late_answer_and_one_that_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    world, one, other = two()
    one.ask(2, -5)
    world.run(100)
    assert one.answers == [-5]
    monkeypatch.setattr(other.context, "respond", lambda request, body: None)
    one.ask(2, -6)
    assert world.run_until(lambda: len(one.answers) == 2)
    assert one.answers[1] is None
    other.refuses = True
    one.ask(2, 1)
    world.run(100)
    assert one.answers[2] is None


def test_a_crash_ends_a_life() -> None:
    world, one, other = two()
    one.ask(2, 1)
    world.crash(2)
    world.run(100)
    assert (one.answers, other.got) == ([None], [])
    world.start(2)
    assert node(world, 2) is not other
    one.ask(2, 2)
    world.crash(1)  # what it has sent arrives; nobody hears the answer
    world.run(100)
    assert node(world, 2).got == [2]
    one.ask(2, 3)
    world.run(100)
    assert (one.answers, node(world, 2).got) == ([None], [2])
    with pytest.raises(ValueError, match="is up already"):
        world.start(2)


def test_a_body_of_another_dialect_is_refused() -> None:
    _, one, _ = two()
    with pytest.raises(ValueError, match="dialect kip-516"):
        one.context.send(2, VoteRequest(), 0, lambda body: None)
    one.context.send(2, FetchRequest(), 12, lambda body: None)  # the draft has no Fetch


def test_sessions_ephemeral_nodes_and_watches() -> None:
    world, _, _ = two()
    seen: list[str] = []
    ended: list[int] = []
    session = world.store.open_session(1, lambda: ended.append(1))
    other = world.store.open_session(2, lambda: ended.append(2))
    other.watch("/brokers/ids", seen.append)
    first = session.create("/brokers/ids/1", b"{}", ephemeral=True)
    assert session.created_zxid("/brokers/ids/1") == first
    with pytest.raises(NodeExistsError):
        other.create("/brokers/ids/1", b"{}")
    session.create("/controller_epoch", b"1")
    session.set("/controller_epoch", b"2", version=0)
    with pytest.raises(BadVersionError):
        session.create("/brokers/topics/a", b"{}", check=("/controller_epoch", 0))
    assert other.get("/controller_epoch") == (b"2", 1)
    session.expire()
    with pytest.raises(SessionExpiredError):
        session.get("/controller_epoch")
    assert other.children("/brokers/ids") == []
    assert ended == []  # it does not know yet
    world.run(100)
    assert ended == [1]
    assert seen == ["/brokers/ids"] * 2
    world.crash(2)
    other_id = world.store.sessions_of(2)
    assert other_id == [other]
    world.run(1000)
    assert (world.store.sessions_of(2), ended) == ([], [1])


def a_run(seed: int) -> bytes:
    """A run with losses, a cut, a crash and a restart."""
    world, one, _ = two(seed, record_states=True)
    world.network.loss = 0.05
    for number in range(200):
        one.ask(2, number)
        world.run(world.random.randint(0, 9))
        if number == 70:
            world.crash(2)
        elif number == 90:
            world.start(2)
        elif number == 110:
            world.network.cut(1, 2)
        elif number == 120:
            world.network.heal_all()
    return world.trace.to_bytes()


@given(st.integers(0, 1 << 64))
def test_a_seed_gives_one_run(seed: int) -> None:
    run = a_run(seed)
    assert run == a_run(seed)
    assert run != a_run(seed + 1)


def test_events_have_frames_and_states() -> None:
    events = [json.loads(line) for line in a_run(3).splitlines()]
    assert [event["number"] for event in events] == list(range(len(events)))
    assert [event["at_ms"] for event in events] == sorted(event["at_ms"] for event in events)
    kinds = {event["kind"] for event in events}
    assert kinds == {
        "send", "receive", "lose", "cut", "heal", "start", "crash", "note", "state",
    }  # fmt: skip
    for event in events:
        assert (event["frame"] is not None) == (event["kind"] in {"send", "receive", "lose"})
