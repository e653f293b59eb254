"""Logs that a test has opened are closed at its end, also where it plays a killed process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_admin_proto.server.partitions.disk.log_dir import LogDir


@pytest.fixture(autouse=True)
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The files of a real process go with it."""
    made: list[LogDir] = []

    def make(self: LogDir, *arguments: Any) -> None:
        real(self, *arguments)
        made.append(self)

    real = LogDir.__init__
    monkeypatch.setattr(LogDir, "__init__", make)
    yield
    for each in made:
        each.release()
