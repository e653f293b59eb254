"""What KIP-516's text asks of a broker, one rule after the other, on a broker alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from kafka_admin_proto import AlterReplicaLogDirsRequest as Alter
from kafka_admin_proto.errors import PartitionMetadataError
from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.messages import kip_516
from kafka_admin_proto.records.batches.batches import read_batches
from kafka_admin_proto.records.segments.partition_metadata import FILE_NAME
from kafka_admin_proto.schema.scalars import ZERO_UUID
from kafka_admin_proto.simulation.broker import Disk, FolderDisk
from kafka_admin_proto.simulation.rules import SHIPPED, TEXT
from tests.simulation.broker.alone import FULL, ME, OTHER, Alone

ID0, ID1 = UUID(int=0xA0), UUID(int=0xA1)


@pytest.fixture(params=["memory", "folders"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    if request.param == "memory":
        return Disk(("d1", "d2"))
    return FolderDisk([tmp_path / "d1", tmp_path / "d2"])


def values(found: int | bytes) -> list[bytes | None]:
    """The records' values; an error code is a failure."""
    assert isinstance(found, bytes), found
    return [record.value for batch in read_batches(found) for record in batch.records]


def test_links_are_not_followed(tmp_path: Path) -> None:
    disk = FolderDisk([tmp_path / "d"])
    (victim := tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "d" / "linked-0").symlink_to(tmp_path / "folder")
    disk.make(disk.log_dirs[0], "a-0")
    link = tmp_path / "d" / "a-0" / FILE_NAME
    link.symlink_to(victim)
    with pytest.raises(KeptFileError):
        disk.read(disk.log_dirs[0], "a-0", FILE_NAME)
    disk.write(disk.log_dirs[0], "a-0", FILE_NAME, b"over")
    with pytest.raises(KeptFileError):
        disk.write(disk.log_dirs[0], "linked-0", FILE_NAME, b"over")
    assert (victim.read_bytes(), disk.read(disk.log_dirs[0], "a-0", FILE_NAME)) == (
        b"mine",
        b"over",
    )
    assert disk.names(disk.log_dirs[0]) == ["a-0"]
    assert list((tmp_path / "folder").iterdir()) == []


def test_a_first_leader_and_isr_writes_the_file(disk: Disk) -> None:
    """t80: the log's folder has the file from its beginning."""
    alone = Alone(TEXT, disk)
    assert alone.lead("a", version=5, topic_id=ID0) == 0
    assert alone.folders == [("live", "a", ID0)]


def test_a_missing_file_is_written_when_the_id_comes(disk: Disk) -> None:
    """t96: a log from before the bump takes the id."""
    alone = Alone(TEXT, disk)
    assert alone.lead("a", ZERO_UUID) == 0
    assert alone.folders == [("live", "a", None)]
    assert alone.lead("a", ID0) == 0  # at the same leader epoch
    assert alone.folders == [("live", "a", ID0)]
    assert alone.lead("a", ID0) == TEXT.stale_leader_epoch


def test_an_unequal_id_goes_to_the_deleting_folder(disk: Disk) -> None:
    """t67–t75, t96: no record of id0 is read as one of id1."""
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0, 7)
    alone.know("a", ID0)
    assert alone.write("a", b"old") == 0
    assert alone.lead("a", ID1, 0) == 0  # another topic's epochs do not count
    assert alone.folders == [("deleting", "a", ID0), ("live", "a", ID1)]
    alone.know("a", ID1)
    assert values(alone.read("a")) == []
    assert values(alone.read(ID1)) == []
    assert alone.read(ID0) == TEXT.fetch_of_unknown_id
    alone.context.advance(TEXT.deleting_delay_ms)
    assert alone.folders == [("live", "a", ID1)]


def test_shipped_refuses_an_unequal_id(disk: Disk) -> None:
    alone = Alone(SHIPPED, disk)
    alone.lead("a", ID0)
    assert alone.lead_many([("a", ID1, 9), ("b", ID0, 1)]) == [103, 0]
    assert alone.folders == [("live", "a", ID0), ("live", "b", ID0)]


def test_a_deleting_folder_is_emptied_after_a_restart(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0)
    assert alone.stop_by_id(ID0) == 0
    alone.context.advance(TEXT.deleting_delay_ms - 1)
    alone.restart()
    assert alone.folders == [("deleting", "a", ID0)]
    alone.context.advance(TEXT.deleting_delay_ms)
    assert alone.folders == []


def test_full_reconciles_what_it_does_not_name(disk: Disk) -> None:
    """t53: what FULL does not name is stale."""
    alone = Alone(TEXT, disk)
    alone.lead_many([("gone", ID0, 1), ("kept", ID1, 1)])
    alone.restart()
    assert alone.lead("kept", ID1, kind=FULL) == 0
    assert alone.folders == [("deleting", "gone", ID0), ("live", "kept", ID1)]


def test_full_that_names_a_topic_made_again(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0)
    alone.restart()
    assert alone.lead("a", ID1, 0, kind=FULL) == 0
    assert alone.folders == [("deleting", "a", ID0), ("live", "a", ID1)]


def test_incremental_reconciles_nothing(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0)
    alone.restart()
    alone.lead("b", ID1)
    assert alone.folders == [("live", "a", ID0), ("live", "b", ID1)]


@pytest.mark.parametrize(("migration", "kraft"), [(False, True), (True, False), (True, True)])
def test_shipped_reconciles_while_migrating_only(disk: Disk, migration: bool, kraft: bool) -> None:
    alone = Alone(SHIPPED, disk, migration=migration)
    alone.lead("gone", ID0)
    alone.lead("kept", ID1, 2, kind=FULL, version=7, kraft=kraft)
    stray = migration and kraft
    assert alone.folders[0 if not stray else 1] == ("stray" if stray else "live", "gone", ID0)
    alone.context.advance(10 * SHIPPED.deleting_delay_ms)
    assert len(alone.folders) == 2


def test_the_first_update_of_a_controller_has_all_topics(disk: Disk) -> None:
    """t19, t53: topics that it lacks are forgotten."""
    text, shipped = Alone(TEXT, disk), Alone(SHIPPED, disk)
    for alone, left in ((text, ["b", "c"]), (shipped, ["a", "b", "c"])):
        alone.know("a", ID0)
        alone.know("b", ID1, controller_epoch=2)
        alone.know("c", UUID(int=0xA2), controller_epoch=2)
        assert alone.topic_ids == left


def test_a_deletion_of_an_unknown_topic(disk: Disk) -> None:
    for rules, left in ((TEXT, []), (SHIPPED, ["a"])):
        alone = Alone(rules, disk)
        alone.know("a", ID0, leader=-2)
        assert alone.topic_ids == left


def test_ids_are_read_back(disk: Disk) -> None:
    """t94: leader epochs are not on the disk."""
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0, 5)
    alone.know("a", ID0)
    alone.write("a", b"1", b"2")
    alone.restart()
    assert alone.read(ID0) != b""
    assert alone.lead("a", ID0, 3) == 0  # leader epochs are not on the disk
    alone.know("a", ID0)
    assert values(alone.read(ID0)) == [b"1", b"2"]


def test_a_file_that_does_not_read_ends_the_start(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0)
    (folder,) = disk.folders()
    disk.write(folder.log_dir, folder.name, FILE_NAME, b"version: 0\ntopic_id: nonsense")
    with pytest.raises(PartitionMetadataError):
        alone.restart()


def test_stop_by_id_spares_the_topic_made_again(disk: Disk) -> None:
    """t47: the topic made again has another id."""
    alone = Alone(TEXT, disk)
    alone.lead("a", ID1)
    assert alone.stop_by_id(ID0) == TEXT.stop_unknown
    assert alone.folders == [("live", "a", ID1)]
    assert alone.stop_by_id(ID1) == 0
    assert alone.folders == [("deleting", "a", ID1)]


def test_stop_by_name_does_not(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.lead("a", ID1)
    assert alone.stop("a") == 0
    assert alone.folders == [("deleting", "a", ID1)]


def test_stop_of_a_lower_leader_epoch_and_without_delete(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.lead("a", ID1, 5)
    assert alone.stop("a", 4) == TEXT.stop_fenced
    assert alone.stop("a", 5, delete=False) == 0
    assert alone.folders == [("live", "a", ID1)]


def test_stale_epochs_are_refused(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    assert alone.lead("a", ID0, 5, controller_epoch=3) == 0
    assert alone.lead("a", ID0, 6, controller_epoch=2) == TEXT.stale_controller_epoch
    assert alone.lead("a", ID0, 4, controller_epoch=3) == TEXT.stale_leader_epoch
    assert alone.lead("b", ID1, replicas=[OTHER], controller_epoch=3) == TEXT.not_a_replica
    careless = Alone(replace(TEXT, epochs_compared=False), Disk())
    careless.lead("a", ID0, 5, controller_epoch=3)
    assert careless.lead("a", ID0, 4, controller_epoch=2) == 0


def test_the_broker_epoch_is_that_of_this_life(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.broker.broker_epoch = 20
    body = kip_516.StopReplicaRequest(broker_epoch=19)
    answer = alone.ask(body, 4)
    assert isinstance(answer, kip_516.StopReplicaResponse)
    assert answer.error_code == TEXT.stale_broker_epoch


def test_stale_reads_are_not_answered(disk: Disk) -> None:
    """t57–t65: a broker that has not heard of the new topic is asked by its id."""
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0)
    alone.know("a", ID0)
    alone.write("a", b"old")
    assert values(alone.read(ID0)) == [b"old"]
    assert alone.read(ID1) == TEXT.fetch_of_unknown_id
    alone.know("a", ID1)  # UpdateMetadata is here, LeaderAndIsr is not
    assert alone.read(ID1) == TEXT.fetch_of_unequal_id
    for at in (-1, -2):
        assert offset_by_id(alone, ID1, at)[0] == TEXT.fetch_of_unequal_id
        assert offset_by_id(alone, ID0, at)[0] == 0
    assert epoch_end_by_id(alone, ID1)[0] == TEXT.fetch_of_unequal_id
    assert epoch_end_by_id(alone, ID0) == (0, 1)


def offset_by_id(alone: Alone, topic_id: UUID, timestamp: int) -> tuple[int, int]:
    asked = kip_516.ListOffsetsRequest
    partition = asked.Partition(0, -1, timestamp)
    answer = alone.ask(asked(-1, topics=[asked.Topic(topic_id, [partition])]), 6)
    assert isinstance(answer, kip_516.ListOffsetsResponse)
    row = answer.topics[0].partitions[0]
    return row.error_code, row.offset


def epoch_end_by_id(alone: Alone, topic_id: UUID) -> tuple[int, int]:
    asked = kip_516.OffsetForLeaderEpochRequest
    partition = asked.Partition(0, -1, 1)
    answer = alone.ask(asked(OTHER, topics=[asked.Topic(topic_id, [partition])]), 4)
    assert isinstance(answer, kip_516.OffsetForLeaderEpochResponse)
    row = answer.topics[0].partitions[0]
    return row.error_code, row.end_offset


def test_a_move_carries_the_file(disk: Disk) -> None:
    """t248: with the same id."""
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0)
    alone.know("a", ID0)
    alone.write("a", b"1")
    (before,) = disk.folders()
    target = next(each for each in disk.log_dirs if each != before.log_dir)
    row = Alter.AlterReplicaLogDir(target, [Alter.AlterReplicaLogDirTopic("a", [0])])
    alone.ask(Alter([row]), 2)
    assert alone.folders == [("future", "a", ID0), ("live", "a", ID0)]
    alone.context.advance(0)
    after = next(each for each in disk.folders() if each.kind == "live")
    assert (after.log_dir, after.topic_id) == (target, ID0)
    assert values(alone.read(ID0)) == [b"1"]
    alone.write("a", b"2")
    alone.restart()
    assert [record.value for record in disk.records(after)] == [b"1", b"2"]


def test_a_crash_amid_a_move_loses_the_copy_only(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.lead("a", ID0)
    (before,) = disk.folders()
    target = next(each for each in disk.log_dirs if each != before.log_dir)
    row = Alter.AlterReplicaLogDir(target, [Alter.AlterReplicaLogDirTopic("a", [0])])
    alone.ask(Alter([row]), 2)
    alone.restart()
    assert disk.folders() == [before]


def test_a_follower_asks_by_id(disk: Disk) -> None:
    alone = Alone(TEXT, disk)
    alone.know("a", ID0)
    assert alone.lead("a", ID0, leader=OTHER, replicas=[ME, OTHER]) == 0
    alone.context.advance(0)
    ((node, body, version, _),) = alone.context.sent
    assert (node, body.message_name, version) == (OTHER, "FetchRequest", 13)
