"""A log that was cut, damaged or killed at any byte is opened with all that it had, or refused."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import stat
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import kept_files
from kafka_admin_proto.errors import MetadataLogError
from kafka_admin_proto.messages import FeatureLevelRecord
from kafka_admin_proto.records.metadata.log import FOLDER_NAME, replay
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.log import files
from kafka_admin_proto.server.log.opening import node_folders
from kafka_admin_proto.server.log.settings import log_settings
from kafka_admin_proto.server.log.snapshots import Snapshot
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.values import Message
from tests.helpers.profile import SEED, draws
from tests.server.log.stored import SMALL, Load, NoDisk, Topics, stored, topics_of

#: Writes of a round take about this many bytes and steps.
_ROUND = 12_000


class Killed(BaseException):
    """The process ended here."""


class KilledOs(NoDisk):
    """``os`` until a number of bytes is written and steps are done; then nothing happens to files.

    What was written before is there: the system outlives the process.
    """

    def __init__(self, left: int) -> None:
        self._left = left

    def write(self, file: int, data: memoryview) -> int:
        written = os.write(file, data[: max(self._left, 0)]) if self._left > 0 else 0
        self._left -= max(written, 1)
        if written < len(data):
            raise Killed
        return written

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name not in ("replace", "unlink", "ftruncate", "open", "fchmod"):
            return found

        def step(*arguments: Any, **options: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise Killed
            return found(*arguments, **options)

        return step


async def change(folder: Path, brokers: int, load: Load, steps: int) -> None:
    async with stored(folder, brokers) as state:
        load.found(topics_of(state.cluster))
        for _ in range(steps):
            load.change(state)


def segments(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER_NAME).glob("*.log"))


@given(
    seed=st.integers(0, 1 << 30),
    brokers=st.sampled_from((1, 1, 3)),
    kills=st.lists(st.integers(0, _ROUND), min_size=1, max_size=3),
)
@settings(max_examples=draws(64))
def test_killed_at_any_byte_of_any_file(
    tmp_path_factory: pytest.TempPathFactory, seed: int, brokers: int, kills: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("killed")
    load = Load(random.Random(seed))
    for left in kills:
        with pytest.MonkeyPatch.context() as patch:
            killed = KilledOs(left * brokers)
            patch.setattr(files, "os", killed)
            patch.setattr(kept_files, "os", killed)
            with contextlib.suppress(Killed):
                asyncio.run(change(folder, brokers, load, 30))
    asyncio.run(change(folder, brokers, load, 3))
    for node in node_folders(folder, brokers):
        replayed = replay(node)
        assert not replayed.problems
        assert topics_of(replayed.state) == load.acknowledged
        assert replayed.state.features["metadata.version"] == 33
        kept = Snapshot.in_folder(node / FOLDER_NAME)
        assert int(segments(node)[0].stem) <= min((each.end for each in kept), default=0)
        assert all(each.is_whole() for each in kept)


class Step(NamedTuple):
    """After a change: the log's end, its last segment and that one's size, and the topics."""

    end: int
    segment: str
    size: int
    topics: Topics


def grown(folder: Path, seed: int, steps: int, **configs: str) -> list[Step]:
    """A log that changes were written to."""
    load, found = Load(random.Random(seed)), []

    async def grow() -> None:
        async with stored(folder, configs=configs) as state:
            for _ in range(steps):
                load.change(state)
                last = segments(folder)[-1]
                size = last.stat().st_size
                found.append(Step(state.end_offset, last.name, size, load.acknowledged))

    asyncio.run(grow())
    return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Step]]:
    """A log of many changes; copy it."""
    folder = tmp_path_factory.mktemp("kept")
    return folder, grown(folder, SEED, 60)


def opened(folder: Path) -> Topics:
    """The topics of the cluster in the folder. Raises MetadataLogError."""

    async def look() -> Topics:
        async with stored(folder) as state:
            return topics_of(state.cluster)

    return asyncio.run(look())


@given(cut=st.floats(0, 1))
@settings(max_examples=draws(80))
def test_what_was_written_before_the_cut_is_there(
    tmp_path_factory: pytest.TempPathFactory, kept: tuple[Path, list[Step]], cut: float
) -> None:
    folder = tmp_path_factory.mktemp("cut") / "data"
    shutil.copytree(kept[0], folder)
    last = segments(folder)[-1]
    size = int(last.stat().st_size * cut)
    os.truncate(last, size)
    covered = Snapshot.in_folder(folder / FOLDER_NAME)[-1].end
    there = [step.topics for step in kept[1]
             if step.segment != last.name or step.size <= size or step.end <= covered]  # fmt: skip
    assert opened(folder) == there[-1]


@given(
    which=st.floats(0, 1, exclude_max=True),
    where=st.floats(0, 1, exclude_max=True),
    bit=st.integers(0, 7),
)
@settings(max_examples=draws(240))
def test_a_flipped_bit_is_no_silent_loss(
    tmp_path_factory: pytest.TempPathFactory,
    kept: tuple[Path, list[Step]],
    which: float,
    where: float,
    bit: int,
) -> None:
    folder = tmp_path_factory.mktemp("flipped") / "data"
    shutil.copytree(kept[0], folder)
    snapshots = [each.path for each in Snapshot.in_folder(folder / FOLDER_NAME)]
    paths = [*segments(folder), *snapshots]
    path = paths[int(which * len(paths))]
    data = bytearray(path.read_bytes())
    data[int(where * len(data))] ^= 1 << bit
    path.chmod(0o600)
    path.write_bytes(data)
    try:
        # The last batch, which may look cut short, is of the cluster's end.
        assert opened(folder) == kept[1][-1].topics
    except MetadataLogError as error:
        assert FOLDER_NAME in str(error)


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_no_file_gives_what_the_umask_takes_away(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        asyncio.run(change(tmp_path / "data", 2, Load(random.Random(1)), 60))
    finally:
        os.umask(before)
    modes = {each: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.rglob("*")}
    assert not [each for each, mode in modes.items() if mode & umask]
    snapshots = [mode for each, mode in modes.items() if each.suffix == ".checkpoint"
                 and each.name != "bootstrap.checkpoint"]  # fmt: skip
    assert snapshots
    assert set(snapshots) == {0o444 & ~umask}, "a snapshot is written once"


@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=draws(16))
def test_the_replay_is_the_state_that_served(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder, load = tmp_path_factory.mktemp("served"), Load(random.Random(seed))

    async def serve() -> None:
        async with stored(folder) as state:
            for _ in range(8):
                for _ in range(5):
                    load.change(state)
                replayed = replay(folder)
                assert not replayed.problems
                assert replayed.state.compared() == state.cluster.compared()
                assert replayed.state.offset == state.cluster.offset

    asyncio.run(serve())
    assert Snapshot.in_folder(folder / FOLDER_NAME)


def test_the_snapshot_before_a_damaged_one_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    topics = grown(tmp_path, 1, 60)[-1].topics
    before, newest = Snapshot.in_folder(tmp_path / FOLDER_NAME)[-2:]
    newest.path.chmod(0o600)
    os.truncate(newest.path, newest.path.stat().st_size - 1)
    assert opened(tmp_path) == topics
    assert f"{newest.path}: the snapshot is not used" in caplog.text
    kept = Snapshot.in_folder(tmp_path / FOLDER_NAME)
    assert before in kept
    assert newest not in kept
    assert newest.path.with_name(newest.path.name + ".damaged").exists()


def test_a_log_whose_only_snapshot_is_damaged_is_refused(tmp_path: Path) -> None:
    grown(tmp_path, 1, 60, **{"metadata.max.retention.bytes": "0"})
    (only,) = Snapshot.in_folder(tmp_path / FOLDER_NAME)
    assert int(segments(tmp_path)[0].stem) > 0
    only.path.chmod(0o600)
    os.truncate(only.path, only.path.stat().st_size // 2)
    for _ in range(2):
        with pytest.raises(MetadataLogError, match=f"does not read: {only.path.name}"):
            opened(tmp_path)


def test_a_snapshot_alone_is_a_log(tmp_path: Path) -> None:
    steps = grown(tmp_path, 1, 60)
    newest = Snapshot.in_folder(tmp_path / FOLDER_NAME)[-1]
    (topics,) = [step.topics for step in steps if step.end == newest.end]
    for path in segments(tmp_path):
        path.unlink()
    assert opened(tmp_path) == topics
    assert int(segments(tmp_path)[0].stem) == newest.end


def test_old_segments_and_snapshots_go_as_new_ones_cover_them(tmp_path: Path) -> None:
    grown(tmp_path, 1, 100)
    kept = Snapshot.in_folder(tmp_path / FOLDER_NAME)
    files_kept = [*segments(tmp_path), *(each.path for each in kept)]
    newest = kept[-1].path.stat().st_size + segments(tmp_path)[-1].stat().st_size
    assert len(segments(tmp_path)) > 1
    assert 0 < int(segments(tmp_path)[0].stem) <= kept[0].end
    assert sum(path.stat().st_size for path in files_kept) <= max(6000, newest) + 3000


def test_a_node_that_lost_its_folder_gets_it_from_another(tmp_path: Path) -> None:
    load = Load(random.Random(1))
    asyncio.run(change(tmp_path, 3, load, 40))
    assert int(segments(tmp_path / "1")[0].stem) > 0
    shutil.rmtree(tmp_path / "2")
    asyncio.run(change(tmp_path, 3, load, 0))
    assert topics_of(replay(tmp_path / "2").state) == load.acknowledged
    assert segments(tmp_path / "2")[-1].read_bytes() != b""


def test_nodes_whose_logs_differ_are_refused(tmp_path: Path) -> None:
    asyncio.run(change(tmp_path, 3, Load(random.Random(1)), 5))
    log = segments(tmp_path / "3")[-1]
    data = bytearray(log.read_bytes())
    data[15] ^= 1  # the epoch of a batch, which no checksum covers
    log.write_bytes(data)
    with pytest.raises(MetadataLogError, match="differ at offset"):
        asyncio.run(change(tmp_path, 3, Load(random.Random(1)), 0))


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    async def both() -> None:
        async with stored(tmp_path):
            with pytest.raises(MetadataLogError, match="in use by another"):
                async with stored(tmp_path):
                    raise AssertionError

    asyncio.run(both())
    opened(tmp_path)


@pytest.mark.parametrize("level", [7, 12, 17, 21])
def test_a_cluster_of_an_older_release_goes_on(tmp_path: Path, level: int) -> None:
    load = Load(random.Random(1))

    async def serve(records: list[Message]) -> None:
        async with stored(tmp_path) as state:
            state.append(records)
            for _ in range(30):
                load.change(state)

    asyncio.run(serve([FeatureLevelRecord(METADATA_VERSION, level)]))
    asyncio.run(serve([]))
    assert Snapshot.in_folder(tmp_path / FOLDER_NAME)
    replayed = replay(tmp_path)
    assert not replayed.problems
    assert replayed.state.features[METADATA_VERSION] == level
    assert topics_of(replayed.state) == load.acknowledged


def test_a_newer_cluster_than_the_release_is_refused(tmp_path: Path) -> None:
    grown(tmp_path, 1, 1)

    async def look() -> None:
        async with Cluster(data=tmp_path, release="3.9"):
            raise AssertionError

    for _ in range(2):
        with pytest.raises(MetadataLogError, match=r"4\.4-IV2, which Kafka 3\.9 does not know"):
            asyncio.run(look())


@pytest.mark.parametrize(
    ("release", "configs", "text"),
    [
        ("4.3", {"metadata.log.segment.bytes": "1024"}, "at least 8388608"),
        ("4.3", {"metadata.log.max.record.bytes.between.snapshots": "many"}, "Not a number"),
        ("3.9", {"metadata.log.segment.bytes": "1024"}, "below 8388608: 1024"),
    ],
)
def test_a_config_that_kafka_refuses(release: str, configs: dict[str, str], text: str) -> None:
    with pytest.raises(MetadataLogError, match=text) as refused:
        log_settings(configs, ReleaseNumber.parse(release))
    assert next(iter(configs)) in str(refused.value)


def test_small_segments_of_each_release() -> None:
    assert log_settings(SMALL, ReleaseNumber(4, 3)).segment_bytes == 1200
    least = {"metadata.log.segment.min.bytes": "99", "metadata.log.segment.bytes": "100"}
    assert log_settings(least, ReleaseNumber(3, 9)).segment_bytes == 100
    assert log_settings({}, ReleaseNumber(3, 9)) == log_settings({}, ReleaseNumber(4, 3))
