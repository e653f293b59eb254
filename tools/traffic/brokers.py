"""What real brokers and clients do while tcpdump captures them: the traffic of three clusters."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from kafka_admin_proto import ApiVersionsRequest, SaslHandshakeRequest
from kafka_admin_proto.protocol import write_request
from tools.clusters import Cluster, ClusterError, Listener, kraft, sasl_properties, zookeeper
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.java import compiled, java, java_options
from tools.traffic.capture_files import Capture
from tools.traffic.tcpdump import tcpdump

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
#: Seconds that one program of clients may take.
_TRAFFIC_S = 240.0

#: The value of a config in `kraft_traffic`, and the passwords in `sasl_traffic`: no output may show
#: any of them.
SECRET_CONFIG = "do-not-show"
PASSWORDS = {"bob": "bob-secret", "alice": "alice-secret"}


def kraft_traffic(folder: Path) -> Capture:
    """Three KRaft nodes, of which the active controller ends; every compression, groups."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    around = _captured(folder)
    with kraft(folder, NEWEST, nodes=3, properties=properties, around=around) as cluster:

        def change_leader(said: str) -> bool:
            leads = said.startswith("leader ")
            if leads:
                _kafka_python(cluster.bootstrap)
                cluster.end(int(said.split()[1]))
            return leads

        said = _traffic(cluster, "KraftTraffic", [cluster.bootstrap, SECRET_CONFIG], change_leader)
    return _finished(folder, cluster, "kraft", said)


def zookeeper_traffic(folder: Path) -> Capture:
    """Brokers with ZooKeeper that talk as 3.0 did."""
    with zookeeper(folder, LAST_WITH_ZOOKEEPER, around=_captured(folder)) as cluster:
        said = _traffic(cluster, "ZkTraffic", [cluster.bootstrap])
        cluster.end(2)
        cluster.end(1)  # a broker that is killed may leave half a frame on the wire
    return _finished(folder, cluster, "zk", said)


def sasl_traffic(folder: Path) -> Capture:
    """Logins by PLAIN and SCRAM, with right and wrong passwords, and by tokens without headers."""
    sasl = sasl_properties(["PLAIN", "SCRAM-SHA-256"], {"bob": PASSWORDS["bob"]})
    options: dict[str, Any] = {
        "listeners": [Listener("SASL", "SASL_PLAINTEXT", sasl)],
        "properties": {"delegation.token.secret.key": "a-key-of-this-test"},
        "scram": [f"SCRAM-SHA-256=[name=alice,password={PASSWORDS['alice']}]"],
    }
    with kraft(folder, NEWEST, around=_captured(folder), **options) as cluster:
        address = cluster.address("SASL")
        clients = [
            *("PLAIN", "bob", PASSWORDS["bob"]),
            *("PLAIN", "mallory", "wrong-password"),
            *("SCRAM-SHA-256", "alice", PASSWORDS["alice"]),
            *("SCRAM-SHA-256", "alice", "wrong-password"),
        ]
        said = _traffic(cluster, "SaslTraffic", [address, *clients])
        for password in (PASSWORDS["bob"], "wrong-password"):
            said.append(f"tokens without headers: {_login_by_tokens(address, password)}")
    return _finished(folder, cluster, "sasl", said)


def _login_by_tokens(address: str, password: str) -> str:
    """Log in as clients before Kafka 1.0 did: tokens behind their sizes, and nothing else."""
    requests = [
        write_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, client_id="by-tokens"),
        f"\0bob\0{password}".encode(),
        write_request(ApiVersionsRequest(), 2, 2, client_id="by-tokens"),
    ]
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        answers = connection.makefile("rb")
        for request in requests:
            connection.sendall(len(request).to_bytes(4, "big") + request)
            size = answers.read(4)
            if len(size) < 4:
                return "closed"
            answers.read(int.from_bytes(size, "big"))
    return "ok"


def _captured(folder: Path) -> Callable[[list[int]], AbstractContextManager[None]]:
    return lambda ports: tcpdump(folder / "capture.pcap", ports)


def _finished(folder: Path, cluster: Cluster, name: str, said: list[str]) -> Capture:
    (folder / "capture.request.log").write_bytes(cluster.request_log())
    address = cluster.address("SASL")
    return Capture(name, cluster.ports, cluster.release, address, said)


def _traffic(
    cluster: Cluster,
    program: str,
    arguments: Sequence[str],
    wanted: Callable[[str], bool] = lambda said: False,
) -> list[str]:
    """Run a program of ``tools/traffic`` on the cluster's jars; what it has printed.

    Where ``wanted`` is true of a line, the program waits for one, and gets it.
    """
    classes = compiled(_HERE / f"{program}.java", cluster.jars)
    command = [java(), *java_options(cluster.jars, classes), program, *arguments]
    said = []
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        watch = threading.Timer(_TRAFFIC_S, process.kill)
        watch.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line.rstrip("\n"))
                if wanted(line):
                    process.stdin.write("\n")
                    process.stdin.flush()
            status = process.wait()
        finally:
            watch.cancel()
            process.kill()
            process.communicate()
        if status:
            errors.seek(0)
            raise ClusterError(f"{program} ended with {status}:\n{errors.read()[-2000:]}")
    return said


def _kafka_python(bootstrap: str) -> None:
    """The same cluster as another project's client sees it."""
    command = [sys.executable, "-m", "tools.traffic.kafka_python_traffic", bootstrap]
    run = subprocess.run(
        command, cwd=_ROOT, capture_output=True, text=True, timeout=_TRAFFIC_S, check=False
    )
    if run.returncode:
        raise ClusterError(f"kafka-python ended with {run.returncode}:\n{run.stderr[-2000:]}")
