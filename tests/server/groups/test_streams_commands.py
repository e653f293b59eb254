"""``kafka-streams-groups`` prints of groups on ours what it prints on a real broker."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.streams_group_heartbeat_request import Subtopology, Topology
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.server.groups.stories import Side, beside
from tests.server.groups.streams_stories import group_configs
from tests.server.releases import real_releases
from tools.clusters import Cluster
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

_NAME = "words"
_GROUP = ("--group", _NAME)
_OF_MEMBERS = [
    ("--list",),
    ("--describe", *_GROUP),
    ("--describe", *_GROUP, "--state", "--verbose"),
    ("--describe", *_GROUP, "--members", "--verbose"),
    ("--reset-offsets", *_GROUP, "--input-topic", "orders", "--to-earliest", "--execute"),
    ("--delete", *_GROUP),
]
_OF_NONE = [
    ("--describe", *_GROUP, "--state"),
    ("--reset-offsets", *_GROUP, "--input-topic", "orders", "--to-earliest", "--execute"),
    ("--describe", *_GROUP),
    ("--delete-offsets", *_GROUP, "--input-topic", "orders"),
    ("--delete", *_GROUP),
    ("--describe", *_GROUP),
]


def _printed(bootstrap: str, tools: KafkaTools) -> Iterator[str]:
    """The lines of the commands for a group with a member, and then without it."""
    side = Side(bootstrap, [_NAME])
    side.prepare()
    side.ask(group_configs(_NAME), 1)

    def beat(epoch: int) -> Any:
        request = m.StreamsGroupHeartbeatRequest(_NAME, "one", epoch)
        if epoch == 0:
            request.rebalance_timeout_ms, request.process_id = 300_000, "p"
            request.active_tasks = request.standby_tasks = request.warmup_tasks = []
            request.topology = Topology(0, [Subtopology("0", ["orders"])])
        answer = side.ask(request, 1)
        assert answer.error_code == 0, answer
        return answer

    epoch = beat(0).member_epoch
    rows = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 0)])]
    side.ask(m.OffsetCommitRequest(_NAME, epoch, "one", topics=rows), 9)
    for commands in (_OF_MEMBERS, _OF_NONE):
        for each in commands:
            found = tools.outcome("StreamsGroupCommand", "--bootstrap-server", bootstrap, *each)
            yield f"$ kafka-streams-groups {' '.join(each)}"
            said = found.stdout + "\n".join(found.stderr.splitlines()[:1])
            for line in said.replace(bootstrap, "BOOTSTRAP").splitlines():
                yield re.sub(r" +", " ", line).strip()
        if commands is _OF_MEMBERS:
            beat(-1)
    side.close()


@pytest.mark.explore
@pytest.mark.parametrize("release", real_releases("broker")[:1])
def test_as_on_a_real_broker(release: str, one_broker: Callable[[str], Cluster]) -> None:
    real = one_broker(release)
    tools = KafkaTools(fetch_runtime(NEWEST))
    with beside(real) as ours:
        printed = [list(_printed(each, tools)) for each in (real.bootstrap, ours)]
    tools.close()
    assert printed[1] == printed[0]
    text = "\n".join(printed[0])
    assert "Stable" in text
    assert "Deletion of requested streams groups ('words') was successful." in text
