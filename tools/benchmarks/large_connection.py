"""A capture of one connection of any size: a real one's frames, over and over, in one stream."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

from kafka_admin_proto.capture.captures import read_captures
from tools.traffic.captures import capture

_CLIENT, _SERVER = (bytes([10, 0, 0, 1]), 40000), (bytes([10, 0, 0, 2]), 9092)
_SYN, _ACK = 2, 16
#: Bytes of one segment, and microseconds between two.
_SEGMENT, _PAUSE = 1448, 20
_START = 1_700_000_000_000_000


class _Writer:
    def __init__(self, file: Path) -> None:
        self._out = file.open("wb")
        self._out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        self._sequences = [0, 0]
        self._now = _START
        self.size = 24

    def send(self, side: int, flags: int, data: bytes = b"") -> None:
        """A segment of the client (0) or the server (1)."""
        source, destination = (_CLIENT, _SERVER) if side == 0 else (_SERVER, _CLIENT)
        self._now += _PAUSE
        tcp = struct.pack(
            ">HHIIBBHHH", source[1], destination[1], self._sequences[side],
            self._sequences[1 - side], 0x50, flags, 65535, 0, 0,
        )  # fmt: skip
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(data), 0, 0x4000, 64, 6, 0)
        packet = bytes(12) + b"\x08\0" + ip + source[0] + destination[0] + tcp + data
        seconds, micros = divmod(self._now, 1_000_000)
        self._out.write(struct.pack("<4I", seconds, micros, len(packet), len(packet)) + packet)
        self.size += 16 + len(packet)
        step = len(data) + (flags & _SYN) // _SYN
        self._sequences[side] = (self._sequences[side] + step) % (1 << 32)

    def close(self) -> None:
        self._out.close()


def large_connection(file: Path, size: int) -> int:
    """Write a capture of at least so many bytes; how many frames it has."""
    found = [each for each in read_captures([capture("kraft").path]) if not each.forwarded]
    frames_of = Counter(each.connection for each in found)
    name, _ = frames_of.most_common(1)[0]
    turns = [(each.direction == "response", each.data) for each in found if each.connection == name]
    writer = _Writer(file)
    writer.send(0, _SYN)
    writer.send(1, _SYN | _ACK)
    count = 0
    while writer.size < size:
        for side, data in turns:
            for at in range(0, len(data), _SEGMENT):
                writer.send(side, _ACK, data[at : at + _SEGMENT])
        count += len(turns)
    writer.close()
    return count
