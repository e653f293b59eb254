"""The captures in samples/: nothing missing, nothing doubtful, nothing lost."""

from __future__ import annotations

import gzip
from pathlib import Path

import dpkt
import pytest

from kafka_admin_proto.capture import DecodedFrame, read_captures
from tests.capture.old_client import CAPTURE as OLD_CLIENT
from tests.capture.old_client import old_client

SAMPLES = Path(__file__).parents[2] / "samples"
CAPTURES = [SAMPLES / "admin42.pcap.gz", SAMPLES / "controller39.pcap.gz"]


def payload_bytes(path: Path) -> dict[tuple[str, str], int]:
    """Distinct payload bytes by (source, destination), as dpkt sees them."""
    seen: dict[tuple[str, str], set[int]] = {}
    with gzip.open(path) as stream:
        for _, data in dpkt.pcap.Reader(stream):
            ip = dpkt.ethernet.Ethernet(data).data
            if not isinstance(ip, dpkt.ip.IP) or not isinstance(ip.data, dpkt.tcp.TCP):
                continue
            tcp = ip.data
            size = ip.len - 4 * ip.hl - 4 * tcp.off
            ends = [
                f"{'.'.join(map(str, a))}:{p}"
                for a, p in ((ip.src, tcp.sport), (ip.dst, tcp.dport))
            ]
            seen.setdefault((ends[0], ends[1]), set()).update(range(tcp.seq, tcp.seq + size))
    return {ends: len(positions) for ends, positions in seen.items() if positions}


def ends_of(frame: DecodedFrame) -> tuple[str, str]:
    assert frame.client is not None
    assert frame.server is not None
    if frame.direction == "request":
        return frame.client, frame.server
    return frame.server, frame.client


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_every_byte_is_in_a_frame_that_reads_and_writes(path: Path) -> None:
    frames = list(read_captures([path]))
    assert len(frames) > 150
    assert [frame.problem for frame in frames if frame.problem] == []
    found: dict[tuple[str, str], int] = {}
    for frame in frames:
        assert frame.codec is not None
        assert frame.codec.encode(frame.body) == frame.data[frame.body_offset :]
        if not frame.forwarded:
            ends = ends_of(frame)
            found[ends] = found.get(ends, 0) + frame.size
    assert found == payload_bytes(path)


def test_what_is_in_them() -> None:
    frames = list(read_captures(reversed(CAPTURES)))
    apis = {(f.api, f.api_version) for f in frames if f.direction == "request"}
    assert {("UpdateMetadata", 7), ("LeaderAndIsr", 5), ("StopReplica", 3), ("Envelope", 0)} <= apis
    forwarded = [f for f in frames if f.forwarded]
    assert {f.principal for f in forwarded if f.direction == "request"} == {"User:ANONYMOUS"}
    assert {f.api for f in forwarded} >= {"CreateTopics", "DeleteTopics", "CreatePartitions"}
    assert "apache-kafka-java 4.2.0" in {f.client_software for f in frames}
    named = [f.known_topics() for f in frames if f.api == "Produce" and f.direction == "request"]
    assert ["fruit"] in [list(names.values()) for names in named]


def test_the_old_client_is_made_of_the_dump() -> None:
    """Its frames are held to Kafka's own classes by ``tests/vectors``."""
    assert gzip.decompress(OLD_CLIENT.read_bytes()) == old_client()
    frames = list(read_captures([OLD_CLIENT]))
    assert [frame.problem for frame in frames] == [None] * 18
    assert {(frame.api, frame.api_version) for frame in frames} == {
        ("CreateTopics", 0), ("CreateTopics", 1),
    }  # fmt: skip
