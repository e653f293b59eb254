"""The two sockets of a client that goes through the proxy: its own, and the one to the broker.

Neither side is read while the other one does not take what it gets, so that a peer that never reads
costs its own connection and no memory.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Callable

from kafka_admin_proto.arguments import Buffer
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.gc_tuning import release_transport
from kafka_admin_proto.loggers import PROXY
from kafka_admin_proto.protocol.addresses import Address
from kafka_admin_proto.proxy.connection.relay import Relay
from kafka_admin_proto.proxy.observation import Observed, ObservedConnection
from kafka_admin_proto.proxy.rules import Rules
from kafka_admin_proto.render.text import printable

#: Frames are joined up to about so many bytes; larger ones are written by themselves.
_JOINED_BYTES = 64 << 10

#: So much of an error is in a line of the log.
_LINE_CHARACTERS = 1000


class End(enum.Enum):
    """Whose socket it is."""

    CLIENT = "client"
    BROKER = "broker"


#: Connects a protocol to the broker that the client wants; OSError where that cannot be.
Connect = Callable[[asyncio.BaseProtocol], Awaitable[None]]


class Link:
    """A client of the proxy, from its connection to its end.

    Its sockets refer to it, and it refers to them while they are open, so that it is freed without
    the cyclic collector.
    """

    def __init__(
        self,
        rules: Rules,
        node_id: int | None,
        connect: Connect,
        links: set[Link],
        buffer: memoryview,
        observed: Observed,
    ) -> None:
        self._rules = rules
        self._node_id = node_id
        self._connect = connect
        self._links = links
        self._buffer = buffer
        self._relay = Relay(rules, "")
        self._observed = observed
        self._observation: ObservedConnection | None = None
        #: What the client has sent, until it is passed on: nobody waits for observers.
        self._unobserved = b""
        #: The two sockets, while they are open.
        self.client: asyncio.Transport | None = None
        self.broker: asyncio.Transport | None = None
        #: Whether each of them takes what is written.
        self._client_takes = self._broker_takes = True
        #: Whether the client is read, and the broker. The client waits for the broker's socket.
        self._reading = (False, True)
        self._connecting: asyncio.Task[None] | None = None
        #: The end of a pause that a fault makes.
        self._timer: asyncio.TimerHandle | None = None
        #: Whether requests go on when other clients have had their turn.
        self._rests = False
        self._ended = False

    def side(self, end: End) -> Side:
        """The asyncio protocol of one of the two sockets."""
        return Side(self, end, self._buffer)

    def opened(self, end: End, transport: asyncio.Transport) -> None:
        """A socket is there: the client's first, which is not read before the broker's is."""
        if end is End.CLIENT:
            self.client = transport
            host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
            self._relay = Relay(self._rules, str(Address(host, port)), self._node_id)
            if host:  # else the client has gone already
                own_host, own_port = transport.get_extra_info("sockname")[:2]
                self._observation = self._observed.connection(((host, port), (own_host, own_port)))
            self._links.add(self)
            transport.pause_reading()
            self._connecting = asyncio.ensure_future(self._open())
            return
        self.broker = transport
        if self._ended:  # the client has gone meanwhile
            transport.abort()
        else:
            self._set_reading()

    def received(self, end: End, data: memoryview) -> None:
        """Pass on what one side has sent."""
        if self._ended:
            return
        if end is End.BROKER:
            self._pass(self._relay.from_broker, data)
            return
        if self._observation is not None:
            self._unobserved = bytes(data)
        self._pass(self._relay.from_client, data)

    def _go_on(self) -> None:
        """Go on: others have had their turn."""
        self._rests = False
        if not self._ended:
            self._pass(lambda _: self._relay.begin_turn(), b"")

    def _resume(self) -> None:
        """Go on: a pause is over."""
        self._timer = None
        self._pass(lambda _: self._relay.resume(), b"")

    def _pass(self, take: Callable[[Buffer], None], data: Buffer) -> None:
        try:
            take(data)
        except Exception as error:
            self._flush()
            self._fail(error)
        else:
            self._flush()

    def takes_writes(self, end: End, takes: bool) -> None:
        """A peer reads what it is sent, or no more: read the other one accordingly."""
        if end is End.CLIENT:
            self._client_takes = takes
        else:
            self._broker_takes = takes
        if not self._ended:
            self._set_reading()

    def lost(self, end: End) -> None:
        """A socket has ended: so does the other one, once it has got what was sent to it."""
        if end is End.BROKER:
            release_transport(self.broker)
            self.broker = None
        else:
            release_transport(self.client)
            self.client = None
        self._end()
        if self.client is None:
            if self._connecting is not None:
                self._connecting.cancel()
                self._connecting = None
            self._end_observation()
            if self.broker is None:  # with TLS it is open until its peer has agreed to the end
                self._links.discard(self)

    def abort(self) -> None:
        """End both at once; observers need not wait until the sockets say so."""
        self._end()
        self._end_observation()
        for each in (self.client, self.broker):
            if each is not None:
                each.abort()

    def _end_observation(self) -> None:
        if self._observation is not None:
            self._observation.close()
            self._observation = None

    async def _open(self) -> None:
        try:
            await self._connect(self.side(End.BROKER))
        except OSError as error:
            where = "the bootstrap address" if self._node_id is None else f"node {self._node_id}"
            PROXY.warning("%s: no broker for a client: %s", where, _line(error))
            self._end()

    def _end(self) -> None:
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for each in (self.client, self.broker):
            # After a second close of a TLS session, asyncio's abort does nothing.
            if each is not None and not each.is_closing():
                each.close()

    def _fail(self, error: Exception) -> None:
        """End the connection after what a peer may not send, or an error of a filter."""
        own = not isinstance(error, KafkaAdminProtoError)
        kind = type(error).__name__
        PROXY.error("%s: %s: %s", self._relay.client, kind, _line(error), exc_info=own)
        self._end()

    def _flush(self) -> None:
        relay = self._relay
        answers = b"" if self._observation is None else b"".join(relay.to_client)
        if relay.to_broker:
            _write(self.broker, relay.to_broker)
        if relay.to_client:
            _write(self.client, relay.to_client)
        if self._observation is not None:
            self._observation.passed(0, self._unobserved)
            self._observation.passed(1, answers)
            self._unobserved = b""
        delivery = relay.delivery
        if delivery.ended:
            self._end()
        elif delivery.pause_s is not None and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(delivery.pause_s, self._resume)
        elif relay.pending.rests and not self._rests:
            self._rests = True
            asyncio.get_running_loop().call_soon(self._go_on)
        self._set_reading()

    def _set_reading(self) -> None:
        relay = self._relay
        broker = self._client_takes and relay.delivery.pause_s is None
        client = self._client_takes and self._broker_takes and not relay.is_full
        if (client, broker) != self._reading:
            self._reading = (client, broker)
            _read(self.client, client)
            _read(self.broker, broker)


class Side(asyncio.BufferedProtocol):
    """One of the two sockets of a `Link`."""

    def __init__(self, link: Link, end: End, buffer: memoryview) -> None:
        self._link = link
        self._end = end
        self._buffer = buffer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._link.opened(self._end, transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        """The buffer of all connections: what is read is taken before another socket is."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take the bytes that have arrived."""
        self._link.received(self._end, self._buffer[:nbytes])

    def pause_writing(self) -> None:
        """The peer does not read."""
        self._link.takes_writes(self._end, False)

    def resume_writing(self) -> None:
        """The peer has read what was sent."""
        self._link.takes_writes(self._end, True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.lost(self._end)


def _line(error: Exception) -> str:
    """The text of an error for a line of the log: peers may have written parts of it."""
    text = printable(str(error))
    return text if len(text) <= _LINE_CHARACTERS else text[:_LINE_CHARACTERS] + "..."


def _read(transport: asyncio.Transport | None, wanted: bool) -> None:
    """Read a socket, or no more."""
    if transport is not None and not transport.is_closing():
        (transport.resume_reading if wanted else transport.pause_reading)()


def _write(transport: asyncio.Transport | None, out: list[bytes]) -> None:
    """Write these parts of frames, and empty the list."""
    if transport is not None:
        small: list[bytes] = []
        for part in out:
            if len(part) < _JOINED_BYTES:
                small.append(part)
                continue
            transport.write(b"".join(small))
            transport.write(part)
            small.clear()
        if small:
            transport.write(b"".join(small))
    out.clear()
