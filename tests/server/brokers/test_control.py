"""Brokers stopped and started from a shell, over a socket that only its owner can open."""

from __future__ import annotations

import signal
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_admin_proto.cli.server.control import COMMANDS
from kafka_admin_proto.control_socket import send
from kafka_admin_proto.messages import MetadataRequest
from tests.helpers.kap import run_kap
from tests.server.differential.wire import Nodes
from tests.server.test_cluster import serve

_SECONDS = 30
_CONFIGS = ("--config", "controller.quorum.fetch.timeout.ms=1")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a served cluster of three."""
    path = tmp_path_factory.mktemp("control") / "socket"
    with serve("--brokers", "3", "--control", str(path), *_CONFIGS) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield path
        process.send_signal(signal.SIGTERM)
        assert process.wait(_SECONDS) == 0
    assert not path.exists()


def said(path: Path, *words: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of ``kap serve-control``."""
    done = run_kap("serve-control", str(path), *words)
    return done.exit_code, done.stdout, done.stderr


def test_a_broker_is_stopped_and_started(path: Path) -> None:
    assert said(path, "stop", "2") == (0, "ok\n", "")
    status = "1=running 2=ended 3=running controller=1 epoch=1\n"
    assert said(path, "status") == (0, status, "")
    assert said(path, "start", "2") == (0, "ok\n", "")
    assert said(path, "fence", "2")[1] == said(path, "kill", "3")[1] == "ok\n"
    assert said(path, "status")[1].startswith("1=running 2=fenced 3=ended ")
    for each in (
        ("unfence", "2"), ("delay", "inf", "2"), ("delay", "0"), ("lag", "inf", "2"),
        ("lag", "0", "2"),
    ):  # fmt: skip
        assert said(path, *each) == (0, "ok\n", "")


def test_what_is_so_already_is_said(path: Path) -> None:
    assert said(path, "start", "2") == (0, "ok: broker 2 was running already\n", "")
    for word, back, state in (
        ("stop", "start", "ended"), ("kill", "start", "ended"), ("fence", "unfence", "fenced"),
    ):  # fmt: skip
        assert said(path, word, "2") == (0, "ok\n", "")
        assert said(path, word, "2") == (0, f"ok: broker 2 was {state} already\n", "")
        assert said(path, back, "2") == (0, "ok\n", "")
        assert said(path, back, "2") == (0, "ok: broker 2 was running already\n", "")
    assert said(path, "heal") == (0, "ok: there were no faults\n", "")


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("stop 9", "there is no broker 9; brokers are 1 to 3"),
        ("stop two", "'two' is no broker's id"),
        ("stop", "the command is stop BROKER"),
        ("stop 1 2", "the command is stop BROKER"),
        ("delay soon", "'soon' is no number of seconds"),
        ("delay -1", "a delay is 0 or more seconds, not -1.0"),
        ("delay nan", "a delay is 0 or more seconds, not nan"),
        ("lag 1", "the command is lag SECONDS BROKER"),
        ("lag soon 1", "'soon' is no number of seconds"),
        ("lag -1 1", "a delay is 0 or more seconds, not -1.0"),
        ("lag 1 9", "9"),
        ("fault node=9 cut=after", "node: there is no broker 9; brokers are 1 to 3"),
        ("fault api=StopReplica cut=after", "there is no api 'StopReplica' in this cluster"),
        ("group nothing", "the group 'nothing' has no coordinator: COORDINATOR_NOT_AVAILABLE"),
        ("rebalance", "the command is rebalance NAME"),
        ("halt", "'halt' is no command; there are status, stop BROKER,"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(path: Path, command: str, error: str) -> None:
    code, output, errors = said(path, *command.split())
    is_usage = "the command is" in error or "no command" in error
    assert (code, output) == (2 if is_usage else 1, "")
    assert error in errors


def test_lines_without_end_and_none(path: Path) -> None:
    assert send(path, "x" * 100_000) == "error: the line is too long"
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
    assert send(path, "").startswith("error: '' is no command")
    assert send(path, "status\nstatus").count("controller=") == 2


def test_only_its_owner_can_open_it(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_second_cluster_leaves_the_socket_alone(path: Path) -> None:
    with serve("--control", str(path)) as process:
        output, errors = process.communicate(timeout=_SECONDS)
    assert (process.returncode, output) == (2, "")
    assert f"--control: cannot take commands at {path}: it is there already" in errors
    assert said(path, "status")[0] == 0


def test_what_a_crash_has_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    code, _, errors = said(path, "status")
    assert code == 2
    assert f"no cluster answers at {path}" in errors
    with serve("--control", str(path)) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert said(path, "status")[1] == "1=running controller=1 epoch=1\n"
        _ended(process)


def test_the_end_does_not_wait_for_a_connection(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with serve("--control", str(path)) as process, socket.socket(socket.AF_UNIX) as connection:
        assert process.stdout is not None
        process.stdout.readline()
        connection.connect(str(path))
        connection.sendall(b"status\n")
        assert connection.recv(100) == b"1=running controller=1 epoch=1\n"
        _ended(process)


def test_a_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with serve("--control", str(path)) as process:
        assert "it is there already" in process.communicate(timeout=_SECONDS)[1]
    assert path.read_text() == "mine"


def test_faults_come_and_go(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with serve("--control", str(path)) as process:
        assert process.stdout is not None
        with Nodes(process.stdout.readline().strip()) as nodes:
            assert said(path, "faults")[1] == "none\n"
            assert said(path, "fault", "api=Metadata", "error=NOT_CONTROLLER")[1] == "ok\n"
            assert nodes.ask(0, MetadataRequest(topics=None), 13).error_code == 41
            listed = "api=Metadata error=NOT_CONTROLLER: fired 1 time\n"
            assert said(path, "faults")[1] == listed
            assert said(path, "heal")[1] == "ok\n"
            assert nodes.ask(0, MetadataRequest(topics=None), 13).error_code == 0
        assert "a fault has no 'ap'" in "".join(map(str, said(path, "fault", "ap=1")))
        _ended(process)


def test_help_has_every_command() -> None:
    found = run_kap("serve-control --help").stdout
    assert [each for each in COMMANDS if each not in found] == []


def _ended(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(_SECONDS) == 0


def test_a_process_that_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        with pytest.raises(TimeoutError):
            send(path, "status", timeout_s=0.1)


def test_its_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(path: Path, command: str) -> str:
        raise TimeoutError

    monkeypatch.setattr("kafka_admin_proto.cli.server.control.send", stopped)
    code, _, text = said(tmp_path / "socket", "status")
    assert code == 1
    assert "says nothing: it may be stopped" in text
