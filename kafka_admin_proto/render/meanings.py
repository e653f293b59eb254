"""What the numbers in fields stand for: ``schemas/meanings.json``, found by message and path.

    meaning_of("ListOffsetsRequest", "topics.partitions.timestamp").text(-2)
                                                   # "earliest: the start of the log"

A meaning lists its fields by definition names, ``ListOffsetsRequest.Topics.Partitions.Timestamp``
or, for a field of that name in any message, ``*.IsolationLevel``; the former wins.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from kafka_admin_proto.counts import counted
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.structs import decodable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
#: The number that means "no limit".
_INT32_MAX, _INT64_MAX = (1 << 31) - 1, (1 << 63) - 1


@decodable
class Meaning(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the values of some fields stand for.

    ``values``: JSON text of a value (a string: itself) → words. ``bits_of``: another meaning whose
    values are the numbers of bits. ``form``: how other numbers become words. ``java``: the enum
    whose names and numbers ``values`` has, ``release`` the Kafka release that has it.
    """

    fields: tuple[str, ...]
    values: dict[str, str] = {}
    bits_of: str = ""
    form: Literal["", "api_key", "duration", "size", "timestamp", "topic_id"] = ""
    java: str = ""
    release: str = "4.4.0"

    def text(self, value: Any) -> str:
        """The value in words, "" where there are none."""
        key = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if key in self.values:
            return self.values[key]
        if not isinstance(value, int) or isinstance(value, bool):
            return ""
        if self.bits_of:
            names = all_meanings()[self.bits_of]
            words = [names.name(bit) for bit in range(32) if value >> bit & 1]
            unnamed = ["and bits without a meaning"] if "" in words else []
            return ", ".join([*filter(None, words), *unnamed]).removeprefix("and ")
        in_words = _FORMS.get(self.form)
        return in_words(value) if in_words is not None else ""

    def name(self, number: int) -> str:
        """The number's name alone, without its explanation; "" where it has none."""
        return self.values.get(str(number), "").partition(":")[0]


def meaning_of(message: str, path: str) -> Meaning | None:
    """The meaning of a field; ``path`` are Python names with dots, without indices."""
    fields = _by_field()
    return fields.get((message, path)) or fields.get(("*", path.rpartition(".")[2]))


@cache
def all_meanings() -> dict[str, Meaning]:
    """The table, by name of the meaning."""
    data = (catalog().folder / "meanings.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Meaning])


@lru_cache(maxsize=1024)
def name_of(meaning: str, number: int) -> str:
    """The number's name in a meaning of the table, "READ", or its digits where it has none."""
    return all_meanings()[meaning].name(number) or str(number)


@cache
def _by_field() -> dict[tuple[str, str], Meaning]:
    meanings = {}
    for meaning in all_meanings().values():
        for field in meaning.fields:
            message, _, path = field.partition(".")
            meanings[message, ".".join(map(python_name, path.split(".")))] = meaning
    return meanings


def duration(milliseconds: int) -> str:
    """Milliseconds in the largest unit that keeps them readable: "30 s", "1.5 h", "7 d"."""
    if milliseconds in (_INT32_MAX, _INT64_MAX):
        return "without end"
    if milliseconds < 0:
        return ""
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (_SECOND, "s")):
        if milliseconds >= unit:
            return f"{milliseconds / unit:.4g} {name}"
    return f"{milliseconds} ms"


def timestamp(milliseconds: int) -> str:
    """Milliseconds since 1970 as ``2024-10-25 03:33:01.000 UTC``; "" where no calendar has it."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03} UTC"


def size(count: int) -> str:
    """A number of bytes: "512 bytes", "1.5 kB", "50 MiB" where it is a round number of these."""
    if count < 0:
        return ""
    if count == _INT32_MAX:
        return "no limit"
    for power, binary, decimal in ((3, "GiB", "GB"), (2, "MiB", "MB"), (1, "KiB", "kB")):
        if count >= 1024**power and count % 1024**power == 0:
            return f"{count // 1024**power} {binary}"
        if count >= 1000**power:
            return f"{count / 1000**power:.4g} {decimal}"
    return counted(count, "bytes")


def api_name(api_key: int, dialect: str = "kafka") -> str:
    """The api of that key, "CreateTopics", Kafka's own where it has it; "" for an unknown one."""
    name = catalog().name_of(api_key, "request") or catalog().name_of(api_key, "request", dialect)
    return "" if name is None else name.removesuffix("Request")


_FORMS: dict[str, Callable[[int], str]] = {
    "api_key": api_name,
    "duration": duration,
    "size": size,
    "timestamp": timestamp,
}
