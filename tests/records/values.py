"""Records and batches for properties: what the formats can carry, small and odd."""

from __future__ import annotations

from importlib.util import find_spec

from hypothesis import strategies as st

from kafka_admin_proto.records.batches.batches import Batch, Record
from kafka_admin_proto.records.batches.model import COMPRESSIONS, NO_TIMESTAMP, CompressionName

FORMATS = [
    (magic, compression)
    for magic in (0, 1, 2)
    for compression in COMPRESSIONS
    if magic == 2 or compression != "zstd"
]

#: On a big-endian machine the package for the others has no wheels.
INSTALLED = COMPRESSIONS if find_spec("cramjam") else COMPRESSIONS[:2]

_blobs = st.none() | st.binary(max_size=40) | st.integers(1, 2000).map(lambda n: b"ab" * n)
_names = st.text(st.characters(codec="utf-8"), max_size=8)
_headers = st.lists(st.tuples(_names, st.none() | st.binary(max_size=9)), max_size=3).map(tuple)
_times = st.integers(-1, 1 << 41) | st.integers(-1, (1 << 63) - 1)
_gaps = st.integers(1, 3) | st.integers(1, 1 << 20)
_reserved = st.sampled_from((0, 0, 1 << 7, 1 << 14, -1 << 15, -1 << 7))


@st.composite
def batches(
    draw: st.DrawFn, magic: int | None = None, compression: CompressionName | None = None
) -> Batch:
    """A batch that ``write_batch`` takes and that is one batch when it is read."""
    magic = draw(st.sampled_from((0, 1, 2))) if magic is None else magic
    if compression is None:
        compression = draw(st.sampled_from(INSTALLED[: None if magic == 2 else 4]))
    assert compression is not None
    least = 0 if magic == 2 else 1
    most = 1 if magic < 2 and compression == "none" else 5
    first = draw(st.integers(0, 1 << 40))
    offset = first
    records = []
    base_time = draw(_times)
    for _ in range(draw(st.integers(least, most))):
        time = draw(st.just(base_time) | st.integers(0, 70000).map(base_time.__add__) | _times)
        records.append(
            Record(
                offset,
                NO_TIMESTAMP if magic == 0 else min(time, (1 << 63) - 1),
                draw(_blobs),
                draw(_blobs),
                draw(_headers) if magic == 2 else (),
            )
        )
        offset += draw(_gaps)
    batch = Batch.of(records, magic=magic, compression=compression)
    if magic > 0 and draw(st.booleans()):
        batch.timestamp_type = "log_append"
        batch.max_timestamp = draw(st.integers(0, 1 << 45))
        for record in records:
            record.timestamp = batch.max_timestamp
        batch.base_timestamp = batch.max_timestamp
    if magic == 2 and draw(st.booleans()):
        batch.producer_id = draw(st.integers(0, (1 << 63) - 1))
        batch.producer_epoch = draw(st.integers(0, 32767))
        batch.base_sequence = draw(st.integers(0, (1 << 31) - 1))
        batch.is_transactional = draw(st.booleans())
    if magic == 2:
        batch.partition_leader_epoch = draw(st.integers(-1, (1 << 31) - 1))
        batch.reserved_attributes = draw(_reserved)
    return batch
