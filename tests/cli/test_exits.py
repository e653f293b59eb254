"""How the command line ends: closed pipes, and inputs that cannot be read at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_admin_proto.cli.app import kap
from tests.spark.needs import require
from tests.spark.report.report_tables import everything, write_tables

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "samples" / "admin42.pcap.gz"
KAP = [sys.executable, "-c", "from kafka_admin_proto.cli import main; main()"]


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
    result = CliRunner().invoke(kap, [*command.split(), *others, missing])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kap: {missing}: No such file or directory\n"


@pytest.mark.parametrize("command", ["decode", "explain"])
def test_a_folder_is_a_usage_error(command: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(kap, [command, str(tmp_path)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"kap: {tmp_path}: Is a directory\n"
    missing = CliRunner().invoke(kap, ["metadata", str(tmp_path / "log")])
    assert missing.exit_code == 2
    assert missing.stderr == f"kap: {tmp_path / 'log'}: No such file or directory\n"
    named = CliRunner().invoke(kap, [command, str(tmp_path / "00000000000000000000.log")])
    assert named.exit_code == 2


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
