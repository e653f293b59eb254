"""Pausing and resuming the reads of a socket; clients that send byte by byte are read in turns.

If two hundred clients send a byte at the same moment, one turn of the event loop makes two hundred
reads, and every other client waits for all of them. Therefore the sockets of clients that send
small pieces of requests are registered with a second epoll (`PacedReads`), which is one file
descriptor for the event loop. Each turn polls it for a few sockets that are readable; the others
stay readable until the next turn.

Each asyncio transport that reads a socket has a `ReadControl`, which chooses between both ways.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

from kafka_admin_proto.server.network.transports import release

#: Sockets that are read in one turn; a read takes some 25 microseconds, with its answer.
_READS_OF_TURN = 4
#: A part of a request with fewer bytes is a small piece; networks split at larger sizes.
_SMALL_BYTES = 512
#: After more than so many small pieces in a row a client's socket is read in turns.
_SMALL_PIECES = 4
#: Without epoll all clients are read as soon as they send.
_HAS_EPOLL = hasattr(select, "epoll")


class PacedReads:
    """The sockets of a cluster whose clients send small pieces, a few of them read in each turn."""

    def __init__(self) -> None:
        self._epoll: select.epoll | None = None
        #: File descriptor → the function by which asyncio reads from it again.
        self._resume: dict[int, Callable[[], None]] = {}

    def watch(self, fd: int, resume: Callable[[], None]) -> None:
        """Call ``resume`` once, when the socket is readable and it is its turn."""
        if self._epoll is None:
            self._epoll = select.epoll()
            asyncio.get_running_loop().add_reader(self._epoll.fileno(), self._next)
        if fd in self._resume:
            self._epoll.modify(fd, select.EPOLLIN | select.EPOLLONESHOT)
        else:
            self._epoll.register(fd, select.EPOLLIN | select.EPOLLONESHOT)
            self._resume[fd] = resume

    def forget(self, fd: int) -> None:
        """Stop watching an open socket; nothing happens if it was not watched."""
        if self._resume.pop(fd, None) is not None and self._epoll is not None:
            self._epoll.unregister(fd)

    def end(self) -> None:
        """Stop watching all sockets: the cluster has ended."""
        if self._epoll is not None:
            asyncio.get_running_loop().remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None
        self._resume.clear()

    def _next(self) -> None:
        assert self._epoll is not None
        for fd, _ in self._epoll.poll(0, _READS_OF_TURN):
            self._resume[fd]()


class ReadControl:
    """Pauses and resumes one transport, whose socket is read at once or by `PacedReads`."""

    def __init__(self, paced_reads: PacedReads) -> None:
        self._paced_reads = paced_reads
        self._transport: asyncio.Transport | None = None
        #: The socket's descriptor; -1 if the socket is read by another transport, which does TLS.
        self._fd = -1
        #: The number of small pieces of requests since the last larger piece or whole request.
        self.small_pieces: int = 0

    def begin(self, transport: asyncio.Transport) -> None:
        """Control this transport, which is connected and reads."""
        self._transport = transport
        found = transport.get_extra_info("socket")
        if found is not None and _HAS_EPOLL:
            self._fd = found.fileno()

    def end(self) -> None:
        """Let go of the transport: its connection is lost and its socket about to be closed."""
        self._paced_reads.forget(self._fd)
        release(self._transport)
        self._transport = None

    def count(self, nbytes: int, *, whole: bool) -> None:
        """Count one read of so many bytes: whole requests, or a piece of a request."""
        self.small_pieces = 0 if whole or nbytes >= _SMALL_BYTES else self.small_pieces + 1

    def pause(self) -> None:
        """Stop reading until ``resume``."""
        if self._transport is not None:
            self._transport.pause_reading()
            self._paced_reads.forget(self._fd)

    def resume(self) -> None:
        """Read again: at once, or in turns with others if the client sends small pieces."""
        if self._transport is None:
            return
        if self.small_pieces > _SMALL_PIECES and self._fd >= 0:
            self._transport.pause_reading()
            self._paced_reads.watch(self._fd, self._transport.resume_reading)
        else:
            self._paced_reads.forget(self._fd)
            self._transport.resume_reading()
