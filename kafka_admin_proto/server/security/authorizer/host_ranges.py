"""Hosts of ACLs that are ranges of addresses, "10.0.0.0/8" and "2001:db8::/32", since Kafka 4.4.

Kafka's ``CidrUtils`` leaves them to SubnetUtils and SubnetUtils6 of Apache Commons Net, whose
sentences a client is sent.
"""

from __future__ import annotations

import re

from kafka_admin_proto.server.java import parse_integer

_IPV4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})", re.ASCII)
_IPV4_RANGE = re.compile(_IPV4.pattern + r"/(\d{1,2})", re.ASCII)
_PARTS = re.compile(r"[0-9a-fA-F]+")
_IPV6_BITS, _IPV4_BITS = 128, 32

#: The version of IP, and the first and last address.
HostRange = tuple[int, int, int]


def is_range(host: str) -> bool:
    """Whether the host of an ACL is a range, or should be one."""
    return "/" in host


def host_range(text: str) -> HostRange:
    """The addresses of a range. Raises ValueError with Kafka's reason for a text that is none."""
    if ":" in text:
        address, _, bits = text.partition("/")
        try:
            length = parse_integer(bits, 32)
        except ValueError:
            raise ValueError(f"Could not parse [{text}] - invalid prefix length") from None
        if not 0 <= length <= _IPV6_BITS:
            fault = f"prefix length must be between 0 and {_IPV6_BITS}"
            raise ValueError(f"Could not parse [{text}] - {fault}")
        return _around(6, _ipv6(address), _IPV6_BITS - length)
    found = _IPV4_RANGE.fullmatch(text)
    if found is None:
        raise ValueError(f"Could not parse [{text}]")
    *octets, length = map(int, found.groups())
    for number, most in (*((each, 255) for each in octets), (length, _IPV4_BITS)):
        if number > most:
            raise ValueError(f"Value [{number}] not in range [0,{most}]")
    return _around(4, int.from_bytes(octets, "big"), _IPV4_BITS - length)


def address_of(host: str) -> tuple[int, int] | None:
    """The version and number of a client's address; None for one that is in no range."""
    try:
        if ":" in host:
            return 6, _ipv6(host)
        octets = _IPV4.fullmatch(host)
        number = int.from_bytes(map(int, octets.groups() if octets else ()), "big")
    except ValueError:
        return None
    return (4, number) if number else None


def contains(hosts: HostRange, address: tuple[int, int]) -> bool:
    version, first, last = hosts
    return address[0] == version and first <= address[1] <= last


def _around(version: int, address: int, free_bits: int) -> HostRange:
    first = address >> free_bits << free_bits
    return version, first, first | (1 << free_bits) - 1


def _ipv6(text: str) -> int:
    """The number of an address as ``InetAddress.getByName`` reads it, without its scope.

    A scope may be the number of an interface; a name of one depends on the machine. Raises
    ValueError.
    """
    from ipaddress import AddressValueError, IPv6Address  # slow to import

    plain = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    plain, percent, scope = plain.partition("%")
    plain = _PARTS.sub(lambda part: part[0].lstrip("0") or "0", plain)  # Java takes 00001
    try:
        address = IPv6Address(plain)
    except AddressValueError:
        raise ValueError(f"Could not parse [{text}]") from None
    if percent and not scope:
        raise ValueError(f"Could not parse [{text}]")
    if address.ipv4_mapped is not None:
        raise ValueError(f"Could not parse [{text}] - not an IPv6 address")
    return int(address)
