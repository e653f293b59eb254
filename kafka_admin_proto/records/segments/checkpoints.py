"""Brokers' checkpoint files: ``leader-epoch-checkpoint`` and those of a log directory.

They are texts: a line with the version, 0, one with the number of entries, and a line for each
entry, whose fields are separated by spaces (``CheckpointFile`` in Kafka).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

TOPIC, PARTITION, OFFSET = "topic", "partition", "offset"
#: The fields of ``leader-epoch-checkpoint``, and of those in a folder of logs.
OF_EPOCHS = ("epoch", "startOffset")
OF_OFFSETS = (TOPIC, PARTITION, OFFSET)
_VERSION = "0"
_NUMBER = re.compile(r"[0-9]{1,19}")
_OFFSETS = (OFFSET, "startOffset")
#: The largest offset, and the largest epoch or partition.
_MOST_OFFSET, _MOST_INT = (1 << 63) - 1, (1 << 31) - 1


def checkpoint_bytes(entries: Iterable[Iterable[object]]) -> bytes:
    lines = [" ".join(map(str, entry)) for entry in entries]
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def read_checkpoint(data: bytes, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The entries of a file by the names of their fields; none of an empty file, as in Kafka.

    All fields but the topic are numbers. Raises ValueError, behind the entries in front of a fault.
    """
    if not data:
        return
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text; expected a checkpoint's lines") from None
    if lines[:1] != [_VERSION]:
        raise ValueError(f"its first line is {''.join(lines[:1])[:20]!r}; expected 0")
    count = len(lines[2:])
    if lines[1:2] != [str(count)]:
        raise ValueError(f"its second line is not {count}, the number of its entries")
    for line in lines[2:]:
        yield _entry(line, names)


def read_epochs(data: bytes) -> list[tuple[int, int]]:
    """Leader epochs and their first offsets, of ``leader-epoch-checkpoint``. Raises ValueError."""
    return [(row["epoch"], row["startOffset"]) for row in read_checkpoint(data, OF_EPOCHS)]


def _entry(line: str, names: Sequence[str]) -> dict[str, Any]:
    values = line.split(" ")
    entry = {
        name: value if name == TOPIC else _number(name, value)
        for name, value in zip(names, values, strict=False)
    }
    if len(values) != len(names) or None in entry.values():
        raise ValueError(f"{line[:60]!r} is no entry of {', '.join(names)}")
    return entry


def _number(name: str, text: str) -> int | None:
    """None where Kafka writes no such number."""
    number = int(text) if _NUMBER.fullmatch(text) else -1
    return number if 0 <= number <= (_MOST_OFFSET if name in _OFFSETS else _MOST_INT) else None
