"""The files of a capture, in the cache's folder ``captures/``."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tools.oracles.jars import cache_folder


class Capture(msgspec.Struct, frozen=True):
    """One capture: its file, the ports that servers listened on, the release of its brokers.

    ``sasl`` is the address that clients have to log in at; ``said`` are the lines of the clients;
    ``made_by`` is a digest of the sources that made it.
    """

    name: str
    ports: list[int]
    release: str = ""
    sasl: str = ""
    said: list[str] = []
    made_by: str = ""

    @property
    def path(self) -> Path:
        return captures_folder() / f"{self.name}.pcap"

    @property
    def request_log(self) -> Path:
        return captures_folder() / f"{self.name}.request.log"


def captures_folder() -> Path:
    """Where captures are kept."""
    folder = cache_folder() / "captures"
    folder.mkdir(exist_ok=True)
    return folder
