"""Read pcapng: blocks of a type, a length, a body, and the length again.

draft-ietf-opsawg-pcapng. A section block sets the byte order, and interface blocks describe the
interfaces that packets refer to by number. Reading a packet needs the state of the blocks before.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from kafka_admin_proto.capture.files.buffered import (
    MAX_PACKET_BYTES,
    NO_END,
    BufferedSource,
    Packet,
    Report,
    damage,
    truncation,
)
from kafka_admin_proto.capture.files.header_recovery import (
    CONCLUSIVE,
    CUT_OFF,
    NOT_A_HEADER,
    HeaderRecovery,
    Layout,
)
from kafka_admin_proto.counts import counted

MAGIC = b"\x0a\x0d\x0d\x0a"
_ORDERS = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_SECTION, _INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
_STATE_BLOCKS = (_SECTION, _INTERFACE)
_PACKET_BLOCKS = (_PACKET, _SIMPLE, _ENHANCED)
#: Bytes of the smallest block, and of the largest, a packet with its options.
_LEAST = 12
_LARGEST_BLOCK = MAX_PACKET_BYTES + 4096
#: After damage, the largest block that is recognised, and the bytes in which others must follow.
_USUAL_BLOCK = 260 * 1024
_REACH = 256 * 1024
#: Times in microseconds have 63 bits.
_LATEST = 1 << 63
#: The fault of a block that the end of the data cuts off.
_ENDS = "cut"

_HEADS = {order: struct.Struct(f"{order}2I").unpack_from for order in "<>"}
_ENHANCED_HEADS = {order: struct.Struct(f"{order}5I").unpack_from for order in "<>"}
_PACKET_HEADS = {order: struct.Struct(f"{order}2H4I").unpack_from for order in "<>"}


class _BadBlockError(Exception):
    """A block has a right length, but a damaged body."""


class _Interface(NamedTuple):
    link: int
    snap: int
    #: Ticks a second, and seconds to add.
    resolution: int
    offset: int


class State(NamedTuple):
    """The byte order and interfaces that the blocks so far have set."""

    order: str
    #: The first ``known`` items are the interfaces; None stands for a damaged description.
    interfaces: list[_Interface | None]
    known: int


class Blocks:
    """Reads blocks from the source's position; ``state`` is that of the blocks before it."""

    def __init__(self, source: BufferedSource, state: State | None = None) -> None:
        self._source = source
        self.order: str = state.order if state else "<"
        self.interfaces: list[_Interface | None] = state.interfaces[: state.known] if state else []
        #: Type and size of the block at the source's position.
        self._kind = self._size = 0

    def packets(self, report: Report, end: int = NO_END) -> Iterator[Packet]:
        """The packets of the blocks that begin before the byte ``end``.

        Consecutive bad blocks are one fault, which may extend beyond ``end``.
        """
        source = self._source
        bad: tuple[int, str] | None = None
        while (bad or source.position < end) and source.have(_LEAST):
            fault = self._frame()
            if fault == _ENDS:
                break
            if fault:
                bad = bad or (source.position, fault)
                if self._recover():
                    continue
                break
            packet = None
            try:
                packet = self._block()
            except _BadBlockError as error:
                bad = bad or (source.position, str(error))
            else:
                if bad:
                    report(bad[0], damage(source, *bad))
                    bad = None
                    if source.position >= end:
                        return
            source.start = source.at
            source.at += self._size
            if packet is not None:
                yield packet
        left = source.at < len(source.data)
        if bad:
            report(bad[0], damage(source, *bad, found=left))
        if source.position < end and (left or (source.fault and not bad)):
            report(source.position, truncation(source, "block"))

    def last_before(self, end: int) -> tuple[int, State]:
        """The start of the last block before the byte ``end``, and the state there."""
        source = self._source
        at, state = source.position, (self.order, self.interfaces, len(self.interfaces))
        while source.position < end and source.have(_LEAST):
            at, state = source.position, (self.order, self.interfaces, len(self.interfaces))
            fault = self._frame()
            if fault == _ENDS or (fault and not self._recover()):
                break
            if fault:
                continue
            if self._kind in _STATE_BLOCKS:
                with suppress(_BadBlockError):
                    self._block()
            source.at += self._size
        return at, State(*state)

    def _frame(self) -> str:
        """Read the type and size of the block here. Returns a fault, or "" for a block."""
        source = self._source
        data, at = source.data, source.at
        order = self.order
        if data.startswith(MAGIC, at):
            magic = data[at + 8 : at + 12]
            if magic not in _ORDERS:
                return f"a section with the byte-order magic {magic.hex()}"
            order = _ORDERS[magic]
        kind, size = _HEADS[order](data, at)
        if size < _LEAST or size % 4 or size > _LARGEST_BLOCK:
            return f"a block of {counted(size, 'bytes')}"
        if at + size > len(data):
            if not source.have(size):
                return (
                    _ENDS
                    if size <= _USUAL_BLOCK
                    else f"a block of {counted(size, 'bytes')}, too large"
                )
            data, at = source.data, source.at
        if data[at + 4 : at + 8] != data[at + size - 4 : at + size]:
            return f"a block of {counted(size, 'bytes')} with another length at its end"
        self._kind, self._size = kind, size
        return ""

    def _recover(self) -> bool:
        self._source.at += 1
        return HeaderRecovery(_layout(self.order)).find(self._source)

    def _block(self) -> Packet | None:
        """Read the body of the block here. Returns its packet, or None for other blocks."""
        source, kind, order = self._source, self._kind, self.order
        data, at = source.data, source.at + 8
        room = self._size - _LEAST - 20
        if kind == _SIMPLE and room >= -16:
            original = int.from_bytes(data[at : at + 4], "big" if order == ">" else "little")
            interface = self._interface(0)
            size = min(original, interface.snap or original, room + 16)
            return 0, interface.link, data[at + 4 : at + 4 + size]
        if kind not in _PACKET_BLOCKS:
            if kind in _STATE_BLOCKS:
                self._update_state(data[at : at + room + 20])
            return None
        if room < 0:
            raise _BadBlockError(f"a block of type {kind} that is too short")
        if kind == _ENHANCED:
            number, high, low, size, _ = _ENHANCED_HEADS[order](data, at)
        else:
            number, _, high, low, size, _ = _PACKET_HEADS[order](data, at)
        if size > room:
            raise _BadBlockError(
                f"a packet of {counted(size, 'bytes')} in a block with room for {room}"
            )
        interface = self._interface(number)
        ticks = high << 32 | low
        ts = ticks * 1_000_000 // interface.resolution + interface.offset * 1_000_000
        if not 0 <= ts < _LATEST:
            raise _BadBlockError("a packet whose time is before 1970 or too late for a timestamp")
        return ts, interface.link, data[at + 20 : at + 20 + size]

    def _interface(self, number: int) -> _Interface:
        if number >= len(self.interfaces):
            raise _BadBlockError(f"a packet of interface {number}, which no block describes")
        interface = self.interfaces[number]
        if interface is None:
            raise _BadBlockError(f"a packet of interface {number}, whose description is damaged")
        return interface

    def _update_state(self, body: bytes) -> None:
        if self._kind == _SECTION:
            self.order = _ORDERS[body[:4]]
            self.interfaces = []
            return
        try:
            self.interfaces.append(_read_interface(body, self.order))
        except struct.error:
            self.interfaces.append(None)  # the next ones keep their numbers
            raise _BadBlockError("the description of an interface that is too short") from None


def _read_interface(body: bytes, order: str) -> _Interface:
    link, _, snap = struct.unpack_from(f"{order}2HI", body)
    resolution, offset = 1_000_000, 0
    at = 8
    while at + 4 <= len(body):
        code, size = struct.unpack_from(f"{order}2H", body, at)
        value = body[at + 4 : at + 4 + size]
        if code == 0:
            break
        if code == 9 and value:
            exponent = value[0] & 0x7F
            resolution = 1 << exponent if value[0] & 0x80 else 10 ** min(exponent, 30)
        elif code == 14 and len(value) == 8:
            (offset,) = struct.unpack(f"{order}q", value)
        at += 4 + size + -size % 4
    return _Interface(link, snap, resolution, offset)


def _layout(order: str) -> Layout:
    """The layout for header recovery: section blocks, and blocks of types in the draft."""
    head = _HEADS[order]

    def step(data: bytes, at: int) -> int:
        if at + _LEAST > len(data):
            return CUT_OFF
        if section := data.startswith(MAGIC, at):
            magic = data[at + 8 : at + 12]
            if magic not in _ORDERS:
                return NOT_A_HEADER
            _, size = _HEADS[_ORDERS[magic]](data, at)
        else:
            _, size = head(data, at)
        if size < _LEAST or size % 4 or size > _USUAL_BLOCK:
            return NOT_A_HEADER
        after: int = at + size
        if after > len(data):
            return CUT_OFF
        if data[at + 4 : at + 8] != data[after - 4 : after]:
            return NOT_A_HEADER
        return CONCLUSIVE if section else after

    listed = b"[\\x01-\\x06\\x0a]"
    usual = b"[\\x00-\\x%02x]" % (_USUAL_BLOCK >> 16)
    plain = (
        b"\\x00{3}" + listed + b"\\x00" + usual
        if order == ">"
        else listed + b"\\x00{3}.." + usual + b"\\x00"
    )
    pattern = b"(?=" + plain + b"|" + re.escape(MAGIC) + b")"
    return Layout(re.compile(pattern, re.DOTALL), _LEAST, step, _REACH, _USUAL_BLOCK)
