"""Brokers with a delay: each answers from its view of the log, and sees all changes in the end."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from uuid import uuid4

import pytest

from kafka_admin_proto.messages import CreateTopicsRequest, DeleteTopicsRequest, TopicRecord
from kafka_admin_proto.server import Cluster, SyncCluster
from kafka_admin_proto.server.brokers.views import Views
from kafka_admin_proto.values import Message
from tests.helpers.profile import draws
from tests.server.differential.machine import run_steps
from tests.server.differential.requests.drawing import Step
from tests.server.differential.wire import Nodes
from tests.server.handlers.test_create_topics import topic
from tests.server.served import DrawnSteps
from tests.server.test_cluster import create, topics

_SECONDS = 30


async def until(true: Callable[[], bool]) -> None:
    """Wait for a condition, on however slow a machine."""
    end = time.monotonic() + _SECONDS
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


def test_a_broker_that_is_held_back_answers_as_before() -> None:
    with SyncCluster(3) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        create(nodes, "a")
        cluster.delay_metadata(math.inf, 2)
        create(nodes, "b", node=1)  # it forwards to the controller all the same
        assert set(topics(nodes, 0)) == set(topics(nodes, 2)) == {"a", "b"}
        assert set(topics(nodes, 1)) == {"a"}
        cluster.delay_metadata(0, 2)
        assert topics(nodes, 1) == topics(nodes, 0)


def test_the_controller_knows_what_a_broker_does_not() -> None:
    with SyncCluster(3) as cluster, Nodes(cluster.bootstrap_servers) as nodes:
        cluster.delay_metadata(math.inf)
        create(nodes, "a")
        assert topics(nodes) == {}
        again = nodes.ask(0, CreateTopicsRequest([topic("a")], timeout_ms=1000), 7)
        assert [each.error_code for each in again.topics] == [36]
        gone = nodes.ask(0, DeleteTopicsRequest(topic_names=["a"], timeout_ms=1000), 5)
        assert [each.error_code for each in gone.responses] == [0]


async def test_changes_arrive_after_the_delay() -> None:
    async with Cluster(2, propagation_delay_s=0.01) as cluster:
        views = cluster.views
        assert views.of(1) is not views.of(2)
        cluster.state.append([TopicRecord("a", uuid4())])
        assert views.of(1).topic("a") is None
        await until(lambda: views.of(1).topic("a") is not None)
        await until(lambda: views.of(2).end_offset == cluster.state.end_offset)
        cluster.delay_metadata(0)
        assert views.of(1) is views.of(2) is cluster.state


def test_a_cluster_that_was_not_started_has_no_views() -> None:
    with pytest.raises(RuntimeError, match="enter it first"):
        Cluster().delay_metadata(1)
    with pytest.raises(RuntimeError, match="enter it first"):
        SyncCluster().delay_metadata(1)


def test_delays_that_cannot_be() -> None:
    with SyncCluster(2) as cluster:
        with pytest.raises(ValueError, match="0 or more seconds"):
            cluster.delay_metadata(-1)
        with pytest.raises(ValueError, match="there is no broker 3; brokers are 1 to 2"):
            cluster.delay_metadata(1, 3)


class _HeldBack(DrawnSteps):
    """A broker sees batches some steps late; in the end it has the state of the log."""

    def reset(self) -> None:
        super().reset()
        self._views = Views(self.served.state)
        self._steps = 0

    def request(self, step: Step, request: Message) -> None:
        self._steps += 1
        self._views.delay(2, math.inf)
        before = self._views.of(2).cluster.compared()
        super().request(step, request)
        assert self._views.of(2).cluster.compared() == before
        if self._steps % 3 == 0:
            self._views.catch_up(2)
            view, state = self._views.of(2), self.served.state
            assert view.cluster.compared() == state.cluster.compared()
            assert sorted(view.topic_names) == sorted(state.topic_names)


def test_a_view_is_the_log_as_far_as_it_goes() -> None:
    run_steps(_HeldBack(), draws(120))
