"""Texts and orders as Java makes them, where Kafka's answers show them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(
    r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)", re.ASCII
)
#: Places in the table of a HashSet that has not grown.
_SMALL_TABLE = 16
#: The characters that String.trim removes.
_BLANKS = "".join(map(chr, range(0x21)))


def trim(text: str) -> str:
    """As String.trim."""
    return text.strip(_BLANKS)


def host_address(address: str) -> str:
    """An IP address as InetAddress.getHostAddress: IPv6 has its eight groups without shortcuts."""
    if ":" not in address:
        return address
    from ipaddress import IPv6Address  # slow to import

    plain, _, scope = address.partition("%")
    found = IPv6Address(plain)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    groups = ":".join(f"{int(each, 16):x}" for each in found.exploded.split(":"))
    return f"{groups}%{scope}" if scope else groups


def parse_integer(text: str, bits: int) -> int:
    """As Integer.parseInt and its like. Raises ValueError for other texts."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    number = int(text)
    if not -1 << bits - 1 <= number < 1 << bits - 1:
        raise ValueError(text)
    return number


def parse_double(text: str) -> float:
    """As Double.parseDouble. Raises ValueError for other texts."""
    if not _DOUBLE.fullmatch(text):
        raise ValueError(text)
    return float(text.rstrip("fFdD") if text[-1] in "fFdD" and text[-2:] != "nf" else text)


def double_text(number: float) -> str:
    """As Double.toString."""
    if number != number:
        return "NaN"
    if number in (float("inf"), float("-inf")):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        text = repr(number)
        return text if "e" not in text else f"{number:f}"
    # repr has the shortest digits that parse to the number, as Java's text has.
    digits = repr(number).partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")
    exponent = int(f"{number:e}".partition("e")[2])
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def list_text(items: Iterable[object]) -> str:
    """As List.toString."""
    return "[" + ", ".join(map(str, items)) + "]"


def string_hash(text: str) -> int:
    """As String.hashCode, without its sign."""
    value = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(data), 2):
        value = (31 * value + (data[index] << 8 | data[index + 1])) & 0xFFFFFFFF
    return value


def hash_order(names: Iterable[str], table: int = 16) -> list[str]:
    """Strings in the order in which a HashMap that grew to hold them lists its keys.

    ``table`` is the size that the map began with.
    """
    unique = list(dict.fromkeys(names))
    if len(unique) < 2:
        return unique
    while len(unique) > table * 3 // 4:
        table *= 2

    def bucket(name: str) -> int:
        value = string_hash(name)
        return (value ^ value >> 16) & table - 1

    return sorted(unique, key=bucket)


def small_set_order(numbers: Iterable[int]) -> list[int]:
    """The order in which a HashSet of a dozen Integers at most iterates over them."""
    return sorted(set(numbers), key=lambda each: (each ^ each >> 16) & _SMALL_TABLE - 1)
