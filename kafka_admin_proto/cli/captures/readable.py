"""Which inputs can be read, and which files a folder of captures has."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import click

from kafka_admin_proto.capture.dumps.text import SAMPLE_BYTES
from kafka_admin_proto.capture.sources import format_of
from kafka_admin_proto.cli.logs.segments import is_segment
from kafka_admin_proto.render.text import printable

#: Files that are named of those that are left out.
_LISTED = 5


class UnreadableInput(click.ClickException):
    """A named input that cannot be read at all: a usage error, ``kap: FILE: reason``."""

    exit_code = 2

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"kap: {printable(name)}: {reason}")

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file=file, err=True)


def check_readable(names: Iterable[str]) -> None:
    """Refuse inputs that are missing or not to be read.

    All are looked at before any is read. A pipe is not opened: it may be opened but once. Raises
    UnreadableInput.
    """
    for name in names:
        if name == "-":
            continue
        try:
            mode = os.stat(name).st_mode
            if stat.S_ISREG(mode):
                os.close(os.open(name, os.O_RDONLY))
        except OSError as error:
            raise UnreadableInput(name, error.strerror or str(error)) from None


def with_files_of_folders(names: Iterable[str]) -> tuple[str, ...]:
    """The inputs, with the captures and request logs of a folder in its place.

    A capture that was rotated is a folder of files. Raises UnreadableInput.
    """
    found: list[str] = []
    for name in names:
        found += _files_of(name) if os.path.isdir(name) else [name]
    return tuple(found)


def _files_of(name: str) -> list[str]:
    """The captures and request logs in a folder and below it, but for hidden files.

    Others are left out, which is said on standard error. Raises UnreadableInput where none is left.
    """
    taken: list[str] = []
    others: list[str] = []
    for path in _paths_below(name):
        try:
            if not stat.S_ISREG(path.stat().st_mode):  # a link that leads nowhere has no mode
                continue
            with path.open("rb") as file:
                is_taken = format_of(file.read(SAMPLE_BYTES)) != "auto"
        except OSError as error:
            raise UnreadableInput(str(path), error.strerror or str(error)) from None
        (taken if is_taken else others).append(str(path))
    if not taken:
        reason = "there is no capture and no request log in this folder"
        if segments := [each for each in others if is_segment(each)]:
            reason += f"; its log segments are named one by one, as {segments[0]}"
        raise UnreadableInput(name, reason)
    if others:
        listed = ", ".join(others[:_LISTED]) + (", …" if len(others) > _LISTED else "")
        left_out = f"left out, since they are no captures and no request logs: {listed}"
        click.echo(printable(left_out), err=True)
    return taken


def _paths_below(name: str) -> list[Path]:
    """What is in a folder and below it, but for hidden paths and folders, in order.

    Folders below it that cannot be listed are named on standard error as left out. Raises
    UnreadableInput where that is the folder itself.
    """

    def leave_out(error: OSError) -> None:
        reason = error.strerror or str(error)
        if error.filename == name:
            raise UnreadableInput(name, reason)
        click.echo(printable(f"left out: {error.filename}: {reason}"), err=True)

    paths: list[Path] = []
    for folder, below, files in os.walk(name, onerror=leave_out):
        below[:] = sorted(each for each in below if not each.startswith("."))
        paths += (Path(folder, each) for each in files if not each.startswith("."))
    return sorted(paths)
