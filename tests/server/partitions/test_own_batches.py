"""A coordinator's batch is stored as if a client had sent it, without the checks of a client's."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.batches.batches import write_batch
from kafka_admin_proto.records.batches.model import COMPRESSIONS, Batch, Record
from kafka_admin_proto.server.partitions.decompression import DecompressionBudget
from kafka_admin_proto.server.partitions.failures import RecordsRefused
from kafka_admin_proto.server.partitions.log import PartitionLog
from kafka_admin_proto.server.partitions.settings import LogSettings
from kafka_admin_proto.server.partitions.validation import own_batch, validate
from kafka_admin_proto.server.releases import ReleaseNumber

NOW_MS = 1_700_000_000_000
_DEFAULTS = LogSettings.of({"cleanup.policy": "compact"}, ReleaseNumber(4, 3))
_PAIRS = st.lists(
    st.tuples(st.binary(max_size=40), st.none() | st.binary(max_size=300)), min_size=1, max_size=5
)
_SETTINGS = st.builds(
    lambda kind, compression, most: msgspec.structs.replace(
        _DEFAULTS, message_timestamp_type=kind, compression=compression, max_message_bytes=most
    ),
    st.sampled_from(["CreateTime", "LogAppendTime"]),
    st.sampled_from([None, *COMPRESSIONS]),
    st.sampled_from([120, 300, 1 << 20]),
)


def _batch(pairs: list[tuple[bytes, bytes | None]], start: int, given: Any) -> Batch:
    records = [Record(at, NOW_MS, *each) for at, each in enumerate(pairs, start)]
    batch = Batch.of(records, compression=given[0])
    if given[1] is not None:
        batch.is_transactional, batch.base_sequence = True, 0
        batch.producer_id, batch.producer_epoch = given[1]
    return batch


@given(
    pairs=_PAIRS, settings=_SETTINGS,
    made=st.tuples(st.sampled_from(COMPRESSIONS), st.none() | st.just((7, 3))),
)  # fmt: skip
def test_it_is_what_the_checks_of_a_producers_batch_make_of_it(
    pairs: list[tuple[bytes, bytes | None]], settings: LogSettings, made: Any
) -> None:
    pytest.importorskip("cramjam")
    sent = write_batch(_batch(pairs, 0, made))
    expected: bytes | int
    try:
        expected = validate(
            sent, "t-0", settings,
            end_offset=70, leader_epoch=5, now_ms=NOW_MS, budget=DecompressionBudget(len(sent)),
        )  # fmt: skip
    except RecordsRefused as refused:
        expected = refused.code
    found: bytes | int
    try:
        found = own_batch(_batch(pairs, 70, made), "t-0", settings, 5)
    except RecordsRefused as refused:
        found = refused.code
    assert found == expected


def test_it_goes_on_at_the_end_of_the_log() -> None:
    log = PartitionLog("t", 0, _DEFAULTS, NOW_MS)
    for start in (0, 2):
        batch = _batch([(b"k", b"v"), (b"l", None)], start, ("none", None))
        appended = log.append_own(batch, leader_epoch=1, now_ms=NOW_MS)
        assert (appended.base_offset, appended.last_offset) == (start, start + 1)
    assert log.end_offset == 4


def test_one_that_is_too_large_leaves_the_log_as_it_was() -> None:
    settings = msgspec.structs.replace(_DEFAULTS, max_message_bytes=100)
    log = PartitionLog("t", 0, settings, NOW_MS)
    with pytest.raises(RecordsRefused) as refused:
        log.append_own(
            _batch([(b"k", bytes(99))], 0, ("none", None)), leader_epoch=1, now_ms=NOW_MS
        )
    assert refused.value.code == codes.MESSAGE_TOO_LARGE
    assert log.end_offset == 0
