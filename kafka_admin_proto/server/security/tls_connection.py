"""TLS of one accepted socket, between the socket and the connection that answers.

asyncio's own TLS closes the socket of a handshake that fails without the alert that tells the
client why; here what OpenSSL has to say is written first.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any

from kafka_admin_proto.server.network.trickle import ClientReads
from kafka_admin_proto.server.security.subjects import NameRules, subject_of

if TYPE_CHECKING:
    from kafka_admin_proto.server.network.connection import NodeConnection

#: The alert internal_error, with which Java answers what is no TLS; OpenSSL says nothing.
_NO_TLS = bytes.fromhex("15030300020250")
_WANT = (ssl.SSLWantReadError, ssl.SSLWantWriteError)


class TlsConnection(asyncio.BufferedProtocol, asyncio.Transport):
    """The protocol of the socket, and the transport of ``inner``.

    ``buffer`` is where bytes are read to, as the connection's are. ``names`` makes the principal of
    the client's certificate; without them it is left to SASL.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        inner: NodeConnection,
        buffer: memoryview,
        names: NameRules | None,
    ) -> None:
        asyncio.Transport.__init__(self)
        self._received, self._written = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._written, server_side=True)
        self._inner = inner
        #: What the client's bytes are for: the connection, or what has taken its place.
        self._reader: asyncio.BufferedProtocol | asyncio.Protocol = inner
        self._buffer = buffer
        self._names = names
        self._socket: asyncio.Transport | None = None
        self._reads = ClientReads(inner.service.trickle)
        self._shaken = False
        self._paused = False
        #: Whether the last bytes that came were no whole TLS record.
        self._partial = False

    # The protocol of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there, and the handshake comes first."""
        assert isinstance(transport, asyncio.Transport)
        self._socket = transport
        self._reads.begin(transport)
        self._inner.connection_made(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        self._reads.end()
        self._socket = None
        self._reader.connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes of the client go."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes of the client are there."""
        before = self._partial or self._inner.unfinished_bytes > 0
        self._received.write(self._buffer[:nbytes])
        self._partial = True
        self._read()
        after = self._partial or self._inner.unfinished_bytes > 0
        if before or after or self._reads.small_pieces:
            self._reads.count(nbytes, whole=not before and not after)
            if not self._paused:
                self._reads.resume()

    def eof_received(self) -> bool:
        """The client sends no more; the socket is closed."""
        return False

    def pause_writing(self) -> None:
        """The client does not read."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._inner.resume_writing()

    # The transport of the connection.

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Encrypt and send."""
        if self._socket is None or not data:
            return
        try:
            self._tls.write(data)
        except ssl.SSLError:  # the client has ended TLS
            self._socket.abort()
            return
        self._flush()

    def close(self) -> None:
        """Send what is written, say that it was all, and close the socket."""
        if self._socket is None:
            return
        if self._shaken:
            try:
                self._tls.unwrap()
            except (*_WANT, ssl.SSLError):
                pass  # the answer to it is not waited for
        self._flush()
        if self._socket is not None:
            self._socket.close()

    def abort(self) -> None:
        """Close the socket at once."""
        if self._socket is not None:
            self._socket.abort()

    def is_closing(self) -> bool:
        """Whether nothing is read any more."""
        return self._socket is None or self._socket.is_closing()

    def pause_reading(self) -> None:
        """Leave what comes where it is."""
        self._paused = True
        self._reads.pause()

    def resume_reading(self) -> None:
        """Read on, what was decrypted already too."""
        self._paused = False
        if self._socket is not None:
            self._reads.resume()
            asyncio.get_running_loop().call_soon(self._read)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Let another protocol have what else the client sends, and the end."""
        assert isinstance(protocol, asyncio.BufferedProtocol | asyncio.Protocol)
        self._reader = protocol

    def get_write_buffer_size(self) -> int:
        """Bytes that wait for the client."""
        return 0 if self._socket is None else self._socket.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What the socket says. The socket itself is not for others: its bytes are TLS."""
        if self._socket is None or name == "socket":
            return default
        return self._socket.get_extra_info(name, default)

    # TLS.

    def _read(self) -> None:
        """The handshake, then what the client sent, as far as it has come."""
        try:
            if not self._shaken:
                self._tls.do_handshake()
                self._shaken, self._partial = True, False
                self._flush()
                self._enter()
            while not self._paused and not self.is_closing():
                count = int(self._tls.read(len(self._buffer), self._buffer))
                if not count:
                    self.close()
                    return
                self._partial = False
                if isinstance(self._reader, asyncio.BufferedProtocol):
                    self._reader.buffer_updated(count)
                else:
                    self._reader.data_received(bytes(self._buffer[:count]))
        except _WANT:
            self._flush()
        except ssl.SSLError:  # no TLS, or not the client's right certificate: an alert goes out
            if not self._flush() and self._socket is not None:
                self._socket.write(_NO_TLS)
            if self._socket is not None:
                self._socket.close()

    def _enter(self) -> None:
        """Tell the connection who the client is by its certificate."""
        if self._names is None:
            return
        certificate = self._tls.getpeercert(binary_form=True)
        if certificate is None:
            self._inner.authenticated("User:ANONYMOUS")
            return
        name = self._names.name_of(subject_of(certificate))
        if name is None:
            self.close()
        else:
            self._inner.authenticated(f"User:{name}")

    def _flush(self) -> bool:
        """Write what OpenSSL has to say; whether that was anything."""
        data = self._written.read()
        if data and self._socket is not None:
            self._socket.write(data)
        return bool(data)
