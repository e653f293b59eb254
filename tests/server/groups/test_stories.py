"""Members of groups get what they get of a real broker."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.server import SyncCluster
from tests.server.groups.consumer_stories import consumer_differences
from tests.server.groups.stories import CONFIGS, GROUPS, Side, beside, differences
from tests.server.releases import real_releases
from tools.clusters import Cluster

_SEED, _STEPS = 7, 100


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker"))
def test_as_a_real_broker(release: str, one_broker: Callable[[str], Cluster]) -> None:
    real = one_broker(release)
    with beside(real) as ours:
        minor = release.rpartition(".")[0]
        assert differences(_SEED, minor, _STEPS, real.bootstrap, ours) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("release", real_releases("broker")[:1])
def test_consumers_of_both_protocols_as_a_real_broker(
    release: str, one_broker: Callable[[str], Cluster]
) -> None:
    real = one_broker(release)
    with beside(real) as ours:
        assert consumer_differences(_SEED, 3 * _STEPS, real.bootstrap, ours) == []


@pytest.mark.exhaustive
def test_a_story_sees_groups_without_members_but_none_of_an_earlier_story() -> None:
    rows = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 1)])]
    with SyncCluster(1, configs=CONFIGS) as cluster:
        side = Side(cluster.bootstrap_servers, GROUPS)
        side.prepare()
        side.ask(m.OffsetCommitRequest("simple", topics=rows), 8)
        assert "'simple'" in side.seen("admin", side.ask(m.ListGroupsRequest(), 5))
        side.prepare()
        assert "'simple'" not in side.seen("admin", side.ask(m.ListGroupsRequest(), 5))
        side.close()
