"""Java's share consumers and ``kafka-share-groups``, on ours as on a real node of the same release.

``java_story.txt`` is what they have printed on a real node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.helpers.java_tool import JavaTool
from tests.helpers.requirements import require_oracle
from tools.clusters import kraft
from tools.kafka_releases import BEFORE_NEWEST, NEWEST
from tools.oracles.jars import fetch_runtime

_HERE = Path(__file__).parent
_PROGRAM = _HERE.parents[1] / "java" / "ShareConsumers.java"
#: Locks of a second, and members that need not wait for their heartbeats.
_CONFIGS = {
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.assignment.interval.ms": "0",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "30000",
}
_GROUP = ("--group", "sharers")
_COMMANDS = [
    ("--list",),
    ("--describe", *_GROUP),
    ("--describe", *_GROUP, "--verbose"),
    ("--describe", *_GROUP, "--state"),
    ("--describe", *_GROUP, "--members"),
    ("--reset-offsets", *_GROUP, "--topic", "shared", "--to-earliest", "--execute"),
    ("--describe", *_GROUP),
    ("--delete-offsets", *_GROUP, "--topic", "shared"),
    ("--describe", *_GROUP),
    ("--delete", *_GROUP),
    ("--list",),
    ("--describe", *_GROUP),
]


def _printed(bootstrap: str) -> Iterator[str]:
    """The lines of the consumers' story and of the commands behind it."""
    jars = fetch_runtime(NEWEST)
    consumers = JavaTool(_PROGRAM, jars)
    (story,) = consumers.ask([bootstrap])
    consumers.close()
    yield from story.split(" | ")
    tools = KafkaTools(jars)
    for each in _COMMANDS:
        found = tools.outcome("ShareGroupCommand", "--bootstrap-server", bootstrap, *each)
        yield f"$ kafka-share-groups {' '.join(each)}"
        first = found.stdout + "\n".join(found.stderr.splitlines()[:1])
        yield from re.sub(r"127\.0\.0\.1:\d+", "HOST:PORT", first).strip().splitlines()
    tools.close()


def _kept() -> list[str]:
    return [each.rstrip() for each in (_HERE / "java_story.txt").read_text().splitlines()]


_OLDER = pytest.param("4.3", marks=pytest.mark.explore)


@pytest.mark.parametrize("release", [NEWEST.rpartition(".")[0], _OLDER])
def test_java_sees_what_it_sees_on_a_real_node(release: str) -> None:
    require_oracle()
    with SyncCluster(configs=_CONFIGS, release=release) as cluster:
        assert [each.rstrip() for each in _printed(cluster.bootstrap_servers)] == _kept()


@pytest.mark.explore
@pytest.mark.parametrize("release", [NEWEST, BEFORE_NEWEST])
def test_the_kept_story_is_that_of_a_real_node(tmp_path: Path, release: str) -> None:
    require_oracle()
    with kraft(tmp_path, release, properties=_CONFIGS) as cluster:
        assert [each.rstrip() for each in _printed(cluster.bootstrap)] == _kept()
