"""Protocol detection: connections that do not speak Kafka, recognised by their first bytes."""

from __future__ import annotations

import re
import struct

import msgspec

from kafka_admin_proto.counts import counted

_HANDSHAKE, _ALERT, _DATA = 22, 21, 23
_CLIENT_HELLO, _SERVER_HELLO = 1, 2
#: Types of handshake messages, and nothing for one that was cut off.
_MESSAGES = (b"", *(bytes([kind]) for kind in (0, 1, 2, 4, 8, 11, 12, 13, 14, 15, 16, 20)))
_SUPPORTED_VERSIONS = 43
_TLS = {
    0x0300: "SSL 3.0",
    0x0301: "TLS 1.0",
    0x0302: "TLS 1.1",
    0x0303: "TLS 1.2",
    0x0304: "TLS 1.3",
}
_HTTP = (b"GET ", b"POST ", b"PUT ", b"HEAD ", b"DELETE ", b"OPTIONS ", b"CONNECT ", b"PATCH ")
#: First bytes of either side → the name of their protocol.
_OTHER_PROTOCOLS = {
    b"PRI * HTTP/2": "HTTP/2",
    b"HTTP/": "HTTP",
    b"SSH-": "SSH",
    b"PROXY ": "a PROXY protocol header",
    b"\r\n\r\n\x00\r\nQUIT\n": "a PROXY protocol header",
}
_HTTP_LINE = re.compile(rb"(?:[A-Z]{3,7} \S+ HTTP/1\.[01]|HTTP/1\.[01] \d{3}[^\r\n]*)\r\n")
#: Bytes of a TLS record, with those that encryption may add.
_MAX_RECORD_BYTES = (1 << 14) + 2048
#: Bytes from the start of each side that detection needs; hellos are in the first few packets.
HEAD_BYTES = 4096


def is_foreign(start: bytes, *, mid_stream: bool = False) -> bool:
    """Whether a side that starts with these bytes does not speak Kafka.

    ``mid_stream``: the bytes may come from anywhere in a stream, a payload included, so that whole
    TLS records or a whole line of HTTP are required.
    """
    if mid_stream:
        return _is_tls(start) or _HTTP_LINE.match(start) is not None
    if start[:1] in (b"\x14", b"\x15", b"\x16", b"\x17") and start[1:2] == b"\x03":
        return True
    return start.startswith((*_HTTP, *_OTHER_PROTOCOLS))


def _is_tls(start: bytes) -> bool:
    """Whether the bytes are TLS records end to end, the last of which may go on."""
    at = 0
    while len(start) - at >= 5:
        kind, version, size = struct.unpack_from(">BHH", start, at)
        if not 20 <= kind <= 23 or version not in _TLS or not 0 < size <= _MAX_RECORD_BYTES:
            return False
        if kind == _HANDSHAKE and start[at + 5 : at + 6] not in _MESSAGES:
            return False
        at += 5 + size
    return at > 0


class ForeignTraffic(msgspec.Struct):
    """The bytes of a connection that does not speak Kafka: their number, and the first ones.

    ``fault`` is the reason where the first bytes do not show the protocol.
    """

    fault: str = ""
    starts: tuple[bytes, bytes] = (b"", b"")
    size: int = 0

    def add(self, end: int, data: bytes) -> None:
        """Count bytes that one end sent."""
        self.size += len(data)
        start = self.starts[end]
        if len(start) < HEAD_BYTES:
            start += data[: HEAD_BYTES - len(start)]
            self.starts = (start, self.starts[1]) if end == 0 else (self.starts[0], start)

    def describe(self) -> str:
        """The detected protocol, as the problem of the connection's only frame."""
        if self.fault:
            return f"{self.fault}; {counted(self.size, 'more bytes')} not decoded"
        return describe(self.starts, self.size)


def describe(starts: tuple[bytes, bytes], size: int) -> str:
    """The protocol and the size, as in "encrypted: TLS 1.3 handshake, 41 kB not decoded"."""
    return f"{_name(starts)}, {_amount(size)} not decoded"


def _name(starts: tuple[bytes, bytes]) -> str:
    for start in starts:
        for first, name in _OTHER_PROTOCOLS.items():
            if start.startswith(first):
                return f"not Kafka: {name}"
        if start.startswith(_HTTP):
            return "not Kafka: HTTP"
    kinds = {start[0] for start in starts if start}
    if _HANDSHAKE in kinds:
        # The server decides the version; a client's hello has the newest that it accepts.
        hellos = sorted(filter(None, map(_hello, starts)), reverse=True)
        version = _TLS.get(hellos[0][1], "TLS") if hellos else "TLS"
        return f"encrypted: {version} handshake"
    return "encrypted: a TLS alert" if kinds == {_ALERT} else "encrypted: TLS"


def _hello(start: bytes) -> tuple[int, int] | None:
    """A hello's type (2 for the server's) and its TLS version."""
    if len(start) < 11 or start[0] != _HANDSHAKE or start[5] not in (_CLIENT_HELLO, _SERVER_HELLO):
        return None
    message, version = start[5], int.from_bytes(start[9:11], "big")
    try:
        offered = [each for each in _supported(start) if each in _TLS]
    except (struct.error, IndexError):  # no such extension: TLS 1.2 or older
        offered = []
    return message, max(offered, default=version)


def _supported(start: bytes) -> tuple[int, ...]:
    """The versions in a hello's supported_versions (RFC 8446); struct.error without them."""
    at = 44 + start[43]  # behind the record and handshake headers, the version and random
    if start[5] == _CLIENT_HELLO:
        at += 2 + int.from_bytes(start[at : at + 2], "big")  # cipher suites
        at += 1 + start[at]  # compression methods
    else:
        at += 3
    at += 2
    while True:
        extension, size = struct.unpack_from(">HH", start, at)
        at += 4
        if extension == _SUPPORTED_VERSIONS:
            value = start[at : at + size]
            if start[5] == _CLIENT_HELLO:
                value = value[1:]
            return struct.unpack(f">{len(value) // 2}H", value[: len(value) // 2 * 2])
        at += size


def _amount(size: int) -> str:
    if size < 1000:
        return counted(size, "bytes")
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
