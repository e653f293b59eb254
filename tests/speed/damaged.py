"""Captures with damage: packets that are missing, swapped, doubled, cut off, or have wrong bits."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import NamedTuple

from kafka_admin_proto.capture.files.opening import open_packets, read_packets
from tests.speed.rows import File


class Captured(NamedTuple):
    """A packet as a file has it; ``original`` is its size on the wire."""

    ts: int
    link: int
    data: bytes
    original: int


def packets(data: bytes) -> list[Captured]:
    """The packets of a file."""
    found = read_packets(open_packets(BytesIO(data)), lambda at, error: None)
    return [Captured(*each, len(each[2])) for each in found]


def pcap(packets: Sequence[Captured], link: int = 1) -> bytes:
    """A file of packets."""
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link)]
    for each in packets:
        seconds, micros = divmod(each.ts, 1_000_000)
        parts.append(struct.pack("<4I", seconds, micros, len(each.data), each.original))
        parts.append(each.data)
    return b"".join(parts)


def some(packets: Sequence[Captured], dice: random.Random, most: int) -> list[Captured]:
    """Packets that follow each other, ``most`` of them at most."""
    count = min(len(packets), dice.randint(1, most))
    start = dice.randint(0, len(packets) - count)
    return list(packets[start : start + count])


def damaged(packets: Sequence[Captured], dice: random.Random) -> list[Captured]:
    """Some of the packets damaged, in one way or several; times stay in their order or do not."""
    found = list(packets)
    rate = dice.choice([0.0, 0.01, 0.03, 0.1])
    for way in dice.sample(_WAYS, dice.randint(0, 3)):
        found = way(found, rate, dice)
    return found


def files(packets: Sequence[Captured], dice: random.Random) -> list[File]:
    """The packets in one file, or in up to three, the bytes of the last perhaps damaged."""
    bounds = sorted(dice.choices(range(len(packets) + 1), k=dice.choice([0, 0, 1, 2])))
    bounds = [0, *bounds, len(packets)]
    link = packets[0].link if packets else 1
    made = [
        (f"{number}.pcap", pcap(packets[start:end], link))
        for number, (start, end) in enumerate(pairwise(bounds))
    ]
    if dice.random() < 0.1:
        name, data = made[-1]
        changed = bytearray(data)
        for _ in range(dice.randint(1, 3)):
            changed[dice.randrange(24, len(data)) if len(data) > 24 else 23] ^= 1 << dice.randrange(
                8
            )
        made[-1] = name, bytes(changed[: dice.choice([len(data), dice.randint(24, len(data))])])
    return made


def _lost(found: list[Captured], rate: float, dice: random.Random) -> list[Captured]:
    return [each for each in found if dice.random() >= rate]


def _doubled(found: list[Captured], rate: float, dice: random.Random) -> list[Captured]:
    return [again for each in found for again in [each] * (1 + (dice.random() < rate))]


def _swapped(found: list[Captured], rate: float, dice: random.Random) -> list[Captured]:
    reach = dice.choice([2, 5, 20])
    order = sorted(
        range(len(found)),
        key=lambda at: at + (dice.uniform(0, reach) if dice.random() < rate * 3 else 0),
    )
    times = [each.ts for each in found]
    keeps_times = dice.random() < 0.5
    return [
        found[at] if keeps_times else found[at]._replace(ts=ts)
        for at, ts in zip(order, times, strict=True)
    ]


def _cut(found: list[Captured], rate: float, dice: random.Random) -> list[Captured]:
    size = dice.randint(60, 400)
    return [
        each._replace(data=each.data[:size]) if dice.random() < rate * 3 else each for each in found
    ]


def _flipped(found: list[Captured], rate: float, dice: random.Random) -> list[Captured]:
    changed = []
    for each in found:
        data = bytearray(each.data)
        if data and dice.random() < rate * 3:
            # Mostly headers and the first fields: what is behind them is data.
            reach = len(data) if dice.random() < 0.3 else min(len(data), 100)
            for _ in range(dice.randint(1, 2)):
                data[dice.randrange(reach)] ^= 1 << dice.randrange(8)
        changed.append(each._replace(data=bytes(data)))
    return changed


def _late(found: list[Captured], rate: float, dice: random.Random) -> list[Captured]:
    """Pauses, long and short, and steps back."""
    shift, changed = 0, []
    for each in found:
        if dice.random() < rate:
            shift += dice.choice([-2_000_000, 200_000, 6_000_000, 11_000_000])
        changed.append(each._replace(ts=max(each.ts + shift, 0)))
    return changed


_WAYS = [_lost, _doubled, _swapped, _cut, _flipped, _late]
