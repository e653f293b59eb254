"""Times and pairs as tshark has them, beside ours, of captures that are whole or lack packets."""

from __future__ import annotations

import random
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_admin_proto.capture.captures import read_captures
from kafka_admin_proto.capture.files.pcap import FILE_HEADER, PACKET_HEADER
from tools.oracles import tshark

#: Microseconds by which times may differ that were read from decimal fractions.
_ROUNDING_US = 2
#: Packets in a row that are lost.
_ROW = 8

SAME_TIME = "time of a request is the same"
SAME_PAIR = "time and latency of a response are the same"
ONLY_HERE = "time of a response is the same, and only `kap` has its request"
NO_PAIR = "time of a response is the same, and neither has its request"
ONLY_THERE = "only tshark has the request of a response"
OTHER_TIME = "other time"
OTHER_PAIR = "other latency"
#: tshark reads tokens of SASL, which have no header, as requests.
NO_FRAME = "no frame of `kap`"
KINDS = (
    SAME_TIME, SAME_PAIR, ONLY_HERE, NO_PAIR, ONLY_THERE, OTHER_TIME, OTHER_PAIR, NO_FRAME,
)  # fmt: skip


def with_losses(path: Path, folder: Path, seed: int) -> Path:
    """A copy of a capture of tcpdump without one packet in 50, and the seven after it."""
    draw = random.Random(seed)
    data, made = path.read_bytes(), folder / f"{path.stem}-{seed}.pcap"
    kept, at, lost = bytearray(data[:FILE_HEADER]), FILE_HEADER, 0
    while at < len(data):
        end = at + PACKET_HEADER + struct.unpack_from("<I", data, at + 8)[0]
        lost = _ROW if draw.random() < 0.02 else lost - 1
        if lost <= 0:
            kept += data[at:end]
        at = end
    made.write_bytes(kept)
    return made


def compare(path: Path, ports: Sequence[int]) -> Counter[str]:
    """How many frames of tshark's agree with ours, and how."""
    ours = {}
    for each in read_captures([path]):
        if each.correlation_id is not None and not each.forwarded and each.ts is not None:
            is_request = each.direction == "request"
            key = (each.client, each.server, is_request, each.correlation_id, each.ts)
            ours[key] = each.latency_us
    found: Counter[str] = Counter()
    known = {each[:4] for each in ours}
    for client, server, is_request, correlation_id, ts, latency in _frames(path, ports):
        near = [
            (client, server, is_request, correlation_id, ts + by)
            for by in range(-_ROUNDING_US, _ROUNDING_US + 1)
        ]
        same = next((each for each in near if each in ours), None)
        if same is None:
            found[OTHER_TIME if near[0][:4] in known else NO_FRAME] += 1
        elif is_request:
            found[SAME_TIME] += 1
        else:
            found[_of_pair(ours[same], latency)] += 1
    return found


def _of_pair(ours: int | None, theirs: int | None) -> str:
    if theirs is None:
        return NO_PAIR if ours is None else ONLY_HERE
    if ours is None:
        return ONLY_THERE
    return SAME_PAIR if abs(ours - theirs) <= _ROUNDING_US else OTHER_PAIR


_Timed = tuple[str, str, bool, int, int, int | None]


def _frames(path: Path, ports: Sequence[int]) -> Iterator[_Timed]:
    """Client, server, whether it is a request, correlation id, time and latency of each frame."""
    times: dict[str, int] = {}
    for timed in tshark.timed_frames(path, ports):
        times[timed.packet] = timed.ts
        asked = times.get(timed.request_packet or "")
        latency = None if asked is None else timed.ts - asked
        if timed.correlation_id is not None:
            client, server, _ = timed.connection
            yield client, server, timed.is_request, timed.correlation_id, timed.ts, latency


def compared(
    files: Sequence[tuple[Path, Sequence[int]]], seeds: Sequence[int]
) -> list[Counter[str]]:
    """The counts of whole captures, and those of the same with packets lost."""
    whole: Counter[str] = Counter()
    lossy: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path, ports in files:
            whole += compare(path, ports)
            for seed in seeds:
                lossy += compare(with_losses(path, Path(folder), seed), ports)
    return [whole, lossy]
