"""Packets made by hand: conversations as captures of every kind, whole or damaged."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVER = ("10.0.0.1", 40000), ("10.0.0.2", 9092)


@dataclass(frozen=True)
class Packet:
    """One TCP segment; ``ts`` in microseconds."""

    source: tuple[str, int]
    destination: tuple[str, int]
    sequence: int
    flags: int = ACK
    data: bytes = b""
    ts: int = 0
    acknowledgement: int = 1


def conversation(
    turns: Iterable[tuple[bool, bytes]],
    *,
    handshake: bool = True,
    farewell: bool = True,
    size: int = 1448,
    starts: tuple[int, int] = (1000, 0xFFFFFF00),
    client: tuple[str, int] = CLIENT,
    server: tuple[str, int] = SERVER,
    ts: int = 1_700_000_000_000_000,
) -> list[Packet]:
    """What TCP makes of the turns, each (is it the client's, bytes), in segments of ``size``.

    The server's sequence numbers wrap around by default.
    """
    ends = (client, server)
    sequences = list(starts)
    packets = []

    def send(side: int, flags: int, data: bytes = b"") -> None:
        nonlocal ts
        ts += 100
        source, destination = ends[side], ends[1 - side]
        packets.append(Packet(source, destination, sequences[side], flags, data, ts))
        sequences[side] = (sequences[side] + len(data) + bool(flags & (SYN | FIN))) % (1 << 32)

    if handshake:
        send(0, SYN)
        send(1, SYN | ACK)
        send(0, ACK)
    else:
        sequences = [(each + 1) % (1 << 32) for each in sequences]
    for is_client, data in turns:
        for at in range(0, len(data), size):
            send(0 if is_client else 1, ACK | PSH, data[at : at + size])
    if farewell:
        send(0, FIN | ACK)
        send(1, FIN | ACK)
        send(0, ACK)
    return packets


def tcp(packet: Packet) -> bytes:
    header = struct.pack(
        ">HHIIBBHHH", packet.source[1], packet.destination[1], packet.sequence,
        packet.acknowledgement,
        0x80, packet.flags, 65535, 0, 0,
    )  # fmt: skip
    return header + b"\x01\x01\x08\x0a" + bytes(8) + packet.data  # with a timestamp option


def ip4(packet: Packet, *, options: bytes = b"") -> bytes:
    body = tcp(packet)
    addresses = [bytes(map(int, end[0].split("."))) for end in (packet.source, packet.destination)]
    words = 5 + len(options) // 4
    size = 4 * words + len(body)
    header = struct.pack(">BBHHHBBH", 0x40 | words, 0, size, 7, 0x4000, 64, 6, 0)
    return header + b"".join(addresses) + options + body


def ip6(packet: Packet, *, extension: bool = False) -> bytes:
    body = tcp(packet)
    if extension:  # a hop-by-hop header with padding
        body = b"\x06\x00\x01\x04" + bytes(4) + body
    addresses = [
        bytes(10) + b"\xfe\xfe" + bytes(map(int, end[0].split(".")))
        for end in (packet.source, packet.destination)
    ]
    header = struct.pack(">IHBB", 6 << 28, len(body), 0 if extension else 6, 64)
    return header + b"".join(addresses) + body


def ethernet(packet: Packet) -> bytes:
    frame = bytes(12) + b"\x08\x00" + ip4(packet)
    return frame.ljust(60, b"\0")  # as short frames are padded


#: Each kind of packet: LINKTYPE and what puts a segment into it.
KINDS = {
    "ethernet": (1, ethernet),
    "ethernet, IPv6": (1, lambda p: bytes(12) + b"\x86\xdd" + ip6(p)),
    "ethernet, IPv6 extension": (1, lambda p: bytes(12) + b"\x86\xdd" + ip6(p, extension=True)),
    "ethernet, IPv4 options": (1, lambda p: bytes(12) + b"\x08\x00" + ip4(p, options=b"\x01" * 4)),
    "vlan": (1, lambda p: bytes(12) + b"\x81\x00\x00\x05\x08\x00" + ip4(p)),
    "two vlans": (1, lambda p: bytes(12) + b"\x88\xa8\0\5\x81\0\0\7\x86\xdd" + ip6(p)),
    "vlan in vlan in vlan": (
        1, lambda p: bytes(12) + b"\x88\xa8\0\5" + b"\x81\0\0\7" * 2 + b"\x08\0" + ip4(p)
    ),
    "cooked": (113, lambda p: b"\0\0\3\4\0\6" + bytes(8) + b"\x08\x00" + ip4(p)),
    "cooked, vlan": (113, lambda p: b"\0\0\3\4\0\6" + bytes(8) + b"\x81\0\0\5\x08\0" + ip4(p)),
    "cooked, vlan, IPv4 options": (
        113, lambda p: b"\0\0\3\4\0\6" + bytes(8) + b"\x81\0\0\5\x08\0" + ip4(p, options=b"\1" * 4)
    ),
    "cooked v2": (276, lambda p: b"\x86\xdd" + bytes(18) + ip6(p)),
    "cooked v2, vlan": (276, lambda p: b"\x81\0" + bytes(18) + b"\0\5\x86\xdd" + ip6(p)),
    "null": (0, lambda p: b"\2\0\0\0" + ip4(p)),
    "null, IPv6": (0, lambda p: b"\x1e\0\0\0" + ip6(p)),
    "loop": (108, lambda p: b"\0\0\0\2" + ip4(p)),
    "raw": (101, ip4),
    "raw, IPv6": (101, ip6),
    "raw, old number": (12, ip4),
    "IPv4": (228, ip4),
    "IPv6": (229, ip6),
}  # fmt: skip


def pcap(
    packets: Sequence[Packet], kind: str = "ethernet", *, order: str = "<", nano: bool = False,
    snap: int = 262144,
) -> bytes:  # fmt: skip
    link, wrap = KINDS[kind]
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    parts = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snap, link)]
    for packet in packets:
        data = wrap(packet)
        seconds, micros = divmod(packet.ts, 1_000_000)
        fraction = micros * 1000 if nano else micros
        parts.append(
            struct.pack(f"{order}4I", seconds, fraction, min(len(data), snap), len(data))
            + data[:snap]
        )
    return b"".join(parts)


def pcapng(
    packets: Sequence[Packet], kind: str = "ethernet", *, order: str = "<", resolution: int = 6
) -> bytes:
    """With a name resolution block, a comment on each packet, and an interface of another kind."""
    link, wrap = KINDS[kind]

    def block(type_: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        size = struct.pack(f"{order}I", len(body) + 12)
        return struct.pack(f"{order}I", type_) + size + body + size

    def option(code: int, value: bytes) -> bytes:
        return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)

    ticks = 1 << (resolution & 0x7F) if resolution & 0x80 else 10**resolution
    parts = [
        block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack(f"{order}HHI", 147, 0, 0)),
        block(
            1,
            struct.pack(f"{order}HHI", link, 0, 0)
            + option(2, b"lo")
            + option(9, bytes([resolution]))
            + option(0, b""),
        ),
        block(4, option(0, b"")),
    ]
    for packet in packets:
        data = wrap(packet)
        stamp = -(-packet.ts * ticks // 1_000_000)
        head = struct.pack(f"{order}5I", 1, stamp >> 32, stamp & 0xFFFFFFFF, len(data), len(data))
        padded = data + bytes(-len(data) % 4)
        parts.append(block(6, head + padded + option(1, b"a comment") + option(0, b"")))
    return b"".join(parts)


def simple_pcapng(packets: Sequence[Packet]) -> bytes:
    """With simple packet blocks, which have no times."""

    def block(type_: int, body: bytes) -> bytes:
        size = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", type_) + size + body + size

    parts = [
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)),
        block(1, struct.pack("<HHI", 1, 0, 0)),
    ]
    for packet in packets:
        data = ethernet(packet)
        parts.append(block(3, struct.pack("<I", len(data)) + data + bytes(-len(data) % 4)))
    return b"".join(parts)


def resegmented(packets: Sequence[Packet], dice: random.Random) -> list[Packet]:
    """The same bytes in other segments, some of which overlap."""
    found = []
    for packet in packets:
        at = 0
        while len(packet.data) - at > 1 and dice.random() < 0.5:
            size = dice.randrange(1, len(packet.data) - at)
            overlap = dice.randrange(0, at + 1) if dice.random() < 0.3 else 0
            found.append(_part(packet, at - overlap, at + size, last=False))
            at += size
        found.append(_part(packet, at, len(packet.data), last=True))
    return found


def _part(packet: Packet, start: int, end: int, *, last: bool) -> Packet:
    return replace(
        packet,
        sequence=(packet.sequence + start) % (1 << 32),
        data=packet.data[start:end],
        flags=packet.flags if last else packet.flags & ~FIN,
    )


def shuffled(packets: Sequence[Packet], dice: random.Random, reach: int) -> list[Packet]:
    """Each packet up to about ``reach`` places from its own; times stay in order."""
    order = sorted(range(len(packets)), key=lambda i: i + dice.uniform(0, reach))
    times = sorted(packet.ts for packet in packets)
    return [replace(packets[i], ts=ts) for i, ts in zip(order, times, strict=True)]


def with_acknowledgements(packets: Sequence[Packet]) -> list[Packet]:
    """Each packet acknowledges all that its peer has sent, captured or not."""
    reached: dict[tuple[str, int], int] = {}
    found = []
    for packet in packets:
        reached[packet.source] = (packet.sequence + len(packet.data)) % (1 << 32)
        found.append(replace(packet, acknowledgement=reached.get(packet.destination, 1)))
    return found


def duplicated(packets: Sequence[Packet], dice: random.Random) -> list[Packet]:
    found = []
    for packet in packets:
        found += [packet] * (2 if dice.random() < 0.2 else 1)
    return found
