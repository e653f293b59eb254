"""Every bit in front of a batch's checksum: a log with a wrong one is refused, or nothing is lost.

Base offset, length, leader epoch and magic of a batch are not under its CRC.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.records import Batch, read_segment
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from kafka_admin_proto.server.clock import Clock
from kafka_admin_proto.server.log.opening import open_cluster
from kafka_admin_proto.server.log.settings import log_settings
from kafka_admin_proto.server.log.snapshots import Snapshot
from kafka_admin_proto.server.releases import ReleaseNumber
from tests.helpers.profile import EXHAUSTIVE, SEED
from tests.server.log.stored import SMALL, Topics, topics_of
from tests.server.log.test_recovery import grown, segments

#: Flips are drawn, others in each run; KAFKA_ADMIN_PROTO_FLIPS=1000000 tries all of them.
FLIPS = int(os.environ.get("KAFKA_ADMIN_PROTO_FLIPS", 500 if EXHAUSTIVE else 80))
#: The bytes up to the CRC, and those of the leader epoch.
_HEAD_BYTES, _EPOCH = 17, range(12, 16)
_SMALL = {**SMALL, "internal.metadata.log.segment.bytes": "700"}
#: Snapshots after the first one, the second one, and never.
_BETWEEN = {"early": "500", "late": "1100", "none": "1000000"}


class Opened(NamedTuple):
    """What a cluster on disk has when it is opened."""

    topics: Topics
    end: int
    notes: list[str]


def opened(folder: Path) -> Opened:
    """Open the cluster. Raises MetadataLogError."""
    found = open_cluster(folder, 1, "", log_settings(_SMALL, ReleaseNumber(4, 3)), Clock())
    found.log.close()
    return Opened(topics_of(found.state), found.state.offset + 1, found.notes)


class Flip(NamedTuple):
    """A bit of a segment, and where it is."""

    segment: str
    byte: int
    bit: int
    #: Whether it is in the log's last batch, and in a leader epoch.
    is_last: bool
    of_epoch: bool


def flips(folder: Path) -> Iterator[Flip]:
    """Every bit up to the CRC of every batch."""
    found = [
        (path.name, each)
        for path in segments(folder)
        for each in read_segment(path)
        if isinstance(each, Batch)
    ]
    for name, batch in found:
        for byte in range(_HEAD_BYTES):
            for bit in range(8):
                is_last = (name, batch) == found[-1]
                yield Flip(name, batch.offset_in_data + byte, bit, is_last, byte in _EPOCH)


@pytest.mark.exhaustive
@pytest.mark.parametrize("between", _BETWEEN)
def test_a_flipped_bit_before_the_checksum_loses_nothing_in_silence(
    tmp_path: Path, between: str
) -> None:
    kept, tried = tmp_path / "kept", tmp_path / "tried"
    configs = {**_SMALL, "metadata.log.max.record.bytes.between.snapshots": _BETWEEN[between]}
    topics = grown(kept, 1, 14, **configs)[-1].topics
    snapshots = Snapshot.in_folder(kept / FOLDER_NAME)
    assert bool(snapshots) == (between != "none")
    assert len(segments(kept)) > 2
    wanted = opened(kept)
    assert wanted.topics == topics
    found_flips = list(flips(kept))
    for flip in random.Random(SEED).sample(found_flips, min(FLIPS, len(found_flips))):
        shutil.rmtree(tried, ignore_errors=True)
        shutil.copytree(kept, tried)
        path = tried / FOLDER_NAME / flip.segment
        data = bytearray(path.read_bytes())
        data[flip.byte] ^= 1 << flip.bit
        path.write_bytes(data)
        try:
            found = opened(tried)
        except MetadataLogError as error:
            # A leader epoch that is too high shows at the batch behind it.
            assert flip.segment in str(error) or flip.of_epoch, flip
            assert re.search(r"\.log\b.* byte \d", str(error)), flip
            continue
        assert found.topics == topics, flip
        if found.end != wanted.end:
            assert flip.is_last, flip
            assert found.notes, flip
