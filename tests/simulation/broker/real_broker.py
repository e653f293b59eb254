"""A real broker of 3.9.2 with ZooKeeper, asked as its controller and its clients ask it."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kafka_admin_proto import UpdateMetadataRequest
from kafka_admin_proto.protocol import frame, read_response, write_request
from kafka_admin_proto.simulation.broker import Disk, FolderDisk
from kafka_admin_proto.values import Message
from tests.simulation.broker.alone import ME
from tools.clusters import HOST, Cluster, zookeeper

#: Seconds for one answer, and until the disk is as it should be.
_ASK_S, _DISK_S = 30.0, 10.0
_PROPERTIES = {
    "log.dirs": "data,more",
    "log.segment.delete.delay.ms": str(3_600_000),  # the run shall see what is deleted
    "log.retention.ms": "-1",
    "auto.create.topics.enable": "false",
}
#: A quorum that nobody is: the broker waits to be migrated for ever.
_MIGRATION = (
    "zookeeper.metadata.migration.enable=true\n"
    "controller.quorum.voters=3000@127.0.0.1:1\n"
    "controller.listener.names=CONTROLLER\n"
    "metadata.log.dir=quorum\n"
    "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n"
)


class RealBroker:
    """One process after the other on the same log directories."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster: Cluster = cluster
        self._node = cluster.nodes[ME]
        self._file: Path = self._node.folder / "broker.properties"
        self._properties: str = self._file.read_text()
        self._socket: socket.socket | None = None
        self.log_dirs: tuple[str, ...] = tuple(
            str(self._node.folder / each) for each in ("data", "more")
        )
        self.disk: Disk = FolderDisk(self.log_dirs)

    @property
    def port(self) -> int:
        """Where the broker listens."""
        return self._node.ports["PLAINTEXT"]

    def restart(self, *, migration: bool, between: Callable[[], None] = lambda: None) -> None:
        """End the broker, change what is on the disk, and start it again."""
        self._close()
        self._cluster.end(ME)
        self._file.write_text(self._properties + (_MIGRATION if migration else ""))
        between()
        self._cluster.start_again(ME)

    def broker_epoch(self, controller_epoch: int) -> int:
        """The broker's own epoch: the lowest one that it does not call stale."""
        low, high = 0, 1 << 20
        while low < high:
            middle = (low + high) // 2
            body = UpdateMetadataRequest(
                controller_id=ME, controller_epoch=controller_epoch, broker_epoch=middle
            )
            answer: Any = self.ask(body, 7)
            low, high = (middle + 1, high) if answer.error_code == 77 else (low, middle)
        return low

    def ask(self, body: Message, version: int) -> Message:
        """One answer."""
        assert body.api_key is not None
        if self._socket is None:
            self._socket = socket.create_connection((HOST, self.port), timeout=_ASK_S)
        self._socket.sendall(frame(write_request(body, version, 1)))
        size = int.from_bytes(self._read(4), "big")
        answer = read_response(self._read(size), body.api_key, version).body
        assert isinstance(answer, Message), answer
        return answer

    def until(self, expected: object, look: Callable[[Disk], object]) -> object:
        """What ``look`` finds on the disk, as expected if that is so within ten seconds."""
        deadline = time.monotonic() + _DISK_S
        while True:
            try:
                found = look(self.disk)
            except FileNotFoundError:  # renamed while it was looked at
                found = None
            if found == expected or time.monotonic() > deadline:
                return found
            time.sleep(0.02)

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the broker closed the connection"
            data += more
        return data

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


@contextlib.contextmanager
def real_broker(folder: Path) -> Iterator[RealBroker]:
    """A fresh one, with ZooKeeper; both end with the block."""
    with zookeeper(folder, brokers=1, ibp="3.9", properties=_PROPERTIES) as cluster:
        real = RealBroker(cluster)
        try:
            yield real
        finally:
            real._close()
