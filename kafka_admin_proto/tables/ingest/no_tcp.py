"""Captures without any TCP: what their packets are, as one problem of the whole capture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from kafka_admin_proto.capture.files.splits import read_split
from kafka_admin_proto.capture.tcp.segments import LINK_TYPES, kind_of, no_tcp, read_segment
from kafka_admin_proto.errors import DumpError
from kafka_admin_proto.tables.ingest.files import Part, open_part
from kafka_admin_proto.tables.runner import Runner


def part_without_tcp(runner: Runner, parts: Sequence[Part]) -> Part | None:
    """The last part, with the problem that no packet of the capture has TCP.

    None where one has, or where there is no packet. Each part is read up to its first TCP packet.
    """
    captures = [part for part in parts if part.kind == "pcap" and part.problem is None]
    counts: Counter[str] = Counter()
    for found in runner.run(_others_in, captures):
        if found is None:
            return None
        counts.update(found)
    if not counts:
        return None
    return msgspec.structs.replace(captures[-1], problem=no_tcp(counts))


def _others_in(part: Part) -> dict[str, int] | None:
    """How many packets of each kind a part has; None where one has TCP."""
    counts: Counter[str] = Counter()
    try:
        with open_part(part) as file:
            for _, (_, link, data) in read_split(file, part.start, part.end, _pass_over):
                if link not in LINK_TYPES:
                    continue
                segment = read_segment(link, data)
                if segment is None:
                    counts[kind_of(link, data)] += 1
                elif segment[0]:
                    return None
    except OSError:  # a problem already
        return {}
    return dict(counts)


def _pass_over(at: int, error: DumpError) -> None:
    """Called for damage, which is a problem already: does nothing."""
