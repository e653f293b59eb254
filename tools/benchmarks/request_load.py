"""Clients that ask a server the same over and over: sockets and prepared bytes in one loop.

Each client has one request on its way, as most clients have. A request takes one ``recv``, one
``send`` and a share of an ``epoll``, so that one processor of clients keeps a server on another
processor busy; ``Load.busy_percent`` says how busy the clients were.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_admin_proto.protocol import frame, read_response, write_request
from kafka_admin_proto.values import Message

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_TIMEOUT_S = 10.0
_RECEIVE_BYTES = 1 << 18


@dataclass
class Load:
    """What the clients saw in so many seconds, and the processor seconds of both sides."""

    seconds: float
    latencies_ns: list[int]
    server_cpu_s: float
    client_cpu_s: float

    @property
    def per_second(self) -> float:
        return len(self.latencies_ns) / self.seconds

    @property
    def per_cpu_second(self) -> float:
        """Answers in each second of the server's processor time."""
        return len(self.latencies_ns) / max(self.server_cpu_s, 1 / _TICKS_PER_S)

    @property
    def busy_percent(self) -> float:
        return 100 * self.client_cpu_s / self.seconds

    def percentile_us(self, percent: int) -> float:
        """The latency that so many percent of the latencies do not exceed."""
        return sorted(self.latencies_ns)[-(-len(self.latencies_ns) * percent // 100) - 1] / 1e3


def request_frame(request: Message, version: int) -> bytes:
    """The bytes of a request."""
    return frame(write_request(request, version, 1, "bench"))


def answer(address: tuple[str, int], data: bytes) -> tuple[Message | None, int]:
    """The answer to a request on a connection of its own, and the bytes of its frame."""
    with socket.create_connection(address, _TIMEOUT_S) as client:
        client.sendall(data)
        found = b""
        while len(found) < 4 or len(found) < 4 + int.from_bytes(found[:4], "big"):
            more = client.recv(_RECEIVE_BYTES)
            if not more:
                raise ConnectionResetError("closed before the end of the answer")
            found += more
    api_key, version = (int.from_bytes(data[at : at + 2], "big") for at in (4, 6))
    return read_response(found[4:], api_key, version).body, len(found)


def load(
    address: tuple[str, int],
    pid: int,
    frames: Sequence[bytes],
    size: int,
    clients: int,
    seconds: float,
) -> Load:
    """Have clients send frames, the next one when an answer of ``size`` bytes is there.

    ``pid`` is the server's process. Raises ConnectionResetError where it closes a connection.
    """
    following = itertools.cycle(frames).__next__
    clock, latencies_ns = time.perf_counter_ns, []
    with contextlib.ExitStack() as stack:
        poll = stack.enter_context(select.epoll())
        ends = {}
        for _ in range(clients):
            end = stack.enter_context(socket.create_connection(address, _TIMEOUT_S))
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            poll.register(end, select.EPOLLIN)
            ends[end.fileno()] = end
        receive = {number: end.recv for number, end in ends.items()}
        send = {number: end.sendall for number, end in ends.items()}
        missing = dict.fromkeys(ends, size)
        server_cpu_s, client_cpu_s, begin = cpu_s(pid), time.process_time(), clock()
        sent = dict.fromkeys(ends, begin)
        for number in ends:
            send[number](following())
        now, stop = begin, begin + int(seconds * 1e9)
        while now < stop:
            for number, _ in poll.poll(_TIMEOUT_S):
                received = len(receive[number](_RECEIVE_BYTES))
                if received != missing[number]:
                    if received == 0:
                        raise ConnectionResetError("the server closed a connection")
                    missing[number] -= received
                    continue
                missing[number] = size
                now = clock()
                latencies_ns.append(now - sent[number])
                sent[number] = now
                send[number](following())
        return Load(
            (now - begin) / 1e9,
            latencies_ns,
            cpu_s(pid) - server_cpu_s,
            time.process_time() - client_cpu_s,
        )


def cpu_s(pid: int) -> float:
    """Processor seconds of a process so far."""
    behind_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(behind_name[11]) + int(behind_name[12])) / _TICKS_PER_S


def resident_bytes(pid: int) -> int:
    """The memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(each for each in status.splitlines() if each.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024
