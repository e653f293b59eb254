"""The effects of a fault on an answer: on its fields, its records and its bytes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from random import Random

from kafka_admin_proto.faults.fault import Fault, Garbage
from kafka_admin_proto.faults.topics import Target, Topics, partitions_of, topic_rows
from kafka_admin_proto.records.batches.header import NoBatch, batch_size
from kafka_admin_proto.values import Message

_PREFIX_BYTES = 4
#: The size of a frame with a garbage size: more than the 100 MB that clients accept.
_WRONG_SIZE = 101 << 20
#: A garbage correlation id differs in this bit, so that no request of the client has it.
_WRONG_BIT = 1 << 30
_NEGATIVE = 0x80


def sent_bytes(fault: Fault, frame: bytes) -> bytes:
    """The bytes that are sent for the frame of an answer, with its size in front."""
    effect = fault.effect
    if effect.drop is not None or not frame:
        return b""
    if effect.cut == "within":
        return frame[: max(_PREFIX_BYTES + 1, len(frame) // 2)]
    if effect.garbage is None or effect.garbage == "records":
        return frame
    return _garbage(effect.garbage, frame, Random(fault.fired))


def damage_records(
    response: Message, topics: Topics, target: Target | None, fires: Callable[[], bool]
) -> bool:
    """Damage the records of a Fetch's answer, if it has some and the fault fires."""
    target = target or Target("*")
    partitions = [
        each
        for row in topic_rows(response, topics)
        if target.takes(row.topic)
        for number, _, each in partitions_of(row.value, row.fields or ())
        if target.partition in (None, number) and each.records
    ]
    if not partitions or not fires():
        return False
    for each in partitions:
        each.records = _damaged(each.records)
    return True


def _damaged(records: bytes) -> bytes:
    out, at = bytearray(records), 0
    with suppress(NoBatch):
        while (size := batch_size(records, at)) is not None:
            at += size
            out[at - 1] ^= 1
    return bytes(out)


def _garbage(kind: Garbage, data: bytes, draw: Random) -> bytes:
    """The bytes of an answer made invalid; their number stays."""
    if kind == "size":
        return _WRONG_SIZE.to_bytes(_PREFIX_BYTES, "big") + data[_PREFIX_BYTES:]
    if kind == "noise":
        noise = draw.randbytes(len(data))
        return bytes([noise[0] | _NEGATIVE]) + noise[1:]
    end = 2 * _PREFIX_BYTES
    wrong = int.from_bytes(data[_PREFIX_BYTES:end], "big") ^ _WRONG_BIT
    return data[:_PREFIX_BYTES] + wrong.to_bytes(_PREFIX_BYTES, "big") + data[end:]
