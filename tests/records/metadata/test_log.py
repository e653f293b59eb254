"""Replaying a metadata log: the same state by every way, and no more lost than is damaged."""

from __future__ import annotations

import copy
import random
import shutil
import time
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.errors import MetadataLogError, MetadataReplayError
from kafka_admin_proto.messages import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EndTransactionRecord,
    FenceBrokerRecord,
    NoOpRecord,
    PartitionChangeRecord,
    ProducerIdsRecord,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    TopicRecord,
    UserScramCredentialRecord,
    ZkMigrationStateRecord,
)
from kafka_admin_proto.records.batches.batches import Batch, Record, write_batch
from kafka_admin_proto.records.batches.control import write_control_record
from kafka_admin_proto.records.metadata.cluster_state import KINDS, ClusterState, diff
from kafka_admin_proto.records.metadata.entities import Topic
from kafka_admin_proto.records.metadata.log import replay
from kafka_admin_proto.records.metadata.records import write_metadata_value
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.records.segments.segments import read_segment
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.values import Message
from tests.records.make_metadata_log import FOLDER
from tests.records.random_metadata import random_log

LOG = "00000000000000000000.log"
NEWEST = "00000000000000000076-0000000001.checkpoint"
DATA = (FOLDER / LOG).read_bytes()
LAST = 93
FOOTER = SnapshotFooterRecord()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    target = tmp_path / FOLDER.name
    shutil.copytree(FOLDER, target, copy_function=shutil.copyfile)
    return target


def write(folder: Path, *batches: tuple[int, list[tuple[Message, int]]]) -> Path:
    """A segment of batches: first offset, records with versions."""
    with (folder / f"{batches[0][0]:020}.log").open("wb") as log:
        for first, messages in batches:
            values = (write_metadata_value(*message) for message in messages)
            records = [Record(first + i, 1, None, value) for i, value in enumerate(values)]
            log.write(write_batch(Batch.of(records)))
    return folder


def topic(name: str, number: int) -> tuple[Message, int]:
    return TopicRecord(name=name, topic_id=UUID(int=number)), 0


def test_the_real_log_replays_without_problems() -> None:
    found = replay(FOLDER)
    assert (found.snapshot, found.problems, found.unfinished_since) == (NEWEST, [], None)
    assert (found.state.offset, found.state.epoch) == (LAST, 1)
    assert found.state.metadata_version == "4.3-IV0"
    assert set(found.state.items()) == set(KINDS)
    assert sorted(t.name for t in found.state.topics.values()) == ["fruit", "fungi", "nuts", "veg"]
    assert replay(FOLDER.parent).state == found.state


def test_a_snapshot_and_the_rest_are_the_whole_log(folder: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(folder / LOG, alone)
    for at in range(2, LAST + 1):  # before that only the first snapshot knows the voters
        started, whole = replay(folder, at), replay(alone, at)
        assert (started.snapshot != "", whole.snapshot) == (True, "")
        assert started.state == whole.state
        assert started.unfinished_since == whole.unfinished_since
        assert started.problems == whole.problems == []
        assert not diff(started.state, whole.state)


def test_any_split_into_segments_is_the_same_log(tmp_path: Path) -> None:
    batches = random_log(random.Random(5), 40, transactions=True)
    places = []
    offset = 0
    for batch in batches:
        places.append((offset, batch))
        offset += len(batch)
    one, many = tmp_path / "one", tmp_path / "many"
    one.mkdir()
    many.mkdir()
    write(one, *places)
    for start in range(0, len(places), 7):
        write(many, *places[start : start + 7])
    assert replay(one).state == replay(many).state
    whole, split = replay(one, offset // 2), replay(many, offset // 2)
    assert whole.state == split.state
    assert [p.text for p in whole.problems] == [p.text for p in split.problems]


def test_a_transaction_counts_when_it_has_ended(tmp_path: Path) -> None:
    begin, end, abort = (
        (BeginTransactionRecord(), 0), (EndTransactionRecord(), 0), (AbortTransactionRecord(), 0),
    )  # fmt: skip
    write(
        tmp_path,
        (0, [begin, topic("one", 1)]),
        (2, [topic("two", 2), end]),
        (4, [begin, topic("three", 3), abort]),
        (7, [topic("four", 4), begin, topic("five", 5)]),
    )

    def names(at: int) -> list[str]:
        return [each.name for each in replay(tmp_path, at).state.topics.values()]

    assert [names(at) for at in (0, 1, 2)] == [[], [], []]
    assert names(3) == names(4) == names(5) == names(6) == ["one", "two"]
    assert names(7) == names(9) == ["one", "two", "four"]
    assert [replay(tmp_path, at).unfinished_since for at in (2, 3, 5, 9)] == [0, None, 4, 8]


def test_transaction_records_out_of_order_are_problems(tmp_path: Path) -> None:
    begin = (BeginTransactionRecord(), 0)
    write(tmp_path, (0, [(EndTransactionRecord(), 0), begin, begin, topic("one", 1)]),
          (4, [(EndTransactionRecord(), 0)]))  # fmt: skip
    found = replay(tmp_path)
    assert [(p.offset, p.text) for p in found.problems] == [
        (0, "EndTransactionRecord: no transaction has begun"),
        (2, "BeginTransactionRecord: the transaction begun at offset 1 has not ended"),
    ]
    assert len(found.state.topics) == 1


@given(st.integers(0, 2**32))
def test_a_refused_record_changes_nothing(seed: int) -> None:
    replayer = MetadataReplay()
    batches = random_log(random.Random(seed), 20, transactions=False)
    refusals = 0
    for offset, (message, _) in enumerate(each for batch in batches for each in batch):
        before = copy.deepcopy(replayer.state)
        refused = replayer.apply(message, offset, 3)
        if refused:
            ((where, error),) = refused
            assert where == offset
            assert isinstance(error, MetadataReplayError)
            assert str(error).startswith(f"{message.message_name}: ")
            assert before.items(mask=False) == replayer.state.items(mask=False)
            refusals += 1
    assert refusals


def test_unknown_records_are_problems_with_their_place(tmp_path: Path) -> None:
    values = [
        write_metadata_value(*topic("one", 1)),
        b"\1\x7f\0",
        b"\1\2\x09\0",
        None,
        b"\0\0\0",
        b"",
        write_metadata_value(FenceBrokerRecord(id=7, epoch=1), 0),
        write_metadata_value(*topic("two", 2)),
    ]
    records = [Record(i, 1, None, value) for i, value in enumerate(values)]
    (tmp_path / LOG).write_bytes(write_batch(Batch.of(records)))
    found = replay(tmp_path)
    assert [problem.offset for problem in found.problems] == [1, 2, 3, 4, 5, 6]
    assert str(found.problems[0]).startswith(f"{LOG}, byte 0, offset 1: metadata record")
    assert "TopicRecord has versions 0, not 9" in found.problems[1].text
    assert found.problems[5].text == "FenceBrokerRecord: broker 7 is not registered"
    assert [each.name for each in found.state.topics.values()] == ["one", "two"]


def test_what_no_log_of_today_has() -> None:
    """Records of 3.x."""
    replayer = MetadataReplay()
    for number, name in ((1, "MIGRATION"), (2, "PRE_MIGRATION"), (99, "99")):
        assert not replayer.apply(ZkMigrationStateRecord(zk_migration_state=number), 0, 0)
        assert replayer.state.items()["zk_migration"] == {"state": {"zkMigrationState": name}}


def test_random_logs_have_records_of_all_kinds() -> None:
    """Those that Kafka's readers are compared with; it reads no ZkMigrationStateRecord any more."""
    batches = random_log(random.Random(1), 400, transactions=True)
    drawn = {each.message_name for batch in batches for each, _ in batch}
    kinds = {each for each in catalog().names() if catalog().entry(each).type == "metadata"}
    kinds = {each for each in kinds if not each.startswith("Remote")}  # of another topic
    assert drawn == kinds - {ZkMigrationStateRecord.message_name}


def test_a_gap_between_snapshot_and_segments_is_reported(folder: Path) -> None:
    (folder / LOG).unlink()
    write(folder, (80, [topic("late", 9)]))
    found = replay(folder)
    assert [str(problem) for problem in found.problems] == ["offsets 76 to 79 are missing"]
    assert "late" in [each.name for each in found.state.topics.values()]
    assert found.state.offset == 80


def test_a_log_without_its_start_is_reported(tmp_path: Path) -> None:
    write(tmp_path, (5, [topic("one", 1)]), (7, [topic("two", 2)]))
    texts = [str(problem) for problem in replay(tmp_path).problems]
    assert texts == [
        "offsets 0 to 4 are missing: no snapshot holds what they did",
        f"{5:020}.log, byte 92: offset 6 is missing",
    ]


def test_leader_epochs_that_go_back_are_reported(folder: Path) -> None:
    log = bytearray((folder / LOG).read_bytes())
    batches = [each for each in read_segment(folder / LOG) if isinstance(each, Batch)]
    log[batches[1].offset_in_data + 15] ^= 8  # no checksum covers it
    (folder / LOG).write_bytes(log)
    (problem,) = replay(folder).problems
    assert (problem.file, problem.position) == (LOG, batches[2].offset_in_data)
    assert problem.text == "leader epoch 1 comes after 9"


def test_offsets_that_go_back_are_reported_and_not_applied(tmp_path: Path) -> None:
    write(tmp_path, (0, [topic("one", 1)]), (0, [topic("two", 2)]), (1, [topic("three", 3)]))
    found = replay(tmp_path)
    (problem,) = found.problems
    assert problem.text == "base offset 0 comes after offset 0; the batch is not applied"
    assert [each.name for each in found.state.topics.values()] == ["one", "three"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "noise"])
def test_a_damaged_snapshot_gives_way_to_an_older_one(folder: Path, damage: str) -> None:
    whole = replay(folder)
    data = (folder / NEWEST).read_bytes()
    damaged = {
        "cut": data[:-75],  # without its footer
        "flipped": data[:1000] + bytes([data[1000] ^ 1]) + data[1001:],
        "empty": b"",
        "noise": b"\xff" * 99,
    }
    (folder / NEWEST).write_bytes(damaged[damage])
    found = replay(folder)
    assert found.snapshot == "00000000000000000042-0000000001.checkpoint"
    assert found.state == whole.state
    (problem,) = found.problems
    assert problem.file == NEWEST
    assert problem.text.startswith("the snapshot is not used: ")


def test_a_damaged_snapshot_is_better_than_none(folder: Path) -> None:
    for path in folder.glob("*.*"):
        if path.name != NEWEST:
            path.unlink()
    whole = replay(folder)
    data = (folder / NEWEST).read_bytes()
    (folder / NEWEST).write_bytes(data[:-75])
    found = replay(folder)
    assert found.state == whole.state
    assert [p.text for p in found.problems] == ["it ends without a SnapshotFooterRecord"]


def snapshot(folder: Path, end: int, *values: bytes) -> None:
    """A whole snapshot of the offsets before ``end``, with records of these values."""
    parts = [
        [Record(0, 1, *write_control_record("SNAPSHOT_HEADER", SnapshotHeaderRecord()))],
        [Record(1 + index, 1, None, value) for index, value in enumerate(values)],
        [Record(1 + len(values), 1, *write_control_record("SNAPSHOT_FOOTER", FOOTER))],
    ]
    with (folder / f"{end:020}-0000000001.checkpoint").open("wb") as file:
        for number, records in enumerate(parts):
            batch = Batch.of(records)
            batch.is_control = number != 1
            file.write(write_batch(batch))


def test_a_snapshot_with_an_unknown_record_is_better_than_a_gap(tmp_path: Path) -> None:
    old, new = (write_metadata_value(*topic(*each)) for each in (("old", 0), ("new", 1)))
    snapshot(tmp_path, 10, old)
    snapshot(tmp_path, 100, old, new, b"\1\x63\0")
    alone = replay(tmp_path)
    write(tmp_path, (100, [topic("late", 2)]))
    found = replay(tmp_path)
    for each, names in ((alone, {"old", "new"}), (found, {"old", "new", "late"})):
        assert each.snapshot == "00000000000000000100-0000000001.checkpoint"
        assert {topic.name for topic in each.state.topics.values()} == names
        (problem,) = each.problems
        assert problem.offset == 3
        assert problem.text == "metadata record at byte 1: no record has type 99"
    # Where the log goes on from the older one, nothing is lost with that.
    write(tmp_path, (10, [topic("new", 1), *[(NoOpRecord(), 0)] * 89]))
    found = replay(tmp_path)
    assert found.snapshot == "00000000000000000010-0000000001.checkpoint"
    assert {topic.name for topic in found.state.topics.values()} == {"old", "new", "late"}
    assert [problem.text for problem in found.problems] == [
        "the snapshot is not used: metadata record at byte 1: no record has type 99"
    ]


def test_a_snapshot_cut_short_is_worse_than_an_older_one(tmp_path: Path) -> None:
    """Nothing tells how much of it is gone."""
    snapshot(tmp_path, 10, write_metadata_value(*topic("old", 1)))
    snapshot(tmp_path, 100, b"\1\x63\0", write_metadata_value(*topic("new", 2)))
    path = tmp_path / "00000000000000000100-0000000001.checkpoint"
    path.write_bytes(path.read_bytes()[:-9])
    write(tmp_path, (100, [topic("late", 3)]))
    found = replay(tmp_path)
    assert found.snapshot == "00000000000000000010-0000000001.checkpoint"
    assert [str(problem) for problem in found.problems][1:] == ["offsets 10 to 99 are missing"]


def test_an_empty_batch_moves_the_offset(tmp_path: Path) -> None:
    """What compaction took out; and a batch may have lost its last records."""
    empty = Batch(base_offset=1, last_offset_delta=3, partition_leader_epoch=2)
    shorter = Batch.of([Record(5, 1, None, write_metadata_value(*topic("two", 2)))])
    shorter.last_offset_delta, shorter.partition_leader_epoch = 2, 3
    write(tmp_path, (0, [topic("one", 1)]))
    with (tmp_path / LOG).open("ab") as log:
        log.write(write_batch(empty))
    found = replay(tmp_path)
    assert (found.state.offset, found.state.epoch, found.problems) == (4, 2, [])
    assert [replay(tmp_path, at).state.offset for at in range(5)] == [0, 1, 2, 3, 4]
    assert replay(tmp_path, 0).state.epoch == -1
    with pytest.raises(MetadataLogError, match="at most 4"):
        replay(tmp_path, 5)
    with (tmp_path / LOG).open("ab") as log:
        log.write(write_batch(shorter))
    assert [replay(tmp_path, at).state.offset for at in (5, 6, 7, None)] == [5, 6, 7, 7]


def test_a_faulty_batch_moves_the_offset_no_further_than_its_records(tmp_path: Path) -> None:
    """What follows it is not lost to a last offset that is damaged."""
    write(tmp_path, (0, [topic("one", 1)]), (1, [topic("two", 2)]), (2, [topic("three", 3)]))
    data = bytearray((tmp_path / LOG).read_bytes())
    second = len(
        write_batch(Batch.of([Record(0, 1, None, write_metadata_value(*topic("one", 1)))]))
    )
    data[second + 24] = 1  # of last offset delta
    (tmp_path / LOG).write_bytes(data)
    found = replay(tmp_path)
    assert [each.name for each in found.state.topics.values()] == ["one", "three"]
    assert "CRC-32C" in found.problems[0].text
    assert [problem.text for problem in found.problems[1:]] == ["offset 1 is missing"]
    assert found.state.offset == 2


def test_segments_that_overlap_are_reported(tmp_path: Path) -> None:
    write(tmp_path, (0, [topic("one", 1)]), (1, [topic("two", 2), topic("three", 3)]))
    write(tmp_path, (1, [topic("other", 4)]), (2, [topic("another", 5), topic("four", 6)]))
    write(tmp_path, (4, [topic("five", 7)]))
    found = replay(tmp_path)
    (problem,) = found.problems
    assert str(problem) == (
        "00000000000000000001.log, byte 0, offset 1: offsets 1 to 2 are in the segment before, "
        "too; what this one has there is not applied"
    )
    assert [topic.name for topic in found.state.topics.values()] == [
        "one", "two", "three", "four", "five",
    ]  # fmt: skip


def test_segments_may_begin_before_the_snapshot(folder: Path) -> None:
    shutil.copy(folder / LOG, folder / "00000000000000000050.log")
    found = replay(folder)
    assert (found.snapshot, found.problems) == (NEWEST, [])


@given(st.integers(0, len(DATA)))
def test_a_log_cut_anywhere(tmp_path_factory: pytest.TempPathFactory, size: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    (folder / LOG).write_bytes(DATA[:size])
    found = replay(folder)
    assert len(found.problems) <= 1
    if found.state.offset >= 0:
        shutil.copy(FOLDER / LOG, folder / LOG)
        assert replay(folder, found.state.offset).state == found.state


@given(st.integers(0, len(DATA) - 1), st.integers(1, 255))
def test_a_byte_that_changed(
    tmp_path_factory: pytest.TempPathFactory, position: int, change: int
) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    data = bytearray(DATA)
    data[position] ^= change
    (folder / LOG).write_bytes(data)
    found = replay(folder)
    found.state.items()
    # All but the leader epoch, which nothing vouches for, makes a problem.
    same = replay(FOLDER).state.items() == found.state.items()
    assert found.problems or same


@given(st.binary(max_size=300))
def test_any_values_in_a_log(tmp_path_factory: pytest.TempPathFactory, value: bytes) -> None:
    folder = tmp_path_factory.mktemp("values")
    records = [Record(0, 1, None, value), Record(1, 1, None, b"\1" + value)]
    for control in (False, True):
        batch = Batch.of(records)
        batch.is_control = control
        (folder / LOG).write_bytes(write_batch(batch))
        replay(folder).state.items()


def test_secrets_are_masked_and_their_change_is_told() -> None:
    state, other = ClusterState(), ClusterState()
    for target, value in ((state, "opensesame"), (other, "sesame")):
        replayer = MetadataReplay(target)
        for name in ("ssl.key.password", "retention.ms"):
            record = ConfigRecord(resource_type=4, resource_name="1", name=name, value=value)
            replayer.apply(record, 0, 0)
        assert value in repr(target)  # of retention.ms
    shown = repr(diff(state, other)) + repr(state.configs)
    secret, plain = diff(state, other)[::-1]
    assert (secret.field, secret.before, secret.after) == (
        "ssl.key.password", "********", "********",
    )  # fmt: skip
    assert (plain.before, plain.after) == ("opensesame", "sesame")
    assert shown.count("opensesame") == 2
    assert diff(state, other, mask=False)[1].before == "opensesame"
    assert state.items(mask=False)["configs"]["BROKER 1"]["ssl.key.password"] == "opensesame"


def scram(user: str, iterations: int, stored_key: bytes) -> Message:
    return UserScramCredentialRecord(
        name=user, mechanism=1, salt=b"salt", stored_key=stored_key, server_key=b"server",
        iterations=iterations,
    )  # fmt: skip


@pytest.mark.parametrize("mask", [True, False])
def test_a_credential_that_was_replaced_shows_no_secret(mask: bool) -> None:
    before, after = MetadataReplay(), MetadataReplay()
    for name, keys in (("same", (b"kiwi", b"kiwi")), ("new", (b"kiwi", b"lemon"))):
        for replayer, key in zip((before, after), keys, strict=True):
            assert not replayer.apply(scram(name, 4096, key), 0, 0)
    assert not before.apply(scram("more", 4096, b"kiwi"), 0, 0)
    assert not after.apply(scram("more", 8192, b"lemon"), 0, 0)
    found = diff(before.state, after.state, mask=mask)
    assert [(c.kind, c.name, c.change, c.field, c.before, c.after) for c in found] == [
        ("scram_users", "more SCRAM-SHA-256", "changed", "iterations", 4096, 8192),
        ("scram_users", "more SCRAM-SHA-256", "changed", "credential", "********", "********"),
        ("scram_users", "new SCRAM-SHA-256", "changed", "credential", "********", "********"),
    ]
    shown = repr(before.state) + repr(found) + repr(after.state.items(mask=mask))
    digests = [user.digest for user in before.state.scram_users.values()]
    assert not any(secret in shown for secret in ("salt", "kiwi", "lemon", "server", "digest"))
    assert not any(repr(digest) in shown or digest.hex() in shown for digest in digests)
    assert after.state.items(mask=mask)["scram_users"]["new SCRAM-SHA-256"] == {"iterations": 4096}
    (gone,) = [c for c in diff(before.state, ClusterState(), mask=mask) if c.name.startswith("new")]
    assert (gone.change, gone.before) == ("removed", {"iterations": 4096})


def test_a_token_that_was_renewed() -> None:
    before, after = MetadataReplay(), MetadataReplay()
    for replayer, until in ((before, 2000), (after, 3000)):
        token = DelegationTokenRecord(
            owner="User:eve", requester="User:adam", renewers=["User:cain"], issue_timestamp=1000,
            max_timestamp=9000, expiration_timestamp=until, token_id="apple",
        )  # fmt: skip
        assert not replayer.apply(token, 0, 0)
    assert before.state.items()["delegation_tokens"] == {
        "apple": {
            "owner": "User:eve", "requester": "User:adam", "renewers": ["User:cain"],
            "issueTimestamp": 1000, "expirationTimestamp": 2000, "maxTimestamp": 9000,
        }
    }  # fmt: skip
    (change,) = diff(before.state, after.state)
    assert (change.kind, change.name, change.field, change.before, change.after) == (
        "delegation_tokens", "apple", "expirationTimestamp", 2000, 3000,
    )  # fmt: skip


def test_many_topics_of_one_name() -> None:
    """Each is an item of its own, and their number costs no more than itself."""
    count = 30_000
    ids = [UUID(int=number + 1) for number in range(count)]
    state = ClusterState(topics={each: Topic("a", each) for each in ids})
    state.topics[UUID(int=count + 1)] = Topic("a (3)", UUID(int=count + 1))
    before = time.thread_time()
    topics = state.items()["topics"]
    assert time.thread_time() - before < 5
    assert len(topics) == count + 1
    assert list(topics)[:4] == ["a", "a (2)", "a (3)", "a (4)"]
    assert "a (3) (2)" in topics


def test_changes_by_kind_and_name() -> None:
    before, after = replay(FOLDER, 64).state, replay(FOLDER, 67).state
    changes = [(c.change, c.kind, c.name, c.field) for c in diff(before, after)]
    assert ("changed", "topics", "nuts", "topicId") in changes
    assert ("removed", "partitions", "nuts-1", "") in changes
    assert ("removed", "configs", "TOPIC nuts", "") in changes
    assert {c[1] for c in changes} == {"topics", "partitions", "configs"}
    assert not diff(before, before)


def test_leaders_and_epochs() -> None:
    """-2 leaves the leader alone; any other leader, the same one too, makes a new epoch."""
    replayer = MetadataReplay(replay(FOLDER, 64).state)
    state = replayer.state
    fruit = next(each for each in state.topics.values() if each.name == "fruit")
    for leader, epochs in ((-2, (0, 1)), (2, (1, 2)), (2, (2, 3)), (-1, (3, 4))):
        record = PartitionChangeRecord(partition_id=0, topic_id=fruit.id, leader=leader)
        assert not replayer.apply(record, 0, 0)
        partition = fruit.partitions[0]
        assert (partition.leader_epoch, partition.partition_epoch) == epochs
    assert (partition.leader, partition.isr) == (-1, [2, 1])


def test_offsets_that_the_folder_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(MetadataLogError, match="does not reach offset 94; expected at most 93"):
        replay(FOLDER, 94)
    with pytest.raises(MetadataLogError, match="no offset -1"):
        replay(FOLDER, -1)
    with pytest.raises(MetadataLogError, match="holds no segments"):
        replay(tmp_path)
    with pytest.raises(MetadataLogError, match="holds no segments"):
        replay(tmp_path / "nowhere")
    write(tmp_path, (50, [(ProducerIdsRecord(next_producer_id=5), 0)]))
    with pytest.raises(MetadataLogError, match="offset 7 is before the log's start; expected 50"):
        replay(tmp_path, 7)
