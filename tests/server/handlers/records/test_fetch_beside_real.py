"""Fetch beside a real broker: which batches fit in, and whether the answer waits for more."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from kafka_admin_proto.messages import (
    CreateTopicsRequest,
    FetchRequest,
    ListOffsetsRequest,
)
from kafka_admin_proto.messages.create_topics_request import CreatableTopicConfig
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kafka_admin_proto.server import SyncCluster
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tests.server.differential.comparison import Comparison
from tests.server.differential.wire import Nodes
from tests.server.groups.stories import beside
from tests.server.handlers.records.asked import produced
from tests.server.handlers.test_create_topics import topic
from tests.server.releases import real_releases
from tools.clusters import Cluster, kraft
from tools.kafka_releases import LAST_WITH_ZOOKEEPER

pytestmark = pytest.mark.exhaustive

_WAIT_MS = 400
#: A difference that a slow machine makes is gone when the same is asked again.
_ATTEMPTS = 8
#: How long a broker may take until it leads new partitions.
_LEADER_S = 20
_NUMBERS = itertools.count()
#: Configs by which each batch, or some of them, end a segment; 4.x has no smaller segment.bytes.
_SEGMENTS = {LAST_WITH_ZOOKEEPER: "segment.bytes"}
_SEGMENTS_SINCE_4 = "internal.segment.bytes"
_SIZES = [0, 1, 100, 300, 700, 1 << 20]
_logs = st.lists(st.sampled_from([10, 200, 600]), max_size=5)
_rows = st.tuples(st.integers(0, 6), st.sampled_from(_SIZES))
_fetches = st.fixed_dictionaries({
    "rows": st.lists(_rows, min_size=1, max_size=2),
    "min_bytes": st.sampled_from([1, 1, 80, 300, 500, 800, 2000]),
    "max_bytes": st.sampled_from([1 << 20, 1 << 20, *_SIZES]),
    "isolation": st.sampled_from([0, 1]),
    "version": st.sampled_from([4, 11, 12]),
})  # fmt: skip


@pytest.fixture(scope="module", params=real_releases("broker"))
def sides(
    request: pytest.FixtureRequest, one_broker: Callable[[str], Cluster]
) -> Iterator[tuple[str, list[Nodes]]]:
    release: str = request.param
    real = one_broker(release)
    with beside(real) as ours, Nodes(real.bootstrap) as theirs, Nodes(ours) as own:
        yield release, [theirs, own]


@settings(max_examples=draws(80), deadline=None, phases=[Phase.explicit, Phase.generate])
# The second log has more behind the segment of what is asked for, so nothing is waited for.
@example(
    logs=([10, 200, 600, 200, 200], [600, 600, 10, 600, 600]),
    segment="1000",
    fetches=[
        {
            "rows": [(4, 0), (1, 0)],
            "min_bytes": 800,
            "max_bytes": 1 << 20,
            "isolation": 0,
            "version": 12,
        }
    ],
)
@given(
    logs=st.tuples(_logs, _logs),
    segment=st.sampled_from(["1000000", "700", "1000"]),
    fetches=st.lists(_fetches, min_size=3, max_size=6),
)
def test_what_is_read(
    sides: tuple[str, list[Nodes]],
    logs: tuple[list[int], ...],
    segment: str,
    fetches: list[dict[str, Any]],
) -> None:
    release, clusters = sides
    names = [f"t{next(_NUMBERS)}" for _ in logs]
    for cluster in clusters:
        _fill(
            cluster,
            dict(zip(names, logs, strict=True)),
            {_SEGMENTS.get(release, _SEGMENTS_SINCE_4): segment},
        )
    with ThreadPoolExecutor() as threads:
        for each in fetches:
            for left in reversed(range(_ATTEMPTS)):
                (real, has_waited), (ours, waited) = threads.map(
                    _timed, clusters, itertools.repeat(names), itertools.repeat(each)
                )
                lines = Comparison(({}, {})).differences(real, ours)
                if not lines and has_waited == waited:
                    break
                assert left, (lines, has_waited, waited, each)


def _fill(cluster: Nodes, logs: dict[str, list[int]], configs: dict[str, str]) -> None:
    rows = [topic(name) for name in logs]
    # The timestamps are of 1970: what retention removes, 30 s after the start and every five
    # minutes, would be gone on one side first.
    configs = {**configs, "retention.ms": "-1"}
    for row in rows:
        row.configs = [CreatableTopicConfig(*each) for each in configs.items()]
    answer = cluster.ask(0, CreateTopicsRequest(rows, 10_000), 5)
    assert [each.error_code for each in answer.topics] == [0] * len(rows), answer
    for name, sizes in logs.items():
        _append(cluster, 0, name, 0, sizes)


def _append(cluster: Nodes, leader: int, name: str, partition: int, sizes: list[int]) -> None:
    """Append batches of these sizes as soon as a node leads the partition."""
    end = time.monotonic() + _LEADER_S
    at = [ListOffsetsTopic(name, [ListOffsetsPartition(partition, -1, -1)])]
    while (
        cluster.ask(leader, ListOffsetsRequest(-1, topics=at), 5).topics[0].partitions[0].error_code
    ):
        assert time.monotonic() < end, f"{name}-{partition} has no leader"
    for size in sizes:
        record = produced(name, bytes(size), number=partition, acks=-1, timeout_ms=10_000)
        (found,) = cluster.ask(leader, record, 8).responses
        assert not found.partition_responses[0].error_code


def _timed(cluster: Nodes, names: list[str], fetch: dict[str, Any]) -> tuple[Any, bool]:
    """The answer to a Fetch, and whether it came late."""
    request = FetchRequest(
        max_wait_ms=_WAIT_MS, min_bytes=fetch["min_bytes"], max_bytes=fetch["max_bytes"],
        isolation_level=fetch["isolation"], session_epoch=-1,
        topics=[
            FetchTopic(name, partitions=[FetchPartition(fetch_offset=at, partition_max_bytes=most)])
            for name, (at, most) in zip(names, fetch["rows"], strict=False)
        ],
    )  # fmt: skip
    began = time.monotonic()
    answer = cluster.ask(0, request, fetch["version"])
    return answer, time.monotonic() - began > _WAIT_MS * 0.9 / 1000


@pytest.mark.explore
@pytest.mark.parametrize("release", real_releases("racks"))
def test_replicas_in_racks(release: str, tmp_path: Path) -> None:
    """KIP-392: every node is asked by a consumer of every rack, for each partition and offset."""
    require_oracle()
    racks = ["a", "b", "b"]
    selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
    properties = {"replica.selector.class": selector}
    with (
        kraft(tmp_path, release, nodes=3, racks=racks, properties=properties) as real,
        SyncCluster(3, release=release.rpartition(".")[0], racks=racks, configs=properties) as ours,
        Nodes(real.bootstrap) as theirs,
        Nodes(ours.bootstrap_servers) as own,
    ):
        row = topic("t", assignment={0: [1, 2], 1: [2, 3], 2: [3, 1]})
        for cluster in (theirs, own):
            (made,) = cluster.ask(0, CreateTopicsRequest([row], 10_000), 5).topics
            assert made.error_code == 0, made.error_message
            for partition in range(3):
                _append(cluster, partition, "t", partition, [10, 10])
        for node, rack, partition, offset in itertools.product(
            range(3), ["a", "b", "c", ""], range(3), [0, 1, 2, 3]
        ):
            asked = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=1 << 20)
            request = FetchRequest(
                max_bytes=1 << 20, session_epoch=-1, rack_id=rack,
                topics=[FetchTopic("t", partitions=[asked])],
            )  # fmt: skip
            for left in reversed(range(_ATTEMPTS * 4)):
                found = [cluster.ask(node, request, 12) for cluster in (theirs, own)]
                lines = Comparison(({}, {})).differences(*found)
                if not lines:
                    break
                assert left, (lines, node, rack, partition, offset)
                time.sleep(0.1)  # its followers have not fetched the last record yet
