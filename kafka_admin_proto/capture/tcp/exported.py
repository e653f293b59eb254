"""Bytes that Wireshark has taken out of packets: what tshark decrypts of TLS, with its times.

    tshark -r FILE -o tls.keylog_file:KEYS -d tls.port==9093,data -U "OSI layer 7" -w plain.pcapng

LINKTYPE_WIRESHARK_UPPER_PDU; the tags are those of Wireshark's epan/exported_pdu.h: in front of the
bytes stand, as tags with a type and a size of 16 bits each, the dissector that reads the bytes and
their two endpoints. There are no sequence numbers: the bytes of an end follow one another.
"""

from __future__ import annotations

import struct

EXPORTED = 252

_END, _DISSECTOR, _PORT_TYPE = 0, 12, 24
#: Source and destination, of IPv4 or of IPv6, and their ports.
_ADDRESSES = ((20, 21), (22, 23))
_PORTS = (25, 26)
_TCP = b"\0\0\0\2"
#: Stands before each address in a key: the same endpoints have the encrypted connection, too.
_APART = b"\0"
#: Only for this dissector each byte is exported once: others get what they wait for again.
_READ = "data"


def in_exported(data: bytes) -> tuple[bytes, bytes] | None:
    """The key, as that of a segment, and the bytes that a TCP connection had; None without one."""
    tags, start = _tags(data)
    if _dissector(tags) != _READ or tags.get(_PORT_TYPE) != _TCP:
        return None
    for ends in _ADDRESSES:
        addresses = [tags.get(each, b"") for each in ends]
        ports = b"".join(tags.get(each, b"")[2:4] for each in _PORTS)
        if [len(each) for each in addresses] in ([4, 4], [16, 16]) and len(ports) == 4:
            return b"".join(_APART + each for each in addresses) + ports, data[start:]
    return None


def kind_of_exported(data: bytes) -> str:
    """What exported bytes are that are not read, for people."""
    name = _dissector(_tags(data)[0])
    if name == _READ:
        return "exported bytes without TCP"
    return f"exported as {name or 'nothing'} (tshark -d tls.port==PORT,data exports what is read)"


def _dissector(tags: dict[int, bytes]) -> str:
    return tags.get(_DISSECTOR, b"").rstrip(b"\0").decode("ascii", "replace")


def _tags(data: bytes) -> tuple[dict[int, bytes], int]:
    """The tags, and where the bytes behind them begin."""
    tags: dict[int, bytes] = {}
    at = 0
    while at + 4 <= len(data):
        tag, size = struct.unpack_from(">HH", data, at)
        at += 4 + size
        if tag == _END:
            return tags, at
        tags[tag] = data[at - size : at]
    return {}, len(data)
