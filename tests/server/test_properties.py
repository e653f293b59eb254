"""Drawn requests: whatever is asked, a node answers, and what it says is what its log says."""

from __future__ import annotations

import pytest

from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.records.cluster_state import ClusterState
from kafka_admin_proto.records.metadata_replay import MetadataReplay
from kafka_admin_proto.values import Message
from tests.everything import SEED
from tests.server.differential.requests import Drawer
from tests.server.served import Served

_STEPS = 150


class _Kept:
    """A log that keeps its records."""

    def __init__(self) -> None:
        self.records: list[Message] = []

    def append(self, records: list[Message], offset: int) -> None:
        assert offset == len(self.records)
        self.records += records

    def applied(self, cluster: ClusterState) -> None:
        pass


@pytest.mark.parametrize("release", ["4.3", "3.9"])
def test_drawn_requests_are_answered_and_replayed(release: str) -> None:
    log = _Kept()
    served = Served(release, log=log)  # type: ignore[arg-type]
    versions = {key: (each.lowest, each.highest) for key, each in served.versions.items()}
    drawer = Drawer(SEED, 3, versions)
    for _ in range(_STEPS):
        names = list(served.state.topic_names)
        step = drawer.step(names)
        topics = {name: served.state.topic(name) for name in names}
        ids = {name: topic.id for name, topic in topics.items() if topic is not None}
        served.ask(step.make(ids), step.version, step.node + 1)
    again = MetadataReplay()
    for offset, record in enumerate(log.records):
        assert again.apply(record, offset, 1) == []
    assert again.state.items() == served.state.cluster.items()
    described = served.ask(MetadataRequest(topics=None)).topics
    assert {each.name for each in described} == set(served.state.topic_names)
