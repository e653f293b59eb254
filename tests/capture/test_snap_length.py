"""Captures whose packets were cut off by the snap length (``tcpdump -s 96``) say so."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from pathlib import Path

import pytest

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.capture.problem_kinds import kind_of
from kafka_admin_proto.capture.record import frame_record

SAMPLES = Path(__file__).parents[2] / "samples"


def cut_off(source: Path, target: Path, snap_length: int) -> Path:
    """A capture of the project's samples (origin: samples/README.md) with shorter packets."""
    data = gzip.decompress(source.read_bytes())
    out, at = bytearray(data[:16] + struct.pack("<I", snap_length) + data[20:24]), 24
    while at < len(data):
        seconds, micros, size, whole = struct.unpack_from("<4I", data, at)
        packet = data[at + 16 : at + 16 + size][:snap_length]
        out += struct.pack("<4I", seconds, micros, len(packet), whole) + packet
        at += 16 + size
    target.write_bytes(out)
    return target


@pytest.mark.parametrize("snap_length", [68, 96, 128, 200, 1000])
@pytest.mark.parametrize("sample", ["admin42", "controller39"])
def test_what_the_snap_length_cut_off_is_named_so(
    sample: str, snap_length: int, tmp_path: Path
) -> None:
    file = cut_off(SAMPLES / f"{sample}.pcap.gz", tmp_path / "cut.pcap", snap_length)
    shown = [frame.shown() for frame in read_captures([file])]
    problems = Counter(kind_of(str(frame.error)) for frame in shown if frame.error is not None)
    assert problems
    named = [count for kind, count in problems.items() if "the capture's snap length" in kind]
    others = [kind for kind in problems if "the capture's snap length" not in kind]
    assert sum(named) >= 0.9 * problems.total()
    assert not [kind for kind in others if "SASL" in kind]


def test_what_was_captured_of_a_frame_is_said(tmp_path: Path) -> None:
    file = cut_off(SAMPLES / "old_client.pcap.gz", tmp_path / "cut.pcap", 90)
    first = next(iter(read_captures([file])))
    assert str(first.error) == (
        "at byte 24: only the first 24 of a frame's 54 bytes were captured, with 30 bytes missing "
        "behind them, because the capture's snap length cut their packet off"
    )


def test_nothing_more_is_shown(tmp_path: Path) -> None:
    """The problem alone has other words: a frame that may be a part of a token stays masked."""
    file = cut_off(SAMPLES / "admin42.pcap.gz", tmp_path / "cut.pcap", 96)
    masked = [frame.shown() for frame in read_captures([file]) if frame.may_be_token]
    assert len(masked) > 250
    for frame in masked:
        assert (frame.header, frame.body, frame.client_id, frame.correlation_id) == (None,) * 4
        assert set(frame_record(frame, raw=True)["raw"]) <= {"*"}


def test_a_packet_that_was_not_captured_is_not_called_cut_off(tmp_path: Path) -> None:
    data = gzip.decompress((SAMPLES / "admin42.pcap.gz").read_bytes())
    lost, at, number = bytearray(data[:24]), 24, 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 8)
        number += 1
        if number % 20:
            lost += data[at : at + 16 + size]
        at += 16 + size
    file = tmp_path / "lost.pcap"
    file.write_bytes(lost)
    said = [str(frame.shown().error) for frame in read_captures([file])]
    assert any("not captured" in each for each in said)
    assert not any("snap length" in each for each in said)
