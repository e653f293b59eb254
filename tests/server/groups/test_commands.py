"""`kap` for the groups of a cluster, and `kafka-streams-groups` on ours as on a real broker."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.streams_group_heartbeat_request import Subtopology, Topology
from kafka_admin_proto.server import SyncCluster
from tests.admin.live.helpers.kafka_python import kafka_python, kafka_python_consumer
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.helpers.kap import run_kap
from tests.server.groups.stories import Side, beside
from tests.server.groups.streams_stories import group_configs
from tests.server.releases import real_releases
from tools.clusters import Cluster
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

_PATIENCE_S = 30.0


@pytest.fixture(params=["4.3", "3.9"])
def cluster(request: pytest.FixtureRequest) -> Iterator[SyncCluster]:
    topics = {"orders": 2, "bills": 1}
    with SyncCluster(3, release=request.param, topics=topics) as found:
        for topic, partitions in topics.items():
            rows = [{"value": f"{each}", "partition": each % partitions} for each in range(10)]
            found.produce(topic, rows)
        yield found


def kap_on(cluster: SyncCluster, *words: str) -> tuple[int, str, Any]:
    """Exit code, what is said on stderr, and the answer."""
    given = [*words, "--bootstrap-server", cluster.bootstrap_servers, "--output", "json"]
    result = run_kap(*given)
    return result.exit_code, result.stderr, json.loads(result.stdout or "null")


def _committed(cluster: SyncCluster) -> dict[tuple[str, int], tuple[int, int]]:
    """(offset, lag) of each partition for which the group has committed."""
    code, said, answer = kap_on(cluster, "groups", "describe", "billing")
    assert code == 0, said
    return {
        (each["topic"], each["partition"]): (each["offset"], each["lag"])
        for each in answer["groups"][0]["offsets"]
    }


def test_offsets_are_reset_and_deleted(cluster: SyncCluster) -> None:
    def reset(*words: str) -> None:
        code, said, _ = kap_on(cluster, "offsets", "reset", "--group", "billing", *words, "--yes")
        assert code == 0, said

    reset("--topic", "orders", "--topic", "bills", "--to-latest")
    assert _committed(cluster) == {
        ("bills", 0): (10, 0), ("orders", 0): (5, 0), ("orders", 1): (5, 0),
    }  # fmt: skip
    reset("--partition", "orders:1", "--to-offset", "3")
    reset("--topic", "bills", "--shift-by", "-4")
    reset("--partition", "orders:0", "--to-earliest", "--dry-run")
    assert _committed(cluster) == {
        ("bills", 0): (6, 4), ("orders", 0): (5, 0), ("orders", 1): (3, 2),
    }  # fmt: skip
    words = ("offsets", "delete", "--group", "billing", "--topic", "orders", "--yes")
    assert kap_on(cluster, *words)[0] == 0
    assert _committed(cluster) == {("bills", 0): (6, 4)}


@pytest.mark.parametrize("gone", [
    ("offsets", "delete", "--group", "billing", "--topic", "bills"), ("topics", "delete", "bills"),
])  # fmt: skip
def test_a_group_loses_its_last_offset(cluster: SyncCluster, gone: tuple[str, ...]) -> None:
    """Only release 3.9 forgets the group then (``GroupMetadataManager.cleanupGroupMetadata``)."""
    for topic in ("orders", "bills"):
        reset = ("offsets", "reset", "--group", "billing", "--topic", topic, "--to-latest", "--yes")
        assert kap_on(cluster, *reset)[0] == 0
    for words in (("offsets", "delete", "--group", "billing", "--topic", "orders"), gone):
        (group,) = kap_on(cluster, "groups", "list")[2]["groups"]
        assert (group["group_id"], group["state"]) == ("billing", "Empty")
        assert kap_on(cluster, *words, "--yes")[0] == 0
    left = kap_on(cluster, "groups", "list")[2]["groups"]
    assert len(left) == (cluster.state.release >= (4,))


@pytest.mark.exhaustive
def test_members_are_removed(cluster: SyncCluster) -> None:
    """Offsets of a group with members are not reset, and a removed member commits none."""
    reset = ("offsets", "reset", "--group", "billing", "--topic", "orders", "--to-earliest", "-y")
    remove = ("groups", "remove-members", "billing", "--instance", "host-7", "-y")

    def errors(words: tuple[str, ...], rows: str) -> set[str | None]:
        code, _, answer = kap_on(cluster, *words)
        found = {each["error"] for each in answer[rows]}
        assert code == (found != {None})
        return found

    with kafka_python() as kafka:
        consumer = kafka_python_consumer(
            kafka, "orders", bootstrap_servers=cluster.bootstrap_servers, group_id="billing",
            group_instance_id="host-7", auto_offset_reset="earliest", enable_auto_commit=False,
            heartbeat_interval_ms=15_000,  # it does not hear that it was removed
        )  # fmt: skip
        with contextlib.closing(consumer):
            deadline = time.monotonic() + _PATIENCE_S
            while not consumer.assignment() and time.monotonic() < deadline:
                consumer.poll(timeout_ms=100)
            assert len(consumer.assignment()) == 2
            for each in consumer.assignment():
                consumer.position(each)  # without positions there is nothing to commit
            assert errors(reset, "offsets") == {"UNKNOWN_MEMBER_ID"}
            assert errors(remove, "members") == {None}
            assert errors(remove, "members") == {"UNKNOWN_MEMBER_ID"}
            with pytest.raises(kafka.errors.CommitFailedError):
                consumer.commit()
            assert errors(reset, "offsets") == {None}
    assert _committed(cluster) == {("orders", 0): (0, 5), ("orders", 1): (0, 5)}


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
