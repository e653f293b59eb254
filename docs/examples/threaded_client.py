"""A client of plain sockets and threads: the connection has the protocol, these lines the bytes.

    python threaded_client.py localhost:9092

Prints the brokers and topics that Metadata names. Any thread may call; requests are pipelined on
one socket. A thread reads, another writes, so that neither end ever waits for the other to read.
"""

from __future__ import annotations

import argparse
import contextlib
import queue
import socket
import sys
import threading
from concurrent.futures import Future

from kafka_admin_proto import KafkaAdminProtoError, Message, MetadataRequest, MetadataResponse
from kafka_admin_proto.protocol.connection import (
    CLIENT,
    NEED_DATA,
    Connection,
    ConnectionClosed,
    Ready,
    ResponseReceived,
    Sasl,
)

TIMEOUT_S = 10.0


class ThreadedClient:
    """A connection to one broker; OSError, or an error of the protocol, where there is none."""

    def __init__(self, host: str, port: int, sasl: Sasl | None = None) -> None:
        self._connection = Connection(CLIENT, client_id="threaded-client", sasl=sasl)
        self._lock = threading.Lock()  # the connection is for one thread at a time
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._ready: Future[Message | None] = Future()
        self._fault: Exception | None = None
        self._socket = socket.create_connection((host, port), TIMEOUT_S)
        self._socket.settimeout(None)
        self._threads = [threading.Thread(target=each) for each in (self._read, self._write)]
        self._outgoing.put(self._connection.start())
        for thread in self._threads:
            thread.start()
        try:
            self._ready.result(TIMEOUT_S)
        except BaseException:
            self.close()
            raise

    def call(self, request: Message) -> Future[Message | None]:
        """The answer, some time: for any request but a Produce with acks 0, which gets none."""
        answer: Future[Message | None] = Future()
        with self._lock:
            if self._fault is not None:
                raise self._fault
            self._outgoing.put(self._connection.send(request, context=answer))
        return answer

    def close(self) -> None:
        """End the connection and the threads; what is unanswered fails."""
        with contextlib.suppress(OSError):  # the broker was first
            self._socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def _write(self) -> None:
        while data := self._outgoing.get():
            try:
                self._socket.sendall(data)
            except OSError:
                return  # the reader sees the end as well

    def _read(self) -> None:
        fault: Exception | None = None
        try:
            while fault is None:
                data = self._socket.recv(65536)
                with self._lock:
                    self._connection.receive_data(data)
                    fault = self._report()
        except (OSError, KafkaAdminProtoError) as error:
            fault = error
        self._outgoing.put(b"")  # the writer's end
        with self._lock:
            self._fault = fault
            lost = [self._ready, *(each.context for each in self._connection.unanswered)]
        for answer in lost:
            if not answer.done():
                answer.set_exception(fault)

    def _report(self) -> Exception | None:
        """Pass on each event; the end of the stream is a fault."""
        while True:
            event = self._connection.next_event()
            if data := self._connection.data_to_send():
                self._outgoing.put(data)
            if event is NEED_DATA:
                return None
            if isinstance(event, Ready):
                self._ready.set_result(None)
            elif isinstance(event, ResponseReceived):
                answer = event.request.context
                if event.response.body is None:
                    answer.set_exception(event.response.error)
                else:
                    answer.set_result(event.response.body)
            elif isinstance(event, ConnectionClosed):
                return ConnectionError(
                    f"the broker closed the connection while it was {event.state.value}"
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("broker", help="host:port")
    where = parser.parse_args().broker
    host, _, port = where.rpartition(":")
    if not port.isdecimal():
        parser.error(f"{where!r} is not host:port")
    try:
        client = ThreadedClient(host, int(port))
        try:
            metadata = client.call(MetadataRequest(topics=None)).result(TIMEOUT_S)
        finally:
            client.close()
    except TimeoutError:
        print(f"{where} did not answer within {TIMEOUT_S:g} s", file=sys.stderr)
        return 1
    except (OSError, OverflowError, KafkaAdminProtoError) as error:
        print(f"{where}: {error}", file=sys.stderr)
        return 1
    assert isinstance(metadata, MetadataResponse)
    for broker in metadata.brokers:
        print(f"broker {broker.node_id} at {broker.host}:{broker.port}")
    for topic in metadata.topics:
        print(f"topic {topic.name}, {len(topic.partitions)} partitions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
