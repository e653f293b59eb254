"""What a stream keeps in its checkpoint is not believed when it comes back otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.spark.ingest.file_log import FileLog, SeenFile
from kafka_admin_proto.spark.stream.batches import end_stream, last_batch, stream_frames
from kafka_admin_proto.tables.ingest.files import Fingerprint, Part
from tests.helpers.profile import draws

FILES = {"a.pcap": SeenFile(1, 2, Fingerprint(2, "00"))}


def log_of(folder: Path, batches: int = 1) -> FileLog:
    log = FileLog(folder)
    for number in range(1, batches + 1):
        log.add(number, [Part("a.pcap", number, "pcap", 0, 1)], FILES, FILES, 1)
    return log


@settings(max_examples=draws(200))
@given(data=st.data())
def test_a_damaged_log_of_files(data: st.DataObject) -> None:
    """It reads, or an error names the file."""
    with TemporaryDirectory() as name:
        log_of(Path(name))
        (file,) = Path(name).iterdir()
        text = file.read_bytes()
        damaged = bytearray(text)
        for at in data.draw(st.lists(st.integers(0, len(text) - 1), max_size=3)):
            damaged[at] ^= 1 << data.draw(st.integers(0, 7))
        cut = data.draw(st.integers(0, len(text)) | st.just(len(text)))
        kinds: list[bytes] = [bytes(damaged[:cut]), b"[" * 100_000, b'{"parts":' * 100_000]
        file.write_bytes(data.draw(st.sampled_from(kinds)))
        try:
            FileLog(Path(name)).parts(1)
            FileLog(Path(name)).seen(1)
        except KeptFileError as error:
            assert str(file) in str(error)


@pytest.mark.parametrize("number", [1, 99, 100])
def test_unfinished_files_that_are_links(tmp_path: Path, number: int) -> None:
    """Their names are known beforehand; a link there leads nowhere."""
    log = log_of(tmp_path / "log", number - 1)
    victim = tmp_path / "victim"
    victim.write_text("of the victim")
    (tmp_path / "log").mkdir(exist_ok=True)
    for name in (f"{number:010d}.json", f"{number - 1:010d}.seen.json"):
        (tmp_path / "log" / f".{name}").symlink_to(victim)
    log.add(number, [], FILES, FILES, 1)
    assert victim.read_text() == "of the victim"
    assert FileLog(tmp_path / "log").seen(number) == FILES


@pytest.mark.parametrize("text", ["", "x", "[", "1.5", "null", "1" * 99, "[" * 20])
def test_the_number_of_the_last_batch(tmp_path: Path, text: str) -> None:
    assert last_batch(tmp_path) is None
    (tmp_path / "ended").write_text(text)
    with pytest.raises(KeptFileError, match="ended"):
        last_batch(tmp_path)
    (tmp_path / "ended").write_text("7")
    assert last_batch(tmp_path) == 7


def start(checkpoint: Path) -> object:
    return stream_frames(MagicMock(), "captures", checkpoint=checkpoint, sink=print)


def end(checkpoint: Path) -> None:
    end_stream(MagicMock(), checkpoint, print)


@pytest.mark.parametrize("run", [start, end])
@pytest.mark.parametrize("name", ["", "flows", "flows/batch=7", "files", "query", ".ended"])
def test_links_in_a_checkpoint(tmp_path: Path, name: str, run: Callable[[Path], Any]) -> None:
    """A stream removes the folders of earlier batches, ``batch=1`` and so on."""
    elsewhere, checkpoint = tmp_path / "elsewhere", tmp_path / "checkpoint"
    for number in range(4):
        (elsewhere / "flows" / f"batch={number}").mkdir(parents=True)
        (elsewhere / f"batch={number}").mkdir()
    before = sorted(os.walk(elsewhere))
    (checkpoint / name).parent.mkdir(parents=True, exist_ok=True)
    (checkpoint / name).symlink_to(elsewhere)
    with pytest.raises(KeptFileError, match="is a link"):
        run(checkpoint)
    assert sorted(os.walk(elsewhere)) == before
