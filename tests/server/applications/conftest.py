"""Applications that end with the test that has started them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.server.applications.application import Application, Start


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as started:

        def application(folder: Path, jars: Sequence[Path], command: Sequence[str]) -> Application:
            found = Application(folder, jars, command)
            started.callback(found.kill)
            return found

        yield application
