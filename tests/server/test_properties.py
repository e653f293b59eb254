"""Drawn requests: whatever is asked, a node answers, and what it says is what its log says."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import pytest

from kafka_admin_proto.errors import RemoteProtocolError
from kafka_admin_proto.messages import MetadataRequest
from kafka_admin_proto.records.metadata.cluster_state import ClusterState
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.server.releases import RELEASES
from kafka_admin_proto.values import Message
from tests.helpers.profile import SEED, draws
from tests.server.differential.machine import run_steps
from tests.server.differential.requests import RAW_REQUEST, security
from tests.server.differential.requests.drawing import Step
from tests.server.security.authorizer.test_apis import SECURED
from tests.server.served import DrawnSteps, Served

_STEPS = draws(240)


class _Kept:
    """A log that keeps its records."""

    def __init__(self) -> None:
        self.records: list[Message] = []

    def append(self, records: Sequence[Message], offset: int) -> None:
        assert offset == len(self.records)
        self.records += records

    def applied(self, cluster: ClusterState) -> None:
        pass


class _Asked(DrawnSteps):
    """Each step is answered, or its connection is closed where Kafka closes it."""

    def request(self, step: Step, request: Message) -> None:
        with contextlib.suppress(RemoteProtocolError):
            super().request(step, request)


class _Replayed(DrawnSteps):
    """After each step a replay of the log says what the cluster says."""

    def reset(self) -> None:
        super().reset()
        self._log, self._replay, self._replayed = _Kept(), MetadataReplay(), 0
        self.served = Served(self.release, log=self._log)

    def request(self, step: Step, request: Message) -> None:
        super().request(step, request)
        state, records = self.served.state, self._log.records
        for offset in range(self._replayed, len(records)):
            assert self._replay.apply(records[offset], offset, 1) == []
        self._replayed = len(records)
        assert self._replay.state.items() == state.cluster.items()
        described = self.served.ask(MetadataRequest(topics=None)).topics
        assert {each.name for each in described} == {*state.topic_names}


@pytest.mark.parametrize("release", RELEASES)
def test_drawn_requests_are_answered_and_replayed(release: str) -> None:
    run_steps(_Replayed(release), _STEPS)


@pytest.mark.parametrize("release", RELEASES)
def test_raw_requests_are_answered(release: str) -> None:
    run_steps(_Replayed(release), 4 * _STEPS, drawn_seed=SEED, requests=[RAW_REQUEST])
    secured = _Asked(release, configs=SECURED, users=["admin", "eve"])
    first, requests = [security.first_topics], [security.RAW_REQUEST]
    run_steps(secured, 4 * _STEPS, drawn_seed=SEED, requests=requests, first=first)
