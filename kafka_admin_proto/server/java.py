"""Texts and orders as Java makes them, where Kafka's answers show them.

The order of a HashMap decides which of several mistakes of a request an error names, and with it
the error's code, which topic a quota refuses, what members of a group are assigned, and how configs
and quotas are listed: clients see these. Other rows have no order of Java's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar
from uuid import UUID

K = TypeVar("K")
T = TypeVar("T")

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(
    r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)", re.ASCII
)
#: Places in the table of a HashSet that has not grown.
SMALL_TABLE = 16
#: Places in the table of one that was made for a single key, or for none.
LEAST_TABLE = 1
#: What a TimelineHashMap multiplies hashes with.
_FIBONACCI = -7046029254386353131
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


def int_sum(left: int, right: int) -> int:
    """As the sum of two Java ints, which may overflow."""
    return (left + right + (1 << 31)) % (1 << 32) - (1 << 31)


def long_sum(left: int, right: int) -> int:
    """As the sum of two Java longs, which may overflow."""
    return (left + right + (1 << 63)) % (1 << 64) - (1 << 63)


def list_text(items: Iterable[object]) -> str:
    """As List.toString."""
    return "[" + ", ".join(map(str, items)) + "]"


def string_hash(text: str) -> int:
    """As String.hashCode, as an unsigned number of 32 bits."""
    value = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(data), 2):
        value = (31 * value + (data[index] << 8 | data[index + 1])) & 0xFFFFFFFF
    return value


def hash_order(names: Iterable[str], table: int = SMALL_TABLE) -> list[str]:
    """Strings in the order in which a HashMap that grew to hold them lists its keys.

    ``table`` is the size that the map began with.
    """
    return bucket_order(names, table, string_hash)


def computed_order(names: Iterable[str], table: int) -> list[str]:
    """Strings in the order of a HashMap that computeIfAbsent has filled, called for each of them.

    Its table of that size grows with the call behind the one that has filled it, also with one for
    a key that is there, and of keys of one place the last stands first.
    """
    unique: dict[str, None] = {}
    for each in names:
        if len(unique) > table * 3 // 4:
            table *= 2
        unique[each] = None

    def bucket(name: str) -> int:
        value = string_hash(name)
        return (value ^ value >> 16) & (table - 1)

    return sorted(reversed(unique), key=bucket)


def scala_order(names: Iterable[str]) -> list[str]:
    """Strings in the order in which a mutable HashMap of Scala's lists its keys.

    Its table grows as Java's; keys of one place stand by their hashes, as signed numbers.
    """

    def spread(name: str) -> int:
        value = string_hash(name)
        value ^= value >> 16
        return value - (1 << 32) if value >> 31 else value

    return hash_order(sorted(names, key=spread))


def timeline_order(names: Iterable[str], most: int) -> list[str]:
    """Strings in the order in which a TimelineHashMap lists its keys: of one slot the last first.

    ``most`` is the largest number of keys that the map has had, which its table has grown for.
    """
    bits = 1
    while (most + 1) * 3 > (1 << bits) * 4:
        bits += 1

    def slot(name: str) -> int:
        value = string_hash(name)
        signed = value - (1 << 32) if value >> 31 else value
        return (signed * _FIBONACCI & (1 << 64) - 1) >> 64 - bits

    return sorted(reversed(list(names)), key=slot)


def set_order(names: Iterable[str]) -> list[str]:
    """The order in which a HashSet iterates over strings, a copy of a sorted collection of them."""
    unique = sorted(set(names))
    return hash_order(unique, copied_table(len(unique)))


def uuid_order(ids: Iterable[UUID], table: int = SMALL_TABLE) -> list[UUID]:
    """As `hash_order`, of ids in Kafka's own class."""
    return bucket_order(ids, table, _uuid_hash)


def number_order(numbers: Iterable[int], table: int | None = None) -> list[int]:
    """The order in which a HashSet of Integers iterates over them, a copy of another collection.

    ``table`` is the size that it began with, if it is no copy.
    """
    unique = list(dict.fromkeys(numbers))
    return bucket_order(unique, copied_table(len(unique)) if table is None else table, int)


def copied_table(count: int, least: int = SMALL_TABLE) -> int:
    """The size of the table of a HashSet that is made as a copy of ``count`` items.

    That of a HashMap is as small as it can be, with `LEAST_TABLE` as the ``least``.
    """
    wanted = max(int(count / 0.75) + 1, least)
    return 1 << (wanted - 1).bit_length()


def _uuid_hash(value: UUID) -> int:
    number = value.int
    bits = (number >> 64) ^ (number & (1 << 64) - 1)
    return (bits >> 32) ^ (bits & 0xFFFFFFFF)


def bucket_order(keys: Iterable[K], table: int, hash_of: Callable[[K], int]) -> list[K]:
    """Keys in the order of a HashMap with these hashes, unsigned numbers of 32 bits."""
    unique = list(dict.fromkeys(keys))
    if len(unique) < 2:
        return unique
    while len(unique) > table * 3 // 4:
        table *= 2

    def bucket(key: K) -> int:
        value = hash_of(key)
        return (value ^ value >> 16) & table - 1

    return sorted(unique, key=bucket)


class Heap(Generic[T]):
    """A PriorityQueue: which of several least items comes first follows from its steps."""

    def __init__(self, key: Callable[[T], float]) -> None:
        self._key = key
        self._items: list[T] = []

    def __len__(self) -> int:
        """How many items there are."""
        return len(self._items)

    def add(self, item: T) -> None:
        """Add an item: it goes up past those that are more."""
        items, key, index = self._items, self._key, len(self._items)
        items.append(item)
        while index and key(item) < key(items[parent := (index - 1) // 2]):
            items[index] = items[parent]
            index = parent
        items[index] = item

    def poll(self) -> T:
        """Remove the first item; the last one goes down from its place. Raises IndexError."""
        items, key = self._items, self._key
        last = items.pop()
        if not items:
            return last
        first, index = items[0], 0
        while (child := 2 * index + 1) < len(items):
            if child + 1 < len(items) and key(items[child]) > key(items[child + 1]):
                child += 1
            if key(last) <= key(items[child]):
                break
            items[index] = items[child]
            index = child
        items[index] = last
        return first
