"""``partition.metadata``: round trips, damage, a write cut short, and Kafka's own class, live."""

from __future__ import annotations

import os
import pickle
import stat
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import PartitionMetadataError
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME, PartitionMetadata
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, random_topic_id, topic_id_to_text
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch
from tools.oracles.java import run
from tools.oracles.libraries import SLF4J

TOPIC_ID = UUID("46bdb63f-9e8d-4a38-bf7b-ee4eb2a794e4")
PLAIN = b"version: 0\ntopic_id: Rr22P56NSji_e-5OsqeU5A"
TOOL = Path(__file__).parents[2] / "java" / "PartitionMetadataTool.java"

words = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)
values = words.map(lambda text: text.strip(" \t"))
keys = values.map(lambda text: text.replace(":", "").strip(" \t")).filter(
    lambda key: key not in ("", "version", "topic_id")
)
metadata = st.builds(
    PartitionMetadata,
    st.uuids(),
    st.integers(0, 2**31 - 1),
    st.lists(st.tuples(keys, values), max_size=4, unique_by=lambda pair: pair[0]).map(tuple),
)


@given(metadata)
@settings(max_examples=draws(300))
def test_round_trips(value: PartitionMetadata) -> None:
    text = value.format()
    assert PartitionMetadata.parse(text) == PartitionMetadata.parse(text.encode()) == value
    assert PartitionMetadata.parse(text.replace("\n", "\r\n\r\n")) == value
    assert pickle.loads(pickle.dumps(value)) == value


def test_the_text() -> None:
    """t82–t92: as Kafka writes it, and with further keys."""
    assert PartitionMetadata(TOPIC_ID).format().encode() == PLAIN
    more = PartitionMetadata(TOPIC_ID, 1, (("leader", "3: of 4"),))
    assert more.format().splitlines()[2:] == ["leader: 3: of 4"]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.decode(),
        f"{PLAIN.decode()}\n",
        f"version: 0\n\ntopic_id: {TOPIC_ID}\n",  # as the proposal shows it
        f"version: 0\r\ntopic_id: {TOPIC_ID}",
        f"\n  \ntopic_id:{TOPIC_ID}\rversion :\t0 \n\n",
    ],
)
def test_what_else_is_read(text: str) -> None:
    """t82–t92: the proposal's own example among them."""
    assert PartitionMetadata.parse(text) == PartitionMetadata(TOPIC_ID)


def test_unknown_keys_are_kept_in_order() -> None:
    """t98: a later version may add some."""
    read = PartitionMetadata.parse(b"zone: b\n" + PLAIN + b"\na: 1\nempty:\n")
    assert read.extra == (("zone", "b"), ("a", "1"), ("empty", ""))
    assert read.format().encode() == PLAIN + b"\nzone: b\na: 1\nempty: "


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"", 0, 'there is no topic_id; expected a line "topic_id'),
        (b"version: 0", 0, "there is no topic_id"),
        (PLAIN[11:], 0, 'there is no version; expected a line "version: 0"'),
        (PLAIN + b"\nversion: 0", 3, "key 'version' stands in line 1 already"),
        (PLAIN + b"\n\na: 1\na: 1", 5, "key 'a' stands in line 4 already"),
        (PLAIN + b"\nhello", 3, "'hello' is no key and value; expected \"key: value\""),
        (PLAIN + b"\n: hello", 3, "is no key and value"),
        (PLAIN.replace(b"0", b"-1"), 1, "there is no version -1; expected 0 to"),
        (PLAIN.replace(b"0", b"2147483648"), 1, "there is no version 2147483648"),
        (PLAIN.replace(b"0", b"zero"), 1, "version 'zero' is not a number"),
        (PLAIN.replace(b"0", b"9" * 5000), 1, "is not a number"),
        (PLAIN[:-1], 2, "topic_id 'Rr22P56NSji_e-5OsqeU5' is not a topic id; expected 22"),
        (b"version: 0\ntopic_id: " + b"A" * 22, 2, "the zero id belongs to no topic"),
        (b"\xff\xfe" + PLAIN, 0, "it is not UTF-8 text: invalid start byte"),
        (PLAIN + b" " * (1 << 16), 0, "it is larger than 65536 bytes; expected two short lines"),
    ],
)
def test_damaged_files(tmp_path: Path, data: bytes, line: int, said: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(data)
    with pytest.raises(PartitionMetadataError) as caught:
        PartitionMetadata.read(path)
    error = caught.value
    assert said in str(error)
    assert str(error).startswith(f"{path}, line {line}: " if line else f"{path}: ")
    assert (error.file, error.line) == (str(path), line)
    assert isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert len(str(error)) < 300 + len(str(path))


@given(st.one_of(st.binary(max_size=80), st.text(max_size=80)))
@settings(max_examples=draws(500))
def test_random_contents(data: bytes | str) -> None:
    reads_or_refuses(data)


@given(metadata, st.data())
@settings(max_examples=draws(500))
def test_damaged_contents(value: PartitionMetadata, data: st.DataObject) -> None:
    """Cut short, or with bits flipped: read as something, or refused, and nothing else."""
    raw = bytearray(value.format().encode())
    reads_or_refuses(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    reads_or_refuses(bytes(raw))


def reads_or_refuses(data: bytes | str) -> None:
    try:
        read = PartitionMetadata.parse(data)
    except PartitionMetadataError:
        return
    assert PartitionMetadata.parse(read.format()) == read


@pytest.mark.parametrize(
    ("topic_id", "version", "extra", "said"),
    [
        (UUID(int=0), 0, (), "the zero id"),
        (TOPIC_ID, -1, (), "there is no version -1"),
        (TOPIC_ID, 2**31, (), "there is no version 2147483648"),
        (TOPIC_ID, 0, (("version", "1"),), "key 'version' stands twice"),
        (TOPIC_ID, 0, (("a", "1"), ("a", "2")), "key 'a' stands twice"),
        (TOPIC_ID, 0, (("", "1"),), "has no usable key"),
        (TOPIC_ID, 0, (("a:b", "1"),), "has no usable key"),
        (TOPIC_ID, 0, (("a", "1\ntopic_id: x"),), "does not fit on a line"),
        (TOPIC_ID, 0, (("a", " 1"),), "does not fit on a line"),
        (TOPIC_ID, 0, (("a", "\ud800"),), "is not text"),
        (TOPIC_ID, 0, (("a", "x" * (1 << 16)),), "extra is too long"),
    ],
)
def test_values_that_cannot_be_written(
    topic_id: UUID, version: int, extra: tuple[tuple[str, str], ...], said: str
) -> None:
    with pytest.raises(PartitionMetadataError, match=said):
        PartitionMetadata(topic_id, version, extra)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        PartitionMetadata.read(tmp_path / FILE_NAME)
    with pytest.raises(FileNotFoundError):
        PartitionMetadata(TOPIC_ID).write(tmp_path / "no folder" / FILE_NAME)


def test_permissions(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    before = os.umask(0o027)
    try:
        PartitionMetadata(TOPIC_ID).write(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    if os.geteuid() == 0:
        os.chown(path, 12345, 54321)
    path.chmod(0o604)
    owner = (path.stat().st_uid, path.stat().st_gid)
    PartitionMetadata(METADATA_TOPIC_ID).write(path)
    assert PartitionMetadata.read(path).topic_id == METADATA_TOPIC_ID
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert (path.stat().st_uid, path.stat().st_gid) == owner


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, failure: BaseException
) -> None:
    path = tmp_path / FILE_NAME
    PartitionMetadata(TOPIC_ID).write(path)

    def fail(*arguments: object) -> None:
        assert len(os.listdir(tmp_path)) == 2  # the new file is there beside the old one
        raise failure

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(type(failure)):
        PartitionMetadata(random_topic_id()).write(str(path))
    assert os.listdir(tmp_path) == [FILE_NAME]
    assert path.read_bytes() == PLAIN


def test_file_and_folder_are_on_the_disk_before_and_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    fsync = os.fsync

    def observed(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        synced.append((kind, (tmp_path / FILE_NAME).exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", observed)
    PartitionMetadata(TOPIC_ID).write(tmp_path / FILE_NAME)
    assert synced == [("file", False), ("folder", True)]


def kafka(*requests: str) -> list[list[str]]:
    """What Kafka's own class answers to lines of PartitionMetadataTool."""
    jars = fetch(NEWEST, ["kafka-storage", "kafka-clients", *SLF4J])
    answers = run(jars, TOOL, stdin="".join(f"{line}\n" for line in requests))
    return [line.split("\t") for line in answers.splitlines()]


@pytest.mark.exhaustive
def test_kafka_reads_what_we_write(tmp_path: Path) -> None:
    require_oracle()
    written = [PartitionMetadata(random_topic_id()) for _ in range(20)]
    written += [
        PartitionMetadata(METADATA_TOPIC_ID),
        PartitionMetadata(TOPIC_ID, 7, (("later", "1: 2"),)),
        PartitionMetadata(TOPIC_ID, 2**31 - 1),
    ]
    for number, value in enumerate(written):
        (tmp_path / f"t-{number}").mkdir()
        value.write(tmp_path / f"t-{number}" / FILE_NAME)
    answers = kafka(*(f"read\t{tmp_path}/t-{number}" for number in range(len(written))))
    assert answers == [
        ["ok", str(value.version), topic_id_to_text(value.topic_id)] for value in written
    ]


@pytest.mark.exhaustive
def test_what_kafka_writes_is_read_and_written_back_the_same(tmp_path: Path) -> None:
    require_oracle()
    ids = [*(random_topic_id() for _ in range(20)), METADATA_TOPIC_ID]
    requests = []
    for number, topic_id in enumerate(ids):
        (tmp_path / f"t-{number}").mkdir()
        requests.append(f"write\t{tmp_path}/t-{number}\t{topic_id_to_text(topic_id)}")
    assert kafka(*requests) == [["ok"]] * len(ids)
    for number, topic_id in enumerate(ids):
        path = tmp_path / f"t-{number}" / FILE_NAME
        raw = path.read_bytes()
        read = PartitionMetadata.read(path)
        assert read == PartitionMetadata(topic_id)
        read.write(path)
        assert path.read_bytes() == raw


@pytest.mark.exhaustive
def test_we_refuse_what_kafka_refuses(tmp_path: Path) -> None:
    require_oracle()
    damaged = [
        b"", b"version: 0", PLAIN[:-1], PLAIN.replace(b"0", b"-1"), PLAIN.replace(b"0", b"x"),
        PLAIN.replace(b"0", b"2147483648"), b"version: 0\ntopic_id: " + b"A" * 22, b"\xff" + PLAIN,
    ]  # fmt: skip
    for number, data in enumerate(damaged):
        (tmp_path / f"t-{number}").mkdir()
        path = tmp_path / f"t-{number}" / FILE_NAME
        path.write_bytes(data)
        with pytest.raises(PartitionMetadataError):
            PartitionMetadata.read(path)
    answers = kafka(*(f"read\t{tmp_path}/t-{number}" for number in range(len(damaged))))
    assert [answer[0] for answer in answers] == ["err"] * len(damaged)
