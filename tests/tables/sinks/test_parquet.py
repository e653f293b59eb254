"""Putting tables in place: whatever is killed when, and run again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import pytest

from kafka_admin_proto.kept_files import KeptFileError
from kafka_admin_proto.tables.sinks.parquet import ParquetSink
from kafka_admin_proto.tables.sinks.sink import Mode
from kafka_admin_proto.tables.sinks.workspace import CHECKPOINT, OutputError
from tests.helpers.processes import python
from tests.tables.sinks.small_tables import SCHEMAS, contents, write_batch

INPUTS = ("captures/",)
#: The modules that open the folder of a run.
_OPENING = {
    f"kafka_admin_proto.{each}"
    for each in (
        "kept_files",
        "tables.sinks.parquet",
        "tables.sinks.sink",
        "tables.sinks.workspace",
    )
}


class Killed(BaseException):
    """The process is gone."""


def output(path: Path, *, inputs: tuple[str, ...] = INPUTS, overwrite: bool = False) -> ParquetSink:
    return ParquetSink(path, SCHEMAS, mode="batch", inputs=inputs, overwrite=overwrite)


def run(path: Path, text: str, *, inputs: tuple[str, ...] = INPUTS) -> None:
    """A batch run, with a file of one row for one table and none for the others."""
    with output(path, inputs=inputs) as sink:
        sink.replace({"frames": [write_batch(sink, "frames", [(None, text)])]})


def content(path: Path) -> dict[str, list[str]]:
    """All that readers of tables see, and the names of other files."""
    others = (each for each in path.iterdir() if each.is_file())
    return contents(path) | {
        each.name: [] for each in others if not each.name.startswith((".", "_"))
    }


def tables(text: str) -> dict[str, list[str]]:
    return {"frames": [text], "clients": []}


@contextmanager
def killed_at(call: int) -> Iterator[None]:
    """No call that changes a file's place goes through from that one on."""
    calls = 0

    def wrap(name: str) -> Callable[..., object]:
        real = getattr(Path, name)

        def call_it(self: Path, *arguments: object, **named: object) -> object:
            nonlocal calls
            calls += 1
            if calls > call:
                raise Killed
            return real(self, *arguments, **named)

        return call_it

    # Nothing is tidied up by a process that is no more.
    nothing = patch("shutil.rmtree")
    with (
        patch.object(Path, "rename", wrap("rename")),
        patch.object(Path, "replace", wrap("replace")),
        patch.object(Path, "unlink", wrap("unlink")),
        patch.object(Path, "mkdir", wrap("mkdir")),
        nothing,
    ):
        yield


def test_tables_are_replaced(tmp_path: Path) -> None:
    out = tmp_path / "new" / "tables"
    run(out, "one")
    assert content(out) == tables("one")
    run(out, "two")
    assert content(out) == tables("two")
    assert len(list((out / "frames").iterdir())) == 1


def test_files_of_tasks_that_were_tried_again(tmp_path: Path) -> None:
    """A task that dies leaves its file; the next try writes another, and that one counts."""
    out = tmp_path / "out"
    with output(out) as sink:
        write_batch(sink, "frames", [(None, "lost")])
        sink.replace({"frames": [write_batch(sink, "frames", [(None, "kept")])]})
    assert content(out)["frames"] == ["kept"]


def test_killed_anywhere(tmp_path: Path) -> None:
    """Either all tables are the old ones or, once that is finished, all are the new ones."""
    outcomes = []
    for call in range(100):
        out = tmp_path / str(call)
        run(out, "old")
        with killed_at(call):
            try:
                run(out, "new")
            except Killed:
                pass
            else:
                break
        assert content(out).get("frames") in (["old"], ["new"], [], None)
        with output(out):
            seen = content(out)
        assert seen in (tables("old"), tables("new"))
        outcomes.append(seen == tables("new"))
        assert not list(out.glob(".staging*"))
        run(out, "again")
        assert content(out) == tables("again")
    assert outcomes == sorted(outcomes)
    assert len(set(outcomes)) == 2
    assert content(out) == tables("new")


def test_recovery_is_killed_too(tmp_path: Path) -> None:
    run(tmp_path, "old")
    for call in range(100):
        with killed_at(call), suppress(Killed):
            run(tmp_path, "new")
        if (tmp_path / ".journal.json").exists():
            break
    for call in range(100):
        with killed_at(call):
            try:
                with output(tmp_path):
                    break
            except Killed:
                pass
    assert content(tmp_path) == tables("new")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_error_while_tables_are_put_in_place(tmp_path: Path, error: type[BaseException]) -> None:
    """The process goes on and leaves the folder in order, as after Ctrl-C or on a full disk."""
    run(tmp_path, "old")
    rename, calls = Path.rename, 0

    def fails(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise error
        return rename(self, target)

    with patch.object(Path, "rename", fails), pytest.raises(error):
        run(tmp_path, "new")
    with output(tmp_path):
        pass
    assert content(tmp_path) == tables("new")
    assert not list(tmp_path.glob(".staging*"))


@contextmanager
def interrupted_at(line: int) -> Iterator[None]:
    """Ctrl-C comes before that line which a sink or its workspace runs."""
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_globals["__name__"] not in _OPENING:
            return None
        lines += event == "line"
        if lines > line:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def opened(sink: ParquetSink, line: int) -> None:
    """Open it with Ctrl-C before that line, in a thread of its own.

    Where tracing raises as an error is handled, CPython keeps that error: each later one of the
    thread has it as its context.
    """

    def interrupted() -> None:
        with interrupted_at(line):
            sink.__enter__()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(interrupted).result()


@pytest.mark.parametrize("is_there", [True, False])
def test_ctrl_c_while_the_folder_is_opened(tmp_path: Path, is_there: bool) -> None:
    """It is as it was before, wherever that was."""
    for line in range(1000):
        out = tmp_path / str(line) / "out"
        if is_there:
            out.mkdir(parents=True)
        sink = output(out)
        try:
            opened(sink, line)
        except KeyboardInterrupt:
            assert list(tmp_path.glob(f"{line}/**/*")) == [out] * is_there
        else:
            break
    sink.__exit__()
    assert 20 < line < 1000
    assert sys.exc_info() == (None, None, None)


def test_a_foreign_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("chapter one")
    with (
        pytest.raises(OutputError, match=r"has something else in it \(thesis.tex\)"),
        output(tmp_path),
    ):
        pass
    assert (tmp_path / "thesis.tex").read_text() == "chapter one"
    assert len(list(tmp_path.iterdir())) == 1


def test_tables_without_the_marker_are_foreign(tmp_path: Path) -> None:
    (tmp_path / "frames").mkdir()
    with pytest.raises(OutputError, match="something else"), output(tmp_path):
        pass


def test_a_report_beside_the_tables(tmp_path: Path) -> None:
    """Once tables are there, what else is put into the folder stays as it is."""
    run(tmp_path, "monday")
    (tmp_path / "report.html").write_text("all is well")
    run(tmp_path, "tuesday")
    assert content(tmp_path) == {**tables("tuesday"), "report.html": []}


def test_what_others_may_not_see(tmp_path: Path) -> None:
    """A checkpoint has what connections sent, as it was; one of an earlier release is open."""

    def mode(path: Path) -> int:
        return path.stat().st_mode & 0o777

    before = os.umask(0o022)
    try:
        run(tmp_path / "out", "one")
        for made in (False, True):
            with output(tmp_path / "out") as found:
                if made:
                    (tmp_path / "out" / ".checkpoint").chmod(0o755)
                assert mode(found.workspace.checkpoint()) == 0o700
                assert mode(found.workspace.staging) == 0o700
    finally:
        os.umask(before)
    assert mode(tmp_path / "out") == mode(tmp_path / "out" / "frames") == 0o755


def test_a_checkpoint_that_cannot_be_made(tmp_path: Path) -> None:
    with output(tmp_path) as found:
        (tmp_path / ".checkpoint").write_text("")
        with pytest.raises(OutputError, match="cannot be made private"):
            found.workspace.checkpoint()


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written to"), output(tmp_path / "file"):
        pass


def test_tables_of_other_captures(tmp_path: Path) -> None:
    run(tmp_path, "monday")
    with pytest.raises(OutputError, match=r"another input \(captures/\).*--overwrite"):
        run(tmp_path, "tuesday", inputs=("tuesday/",))
    with (
        pytest.raises(OutputError, match=r"another mode \(batch\)"),
        ParquetSink(tmp_path, SCHEMAS, mode="streaming", inputs=INPUTS),
    ):
        pass
    with output(tmp_path, inputs=("tuesday/",), overwrite=True):
        pass
    assert content(tmp_path) == tables("monday")


@pytest.mark.exhaustive
def test_one_run_at_a_time(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from kafka_admin_proto.tables.sinks.parquet import ParquetSink\n"
        "with ParquetSink(Path(sys.argv[1]), {}, mode='batch', inputs=()): pass"
    )
    with output(tmp_path):
        other = python("-c", code, tmp_path)
        assert "another run writes to" in other.stderr
    with output(tmp_path):
        pass


def test_a_broken_marker(tmp_path: Path) -> None:
    (tmp_path / "_pipeline.json").write_text("{")
    with pytest.raises(KeptFileError, match=r"_pipeline\.json does not read"), output(tmp_path):
        pass


def test_a_stream_that_was_killed_before_its_first_tables(tmp_path: Path) -> None:
    """Its checkpoint is its own, and nobody else's."""
    with ParquetSink(tmp_path, SCHEMAS, mode="streaming", inputs=INPUTS) as sink:
        sink.claim()
        (tmp_path / CHECKPOINT).mkdir()
    with ParquetSink(tmp_path, SCHEMAS, mode="streaming", inputs=INPUTS) as sink:
        sink.claim()
        assert sink.batch == -1
    others: list[tuple[Mode, Sequence[str]]] = [("batch", INPUTS), ("streaming", ["others"])]
    for mode, inputs in others:
        with pytest.raises(OutputError, match="name another folder, as --overwrite does not"):
            ParquetSink(tmp_path, SCHEMAS, mode=mode, inputs=inputs).__enter__()
