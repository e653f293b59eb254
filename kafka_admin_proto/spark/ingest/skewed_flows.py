"""Which connections have so much of a capture that their tasks have to start first.

One task follows one connection, and tasks start in the order of their partitions, which are by
hash. Where a connection has most of a capture's bytes, a job takes as long as that task, and longer
by what it had to wait for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import pyarrow.compute as pc

from kafka_admin_proto.spark.ingest.files import Part, plan
from kafka_admin_proto.spark.ingest.packets import read_part

#: Places in a capture that are looked at, some thousand packets each.
_PLACES = 16
#: A connection with that share of the bytes there is heavy.
_SHARE = 1 / 16
#: Bytes of files; below, nobody waits long, and many small tasks take longer.
_WORTH = 64 * 1024 * 1024

_T = TypeVar("_T")


def skewed_flows(names: Sequence[str], split_size: int) -> list[bytes]:
    """The flows that have a large share of these files, as far as a few places tell.

    The largest comes first, each as in the column ``flow`` of the data source.
    """
    some = _some(names)
    parts = [part for part in plan(some, split_size) if part.kind == "pcap"]
    if sum(part.end - part.start for part in parts) * len(names) < _WORTH * len(some):
        return []
    sizes: Counter[bytes] = Counter()
    for part in _some(parts):
        seen = _seen(part)
        total = seen.total()
        for flow, size in seen.items():
            sizes[flow] += size * (part.end - part.start) // total
    least = sizes.total() * _SHARE
    return [flow for flow, size in sizes.most_common() if size > least]


def _some(of: Sequence[_T]) -> Sequence[_T]:
    """As many as are looked at, from all over."""
    return of[:: -(-len(of) // _PLACES)] if of else of


def _seen(part: Part) -> Counter[bytes]:
    """Flow → bytes at the start of a part."""
    sizes: Counter[bytes] = Counter()
    for batch in read_part(part, ("flow", "payload")):
        lengths = pc.fill_null(pc.binary_length(batch["payload"]), 0)
        for flow, size in zip(batch["flow"].to_pylist(), lengths.to_pylist(), strict=True):
            if size:
                sizes[flow] += size
        break
    return sizes
