"""Tables on a real terminal, at the widths that people have."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "samples" / "create_topics.hex"


def on_terminal(width: int, *arguments: str, status: int = 0) -> list[str]:
    """The lines that ``kap`` writes to a terminal of that width, colours removed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    script = "from kafka_admin_proto.cli import main; main()"
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(theirs)
        data = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not piece:
                break
            data += piece
        os.close(ours)
    assert process.returncode == status, data
    return re.sub(r"\x1b\[[0-9;]*m", "", data.decode()).splitlines()


@pytest.mark.parametrize("width", [120, 200])
def test_each_frame_is_a_line_that_fits(width: int) -> None:
    lines = on_terminal(width, "decode", str(SAMPLE))
    frames = [line for line in lines if "CreateTopics v" in line]
    assert len(frames) == 18
    assert max(len(line) for line in lines) <= width
    assert all('{"' in line for line in frames)
    assert ("…" in frames[4]) or width == 200


def test_a_frame_is_a_paragraph_where_its_body_would_have_no_room() -> None:
    lines = on_terminal(80, "decode", str(SAMPLE))
    assert sum(line.startswith("#: ") for line in lines) == 18
    assert sum("api: CreateTopics v" in line for line in lines) == 18
    bodies = [line.partition("body: ")[2] for line in lines if "body: " in line]
    assert len(bodies) == 18
    assert all(len(body) >= 30 for body in bodies if body.endswith("…"))
    assert max(len(line) for line in lines) <= 80


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [80, 120])
def test_fields_and_definitions_keep_their_names_whole(width: int) -> None:
    lines = on_terminal(width, "explain", str(SAMPLE), "--only", "1")
    assert [line for line in lines if "replication_factor" in line]
    lines = on_terminal(width, "schema", "show", "CreateTopicsRequest")
    assert [line for line in lines if "replication_factor" in line]
