"""What one client writes, in each compression, every other client reads unchanged."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator

import pytest

from kafka_admin_proto.messages import FetchRequest
from kafka_admin_proto.messages.fetch_request import FetchPartition, FetchTopic
from kafka_admin_proto.records.batches.batches import read_batches
from kafka_admin_proto.server import SyncCluster
from tests.server.clients.record_clients import CODECS, CONSUMERS, PRODUCERS, ROWS, WHEN_MS, Row
from tests.server.differential.wire import Nodes

_ROWS = (
    *ROWS,
    *(Row(None, b"long" * 500, (("n", b"%d" % each),), WHEN_MS + each) for each in range(20)),
)
#: kafka-python reads it, but does not write it.
_NULL_HEADER = Row(None, b"", (("null", None),), WHEN_MS)


@pytest.fixture(scope="module", params=["4.4", pytest.param("3.9", marks=pytest.mark.exhaustive)])
def cluster(request: pytest.FixtureRequest) -> Iterator[SyncCluster]:
    names = [f"{client}-{codec}" for client in PRODUCERS for codec in CODECS]
    with SyncCluster(1, release=request.param, topics=dict.fromkeys(names, 1)) as found:
        yield found


def _has_codec(client: str, codec: str) -> bool:
    """Whether a client has what it compresses with; librdkafka brings all of it."""
    package = {"kafka-python": "kafka", "aiokafka": "aiokafka"}.get(client)
    if package is None or codec == "none":
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bool(getattr(importlib.import_module(f"{package}.codec"), f"has_{codec}")())


@pytest.mark.parametrize(
    "codec",
    ["zstd", *(pytest.param(c, marks=pytest.mark.exhaustive) for c in CODECS if c != "zstd")],
)
@pytest.mark.parametrize("client", PRODUCERS)
def test_what_one_client_writes_all_read(cluster: SyncCluster, client: str, codec: str) -> None:
    if not _has_codec(client, codec):
        pytest.skip(f"{client} has nothing for {codec} here")
    topic, servers = f"{client}-{codec}", cluster.bootstrap_servers
    rows = list(_ROWS) if client == "kafka-python" else [*_ROWS, _NULL_HEADER]
    PRODUCERS[client](servers, topic, codec, rows)
    stored = cluster.records(topic)
    assert [Row(each.key, each.value, each.headers, each.timestamp) for each in stored] == rows
    assert _stored_codecs(cluster, topic) == {codec}
    for name, consume in CONSUMERS.items():
        if _has_codec(name, codec):
            assert consume(servers, topic, len(rows)) == rows, name


def _stored_codecs(cluster: SyncCluster, topic: str) -> set[str]:
    """The compressions of a topic's batches, as the leader sends them."""
    part = FetchPartition(0, partition_max_bytes=1 << 20)
    request = FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=-1,
                           topics=[FetchTopic(topic, partitions=[part])])  # fmt: skip
    with Nodes(cluster.bootstrap_servers) as nodes:
        (row,) = nodes.ask(0, request, 12).responses[0].partitions
    return {each.compression for each in read_batches(row.records)}
