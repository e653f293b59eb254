"""The metadata log beside Kafka's own readers: DumpLogSegments, and MetadataDelta."""

from __future__ import annotations

import copy
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafka_admin_proto.messages import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    RemoveUserScramCredentialRecord,
)
from kafka_admin_proto.records import Batch, Record, Replayed, replay, write_batch
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.records.metadata.records import METADATA_TOPIC, write_metadata_value
from kafka_admin_proto.records.metadata.replay import MetadataReplay
from kafka_admin_proto.records.segments.rows import segment_rows
from kafka_admin_proto.server.log.snapshots import snapshot_bytes, snapshot_name
from tests.helpers.java_tool import JavaTool
from tests.helpers.profile import EXHAUSTIVE
from tests.helpers.requirements import require_oracle
from tests.records.dumped import check_with_kafka, dumped
from tests.records.make_metadata_log import FOLDER, make
from tests.records.random_metadata import Log, random_log
from tools.kafka_releases import NEWEST
from tools.oracles.jars import fetch_runtime

#: One process answers all.
pytestmark = [pytest.mark.exhaustive, pytest.mark.xdist_group("metadata log")]

TOOL = Path(__file__).parents[2] / "java" / "MetadataImageTool.java"
#: Kafka's ScramDelta loses a user who is added in one delta with the removal of a mechanism's
#: last other user.
SPOILS_OTHERS = (RemoveUserScramCredentialRecord,)
#: What an image has no place for.
NOT_IN_IMAGES = ("voters", "zk_migration")


def test_rows_are_those_of_kafkas_own_dump() -> None:
    check_with_kafka(FOLDER)


Request = tuple[Path, int, Path | None]
Images = Callable[[Sequence[Request], str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def images() -> Iterator[Images]:
    """Kafka's image of each (folder, offset, snapshot), and its faults; modes are the tool's."""
    require_oracle()
    tool = JavaTool(TOOL, fetch_runtime(NEWEST))

    def ask(requests: Sequence[Request], mode: str) -> list[dict[str, Any]]:
        lines = []
        for folder, at, snapshot in requests:
            segments = ";".join(map(str, sorted(folder.glob("*.log"))))
            start = ("", "", "")
            if snapshot is not None:
                end, epoch = snapshot.stem.split("-")
                start = (str(snapshot), end, epoch)
            lines.append("\t".join((mode, str(at), *start, segments)))
        return [json.loads(answer) for answer in tool.ask(lines)]

    yield ask
    tool.close()


def check(replayed: Replayed, image: dict[str, Any]) -> None:
    items = replayed.state.items(mask=False)
    for kind in NOT_IN_IMAGES:
        del items[kind]
    items["features"].pop("kraft.version", None)
    for broker in items["brokers"].values():
        del broker["isMigratingZkBroker"]
    faults = image.pop("faults")
    assert items == image
    offsets = [int(re.findall(r"from offset (\d+)", fault)[0]) for fault in faults]
    assert sorted(set(offsets)) == sorted({problem.offset or 0 for problem in replayed.problems})


def compare_everywhere(folder: Path, images: Images) -> None:
    """Every offset, from the newest snapshot that Kafka would take and from the start.

    Every fifth, but in the exhaustive profile.
    """
    alone = folder.parent / "alone"
    alone.mkdir()
    for segment in folder.glob("*.log"):
        shutil.copy(segment, alone)
    last = replay(folder).state.offset
    requests: list[Request] = []
    for at in range(last, -1, -1 if EXHAUSTIVE else -5):
        snapshots = [p for p in folder.glob("*.checkpoint") if int(p.stem[:20]) <= at + 1]
        requests += [(folder, at, max(snapshots, default=None)), (alone, at, None)]
    for (where, at, _), image in zip(requests, images(requests, "batches"), strict=True):
        check(replay(where, at), image)


def test_states_are_kafkas_images(tmp_path: Path, images: Images) -> None:
    folder = tmp_path / FOLDER.name
    shutil.copytree(FOLDER, folder)
    compare_everywhere(folder, images)


@pytest.mark.explore
def test_a_new_cluster(tmp_path: Path, images: Images) -> None:
    """What is kept as data is what a cluster writes today."""
    folder = tmp_path / FOLDER.name
    make(folder)
    for path in folder.glob("*.log"):
        rows = list(segment_rows(path, METADATA_TOPIC, mask=False))
        shown = [(row["position"], row["offset"], row["fields"]) for row in rows]
        assert shown == [(row[0], row[2], row[6]) for row in dumped(folder)[path.name]]
    compare_everywhere(folder, images)


@pytest.mark.parametrize("seed", range(20 if EXHAUSTIVE else 2))
def test_random_logs_with_transactions(tmp_path: Path, images: Images, seed: int) -> None:
    """Records of all kinds, those left out that cannot be applied, as no controller writes them."""
    batches = random_log(random.Random(seed), batches=60, transactions=True)
    compare_random(tmp_path, images, without_refused(batches), "batches", seed)


@pytest.mark.parametrize("seed", range(20 if EXHAUSTIVE else 2))
def test_random_logs_with_records_that_are_refused(
    tmp_path: Path, images: Images, seed: int
) -> None:
    batches = random_log(random.Random(seed), batches=60, transactions=False)
    assert batches != without_refused(batches)
    compare_random(tmp_path, images, batches, "records", seed)


def test_snapshots_that_we_write(tmp_path: Path, images: Images) -> None:
    """Kafka's image of a snapshot of ours is the state that it was made of."""
    requests: list[Request] = []
    states = []
    for seed in range(20 if EXHAUSTIVE else 2):
        made = MetadataReplay()
        for batch in random_log(random.Random(seed), batches=60, transactions=False):
            for record, _ in batch:
                made.apply(record, made.state.offset + 1, 7)
        state = made.state
        made.apply(FeatureLevelRecord(METADATA_VERSION, 30), state.offset + 1, 7)
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = folder / snapshot_name(state.offset + 1, state.epoch)
        path.write_bytes(snapshot_bytes(state, 1, 2))
        (folder / f"{state.offset + 1:020}.log").touch()  # the tool wants a segment
        requests.append((folder, state.offset, path))
        states.append(state)
    for state, image in zip(states, images(requests, "batches"), strict=True):
        check(Replayed(state), image)


def compare_random(tmp_path: Path, images: Images, batches: Log, mode: str, seed: int) -> None:
    folder = tmp_path / FOLDER.name
    folder.mkdir()
    write_log(folder, batches)
    last = sum(map(len, batches)) - 1
    offsets = sorted({*random.Random(seed).sample(range(last), 25), last})
    answers = images([(folder, at, None) for at in offsets], mode)
    for at, image in zip(offsets, answers, strict=True):
        check(replay(folder, at), image)


def without_refused(batches: Log) -> Log:
    """Those that can be applied, in a transaction too that is aborted in the end."""
    replay = before = MetadataReplay()
    kept: Log = []
    for batch in batches:
        kept.append([])
        for message, version in batch:
            if isinstance(message, BeginTransactionRecord):
                before = copy.deepcopy(replay)
            elif isinstance(message, AbortTransactionRecord):
                replay = before
            elif isinstance(message, EndTransactionRecord):
                pass
            elif isinstance(message, SPOILS_OTHERS) or replay.apply(message, 0, 0):
                continue
            kept[-1].append((message, version))
    return [batch for batch in kept if batch]


def write_log(folder: Path, batches: Log) -> None:
    offset = 0
    with (folder / f"{0:020}.log").open("wb") as log:
        for number, messages in enumerate(batches):
            records = [
                Record(offset + index, 1000 + number, None, write_metadata_value(*message))
                for index, message in enumerate(messages)
            ]
            batch = Batch.of(records)
            batch.partition_leader_epoch = 7
            log.write(write_batch(batch))
            offset += len(records)
