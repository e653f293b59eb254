"""Packets in packets: VXLAN, Geneve, GRE and ERSPAN, IP in IP, MPLS, PPPoE, and a Mac's PKTAP.

Clouds and switches mirror traffic in such tunnels. RFC 7348 (VXLAN), 8926 (Geneve), 2784 and 2890
(GRE), 2003 and 4213 (IP in IP), 3032 and 7510 (MPLS), 2516 (PPPoE); draft-foschiano-erspan,
draft-ietf-nvo3-vxlan-gpe.
"""

from __future__ import annotations

ETHERNET, RAW_IP, PKTAP = 1, 101, 258

IP4, IP6 = 0x0800, 0x86DD
VLAN = (0x8100, 0x88A8, 0x9100)
_MPLS = (0x8847, 0x8848)
_PPPOE, _BRIDGED = 0x8864, 0x6558
_PPP = {0x0021, 0x0057}
_ERSPAN_3 = 0x22EB
#: ERSPAN's type in GRE → the size of its header. Without GRE's sequence number there is none.
_ERSPAN = {0x88BE: 8, _ERSPAN_3: 12}
_IP_IN_IP, _IP6_IN_IP, _UDP, _GRE = 4, 41, 17, 47
TUNNELS = frozenset({_IP_IN_IP, _IP6_IN_IP, _UDP, _GRE})
#: UDP's ports of VXLAN: its own, and Linux' own of before that.
_VXLAN = (4789, 8472)
#: VXLAN's generic extension names what is inside: 1 and 2 are IP, 3 is Ethernet.
_VXLAN_GPE = 4790
_GPE = {1: RAW_IP, 2: RAW_IP, 3: ETHERNET}
_GENEVE = 6081
_MPLS_IN_UDP = 6635
#: Size of UDP's header and of VXLAN's behind it.
_UDP_BYTES, _VXLAN_BYTES = 8, 8

#: A packet in another: its link type, and its bytes.
Inner = tuple[int, bytes]


def in_ethertype(kind: int, data: bytes, start: int) -> Inner | None:
    """The packet within one of an EtherType that is neither IP's nor a VLAN's."""
    if kind in _MPLS:
        return _in_mpls(data, start)
    if kind == _PPPOE and _number(data, start + 6) in _PPP:
        return RAW_IP, data[start + 8 :]
    return None


def in_ip(protocol: int, data: bytes, start: int) -> Inner | None:
    """The packet within one of IP with that protocol, whose header starts there."""
    if protocol in (_IP_IN_IP, _IP6_IN_IP):
        return RAW_IP, data[start:]
    if protocol == _GRE:
        return _in_gre(data, start)
    return _in_udp(data, start) if protocol == _UDP else None


def in_pktap(data: bytes) -> Inner | None:
    """The packet behind the header that a Mac's tcpdump puts in front of it (``-i pktap``)."""
    size = int.from_bytes(data[:4], "little")
    return (int.from_bytes(data[8:12], "little"), data[size:]) if 12 <= size < len(data) else None


def _in_mpls(data: bytes, start: int) -> Inner | None:
    while start + 4 <= len(data):
        is_last = data[start + 2] & 1
        start += 4
        if is_last:
            version = data[start] >> 4 if start < len(data) else 0
            # Ethernet has a control word in front, whose first half byte is 0.
            return (RAW_IP, data[start:]) if version in (4, 6) else (ETHERNET, data[start + 4 :])
    return None


def _in_gre(data: bytes, start: int) -> Inner | None:
    flags, kind = _number(data, start), _number(data, start + 2)
    if flags & 7:  # PPTP's
        return None
    has_number = bool(flags & 0x1000)
    start += 4 + 4 * (bool(flags & 0x8000) + bool(flags & 0x2000) + has_number)
    if kind in _ERSPAN:
        size = _ERSPAN[kind] * has_number
        if kind == _ERSPAN_3 and size and data[start + size - 1] & 1:  # a platform's own header
            size += 8
        return ETHERNET, data[start + size :]
    return _of_kind(kind, data, start)


def _in_udp(data: bytes, start: int) -> Inner | None:
    port = _number(data, start + 2)
    start += _UDP_BYTES
    if port in _VXLAN and data[start : start + 1] and data[start] & 0x08:
        return ETHERNET, data[start + _VXLAN_BYTES :]
    if port == _VXLAN_GPE and data[start + 3] in _GPE:
        return _GPE[data[start + 3]], data[start + _VXLAN_BYTES :]
    if port == _MPLS_IN_UDP:
        return _in_mpls(data, start)
    if port == _GENEVE and data[start : start + 1] and data[start] >> 6 == 0:
        options = 4 * (data[start] & 0x3F)
        return _of_kind(_number(data, start + 2), data, start + 8 + options)
    return None


def _of_kind(kind: int, data: bytes, start: int) -> Inner | None:
    if kind in (IP4, IP6):
        return RAW_IP, data[start:]
    return (ETHERNET, data[start:]) if kind == _BRIDGED else in_ethertype(kind, data, start)


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")
