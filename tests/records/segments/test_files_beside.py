"""Indexes, snapshots of producers and checkpoints beside segments, as rows and by ``kap decode``.

``check_beside`` of ``tests/records/dumped.py`` holds the rows against Kafka's DumpLogSegments, of
files of real nodes and of ours (``tests/server/partitions/disk/test_real_nodes.py``).
"""

from __future__ import annotations

import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.messages.producer_snapshot import ProducerEntry
from kafka_admin_proto.records.segments.checkpoints import checkpoint_bytes
from kafka_admin_proto.records.segments.files_beside import is_beside, producers_bytes, rows_beside
from kafka_admin_proto.records.segments.rows import ROW_KEYS
from tests.helpers.kap import ended, run_kap
from tests.helpers.memory import traced

NAME = "00000000000000000019"
OFFSETS = struct.pack(">iiii", 6, 147, 13, 715)
TIMES = struct.pack(">qiqi", 1_700_000_000_000, 6, 1_700_000_000_050, 13)
ABORTED = struct.pack(">hqqqq", 0, 4242, 33, 35, 36)
PRODUCERS = producers_bytes([ProducerEntry(7, 1, 3, 22, 3, 1_700_000_000_000, -1, -1)])
EPOCHS = checkpoint_bytes([(0, 0), (4, 17)])
ALL = {
    f"{NAME}.index": OFFSETS,
    f"{NAME}.timeindex": TIMES,
    f"{NAME}.txnindex": ABORTED,
    f"{NAME}.snapshot": PRODUCERS,
    f"{NAME}.index.deleted": OFFSETS,
    "leader-epoch-checkpoint": EPOCHS,
    "recovery-point-offset-checkpoint": checkpoint_bytes([("fruit", 3, 12)]),
    "replication-offset-checkpoint": checkpoint_bytes([("fruit", 3, 12)]),
    "log-start-offset-checkpoint": checkpoint_bytes([("fruit", 3, 12)]),
    "cleaner-offset-checkpoint": checkpoint_bytes([]),
    "partition.metadata": b"version: 0\ntopic_id: G84rotNGR7OaR5JFUPM2dQ",
}


def shown(folder: Path, name: str, data: bytes) -> list[dict[str, Any]]:
    (folder / name).write_bytes(data)
    return list(rows_beside(str(folder / name)))


def texts(rows: list[dict[str, Any]]) -> list[str]:
    """What is said of each row that is no plain entry."""
    return [row["problem"] or row["note"] for row in rows if row["problem"] or row["note"]]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (f"{NAME}.index", [
            {"position": 0, "size": 8, "offset": 25, "type": "OffsetPosition",
             "fields": {"offset": 25, "position": 147}},
            {"position": 8, "size": 8, "offset": 32, "type": "OffsetPosition",
             "fields": {"offset": 32, "position": 715}},
        ]),
        (f"{NAME}.timeindex", [
            {"position": at, "size": 12, "offset": offset, "timestamp": time,
             "type": "TimestampOffset", "fields": {"timestamp": time, "offset": offset}}
            for at, time, offset in ((0, 1_700_000_000_000, 25), (12, 1_700_000_000_050, 32))
        ]),
        (f"{NAME}.txnindex", [
            {"position": 0, "size": 34, "type": "AbortedTxn", "version": 0,
             "fields": {"producerId": 4242, "firstOffset": 33, "lastOffset": 35,
                        "lastStableOffset": 36}},
        ]),
        (f"{NAME}.snapshot", [
            {"type": "ProducerEntry", "version": 1,
             "fields": {"producerId": 7, "epoch": 1, "lastSequence": 3, "lastOffset": 22,
                        "offsetDelta": 3, "timestamp": 1_700_000_000_000, "coordinatorEpoch": -1,
                        "currentTxnFirstOffset": -1}},
        ]),
        ("leader-epoch-checkpoint", [
            {"type": "EpochEntry", "epoch": epoch, "offset": offset,
             "fields": {"epoch": epoch, "startOffset": offset}}
            for epoch, offset in ((0, 0), (4, 17))
        ]),
        ("partition.metadata", [
            {"type": "PartitionMetadata", "version": 0,
             "fields": {"topicId": "G84rotNGR7OaR5JFUPM2dQ"}},
        ]),
        ("recovery-point-offset-checkpoint", [
            {"type": "PartitionOffset", "offset": 12,
             "fields": {"topic": "fruit", "partition": 3, "offset": 12}},
        ]),
    ],
)  # fmt: skip
def test_entries(tmp_path: Path, name: str, wanted: list[dict[str, Any]]) -> None:
    found = shown(tmp_path, name, ALL[name])
    assert found == [dict.fromkeys(ROW_KEYS) | row for row in wanted]


def test_the_room_that_a_running_broker_has_made_is_a_note(tmp_path: Path) -> None:
    for name, data, zeros in ((f"{NAME}.index", OFFSETS, 1024), (f"{NAME}.timeindex", TIMES, 120)):
        found = shown(tmp_path, name, data + bytes(zeros))
        assert [row["offset"] for row in found] == [25, 32, None]
        assert texts(found) == [f"{zeros} bytes preallocated and not written yet"]
        assert texts(shown(tmp_path, name, bytes(zeros))) == texts(found)
        assert shown(tmp_path, name, b"") == []


@pytest.mark.parametrize(
    ("name", "data", "wanted"),
    [
        (".index", OFFSETS[:-3], "5 bytes left over; expected entries of 8 bytes"),
        (".index", OFFSETS[8:] + OFFSETS[:8], "its offset is 25; expected one above 32"),
        (".index", struct.pack(">ii", 6, -1), "its position is -1; expected 0 or above"),
        (".index", struct.pack(">ii", -6, 1), "its offset is 13; expected one above 18"),
        (".timeindex", TIMES[:-1], "11 bytes left over; expected entries of 12 bytes"),
        (".timeindex", TIMES[12:] + TIMES[:12],
         "its timestamp is 1700000000000; expected one above 1700000000050"),
        (".timeindex", struct.pack(">qi", 5, -1), "its offset is 18; expected 19 or above"),
        (".txnindex", ABORTED + ABORTED[:9], "9 bytes left over; expected entries of 34 bytes"),
        (".txnindex", b"\0\7" + ABORTED[2:], "its version is 7; expected 0"),
        (".txnindex", struct.pack(">hqqqq", 0, 1, 9, 3, 9),
         "no transaction has offsets from 9 to 3"),
        (".snapshot", PRODUCERS[:4], "it has 4 bytes; expected a version and a checksum"),
        (".snapshot", b"\0\2" + PRODUCERS[2:], "its version is 2; expected 1"),
        (".snapshot", PRODUCERS[:2] + bytes(4) + PRODUCERS[6:], None),
        ("leader-epoch-checkpoint", b"1\n0\n", "its first line is '1'; expected 0"),
        ("leader-epoch-checkpoint", b"\n", "its first line is ''; expected 0"),
        ("leader-epoch-checkpoint", EPOCHS[:-5],
         "its second line is not 1, the number of its entries"),
        ("leader-epoch-checkpoint", b"0\n1\nx 4\n", "'x 4' is no entry of epoch, startOffset"),
        ("leader-epoch-checkpoint", b"0\n1\n1 4 5\n", "'1 4 5' is no entry of epoch, startOffset"),
        ("leader-epoch-checkpoint", b"0\n1\n2147483648 4\n",
         "'2147483648 4' is no entry of epoch, startOffset"),
        ("leader-epoch-checkpoint", b"0\n1\n1 9223372036854775808\n",
         "'1 9223372036854775808' is no entry of epoch, startOffset"),
        ("leader-epoch-checkpoint", b"\xff", "it is not UTF-8 text; expected a checkpoint's lines"),
        ("partition.metadata", b"version: 0\n",
         "there is no topic_id; expected a line \"topic_id: …\""),
        ("recovery-point-offset-checkpoint", b"0\n1\nfruit 1\n",
         "'fruit 1' is no entry of topic, partition, offset"),
    ],
)  # fmt: skip
def test_damaged_and_truncated_files_end_in_sentences(
    tmp_path: Path, name: str, data: bytes, wanted: str | None
) -> None:
    name = NAME + name if name.startswith(".") else name
    (said,) = texts(shown(tmp_path, name, data))
    if wanted is None:
        assert said.startswith("it says that its CRC-32C is 00000000, and it is ")
        assert said.endswith(": the file is damaged or cut short")
    else:
        assert said == wanted


def test_entries_in_front_of_a_fault_are_shown(tmp_path: Path) -> None:
    found = shown(tmp_path, "leader-epoch-checkpoint", b"0\n2\n1 4\nx 5\n")
    assert [row["offset"] for row in found] == [4, None]
    assert texts(found) == ["'x 5' is no entry of epoch, startOffset"]


def test_a_checkpoint_is_read_in_little_memory(tmp_path: Path) -> None:
    """Some times its size: no more than a line of it is split at once."""
    data = checkpoint_bytes((number, number) for number in range(1000, 9000))
    path = tmp_path / "leader-epoch-checkpoint"
    path.write_bytes(data)
    with traced() as memory:
        assert sum(1 for _ in rows_beside(str(path))) == 8000
    assert memory.peak < 16 * len(data)


def test_other_names_are_not_of_such_files() -> None:
    others = ["19.index", f"{NAME}.log", f"{NAME}.index.gz", f"{NAME}.index.swap.gz", "a.snapshot"]
    assert [name for name in (*ALL, *others) if not is_beside(f"/logs/fruit-0/{name}")] == others


def test_a_larger_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.index"
    with path.open("wb") as file:
        file.truncate((1 << 28) + 1)
    (row,) = rows_beside(str(path))
    assert row["problem"] == "it is larger than 256 MiB, and is not read"


@given(st.sampled_from(sorted(ALL)), st.binary(max_size=60), st.integers(0, 200))
def test_any_bytes_are_rows(name: str, more: bytes, end: int) -> None:
    with TemporaryDirectory() as folder:
        for data in (more, ALL[name][:end] + more, ALL[name] + more):
            for row in shown(Path(folder), name, data):
                assert tuple(row) == ROW_KEYS
                assert row["fields"] or row["problem"] or row["note"]


def test_kap_decode_takes_them_beside_segments(tmp_path: Path) -> None:
    for name, data in ALL.items():
        (tmp_path / name).write_bytes(data)
    names = [str(tmp_path / name) for name in sorted(ALL)]
    done = ended(run_kap("decode", *names))
    assert '"firstOffset":33,"lastOffset":35,"lastStableOffset":36}' in done.stdout
    assert all(f"{name} " in done.stdout for name in names if "cleaner" not in name)
    assert "file " not in run_kap("decode", names[0]).stdout
    done = run_kap("decode", names[0], "--topic", "fruit")
    assert "--topic does not go with files beside segments" in done.stderr
    (tmp_path / f"{NAME}.index").write_bytes(OFFSETS[:-3])
    done = ended(run_kap("decode", names[0], "--output", "jsonl"), 1)
    assert f'"file":"{names[0]}"' in done.stdout
    assert (
        "is a file of a log, which has no frames; kap decode shows what it has"
        in ended(run_kap("explain", names[0]), 2).stderr
    )
