"""A real controller whose two fellow voters do not exist: it never wins an election.

It is of the newest release. Its timeouts are an hour, so that nothing happens but what it is asked
for. Its log is there when it starts: three records, the last of epoch 3.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from kafka_admin_proto.protocol import frame, read_response, write_request
from kafka_admin_proto.simulation.quorum.folder import MetadataFolder, MetadataLog
from kafka_admin_proto.simulation.quorum.state import LogEnd
from kafka_admin_proto.topic_ids import topic_id_to_text
from kafka_admin_proto.values import Message
from tools.clusters import HOST, free_ports
from tools.clusters.processes import log_options, start_java, wait_for_port
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime
from tools.oracles.java import java_options

NODE_ID, OTHERS = 1, (2, 3)
CLUSTER_ID = "b25lIG9mIGEga2luZA"
DIRECTORY_ID = UUID(int=1 << 127 | 77, version=4)
LOG_END = LogEnd(3, 3)
_LONG_MS = 3_600_000
#: Seconds for one answer, and until a node that ends itself has ended.
_ANSWER_S, _END_S = 30.0, 60.0
_LOG = "00000000000000000000.log"


class RealController:
    """The process, and a connection to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jars = fetch_runtime(NEWEST)
        self._port, *others = free_ports(3)
        voters = [f"{NODE_ID}@{HOST}:{self._port}"]
        voters += [f"{each}@{HOST}:{port}" for each, port in zip(OTHERS, others, strict=True)]
        properties = {
            "process.roles": "controller",
            "node.id": NODE_ID,
            "controller.quorum.voters": ",".join(voters),
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://{HOST}:{self._port}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
            "controller.quorum.election.timeout.ms": _LONG_MS,
            "controller.quorum.fetch.timeout.ms": _LONG_MS,
            "controller.quorum.election.backoff.max.ms": _LONG_MS,
            "log.dirs": folder / "data",
        }
        text = "".join(f"{name}={value}\n" for name, value in properties.items())
        (folder / "broker.properties").write_text(text)
        self.process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._asked = 0

    def start(self) -> None:
        """Start it on the log as it was at first: what a former life has promised is gone."""
        self.end()
        log = self._folder / "data" / "__cluster_metadata-0"
        log.mkdir(parents=True, exist_ok=True)
        (log.parent / "meta.properties").write_text(
            f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={NODE_ID}\n"
            f"directory.id={topic_id_to_text(DIRECTORY_ID)}\n"
        )
        for file in log.iterdir():
            file.unlink()
        (log / _LOG).write_bytes(_records())
        logs = log_options(NEWEST, self._folder, requests=False)
        command = [*java_options(self._jars), *logs, "kafka.Kafka", "broker.properties"]
        self.process = start_java(command, self._folder)
        wait_for_port(self._port, self.process)
        self._socket = socket.create_connection((HOST, self._port), _ANSWER_S)

    def ask(self, request: Message, version: int) -> Any:
        """Its response; OSError where it ends instead."""
        assert self._socket is not None
        self._asked += 1
        self._socket.sendall(frame(write_request(request, version, self._asked, "judge")))
        size = int.from_bytes(self._read(4), "big")
        assert request.api_key is not None
        return read_response(self._read(size), request.api_key, version).body

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the controller has closed the connection")
            data += piece
        return data

    def exit_code(self) -> int:
        """Wait until it has ended itself."""
        assert self.process is not None
        return self.process.wait(_END_S)

    def end(self) -> None:
        """End it, if it has not ended yet."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _records() -> bytes:
    """A leader's first record of epochs 1, 2 and 3."""
    folder = MetadataFolder()
    log = MetadataLog(folder)
    for epoch in (1, 2, 3):
        log.append_leader_change(OTHERS[0], epoch, [NODE_ID, *OTHERS], 1_700_000_000_000)
    assert log.end == LOG_END
    return log.data_from(0)


@contextlib.contextmanager
def real_controller(folder: Path) -> Iterator[RealController]:
    """A controller that runs until the block is left."""
    controller = RealController(folder)
    try:
        controller.start()
        yield controller
    finally:
        controller.end()
