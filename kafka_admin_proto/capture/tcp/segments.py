"""Read the TCP segment in a packet.

A plain packet (a link header of a fixed size, VLAN tags, IPv4 without options or IPv6 without
extension headers) is read with one ``struct``. dpkt reads all other packets, which takes ten times
as long. The compiled engine, where it is there, reads what is plain itself, and asks for the rest.
"""

from __future__ import annotations

import ipaddress
import struct
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kafka_admin_proto.capture.tcp.exported import EXPORTED, in_exported, kind_of_exported
from kafka_admin_proto.capture.tcp.tunnels import (
    IP4,
    IP6,
    PKTAP,
    TUNNELS,
    VLAN,
    Inner,
    in_ethertype,
    in_ip,
    in_pktap,
)
from kafka_admin_proto.errors import MissingExtraError
from kafka_admin_proto.wire.engine import compiled

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
#: No flag of TCP's: the bytes follow those before, as they came without a sequence number. Spark's
#: rows of packets have flags in 16 bits with a sign.
IN_ORDER = 0x4000

#: LINKTYPE → size of its header, and the offset of the EtherType in it.
LINK_HEADERS = {1: (14, 12), 113: (16, 14), 276: (20, 0)}
#: LINKTYPE → size of a header without an EtherType: BSD loopback (null and loop), and the various
#: numbers of raw IP. The IP version is in the IP header then.
BARE_LINK_HEADERS = {0: 4, 108: 4, 12: 0, 14: 0, 101: 0, 228: 0, 229: 0}
LINK_TYPES = frozenset(LINK_HEADERS) | frozenset(BARE_LINK_HEADERS) | {PKTAP, EXPORTED}

_TCP = 6
#: Tunnels in one another that are looked into.
_MOST_TUNNELS = 4

#: The address families of BSD loopback, in either byte order.
_LOOPBACK_4 = frozenset({b"\2\0\0\0", b"\0\0\0\2"})
_LOOPBACK = _LOOPBACK_4 | {
    bytes(each) for family in (10, 24, 28, 30) for each in ((family, 0, 0, 0), (0, 0, 0, family))
}
#: Extension headers of IPv6 that may come before TCP.
_EXTENSIONS = (0, 43, 60)
#: Bytes that may follow an IP packet in a frame: Ethernet pads small packets, and may add a
#: checksum.
_PADDING = 10

#: IPv4's version and header size, total size, fragment, protocol, and addresses with TCP's ports;
#: then TCP's sequence number, acknowledgment number, data offset and flags.
_PLAIN_4 = struct.Struct(">BxHxxHxBxx12sIIBB").unpack_from
#: The same for IPv6: version, payload size, next header, addresses and ports, and so on.
_PLAIN_6 = struct.Struct(">B3xHBx36sIIBB").unpack_from

#: A segment: the key (both addresses, then both ports, as in the headers), sequence number, flags,
#: payload, the number of bytes at its end that were not captured, and the acknowledgment number.
#: It is a plain tuple for speed.
Segment = tuple[bytes, int, int, bytes, int, int]
#: Stands for a fragment of an IP packet; fragments are not reassembled.
FRAGMENT: Segment = (b"", 0, 0, b"", 0, 0)

#: The problems of a file with packets from which no segments are read.
FRAGMENTS = "{count} fragments of IP packets are not put together"
FOREIGN = (
    "{count} packets of link type {link} are not decoded; "
    "Ethernet, Linux cooked, loopback, raw IP and what tshark exports are"
)
_PROTOCOLS = {
    1: "ICMP", 2: "IGMP", 17: "UDP", 47: "GRE", 50: "ESP", 51: "AH", 58: "ICMP for IPv6",
    132: "SCTP",
}  # fmt: skip
_ETHERTYPES = {0x0806: "ARP", 0x8864: "PPPoE", 0x8863: "PPPoE", 0x88CC: "LLDP", 0x88E5: "MACsec"}


def segment_in(link: int, data: bytes, tunnels: int = 0) -> Segment | None:
    """What ``read_segment`` gives, in Python, of a packet in so many tunnels."""
    found = LINK_HEADERS.get(link)
    try:
        if found is not None:
            start, at = found
            kind = data[at] << 8 | data[at + 1]
            if kind in VLAN:
                kind, start = _behind_vlans(data, at, start)
        else:
            start = BARE_LINK_HEADERS[link]
            kind = IP4 if data[start] >> 4 == 4 else IP6
        if kind == IP4:
            version, size, fragment, protocol, key, sequence, acked, offset, flags = _PLAIN_4(
                data, start
            )
            # With segmentation offload the size is 0: the network card cuts up the packet later.
            if version == 0x45 and protocol == _TCP and not fragment & 0x3FFF and size:
                return _segment(data, start + 20, start + size, key, sequence, acked, offset, flags)
            if version >> 4 == 4 and protocol != _TCP:
                if protocol not in TUNNELS:
                    return None
                inner = in_ip(protocol, data, start + 4 * (version & 0x0F))
                if inner is not None and fragment & 0x3FFF:
                    return FRAGMENT
                return _inside(inner, tunnels)
        elif kind == IP6:
            version, size, protocol, key, sequence, acked, offset, flags = _PLAIN_6(data, start)
            if version >> 4 == 6 and protocol == _TCP and size:
                start += 40
                return _segment(data, start, start + size, key, sequence, acked, offset, flags)
            if version >> 4 == 6 and protocol in TUNNELS:
                return _inside(in_ip(protocol, data, start + 40), tunnels)
        else:
            return _inside(in_ethertype(kind, data, start), tunnels)
    except (struct.error, IndexError):
        return None  # too short for TCP
    except KeyError:
        if link == EXPORTED:
            return _exported(data)
        return _inside(in_pktap(data), tunnels) if link == PKTAP else None
    return _by_dpkt(kind, data[start:], tunnels)


def _inside(inner: Inner | None, tunnels: int) -> Segment | None:
    """The segment of the packet that a tunnel's packet has; None without one."""
    if inner is None or tunnels == _MOST_TUNNELS:
        return None
    return segment_in(*inner, tunnels + 1)


def _exported(data: bytes) -> Segment | None:
    found = in_exported(data)
    return found and (found[0], 0, IN_ORDER, found[1], 0, 0)


#: The TCP segment in a packet; None for anything else.
read_segment: Callable[[int, bytes], Segment | None] = (
    compiled.SegmentReader(LINK_HEADERS, BARE_LINK_HEADERS, segment_in).read
    if compiled
    else segment_in
)


def no_tcp(kinds: Counter[str]) -> str:
    """The problem of a capture without any segment, with the most frequent kinds of packets."""
    packets = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(8))
    return f"no packet has TCP: {packets}"


def kind_of(link: int, data: bytes) -> str:
    """What a packet is that has no TCP segment, for people: "UDP", "IP protocol 89"."""
    if link == EXPORTED:
        return kind_of_exported(data)
    size, at = LINK_HEADERS.get(link, (0, 0))
    start = BARE_LINK_HEADERS.get(link, size)
    kind = 0
    if size:
        kind, start = _behind_vlans(data, at, size)
    version = data[start] >> 4 if start < len(data) else 0
    if (kind or IP4) not in (IP4, IP6) or version not in (4, 6):
        return _ETHERTYPES.get(kind, f"EtherType 0x{kind:04x}" if kind else "unknown")
    protocol = data[start + (9 if version == 4 else 6) :][:1]
    if not protocol:
        return "cut off"
    return _PROTOCOLS.get(protocol[0], f"IP protocol {protocol[0]}")


def _behind_vlans(data: bytes, at: int, start: int) -> tuple[int, int]:
    """The EtherType behind all VLAN tags, the first at ``at``, and where its packet starts."""
    kind = int.from_bytes(data[at : at + 2], "big")
    while kind in VLAN and start + 4 <= len(data):
        kind, start = int.from_bytes(data[start + 2 : start + 4], "big"), start + 4
    return kind, start


def link_type_of(data: bytes) -> int | None:
    """Guess the link type of a packet without a file header; None for bytes that are no TCP packet.

    The link header must lead to an IP header whose size fits the bytes that follow. Hardly any
    Kafka frame looks like that.
    """
    for link, (size, at) in LINK_HEADERS.items():
        kind, start = _behind_vlans(data, at, size)
        if kind in (IP4, IP6) and _fits(data, start, 4 if kind == IP4 else 6):
            return link
    if data[:4] in _LOOPBACK and _fits(data, 4, 4 if data[:4] in _LOOPBACK_4 else 6):
        return 0
    return 101 if data[:1] and _fits(data, 0, data[0] >> 4) else None


def _fits(data: bytes, start: int, version: int) -> bool:
    """Whether the rest of the data is one IP packet of that version with TCP, and padding."""
    head = data[start : start + 40]
    if len(head) < 40 or head[0] >> 4 != version or version not in (4, 6):
        return False
    if version == 4:
        size, is_tcp = int.from_bytes(head[2:4], "big"), head[9] == _TCP
    else:
        size = 40 + int.from_bytes(head[4:6], "big")
        is_tcp = head[6] == _TCP or head[6] in _EXTENSIONS
    return is_tcp and size <= len(data) - start <= size + _PADDING


def _segment(
    data: bytes,
    tcp: int,
    end: int,
    key: bytes,
    sequence: int,
    acknowledged: int,
    offset: int,
    flags: int,
) -> Segment:
    start = tcp + (offset >> 2 & 0x3C)
    if end <= max(len(data), start):
        return key, sequence, flags, data[start:end], 0, acknowledged
    return key, sequence, flags, data[start:end], end - max(len(data), start), acknowledged


def _by_dpkt(kind: int, data: bytes, tunnels: int) -> Segment | None:
    """The segment of any IP packet: with options, extension headers, or offload."""
    ip = _ip_of(kind, data)
    if ip is None or ip is FRAGMENT:
        return FRAGMENT if ip is FRAGMENT else None
    tcp = ip.data
    if type(tcp).__name__ != "TCP":
        protocol = getattr(ip, "p", 0)
        inner = in_ip(protocol, bytes(tcp), 0) if protocol in TUNNELS else None
        return _inside(inner, tunnels)
    payload = bytes(tcp.data)
    addresses: bytes = ip.src + ip.dst
    key = addresses + struct.pack(">HH", tcp.sport, tcp.dport)
    # The payload size of IPv6 includes extension headers.
    if len(ip.src) == 4:
        wanted = ip.len - 4 * ip.hl - 4 * tcp.off if ip.len else len(payload)
    else:
        extensions = sum(each.length for each in ip.all_extension_headers)
        wanted = ip.plen - extensions - 4 * tcp.off if ip.plen else len(payload)
    wanted = max(wanted, 0)
    return key, tcp.seq, tcp.flags, payload[:wanted], max(wanted - len(payload), 0), tcp.ack


def _ip_of(kind: int, data: bytes) -> Any:
    """dpkt's IP or IP6 object of a packet, FRAGMENT for a fragment of TCP, otherwise None."""
    try:
        import dpkt
    except ModuleNotFoundError:
        raise MissingExtraError(
            "packets with IP options or extension headers need dpkt: "
            "pip install 'kafka-admin-proto[capture]'"
        ) from None
    try:
        if kind == IP6:
            return dpkt.ip6.IP6(data)
        ip = dpkt.ip.IP(data)
        return FRAGMENT if ip.p == _TCP and (ip.mf or ip.offset) else ip
    except Exception:  # dpkt raises exceptions of any class for damaged headers
        return None


@lru_cache(maxsize=4096)  # each connection of a client has the server's again
def endpoint(address: bytes, port: bytes) -> str:
    """An endpoint as text: ``127.0.0.1:9092``, ``[::1]:9092``; IPv4-mapped addresses as IPv4."""
    number = int.from_bytes(port, "big")
    address = address[len(address) % 2 :]  # exported bytes have one more in front
    if len(address) == 4:
        return f"{'.'.join(map(str, address))}:{number}"
    ip = ipaddress.IPv6Address(address)
    return f"{ip.ipv4_mapped}:{number}" if ip.ipv4_mapped else f"[{ip}]:{number}"


def reversed_key(key: bytes) -> bytes:
    size = (len(key) - 4) // 2
    return key[size : 2 * size] + key[:size] + key[-2:] + key[-4:-2]
