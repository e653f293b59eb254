"""A policy in the proxy decides as the same one in Java does within a real broker."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from kafka_admin_proto.proxy import PolicyFilter, SyncProxy
from kafka_admin_proto.server import AlterConfigRequestMetadata, RequestMetadata
from tests.helpers.requirements import require_oracle
from tests.proxy.test_policies import JUDGED, report_to
from tests.server.differential.machine import run_steps
from tests.server.differential.policy import ConfigPolicy, TopicPolicy
from tests.server.differential.real_cluster import PATIENT, compiled_policies
from tests.server.differential.sides import Sides
from tools.clusters import kraft
from tools.kafka_releases import NEWEST

pytestmark = [pytest.mark.explore, pytest.mark.xdist_group("live policies")]

_STEPS = 200


class _Real(Sides):
    """A broker with the policies, and one behind the proxy, which has none and says so."""

    def _configs(self) -> list[str]:
        return [each for each in super()._configs() if "policy.class.name" not in each]


class _CountedTopics(TopicPolicy):
    """Counts what it is asked."""

    asked = 0

    def validate(self, metadata: RequestMetadata) -> None:
        self.asked += 1
        super().validate(metadata)


class _CountedConfigs(ConfigPolicy):
    asked = 0

    def validate(self, metadata: AlterConfigRequestMetadata) -> None:
        self.asked += 1
        super().validate(metadata)


def test_drawn_requests_are_answered_as_by_a_broker_with_javas_policies(tmp_path: Path) -> None:
    """Topics, their configs and those of brokers, subscriptions and groups."""
    require_oracle()
    java = {
        "create.topic.policy.class.name": TopicPolicy.__name__,
        "alter.config.policy.class.name": ConfigPolicy.__name__,
    }
    classes = compiled_policies(tmp_path / "classes", NEWEST)
    topics, configs, found = _CountedTopics(), _CountedConfigs(), list[str]()
    with (
        kraft(tmp_path / "java", properties=PATIENT | java, classes=classes) as real,
        kraft(tmp_path / "behind", properties=PATIENT) as behind,
        SyncProxy(behind.bootstrap, [PolicyFilter(topics, configs)]) as proxy,
        contextlib.closing(_Real(real.bootstrap, proxy.bootstrap_servers, None)) as sides,
    ):
        run_steps(sides, _STEPS, report_to(found), requests=JUDGED)
    assert not found
    assert topics.asked > _STEPS // 4 < configs.asked
