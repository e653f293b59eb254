"""The page of what tshark reads: of which captures it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.oracles import tshark, tshark_table
from tools.traffic import captures
from tools.traffic.capture_files import Capture


def test_the_page_is_of_the_captures_in_git(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Others of the same traffic would have other numbers of frames, each time."""
    monkeypatch.setenv("KAFKA_ADMIN_PROTO_CACHE", str(tmp_path))
    made = []

    def capture(name: str) -> Capture:
        made.append(name)
        return Capture(name, [9092], "3.9.2")

    read = []

    def matched(path: Path, ports: list[int]) -> list[object]:
        read.append(path.name)
        return []

    for module in (captures, tshark_table):
        monkeypatch.setattr(module, "capture", capture, raising=False)
    monkeypatch.setattr(tshark, "known_apis", dict)
    monkeypatch.setattr(tshark, "version", lambda: "4.0")
    monkeypatch.setattr(tshark, "matched", matched)
    with pytest.raises(ZeroDivisionError):  # of no frames
        tshark_table.page()
    assert read == ["kraft.pcap", "zk.pcap", "sasl.pcap"]
    assert made == ["zk"]
