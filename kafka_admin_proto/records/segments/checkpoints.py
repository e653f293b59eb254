"""Brokers' checkpoint files: ``leader-epoch-checkpoint`` and those of a log directory.

They are texts: a line with the version, 0, one with the number of entries, and a line for each
entry, whose fields are separated by spaces (``CheckpointFile`` in Kafka).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

TOPIC, PARTITION, OFFSET = "topic", "partition", "offset"
#: The fields of ``leader-epoch-checkpoint``, and of those in a folder of logs.
OF_EPOCHS = ("epoch", "startOffset")
OF_OFFSETS = (TOPIC, PARTITION, OFFSET)
_VERSION = "0"
_NUMBER = re.compile(r"[0-9]{1,19}")


def checkpoint_bytes(entries: Iterable[Iterable[object]]) -> bytes:
    """The file with these entries."""
    lines = [" ".join(map(str, entry)) for entry in entries]
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def read_checkpoint(data: bytes, names: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of a file by the names of their fields; none of an empty file, as in Kafka.

    All fields but the topic are numbers. Raises ValueError.
    """
    if not data:
        return []
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text; expected a checkpoint's lines") from None
    if lines[:1] != [_VERSION]:
        raise ValueError(f"its first line is {''.join(lines[:1])[:20]!r}; expected 0")
    rows = [line.split(" ") for line in lines[2:]]
    if lines[1:2] != [str(len(rows))]:
        raise ValueError(f"its second line is not {len(rows)}, the number of its entries")
    return [_entry(row, names) for row in rows]


def read_epochs(data: bytes) -> list[tuple[int, int]]:
    """Leader epochs and their first offsets, of ``leader-epoch-checkpoint``. Raises ValueError."""
    return [(row["epoch"], row["startOffset"]) for row in read_checkpoint(data, OF_EPOCHS)]


def _entry(row: list[str], names: Sequence[str]) -> dict[str, Any]:
    entry: dict[str, Any] = dict(zip(names, row, strict=False))
    for name in names:
        if name != TOPIC and _NUMBER.fullmatch(entry.get(name, "")):
            entry[name] = int(entry[name])
    if len(row) != len(names) or any(
        isinstance(entry[name], str) is not (name == TOPIC) for name in names
    ):
        raise ValueError(f"{' '.join(row)[:60]!r} is no entry of {', '.join(names)}")
    return entry
