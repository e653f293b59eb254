"""Captures that are written: frames as the packets of TCP connections, for any reader of pcap."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator

from kafka_admin_proto.capture.tcp.segments import ACK, FIN, RST, SYN

#: LINKTYPE_RAW: packets begin with their IP header.
_RAW = 101
#: The header of a file; times have microseconds.
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, _RAW)
#: Bytes of a segment; a longer frame goes into several. IP has 65535 bytes with its headers.
_SEGMENT_BYTES = 32 << 10
_PACKET = struct.Struct("<IIII")
_IP4 = struct.Struct(">BBHHHBBH4s4s")
_IP6 = struct.Struct(">IHBB16s16s")
_TCP = struct.Struct(">HHIIBBHHH")
_PSH = 8
_TCP_PROTOCOL = 6
_ALL = 1 << 32


class WrittenConnection:
    """One connection: its ends are the one that opened it (0) and the other one (1).

    The ends are host, an IPv4 or IPv6 address, and port; times are in microseconds since 1970.
    """

    def __init__(self, client: tuple[str, int], server: tuple[str, int]) -> None:
        self._ends = [(ipaddress.ip_address(host).packed, port) for host, port in (client, server)]
        self._next = [1000, 2000]
        self.open: bool = True

    def begin(self, at_us: int) -> Iterator[bytes]:
        """The packets that open it."""
        yield self._packet(at_us, 0, SYN)
        yield self._packet(at_us, 1, SYN | ACK)
        yield self._packet(at_us, 0, ACK)

    def data(self, at_us: int, side: int, frame: bytes) -> Iterator[bytes]:
        for start in range(0, len(frame), _SEGMENT_BYTES):
            yield self._packet(at_us, side, _PSH | ACK, frame[start : start + _SEGMENT_BYTES])

    def finish(self, at_us: int) -> Iterator[bytes]:
        """Its end, after what was sent has arrived."""
        self.open = False
        yield self._packet(at_us, 0, FIN | ACK)
        yield self._packet(at_us, 1, FIN | ACK)
        yield self._packet(at_us, 0, ACK)

    def reset(self, at_us: int) -> Iterator[bytes]:
        """Its end at once."""
        self.open = False
        yield self._packet(at_us, 0, RST | ACK)

    def _packet(self, at_us: int, side: int, flags: int, data: bytes = b"") -> bytes:
        (source, source_port), (target, target_port) = self._ends[side], self._ends[1 - side]
        acknowledged = self._next[1 - side] if flags & ACK else 0
        tcp = _TCP.pack(
            source_port, target_port, self._next[side], acknowledged, 0x50, flags, 0xFFFF, 0, 0
        )
        self._next[side] = (self._next[side] + len(data) + bool(flags & (SYN | FIN))) % _ALL
        size = len(tcp) + len(data)
        pseudo = source + target + struct.pack(">II", size, _TCP_PROTOCOL)
        tcp = tcp[:16] + struct.pack(">H", _checksum(pseudo + tcp + data)) + tcp[18:]
        if len(source) == 4:
            ip = _IP4.pack(0x45, 0, 20 + size, 0, 0x4000, 64, _TCP_PROTOCOL, 0, source, target)
            ip = ip[:10] + struct.pack(">H", _checksum(ip)) + ip[12:]
        else:
            ip = _IP6.pack(6 << 28, size, _TCP_PROTOCOL, 64, source, target)
        seconds, rest = divmod(at_us, 1_000_000)
        size += len(ip)
        return _PACKET.pack(seconds, rest, size, size) + ip + tcp + data


def _checksum(data: bytes) -> int:
    """The checksum of IP and TCP (RFC 1071)."""
    padded = data + b"\0" if len(data) % 2 else data
    return 0xFFFF - int.from_bytes(padded, "big") % 0xFFFF
