"""Damaged bytes in the files of the coordinators' logs, whose next start has all that is whole.

A log that cannot be opened is refused with a sentence; of one that can, what is lost has a line,
and no request fails.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.records import Batch, read_segment
from kafka_admin_proto.records.segments.known_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafka_admin_proto.server.partitions.compaction import compact
from kafka_admin_proto.server.partitions.disk.log_dir import LogDir
from tests.helpers.profile import draws
from tests.server.coordination.coordinators import TOPICS, Asked, Lines, changes, filled, seen

#: What becomes of a batch of a log; numbers decide which one, and where.
_DAMAGE = ("flipped", "flipped", "cut", "doubled", "missing", "swapped", "zeros")


@pytest.fixture(scope="module", params=["stopped", "killed"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A cluster that has ended, and the folder of its logs; copy it."""
    folder = tmp_path_factory.mktemp("coordinators") / request.param
    ask = filled(folder)
    if request.param == "stopped":
        ask.state.partitions.close(1)
    else:
        shutil.copytree(folder, folder.with_name("copied"))
        ask.state.partitions.close(1)
        folder = folder.with_name("copied")
    return ask, folder


def start(ask: Asked, folder: Path) -> LogDir:
    """Let the coordinators of the cluster load the logs in a folder. Raises KeptFileError."""
    found = LogDir(folder, lambda _, call: call())
    try:
        for name, number, topic_id in list(found.partitions()):
            topic = ask.state.topic(name)
            assert topic is not None
            assert topic_id is not None
            replicas = ask.state.partitions.log(topic, number)
            now_ms = ask.state.clock.now_ms()
            replicas.log = found.open(name, number, topic_id, replicas.log.settings, now_ms)
            replicas.log.high_watermark = replicas.log.end_offset
        found.begin()
    except BaseException:
        found.release()
        raise
    ask.load_again()
    return found


def answers_of(ask: Asked, folder: Path) -> list[Any]:
    with closing(start(ask, folder)):
        return seen(ask)


@contextmanager
def closing(found: LogDir) -> Iterator[None]:
    try:
        yield
    finally:
        found.release()


def damaged(data: bytes, path: Path, kind: str, which: int, where: int) -> bytes:
    """The bytes of a segment, of which one batch is damaged."""
    batches = [each for each in read_segment(path) if isinstance(each, Batch)]
    ends = [(each.offset_in_data, each.offset_in_data + each.size) for each in batches]
    first, end = ends[which % len(ends)]
    second = ends[(which + 1) % len(ends)]
    at = first + where % (end - first)
    match kind:
        case "flipped":
            return data[:at] + bytes([data[at] ^ (1 << which % 8)]) + data[at + 1 :]
        case "cut":
            return data[:at]
        case "doubled":
            return data[:end] + data[first:end] + data[end:]
        case "missing":
            return data[:first] + data[end:]
        case "zeros":
            return data[:at] + bytes(end - at) + data[end:]
    if second[0] < end:
        return data
    return data[:first] + data[second[0] : second[1]] + data[first:end] + data[second[1] :]


@settings(max_examples=draws(80), deadline=None)
@given(
    topic=st.sampled_from(TOPICS),
    segment=st.integers(0, 9),
    kind=st.sampled_from(_DAMAGE),
    which=st.integers(0, 99),
    where=st.integers(0, 999),
)
def test_what_is_lost_of_a_damaged_log_has_a_line(
    kept: tuple[Asked, Path],
    tmp_path_factory: pytest.TempPathFactory,
    topic: str, segment: int, kind: str, which: int, where: int,
) -> None:  # fmt: skip
    ask, whole = kept
    folder = shutil.copytree(whole, tmp_path_factory.mktemp("damaged") / "data")
    logs = sorted((folder / f"{topic}-0").glob("*.log"))
    path = logs[segment % len(logs)]
    path.write_bytes(damaged(path.read_bytes(), path, kind, which, where))
    try:
        with Lines() as lines:
            found = start(ask, folder)
    except KeptFileError as error:
        assert str(path.parent) in str(error)
        return
    with closing(found):
        answers = seen(ask)
        for each in changes(ask):
            ask(*each)
    if not (lines.found or found.notes or kind in ("missing", "cut")):
        assert answers == answers_of(ask, shutil.copytree(whole, folder.with_name("whole")))


def flipped(folder: Path, place: int, byte: int) -> tuple[Path, list[int]]:
    """Flip a byte of the batch that segments of the groups' log begin with; the offsets of it."""
    path = sorted((folder / f"{CONSUMER_OFFSETS}-0").glob("*.log"))[place]
    first = next(each for each in read_segment(path) if isinstance(each, Batch))
    data = bytearray(path.read_bytes())
    data[byte % first.size] ^= 1
    path.write_bytes(data)
    return path, [first.base_offset, first.last_offset]


@pytest.mark.parametrize("kept", ["stopped"], indirect=True)
def test_what_is_behind_a_damaged_batch_is_there(kept: tuple[Asked, Path], tmp_path: Path) -> None:
    ask, whole = kept
    expected = answers_of(ask, shutil.copytree(whole, tmp_path / "whole"))
    folder = shutil.copytree(whole, tmp_path / "data")
    _, (first, last) = flipped(folder, 0, -1)
    with Lines() as lines:
        found = answers_of(ask, folder)
    (line,) = lines.found
    assert line.startswith(
        f"{CONSUMER_OFFSETS}-0: the batch of the offsets {first} to {last} is damaged, and "
        "the coordinator goes on without it: "
    )
    assert found == expected  # a later commit is behind it


@pytest.mark.parametrize("kept", ["stopped"], indirect=True)
def test_a_log_with_a_damaged_batch_is_not_compacted(
    kept: tuple[Asked, Path], tmp_path: Path
) -> None:
    ask, whole = kept
    folder = shutil.copytree(whole, tmp_path / "data")
    path, _ = flipped(folder, 1, -1)
    logs = {each: each.read_bytes() for each in path.parent.glob("*.log")}
    with Lines() as lines, closing(start(ask, folder)):
        before = seen(ask)
        for name in (CONSUMER_OFFSETS, TRANSACTION_STATE):
            log = ask.log(name)
            log.settings = msgspec.structs.replace(log.settings, min_cleanable_dirty_ratio=0.0)
            sizes = [log.size_bytes]
            for _ in range(2):
                compact(log, ask.state.clock.now_ms())
                sizes.append(log.size_bytes)
            assert (sizes[1] < sizes[0]) == (name == TRANSACTION_STATE)
        ask.load_again()
        assert seen(ask) == before
    (line,) = (each for each in lines.found if "compacted" in each)
    assert line.startswith(f"{CONSUMER_OFFSETS}-0 is not compacted any more, since a batch is dam")
    assert {each: each.read_bytes() for each in path.parent.glob("*.log")} == logs


@pytest.mark.parametrize("kept", ["stopped"], indirect=True)
def test_a_compacted_log_is_the_same_state(kept: tuple[Asked, Path], tmp_path: Path) -> None:
    ask, whole = kept
    with closing(start(ask, shutil.copytree(whole, tmp_path / "data"))):
        before = seen(ask)
        for name in TOPICS:
            log = ask.log(name)
            log.settings = msgspec.structs.replace(log.settings, min_cleanable_dirty_ratio=0.0)
            compact(log, ask.state.clock.now_ms())
        ask.load_again()
        assert seen(ask) == before
    assert answers_of(ask, tmp_path / "data") == before
