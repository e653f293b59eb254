"""A folder of rotated files is one capture."""

from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.capture.test_request_log import entry, log4j
from tests.cli.captures.test_captures import CAPTURE, EVERYTHING, rows
from tests.helpers.kap import ended, run_kap


def rotated(folder: Path, parts: int) -> None:
    """``samples/admin42.pcap.gz`` (origin: samples/README.md) in files that begin amid its
    connections; their names are not in the order of time, and one of them is compressed.
    """
    data = gzip.decompress(CAPTURE.read_bytes())
    packets, at = [], 24
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 8)
        packets.append(data[at : at + 16 + size])
        at += 16 + size
    each = -(-len(packets) // parts)
    for index in range(parts):
        part = data[:24] + b"".join(packets[index * each : (index + 1) * each])
        file = folder / f"night.pcap{(index + 1) % parts}"
        file.write_bytes(gzip.compress(part) if index == 1 else part)


def _frames(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"capture": None} for row in found]


@pytest.mark.parametrize("below", ["", "2026-11-21"])
def test_the_files_of_a_folder_are_read_in_the_order_of_their_packets(
    tmp_path: Path, below: str
) -> None:
    (tmp_path / below).mkdir(exist_ok=True)
    rotated(tmp_path / below, 3)
    (tmp_path / ".night.pcap.swp").write_bytes(b"hidden")
    found = rows(f"decode {tmp_path}")
    assert _frames(found) == _frames(EVERYTHING)
    assert len({row["capture"] for row in found}) == 3


@pytest.mark.parametrize("command", ["decode", "explain"])
def test_files_that_are_left_out_are_named(command: str, tmp_path: Path) -> None:
    (tmp_path / "request.log" if command == "decode" else tmp_path / "a.pcap").write_bytes(
        log4j(entry()).encode() if command == "decode" else CAPTURE.read_bytes()
    )
    (tmp_path / "capture.sh").write_text("tcpdump -w night.pcap -G 3600")
    result = ended(run_kap(command, str(tmp_path)))
    assert result.stderr == (
        f"left out, since they are no captures and no request logs: {tmp_path / 'capture.sh'}\n"
    )


def test_a_file_of_a_folder_is_not_read_twice(tmp_path: Path) -> None:
    rotated(tmp_path, 2)
    assert (
        "night.pcap0 is named twice"
        in ended(run_kap("decode", str(tmp_path), str(tmp_path / "night.pcap0")), 2).stderr
    )


def test_a_folder_below_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pcap").write_bytes(CAPTURE.read_bytes())
    closed = tmp_path / "closed"
    closed.mkdir()
    listed = os.scandir

    def scandir(path: Any) -> Any:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(closed))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = ended(run_kap("decode", str(tmp_path)))
    assert result.stderr == f"left out: {closed}: Permission denied\n"
    closed = tmp_path
    result = ended(run_kap("decode", str(tmp_path)), 2)
    assert result.stderr == f"kap: {tmp_path}: Permission denied\n"


def test_a_link_that_leads_nowhere_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "capture.pcap").write_bytes(CAPTURE.read_bytes())
    link = tmp_path / "link.pcap"
    link.symlink_to("nowhere.pcap")
    result = ended(run_kap("decode", str(tmp_path)), 2)
    assert result.stderr == f"kap: {link}: No such file or directory\n"
