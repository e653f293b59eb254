"""Clients that send their requests in small pieces: the event loop reads a few of them in a turn.

Two hundred clients that send a byte at the same moment are two hundred reads in one turn of the
event loop, and whoever asks then waits for all of them. So the sockets of such clients are in an
epoll of their own, which is one file descriptor to the event loop. In each turn it names a few that
are readable; the others are still readable in the next turn.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

from kafka_admin_proto.server.network.transports import release

#: Sockets that are read in one turn: each takes some 25 microseconds, an answer included.
_READS_OF_TURN = 4
#: Bytes that are a small piece where they are part of a request: networks cut at larger ones.
_SMALL_BYTES = 512
#: A client sends in small pieces when more than so many came in a row.
_SMALL_PIECES = 4
#: Where the platform has no epoll, these clients are read as all others.
_HAS_EPOLL = hasattr(select, "epoll")


class TrickleReads:
    """The sockets of a cluster's clients that send in small pieces."""

    def __init__(self) -> None:
        self._epoll: select.epoll | None = None
        #: File descriptor → what lets the event loop read from it.
        self._resume: dict[int, Callable[[], None]] = {}

    def watch(self, fd: int, resume: Callable[[], None]) -> None:
        """Call ``resume`` once, in a turn in which this socket is to be read."""
        if self._epoll is None:
            self._epoll = select.epoll()
            asyncio.get_running_loop().add_reader(self._epoll.fileno(), self._next)
        if fd in self._resume:
            self._epoll.modify(fd, select.EPOLLIN | select.EPOLLONESHOT)
        else:
            self._epoll.register(fd, select.EPOLLIN | select.EPOLLONESHOT)
            self._resume[fd] = resume

    def forget(self, fd: int) -> None:
        """Watch a socket no more, which is still open, and need not have been watched."""
        if self._resume.pop(fd, None) is not None and self._epoll is not None:
            self._epoll.unregister(fd)

    def end(self) -> None:
        """Watch nothing any more: the cluster has ended."""
        if self._epoll is not None:
            asyncio.get_running_loop().remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None
        self._resume.clear()

    def _next(self) -> None:
        assert self._epoll is not None
        for fd, _ in self._epoll.poll(0, _READS_OF_TURN):
            self._resume[fd]()


class ClientReads:
    """When one client's socket is read: as soon as something is there, or in turns with others."""

    def __init__(self, trickle: TrickleReads) -> None:
        self._trickle = trickle
        self._transport: asyncio.Transport | None = None
        #: The socket; -1 where it may not be watched, as where another transport does TLS on it.
        self._fd = -1
        #: Pieces of requests that came in a row, each a small one.
        self.small_pieces: int = 0

    def begin(self, transport: asyncio.Transport) -> None:
        """The client is there, and is read."""
        self._transport = transport
        found = transport.get_extra_info("socket")
        if found is not None and _HAS_EPOLL:
            self._fd = found.fileno()

    def end(self) -> None:
        """The client is gone, and its socket about to be closed."""
        self._trickle.forget(self._fd)
        release(self._transport)
        self._transport = None

    def count(self, nbytes: int, *, whole: bool) -> None:
        """So many bytes have come at once: whole requests, or a piece of one."""
        self.small_pieces = 0 if whole or nbytes >= _SMALL_BYTES else self.small_pieces + 1

    def pause(self) -> None:
        """Read nothing until ``resume``."""
        if self._transport is not None:
            self._transport.pause_reading()
            self._trickle.forget(self._fd)

    def resume(self) -> None:
        """Read on, in turns if the client sends small pieces."""
        if self._transport is None:
            return
        if self.small_pieces > _SMALL_PIECES and self._fd >= 0:
            self._transport.pause_reading()
            self._trickle.watch(self._fd, self._transport.resume_reading)
        else:
            self._trickle.forget(self._fd)
            self._transport.resume_reading()
