"""How the command line ends: closed pipes, and inputs that cannot be read at all."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pytest

from kafka_admin_proto import cli
from kafka_admin_proto.cli import app
from kafka_admin_proto.cli.admin.common.live import ShellState
from kafka_admin_proto.cli.admin.common.settings import Settings
from kafka_admin_proto.cli.app import kap
from kafka_admin_proto.cli.captures.live import LiveInput, WaitHook
from kafka_admin_proto.cli.interrupted import WholeWriter
from kafka_admin_proto.cli.output import JsonArray, write_json_array
from kafka_admin_proto.cli.shell.session import run_command
from tests.helpers.kap import ended, run_kap
from tests.helpers.processes import python
from tests.spark.needs import require
from tests.tables.report.report_tables import everything, write_tables

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "samples" / "admin42.pcap.gz"
SCHEMAS = ROOT / "schemas" / "kafka"
KAP = [sys.executable, "-c", "from kafka_admin_proto.cli import main; main()"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments",
    [
        ["decode", str(CAPTURE), "--output", "jsonl"],
        ["decode", str(CAPTURE), "--output", "tsv"],
        ["decode", str(CAPTURE)],
        ["explain", str(CAPTURE)],
        ["--help"],
    ],
    ids=" ".join,
)
def test_a_closed_pipe_ends_it_as_it_ends_shell_tools(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*KAP, *arguments], stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False
        )
    finally:
        os.close(writing)
    assert done.stderr == b""
    assert done.returncode == -signal.SIGPIPE  # 141 to a shell


@pytest.mark.parametrize("query", [["--query", "errors"], ["--out", "-"]], ids=" ".join)
@pytest.mark.exhaustive
def test_a_closed_pipe_is_no_fault_of_the_tables(query: list[str], tmp_path: Path) -> None:
    require("pyarrow")
    write_tables(tmp_path, everything())
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*KAP, "report", tmp_path, *query], stdout=writing, stderr=subprocess.PIPE, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert "Error:" not in done.stderr
    assert done.returncode == -signal.SIGPIPE


@pytest.mark.parametrize("command", ["decode", "explain", "decode --summary", "schema lint"])
@pytest.mark.parametrize("others", [[], [str(ROOT / "samples" / "create_topics.hex")]])
def test_a_missing_file_is_a_usage_error(command: str, others: list[str], tmp_path: Path) -> None:
    missing = str(tmp_path / "nowhere.hex")
    result = run_kap(command, *others, missing)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kap: {missing}: No such file or directory\n"


@pytest.mark.parametrize("command", ["decode", "explain"])
def test_a_folder_without_captures_is_a_usage_error(command: str, tmp_path: Path) -> None:
    result = run_kap(command, str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    reason = "there is no capture and no request log in this folder"
    assert result.stderr == f"kap: {tmp_path}: {reason}\n"
    segment = tmp_path / "00000000000000000000.log"
    segment.touch()
    result = run_kap(command, str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(f"its log segments are named one by one, as {segment}\n")
    segment.unlink()
    missing = ended(run_kap("metadata", str(tmp_path / "log")), 2)
    assert missing.stderr == f"kap: {tmp_path / 'log'}: No such file or directory\n"
    ended(run_kap(command, str(tmp_path / "00000000000000000000.log")), 2)


@pytest.mark.parametrize("command", ["decode", "decode --summary", "explain"])
def test_a_missing_extra_is_named_in_a_line(command: str, tmp_path: Path) -> None:
    """A capture is known to be compressed only when it is opened, amid the command."""
    capture = tmp_path / "capture.pcap.zst"
    capture.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(60))
    without = "import sys; sys.modules['zstandard'] = None\n"
    python, option, script = KAP
    done = subprocess.run(
        [python, option, without + script, *command.split(), str(capture)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "a zstd-compressed capture needs zstandard: pip install 'kafka-admin-proto[capture]'\n"
    )


def _prompt(raised: type[BaseException]) -> None:
    """What click's prompts make of Ctrl-C and of the end of the input."""
    try:
        raise raised
    except (KeyboardInterrupt, EOFError):
        raise click.Abort from None


@pytest.mark.parametrize("name", kap.list_commands(click.Context(kap)))
@pytest.mark.parametrize("at_prompt", [False, True])
def test_ctrl_c_ends_every_command_with_130(name: str, at_prompt: bool) -> None:
    command = kap.get_command(click.Context(kap), name)
    interrupt = (lambda *_, **__: _prompt(KeyboardInterrupt)) if at_prompt else KeyboardInterrupt
    with patch.object(command, "make_context", side_effect=interrupt):
        result = run_kap(name)
    assert (result.exit_code, result.output) == (130, "stopped by Ctrl-C\n")


@pytest.mark.parametrize("amid", ["kafka_admin_proto", "construct", "click"])
def test_ctrl_c_amid_the_start_is_no_traceback(amid: str) -> None:
    script = f"""
import sys
from kafka_admin_proto_start import main

class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == {amid!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
main()
"""
    done = python("-c", script)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped by Ctrl-C\n")


def test_the_end_of_input_at_a_prompt_is_no_interrupt() -> None:
    command = kap.get_command(click.Context(kap), "error")
    with patch.object(command, "make_context", side_effect=lambda *_, **__: _prompt(EOFError)):
        assert run_kap("error").exit_code == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("text", [b"", b"00 00 00", b"0000000e0012000000000001ffff\n"])
@pytest.mark.parametrize("kind", ["terminal", "pipe"])
def test_one_ctrl_c_ends_what_waits_for_a_dump(kind: str, text: bytes) -> None:
    """A dump is read whole, so that there is nothing to be shown of it."""
    theirs, ours = pty.openpty()[::-1] if kind == "terminal" else os.pipe()
    script = f"import kafka_admin_proto.cli.captures.decode; print('ready', flush=True); {KAP[2]}"
    with subprocess.Popen(
        [*KAP[:2], script, "decode", "-"], stdin=theirs, stdout=-1, stderr=-1
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        os.write(ours, text)
        time.sleep(0.3)  # any moment gives 130; this one is most likely amid the read
        process.send_signal(signal.SIGINT)
        try:
            shown, said = process.communicate(timeout=10)
        finally:
            process.kill()
            os.close(ours)
            os.close(theirs)
    assert (process.returncode, shown, said) == (130, b"", b"stopped by Ctrl-C\n")


def test_ctrl_c_while_a_file_is_read_from_standard_input(tmp_path: Path) -> None:
    """A live capture ends with Ctrl-C, and is shown; a file would be shown in part."""
    large = tmp_path / "large.pcap"
    packets = gzip.decompress(CAPTURE.read_bytes())
    large.write_bytes(packets + packets[24:] * 200)
    with large.open() as file, subprocess.Popen(
        [*KAP, "decode", "--output", "jsonl"], stdin=file, stdout=-1, stderr=-1
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"stopped by Ctrl-C\n")


class _Slow(io.RawIOBase):
    """A pipe that takes a little at a time; Ctrl-C comes when it has more than so many bytes."""

    def __init__(self, interrupted_at: int | None = None) -> None:
        self.taken = bytearray()
        self._interrupted_at = interrupted_at

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.taken += bytes(data[:999])
        if self._interrupted_at is not None and len(self.taken) > self._interrupted_at:
            self._interrupted_at = None
            signal.raise_signal(signal.SIGINT)
        return min(len(data), 999)


class _CtrlC:
    """Presses Ctrl-C when it is called, and counts how often that was."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("output", ["jsonl", "tsv", "table"])
def test_nothing_is_lost_without_a_buffer(output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with PYTHONUNBUFFERED, where Python itself drops what is not taken at once."""
    slow: Any = _Slow()
    unbuffered = io.TextIOWrapper(slow, "utf-8", write_through=True)
    monkeypatch.setattr(cli, "tune_gc", lambda: None)
    monkeypatch.setattr(sys, "stdout", unbuffered)
    monkeypatch.setattr(sys, "argv", ["kap", "decode", str(CAPTURE), "--output", output])
    with pytest.raises(SystemExit):
        cli.main()
    assert slow.taken.count(b"\n") == 294 + (output == "table")


@pytest.mark.parametrize("interrupted_at", [0, 20_000])
@pytest.mark.parametrize("output", ["jsonl", "tsv", "table"])
@pytest.mark.parametrize("options", [(), ("--records",)], ids=["in blocks", "row by row"])
def test_rows_are_whole_with_ctrl_c(
    output: str, options: tuple[str, ...], interrupted_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Amid a write as well: the rows are the first ones of all, up to the end of a line."""
    whole = run_kap("decode", str(CAPTURE), "--output", output, *options)
    slow = _Slow(interrupted_at)
    stdout = io.TextIOWrapper(io.BufferedWriter(slow), "utf-8")
    monkeypatch.setattr(cli, "tune_gc", lambda: None)
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "argv", ["kap", "decode", str(CAPTURE), "--output", output, *options])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    sys.stdout.close()
    assert ended.value.code == 130
    assert slow.taken.endswith(b"\n")
    assert slow.taken == whole.stdout_bytes[: len(slow.taken)]
    assert interrupted_at < len(slow.taken)


@pytest.mark.parametrize("output", ["jsonl", "tsv", "table", "json"])
def test_after_a_second_ctrl_c_nothing_waits_for_the_reader(
    output: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is held would be written at the end, to a reader that has stalled."""
    writes = []

    class Stalled(_Slow):
        def write(self, data: Any) -> int:
            writes.append(bytes(data))
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            return len(data)

    stdout = io.TextIOWrapper(io.BufferedWriter(Stalled()), "utf-8")
    monkeypatch.setattr(cli, "tune_gc", lambda: None)
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "argv", ["kap", "decode", str(CAPTURE), "--output", output])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    sys.stdout.close()
    assert (ended.value.code, len(writes)) == (130, 1)


@pytest.mark.parametrize("interrupted_at", [0, 50_000, 100_000])
def test_an_array_is_whole_with_ctrl_c(
    interrupted_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = _Slow(interrupted_at)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(slow), "utf-8"))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        write_json_array({"number": number, "text": "x" * 5000} for number in range(1000))
    assert signal.getsignal(signal.SIGINT) is before
    rows = json.loads(slow.taken)
    assert [row["number"] for row in rows] == list(range(len(rows)))
    assert interrupted_at // 6000 < len(rows) <= interrupted_at // 5000 + 4


def test_a_second_ctrl_c_ends_an_array_amid_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(_Slow):
        def write(self, data: Any) -> int:
            if not self.taken:
                self.taken += b"["
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
            return len(data)

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(Stuck()), "utf-8"))
    with JsonArray() as array, pytest.raises(KeyboardInterrupt):
        array.add_lines(b"x" * 100_000 + b"\n")


@pytest.mark.parametrize("amid_a_write", [False, True])
def test_the_second_ctrl_c_is_the_last_one(
    amid_a_write: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the first one came between two writes, or amid one that has ended."""
    press = _CtrlC()

    class Stalled(_Slow):
        def write(self, data: Any) -> int:
            for _ in range(1 if amid_a_write and not press.count else 4):
                press()
            return len(data)

    @click.command()
    def ended() -> None:
        with app._reported():
            try:
                if amid_a_write:
                    sys.stdout.buffer.write(b"z" * 9000)
                print("row")
                press()
            finally:
                print("a row because of it")

    monkeypatch.setattr(cli, "tune_gc", lambda: None)
    monkeypatch.setattr(app, "kap", lambda **_: ended(args=[]))
    stdout = io.TextIOWrapper(io.BufferedWriter(Stalled()), "utf-8")
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(SystemExit) as exited:
        cli.main()
    assert (press.count, exited.value.code) == (2, 130)


def test_the_next_command_of_a_shell_writes_after_two_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stalled(_Slow):
        def write(self, data: Any) -> int:
            if not self.taken:
                self.taken += b"?"
                signal.raise_signal(signal.SIGINT)
                signal.raise_signal(signal.SIGINT)
            self.taken += data
            return len(data)

    stalled = Stalled()
    state = ShellState(Settings())
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(WholeWriter(stalled), "utf-8"))
    assert run_command(state, ["decode", str(CAPTURE), "--output", "jsonl"]) != 0
    assert run_command(state, ["decode", "--help"]) == 0
    assert b"Usage: kap decode" in stalled.taken


class _Full(_Slow):
    """A disk without space, as /dev/full."""

    def write(self, data: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "arguments",
    [
        *([*command, *more] for command in (["decode", str(CAPTURE)],)
          for more in ([], ["--summary"], ["--upgrade", "4.0"],
                       *(["--output", each] for each in ("json", "jsonl", "tsv")))),
        ["explain", str(CAPTURE), "--only", "2"],
        ["--version"], ["--help"], ["error", "3"], ["completion", "bash"], ["schema", "list"],
        ["schema", "show", "CreateTopics"], ["schema", "stubs", "--schemas", str(SCHEMAS)],
        ["simulate", "delete"], ["serve"], ["proxy", "--upstream", "127.0.0.1:1"],
        *([name, "--help"] for name in kap.list_commands(click.Context(kap))),
    ],
    ids=lambda arguments: " ".join(arguments).replace(f"{ROOT}/", ""),
)  # fmt: skip
def test_a_full_disk_is_a_line_and_1(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Python itself does not write again at its end, when it has 120 and shows a traceback."""
    stdout = io.TextIOWrapper(io.BufferedWriter(_Full()), "utf-8")
    monkeypatch.setattr(cli, "tune_gc", lambda: None)
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "argv", ["kap", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == "kap: standard output: No space left on device"
    sys.stdout.close()


def test_a_live_capture_ends_by_the_second_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one has ended its input, and the reader of what is left to be written stalls."""
    reading, writing = os.pipe()
    press = _CtrlC()

    class Stalled(_Slow):
        def write(self, data: Any) -> int:
            for _ in range(3):
                press()
            return len(data)

    hook = WaitHook()
    before = signal.getsignal(signal.SIGINT)
    stdout = io.TextIOWrapper(WholeWriter(Stalled()), "utf-8")
    monkeypatch.setattr(sys, "stdout", stdout)
    with LiveInput(reading, hook) as live, open(writing, "wb") as captured:
        try:
            captured.write(bytes(24))
            captured.flush()
            assert live.readinto(bytearray(24)) == 24
            press()
            assert live.readinto(bytearray(24)) == 0, "the input has ended"
            print("row")
            with pytest.raises(KeyboardInterrupt):
                stdout.flush()
        finally:
            signal.signal(signal.SIGINT, before)
    assert press.count == 2
    stdout.close()
