"""Makes ``data/__cluster_metadata-0``: what a real cluster of two nodes wrote.

    .venv/bin/python -m tests.records.make_metadata_log [FOLDER]

Node 1 is broker and controller, node 2 a broker that stops half-way. ``tests/java/
FillMetadataLog.java`` is what their administrator does. Snapshots come every 3,000 bytes of log.
The folder keeps the log, all snapshots and ``partition.metadata``.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

FOLDER = Path(__file__).parent / "data" / "__cluster_metadata-0"
_FILL = Path(__file__).parents[1] / "java" / "FillMetadataLog.java"
_CLUSTER_ID = "bWV0YWRhdGEgbG9nIG9uIQ"
_LOGIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="admin" password="admin-secret"'
)
_BOTH = """\
node.id={node}
log.dirs={folder}/data
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CLIENT:SASL_PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INTERNAL
sasl.enabled.mechanisms=PLAIN
listener.name.client.plain.sasl.jaas.config={login} user_admin="admin-secret";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
delegation.token.secret.key=a key for delegation tokens
metadata.log.max.record.bytes.between.snapshots=3000
metadata.max.idle.interval.ms=1000
offsets.topic.replication.factor=1
"""
_ROLES = (
    """\
process.roles=broker,controller
listeners=CLIENT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal},CONTROLLER://127.0.0.1:{controller}
""",
    """\
process.roles=broker
listeners=CLIENT://127.0.0.1:{client},INTERNAL://127.0.0.1:{internal}
""",
)


def make(target: Path) -> None:
    """Run the cluster and put its metadata log into ``target``."""
    jars = os.pathsep.join(map(str, fetch_runtime(NEWEST)))
    ports = [_free_port() for _ in range(5)]
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for node, (client, internal) in enumerate((ports[0:2], ports[2:4]), 1):
            home = Path(folder) / str(node)
            home.mkdir()
            text = (_ROLES[node - 1] + _BOTH).format(
                node=node, folder=home, client=client, internal=internal, controller=ports[4],
                login=_LOGIN,
            )  # fmt: skip
            files.append(home / "server.properties")
            files[-1].write_text(text)
            first = ["--standalone", "--add-scram", "SCRAM-SHA-256=[name=alice,password=hers]"]
            _java(jars, "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", files[-1],
                  *(first if node == 1 else ["--no-initial-controllers"]))  # fmt: skip
        login = [
            f"bootstrap.servers=127.0.0.1:{ports[0]}",
            "security.protocol=SASL_PLAINTEXT",
            "sasl.mechanism=PLAIN",
            f"sasl.jaas.config={_LOGIN};",
        ]
        with ExitStack() as nodes:
            nodes.enter_context(_broker(jars, files[0], ports[0]))
            with _broker(jars, files[1], ports[2]):
                _java(jars, str(_FILL), "both", *login)
            _java(jars, str(_FILL), "one", *login)
            time.sleep(1.5)  # for one more NoOpRecord, and the snapshot being written
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for file in sorted((Path(folder) / "1" / "data" / "__cluster_metadata-0").iterdir()):
            if file.suffix in (".log", ".checkpoint") or file.name == "partition.metadata":
                shutil.copy(file, target)


def _java(jars: str, *args: object) -> None:
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", jars, *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        sys.exit(f"{args[0]} failed:\n{(done.stdout + done.stderr)[-6000:]}")


@contextmanager
def _broker(jars: str, properties: Path, port: int) -> Iterator[None]:
    """A node from when its port is open until it has shut down."""
    command = ["java", "-Xmx384m", "-XX:TieredStopAtLevel=1", "-cp", jars, "kafka.Kafka"]
    with (properties.parent / "broker.log").open("wb") as log:
        node = subprocess.Popen([*command, str(properties)], stdout=log, stderr=log)
        try:
            _wait_for(port, node)
            yield
        finally:
            node.terminate()
            node.wait(60)


def _wait_for(port: int, node: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if node.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
