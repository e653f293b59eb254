"""Brokers' checkpoint files: ``leader-epoch-checkpoint`` and those of a log directory.

They are texts: a line with the version, 0, one with the number of entries, and a line for each
entry, whose fields are separated by spaces (``CheckpointFile`` in Kafka).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kafka_admin_proto.counts import counted

_VERSION = "0"
_NUMBER = re.compile(r"[0-9]{1,19}")


def checkpoint_bytes(entries: Iterable[Iterable[object]]) -> bytes:
    """The file with these entries."""
    lines = [" ".join(map(str, entry)) for entry in entries]
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def read_checkpoint(data: bytes, fields: int) -> list[list[str]]:
    """The entries of a file, each with that number of fields; none of an empty file, as in Kafka.

    Raises ValueError.
    """
    if not data:
        return []
    lines = data.decode().splitlines()
    if lines[0] != _VERSION:
        raise ValueError(f"its first line is {lines[0][:20]!r}; expected 0")
    entries = [line.split(" ") for line in lines[2:]]
    if lines[1:2] != [str(len(entries))]:
        raise ValueError(f"its second line is not {len(entries)}, the number of its entries")
    for entry in entries:
        if len(entry) != fields or not _NUMBER.fullmatch(entry[-1]):
            raise ValueError(f"{' '.join(entry)[:60]!r} is no entry of {counted(fields, 'fields')}")
    return entries
