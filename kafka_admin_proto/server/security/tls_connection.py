"""TLS on one accepted socket, between the socket and the NodeConnection that answers.

When a handshake fails, asyncio's own TLS closes the socket without sending the alert that gives the
client the reason. Here the bytes that OpenSSL has to send are written first.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any

from kafka_admin_proto.gc_tuning import release_transport
from kafka_admin_proto.server.security.subjects import NameRules, subject_of

if TYPE_CHECKING:
    from kafka_admin_proto.server.network.connection import NodeConnection

#: The alert internal_error, with which Java answers bytes that are not TLS. OpenSSL sends none.
_NO_TLS = bytes.fromhex("15030300020250")
_WANT = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
#: What is read of a socket at once. No limit counts what a paused connection has not decrypted, and
#: more at once was measured: it is no faster, since records of 16 KiB are decrypted one by one.
_ENCRYPTED_BYTES = 64 << 10


class TlsConnection(asyncio.BufferedProtocol, asyncio.Transport):
    """The protocol of the socket, and the transport of ``inner``.

    Encrypted bytes are read into ``buffer``, which all connections share. ``names`` make a
    principal of the client's certificate; without them SASL gives the principal.
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
        #: The protocol that gets the decrypted bytes: ``inner``, or the one it handed over to.
        self._reader: asyncio.BufferedProtocol | asyncio.Protocol = inner
        self._buffer = buffer
        self._names = names
        self._socket: asyncio.Transport | None = None
        self._shaken = False
        self._paused = False

    # The protocol of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to read; the handshake comes first."""
        assert isinstance(transport, asyncio.Transport)
        self._socket = transport
        self._inner.connection_made(self)

    def connection_lost(self, exc: Exception | None) -> None:
        release_transport(self._socket)
        self._socket = None
        self._reader.connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        """The buffer for the next bytes of the client."""
        return self._buffer[:_ENCRYPTED_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        """Decrypt these bytes of the client and pass them on."""
        self._received.write(self._buffer[:nbytes])
        self._read()

    def eof_received(self) -> bool:
        """The client sends no more bytes: False lets asyncio close the socket."""
        return bool(self._reader.eof_received())

    def pause_writing(self) -> None:
        """The client does not read its answers."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._inner.resume_writing()

    # The transport of the connection.

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if self._socket is None or not data:
            return
        try:
            self._tls.write(data)
        except ssl.SSLError:  # the client has ended TLS
            self._socket.abort()
            return
        self._flush()

    def close(self) -> None:
        """Send the bytes that are written and the alert close_notify, then close the socket."""
        if self._socket is None:
            return
        if self._shaken:
            try:
                self._tls.unwrap()
            except (*_WANT, ssl.SSLError):
                pass  # the client's own close_notify is not waited for
        self._flush()
        if self._socket is not None:
            self._socket.close()

    def abort(self) -> None:
        if self._socket is not None:
            self._socket.abort()

    def is_closing(self) -> bool:
        return self._socket is None or self._socket.is_closing()

    def pause_reading(self) -> None:
        """Stop reading until ``resume_reading``."""
        self._paused = True
        if self._socket is not None:
            self._socket.pause_reading()

    def resume_reading(self) -> None:
        """Read again, bytes that are received and not decrypted yet included."""
        self._paused = False
        if self._socket is not None:
            self._socket.resume_reading()
            asyncio.get_running_loop().call_soon(self._read)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give later bytes of the client, and the end of the socket, to another protocol."""
        assert isinstance(protocol, asyncio.BufferedProtocol | asyncio.Protocol)
        self._reader = protocol

    def get_write_buffer_size(self) -> int:
        """Bytes that the socket has not sent yet."""
        return 0 if self._socket is None else self._socket.get_write_buffer_size()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """As of the socket's transport; "socket" is hidden, since its bytes are encrypted."""
        if self._socket is None or name == "socket":
            return default
        return self._socket.get_extra_info(name, default)

    # TLS.

    def _read(self) -> None:
        """Go on with the handshake, then decrypt the complete records."""
        try:
            if not self._shaken:
                self._tls.do_handshake()
                self._shaken = True
                self._flush()
                self._enter()
            while not self._paused and not self.is_closing():
                count = int(self._tls.read(len(self._buffer), self._buffer))
                if not count:
                    if not self._reader.eof_received():
                        self.close()
                    return
                if isinstance(self._reader, asyncio.BufferedProtocol):
                    self._reader.buffer_updated(count)
                else:
                    self._reader.data_received(bytes(self._buffer[:count]))
        except _WANT:
            self._flush()
        except ssl.SSLError:  # not TLS, or a certificate that is not trusted
            if not self._flush() and self._socket is not None:
                self._socket.write(_NO_TLS)
            if self._socket is not None:
                self._socket.close()

    def _enter(self) -> None:
        """Authenticate the client by its certificate, where a principal is made of it."""
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
        """Write the bytes that OpenSSL has to send; whether there were any."""
        data = self._written.read()
        if data and self._socket is not None:
            self._socket.write(data)
        return bool(data)
