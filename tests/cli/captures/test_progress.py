"""The bar of long files: it is shown alone, and gone before anything else is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import click
import pytest
from rich.progress import Progress as Bar

from kafka_admin_proto.capture.frames import DecodedFrame
from kafka_admin_proto.cli.captures import progress
from kafka_admin_proto.cli.captures.progress import Progress

FRAME = DecodedFrame("", "data", b"")


@pytest.fixture
def long_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A file that counts as long, while standard error is a terminal."""
    monkeypatch.setattr(progress, "_LONG", 1)
    file = tmp_path / "long.pcap"
    file.write_bytes(b"12")
    with patch("sys.stderr.isatty", return_value=True):
        yield str(file)


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.UsageError("no"), BrokenPipeError])
def test_what_ends_a_command_finds_no_bar(long_file: str, error: Any) -> None:
    with patch.object(Bar, "stop") as stop, patch.object(Bar, "start"):
        frames = None

        def command() -> None:
            nonlocal frames  # it outlives the command, as in a traceback
            frames = Progress([long_file], silent=True).around([FRAME, FRAME])
            next(frames)
            assert not stop.called
            raise error

        expected = (KeyboardInterrupt, click.UsageError, BrokenPipeError)
        with pytest.raises(expected), click.Context(click.Command("decode")) as context:
            context.invoke(command)
        assert stop.called


@pytest.mark.parametrize(("is_pipe", "silent", "shown"), [
    (True, False, False), (True, True, True), (False, False, True), (False, True, True),
])  # fmt: skip
def test_no_bar_where_output_may_come_beside_it(
    long_file: str, is_pipe: bool, silent: bool, shown: bool
) -> None:
    descriptor = os.pipe()[1] if is_pipe else os.open(long_file, os.O_WRONLY)
    with (
        patch("sys.stdout.fileno", return_value=descriptor),
        patch.object(Bar, "start") as start,
        click.Context(click.Command("decode")),
    ):
        list(Progress([long_file], silent=silent).around([FRAME]))
    os.close(descriptor)
    assert start.called == shown
