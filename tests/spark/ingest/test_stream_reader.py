"""Which files a stream reads, and that each is read once: the reader alone, without Spark's."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.sql.streaming.datasource import ReadMaxFiles

from kafka_admin_proto.spark.ingest import file_log
from kafka_admin_proto.spark.ingest.file_log import FileLog
from kafka_admin_proto.spark.ingest.source import KafkaCapture
from kafka_admin_proto.spark.ingest.stream_reader import FileTask, StreamReader
from kafka_admin_proto.tables.ingest import files
from kafka_admin_proto.tables.ingest.packets import PACKETS
from kafka_admin_proto.tables.ingest.unopened import Unopened, unopened_problem
from tests.capture.packets import conversation, pcap
from tests.capture.test_captures import USUAL

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
PACKETS_OF_ONE = len(conversation(USUAL))


def capture(number: int) -> bytes:
    """Captures whose packets are all of different times."""
    return pcap(conversation(USUAL, ts=START + number * 3600 * SECOND))


class Source:
    """A folder, and a stream of its files that is started anew for each step."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "captures"
        self.files.mkdir()
        self.path = str(self.files)
        self.log = folder / "log"
        self.split_size = 1 << 30
        self.offsets: list[dict[str, Any]] = []

    def put(self, name: str, data: bytes, *, age: float = 100) -> Path:
        file = self.files / name
        file.write_bytes(data)
        changed = time.time() - age
        os.utime(file, (changed, changed))
        return file

    def reader(self) -> StreamReader:
        reader = StreamReader(
            PACKETS.names, [self.path], self.split_size, max_files=2, min_file_age_s=10,
            log=FileLog(self.log),
        )  # fmt: skip
        reader.prepareForTriggerAvailableNow()
        if not self.offsets:
            self.offsets.append(reader.initialOffset())
        return reader

    def step(self, *, anew: bool = False) -> list[dict[str, Any]]:
        """The rows of all batches that there are now; all in one process, or each in one."""
        rows: list[dict[str, Any]] = []
        reader = self.reader()
        while True:
            if anew:
                reader = self.reader()
            start = self.offsets[-1]
            end = reader.latestOffset(start, ReadMaxFiles(2))
            if end == start:
                return rows
            self.offsets.append(end)
            rows += self.rows(reader)

    def rows(self, reader: StreamReader | None = None) -> list[dict[str, Any]]:
        """Those of the last batch."""
        reader = reader or self.reader()
        return [
            row
            for task in reader.partitions(*self.offsets[-2:])
            for batch in reader.read(task)
            for row in batch.to_pylist()
        ]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def names(rows: list[dict[str, Any]]) -> dict[str, int]:
    """File → how many packets were read of it."""
    found: dict[str, int] = {}
    for row in rows:
        name = Path(row["capture"]).name
        found[name] = found.get(name, 0) + (row["problem"] is None)
    return found


def problems(rows: list[dict[str, Any]]) -> list[str]:
    return [row["problem"] for row in rows if row["problem"] is not None]


@pytest.mark.parametrize("anew", [False, True])
def test_each_file_once(source: Source, anew: bool) -> None:
    for number in range(5):
        source.put(f"{number}.pcap", capture(number), age=100 - number)
    rows = source.step(anew=anew)
    assert names(rows) == {f"{number}.pcap": PACKETS_OF_ONE for number in range(5)}
    assert len(source.offsets) == 4
    assert source.step(anew=anew) == []
    source.put("5.pcap", capture(5))
    assert names(source.step(anew=anew)) == {"5.pcap": PACKETS_OF_ONE}
    ordinals = [row["packet_ordinal"] for row in rows]
    assert ordinals == sorted(set(ordinals))


def test_offsets_are_small(source: Source) -> None:
    for number in range(40):
        source.put(f"{number}.pcap", capture(number))
    source.step()
    assert all(len(json.dumps(each)) < 100 for each in source.offsets)


def test_files_that_are_written_to_wait(source: Source) -> None:
    source.put("a.pcap", capture(0), age=1)
    assert source.step() == []
    source.put("a.pcap", capture(0), age=11)
    assert names(source.step()) == {"a.pcap": PACKETS_OF_ONE}


def test_old_files_that_are_moved_in(source: Source) -> None:
    source.put("new.pcap", capture(9))
    source.step()
    source.put("old.pcap", capture(0), age=30 * 86_400)
    source.put("older.pcap", capture(1), age=3000 * 86_400)
    source.put("next year.pcap", capture(2), age=-365 * 86_400)
    assert names(source.step()) == {
        name: PACKETS_OF_ONE for name in ("old.pcap", "older.pcap", "next year.pcap")
    }
    assert source.step() == []


def test_a_ring_of_names(source: Source) -> None:
    """As of ``tcpdump -W``: the same names again, larger or smaller than before."""
    for number in range(6):
        source.put(f"{number % 2}.pcap", capture(number) + bytes(number % 2), age=100 - number)
        rows = source.step(anew=True)
        assert names(rows) == {f"{number % 2}.pcap": PACKETS_OF_ONE}
        hour = START + number * 3600 * SECOND
        assert min(row["ts"].timestamp() * SECOND for row in rows if row["ts"]) >= hour


def test_what_is_added_is_told(source: Source) -> None:
    data = capture(0)
    source.put("a.pcap", data[:-100])
    source.step()
    source.put("a.pcap", data, age=50)
    (problem,) = problems(source.step())
    assert f"from {len(data) - 100} to {len(data)} bytes" in problem
    assert source.step() == []
    source.put("a.pcap", data[:-300], age=40)
    (problem,) = problems(source.step())
    assert f"from {len(data)} to {len(data) - 300} bytes" in problem


def test_what_is_touched_is_the_same(source: Source) -> None:
    source.put("a.pcap", capture(0))
    source.step()
    source.put("a.pcap", capture(0), age=50)
    assert source.step() == []


@pytest.mark.parametrize("size", [0, 24, 30])
def test_nothing_was_in_it(source: Source, size: int) -> None:
    """tcpdump begins a file with a header, and the first packet may come after a while."""
    source.put("a.pcap", capture(0)[:size])
    assert sum(names(source.step()).values()) == 0
    source.put("a.pcap", capture(0), age=50)
    rows = source.step()
    assert names(rows) == {"a.pcap": PACKETS_OF_ONE}
    assert problems(rows) == []


def test_what_is_gone_or_another_before_it_is_read(source: Source) -> None:
    """Between a batch's plan and its reading, or before it is tried again."""
    file = source.put("a.pcap", capture(0))
    before = source.step()
    assert source.rows() == before
    with file.open("ab") as more:
        more.write(bytes(20))
    assert source.rows() == before
    source.put("a.pcap", capture(1), age=50)
    (problem,) = problems(source.rows())
    assert "another file" in problem
    file.unlink()
    (problem,) = problems(source.rows())
    assert "a.pcap" in problem
    source.put("a.pcap", capture(1), age=50)
    assert names(source.step()) == {"a.pcap": PACKETS_OF_ONE}


def test_what_cannot_be_opened(source: Source) -> None:
    file = source.put("a.pcap", capture(0))
    other = file.with_name("b.pcap")
    other.symlink_to("a.pcap")
    found = source.reader()
    file.unlink()
    end = found.latestOffset(source.offsets[-1], ReadMaxFiles(2))
    source.offsets.append(end)
    source.put("a.pcap", capture(0))
    assert len(problems(source.rows())) == 2
    assert names(source.rows()) == {"a.pcap": 0, "b.pcap": 0}


def unopened_batch(source: Source, *starts: int) -> Unopened:
    """Take a batch, of whose files tasks could not open the parts that begin at these bytes."""
    reader = source.reader()
    source.offsets.append(reader.latestOffset(source.offsets[-1], ReadMaxFiles(2)))
    missing = OSError(errno.ENOENT, "")
    names = FileLog(source.log).seen(source.offsets[-1]["batch"])
    lost = [(each, unopened_problem(each, missing, start)) for each in names for start in starts]
    found = FileLog(source.log).put_back(lost)
    assert reader.latestOffset(source.offsets[-1], ReadMaxFiles(2)) == source.offsets[-1]
    return found


@pytest.mark.parametrize("batches_per_snapshot", [1, 100])
def test_what_tasks_could_not_open(
    source: Source, monkeypatch: pytest.MonkeyPatch, batches_per_snapshot: int
) -> None:
    """The next run tries it again, behind new files, and not the run that could not open it."""
    monkeypatch.setattr(file_log, "_BATCHES_PER_SNAPSHOT", batches_per_snapshot)
    file = source.put("a.pcap", capture(0), age=1000)
    for _ in range(2):
        assert unopened_batch(source, 0).whole == {str(file)}
    for number in (1, 2):
        source.put(f"{number}.pcap", capture(number))
    rows = source.step()
    assert list(names(rows).items()) == [
        (name, PACKETS_OF_ONE) for name in ("1.pcap", "2.pcap", "a.pcap")
    ]
    assert source.step() == []


def test_what_was_read_is_not_read_again(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was read, and cannot be opened when its change time is another."""
    file = source.put("a.pcap", capture(0))
    source.step()
    source.put("a.pcap", capture(0), age=50)
    with monkeypatch.context() as patch:
        patch.setattr(files.OpenFile, "__init__", Mock(side_effect=PermissionError(13, "")))
        (problem,) = problems(source.step())
        assert FileLog(source.log).put_back([(str(file), problem)]).whole == {str(file)}
    assert source.step() == []


@pytest.mark.parametrize("opened", [0, 1])
def test_a_file_of_several_parts(source: Source, opened: int) -> None:
    """It is read again where none of its parts was opened, and its packets are nowhere yet."""
    size = len(capture(0))
    file = source.put("a.pcap", capture(0))
    source.split_size = size // 3 + 1
    found = unopened_batch(source, *[number * source.split_size for number in range(opened, 3)])
    assert list(found.problems) == [str(file)]
    assert found.whole == (frozenset() if opened else {str(file)})
    assert names(source.step()) == ({} if opened else {"a.pcap": PACKETS_OF_ONE})


def test_an_offset_that_was_not_kept(source: Source) -> None:
    """The stream was killed after it had planned a batch: another one has its number."""
    source.put("a.pcap", capture(0))
    reader = source.reader()
    reader.latestOffset(source.offsets[-1], ReadMaxFiles(2))
    source.put("b.pcap", capture(1), age=50)
    expected = {"a.pcap": PACKETS_OF_ONE, "b.pcap": PACKETS_OF_ONE}
    assert names(source.step()) == expected
    assert source.step() == []


def test_what_is_remembered_is_bounded(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are gone are known for a while; the log has few files of its own."""
    monkeypatch.setattr(file_log, "_BATCHES_PER_SNAPSHOT", 3)
    hidden = source.files.with_name("hidden")
    for number in range(10):
        source.put(f"{number}.pcap", capture(number), age=100 - number)
        assert names(source.step(anew=True)) == {f"{number}.pcap": PACKETS_OF_ONE}
        assert len(list(source.log.iterdir())) <= 6
    shutil.move(source.files, hidden)
    source.files.mkdir()
    for number in range(10, 16):
        source.put(f"{number}.pcap", capture(number))
        source.step(anew=True)
    assert len(FileLog(source.log).seen(16)) == 16
    shutil.copytree(hidden, source.files, dirs_exist_ok=True)
    assert source.step() == []

    monkeypatch.setattr(file_log, "SEEN_FILE_RETENTION_US", 0)
    for number in range(10):
        (source.files / f"{number}.pcap").unlink()
    for number in range(16, 22):
        source.put(f"{number}.pcap", capture(number))
        source.step(anew=True)
    assert len(FileLog(source.log).seen(22)) == 12


def test_a_clock_that_is_wrong(source: Source) -> None:
    """The stream's time goes on with the next files, and is the same when a batch comes again."""
    source.put("a.pcap", capture(0))
    source.step()
    assert source.offsets[-1]["watermark"] == START + 100
    far = pcap(conversation(USUAL, ts=4_000_000_000 * SECOND))
    changed = source.put("b.pcap", far, age=3600).stat().st_mtime_ns // 1000
    rows = source.step()
    assert source.offsets[-1]["watermark"] == changed
    assert {row["watermark"].timestamp() for row in rows} == {changed / SECOND}
    assert source.rows() == rows
    source.put("next year.pcap", far, age=-365 * 86_400)
    source.step()
    assert changed < source.offsets[-1]["watermark"] <= time.time() * SECOND


def test_a_pattern_that_matches_nothing_yet(source: Source) -> None:
    source.path = str(source.files / "*.pcap")
    source.put("a.txt", capture(0))
    assert source.step() == []
    source.put("a.pcap", capture(0))
    assert names(source.step()) == {"a.pcap": PACKETS_OF_ONE}


def test_a_folder_that_is_not_there(source: Source) -> None:
    source.path = str(source.files / "captures")
    with pytest.raises(FileNotFoundError, match="there is no"):
        source.step()


def test_the_format_of_all_files(tmp_path: Path) -> None:
    """As the data source passes it on, in streams and without."""
    file = tmp_path / "broker.txt"
    file.write_text("no request yet\n")
    options = {"path": str(tmp_path), "fileLog": str(tmp_path.with_name("log")), "minFileAge": "0"}

    def kinds(**said: str) -> list[str]:
        source = KafkaCapture(options | said)
        reader, stream = source.reader(source.schema()), source.streamReader(source.schema())
        start = stream.initialOffset()
        end = stream.latestOffset(start, ReadMaxFiles(2))
        tasks = [*reader.partitions(), *stream.partitions(start, end)]
        return [task.part.kind for task in tasks if isinstance(task, FileTask)]

    assert kinds(inputFormat="request-log") == ["log", "log"]
    with pytest.raises(ValueError, match=r"kafka_capture: there is no input format 'hex'"):
        kinds(inputFormat="hex")
