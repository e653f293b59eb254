"""Kafka Connect brings the lines of a file through a topic into another file."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.admin import ConfigResource, SyncAdminClient
from kafka_admin_proto.server import SyncCluster
from tests.server.applications.application import Application, Start
from tools.clusters import HOST, free_ports
from tools.oracles.jars import fetch_application

pytestmark = [pytest.mark.explore, pytest.mark.xdist_group("applications")]

_CLI = "org.apache.kafka.connect.cli."
_TEXTS = "org.apache.kafka.connect.storage.StringConverter"
#: Connect's internal topics, with the partitions that it gives them by default.
_INTERNAL = {"connect-configs": 1, "connect-offsets": 25, "connect-status": 5}
#: Longer than the sessions and transactions of a worker that was killed.
_SESSION_S = 60
_REQUEST_S = 30


@pytest.fixture
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(3, configs={"group.initial.rebalance.delay.ms": 0}) as found:
        yield found


def _connectors(folder: Path) -> dict[str, dict[str, str]]:
    """The configs of both, by their names."""
    source = {"connector.class": "FileStreamSource", "file": f"{folder}/in", "topic": "lines"}
    sink = {"connector.class": "FileStreamSink", "file": f"{folder}/out", "topics": "lines"}
    return {"source": source, "sink": sink}


def _written(path: Path, settings: Mapping[str, str]) -> str:
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return str(path)


def _worker(servers: str, port: int) -> dict[str, str]:
    return {
        "bootstrap.servers": servers,
        "listeners": f"http://{HOST}:{port}",
        "key.converter": _TEXTS,
        "value.converter": _TEXTS,
        "offset.flush.interval.ms": "100",
    }


def _brought_over_a_kill(
    folder: Path, cluster: SyncCluster, worker: Application, port: int
) -> None:
    """Lines of "in" are in "out", each once, since the worker is killed behind its commits."""
    lines: list[str] = []

    def produce(*more: str) -> None:
        lines.extend(more)
        with (folder / "in").open("a") as file:
            file.writelines(f"{each}\n" for each in more)

    def arrived() -> bool:
        out = folder / "out"
        return out.exists() and out.read_text().splitlines() == lines

    def committed() -> bool:
        return _position(port) == (folder / "in").stat().st_size and _sink_is_done(cluster)

    produce("one", "two", "three")
    worker.wait_for(arrived)
    produce("four")
    worker.wait_for(arrived)
    worker.wait_for(committed)
    worker.kill()
    cluster.clock.advance(_SESSION_S)
    produce("five", "six")
    worker.start_again()
    worker.wait_for(arrived)


def _position(port: int) -> int:
    """How many bytes of its file the source has committed, as the worker at the port says."""
    offsets = _asked(port, "GET", "/connectors/source/offsets")["offsets"]
    return int(offsets[0]["offset"]["position"]) if offsets else 0


def _sink_is_done(cluster: SyncCluster) -> bool:
    """Whether the sink has committed that it has all records."""
    committed = cluster.group("connect-sink").committed.get(("lines", 0), 0)
    return committed > cluster.records("lines")[-1].offset


def test_standalone(tmp_path: Path, start: Start, cluster: SyncCluster) -> None:
    (port,) = free_ports(1)
    settings = _worker(cluster.bootstrap_servers, port)
    settings["offset.storage.file.filename"] = str(tmp_path / "offsets")
    files = [_written(tmp_path / "worker.properties", settings)]
    for name, own in _connectors(tmp_path).items():
        files.append(_written(tmp_path / f"{name}.properties", {"name": name, **own}))
    jars = fetch_application("connect")
    worker = start(tmp_path, jars, [f"{_CLI}ConnectStandalone", *files])
    _brought_over_a_kill(tmp_path, cluster, worker, port)
    worker.end()
    assert set(cluster.state.topic_names) == {"__consumer_offsets", "lines"}


@pytest.mark.parametrize("exactly_once", ["disabled", "enabled"])
def test_distributed(tmp_path: Path, start: Start, cluster: SyncCluster, exactly_once: str) -> None:
    (port,) = free_ports(1)
    settings = {
        **_worker(cluster.bootstrap_servers, port),
        "group.id": "connect",
        "exactly.once.source.support": exactly_once,
    }
    for each in ("config", "offset", "status"):
        name = next(topic for topic in _INTERNAL if topic.startswith(f"connect-{each}"))
        settings[f"{each}.storage.topic"] = name
    file = _written(tmp_path / "worker.properties", settings)
    jars = fetch_application("connect")
    worker = start(tmp_path, jars, [f"{_CLI}ConnectDistributed", file])
    worker.wait_for(lambda: _answers(port))
    for name, own in _connectors(tmp_path).items():
        assert _asked(port, "PUT", f"/connectors/{name}/config", own)["name"] == name

    _brought_over_a_kill(tmp_path, cluster, worker, port)
    for name in ("source", "sink"):
        status = _asked(port, "GET", f"/connectors/{name}/status")
        assert [each["state"] for each in status["tasks"]] == ["RUNNING"]
    worker.end()
    topics = {each.name: each for each in cluster.state.cluster.topics.values()}
    assert {name: len(topics[name].partitions) for name in _INTERNAL} == _INTERNAL
    with SyncAdminClient(cluster.bootstrap_servers) as admin:
        for name in _INTERNAL:
            (described,) = admin.describe_configs([ConfigResource("topic", name)])
            values = {each.name: each.value for each in described.configs}
            assert values["cleanup.policy"] == "compact"


def _answers(port: int) -> bool:
    try:
        return bool(_asked(port, "GET", "/connectors") == [])
    except OSError:  # its port is not open yet, or its group has not come together
        return False


def _asked(port: int, method: str, path: str, body: object = None) -> Any:
    """The answer of the worker at its port, which is JSON."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    url = f"http://{HOST}:{port}{path}"
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=_REQUEST_S) as answer:
        return json.loads(answer.read())
