"""Values and buffers of hostile objects give plain Python's answer or their own error, and end.

The first three bytes choose the message, the fourth its version, the fifth what is done with the
value, the sixth the options of that. Each nine bytes behind them put a hostile object into the
value: its place and the method that acts, three bytes each, then what that does, with what, and
to which list or struct of the value. Where nothing changes the value meanwhile, the answer has to
be that of the codec in plain Python; otherwise it is an error, or bytes that are read again.
"""

from __future__ import annotations

import random
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec

from kafka_admin_proto.codec import Codec, codec, message_codec
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages.request_header import RequestHeader
from kafka_admin_proto.records.batches import record_format
from kafka_admin_proto.records.batches.model import Record
from kafka_admin_proto.schema.catalog import catalog
from tests.fuzz.choice import Choice, number_of
from tests.fuzz.hostile_objects import BUFFERS, RAISED, Conduct, methods_of, stand_in
from tests.fuzz.hostile_values import BARE, Plant, Planted, change, choice_of, places, plant
from tests.fuzz.seeds import filled

#: Between them they have every type, null, tags, records, and secrets by name.
NAMES = (
    "AlterClientQuotasRequest", "AlterConfigsRequest", "ApiVersionsResponse",
    "BrokerRegistrationRequest", "ConsumerGroupHeartbeatResponse",
    "ConsumerGroupMemberMetadataValue", "ConsumerProtocolSubscription", "CreateTopicsRequest",
    "DescribeTopicPartitionsResponse", "FetchResponse", "MetadataResponse", "ProduceRequest",
    "ProducerSnapshot", "VoteRequest",
)  # fmt: skip
_MESSAGES = Choice(NAMES)
#: What Python itself raises for a field that was deleted, and for an answer that it does not take.
_BY_PYTHON = (AttributeError, TypeError, ValueError, OverflowError)
_HEAD = 6


def one_input(data: bytes) -> None:
    if len(data) >= _HEAD:
        check(codec(*chosen(data)), data)


def chosen(data: bytes) -> tuple[str, int]:
    """The message and version that an input is about."""
    name = _MESSAGES[data]
    versions = list(catalog().entry(name).versions)
    return name, data[3] if data[3] in versions else versions[data[3] % len(versions)]


def head(name: str, version: int, road: str, options: int = 0) -> bytes:
    """The bytes that choose them; the reverse of ``chosen``."""
    return number_of(name) + bytes([version, list(ROADS).index(road), options])


def check(found: Codec[Any], data: bytes) -> None:
    """Do with the codec what the input says."""
    road = list(ROADS.values())[data[4] % 16 % len(ROADS)]
    road(found, Plant.all_of(data[_HEAD:]), data[5])


@lru_cache(maxsize=256)
def codec_like(backend: str, name: str, version: int) -> Codec[Any]:
    """A codec of that backend, whichever this process uses."""
    without = patch.object(message_codec, "compiled_engine", return_value=None)
    with without if backend == "pure" else nullcontext():
        made: Codec[Any] = Codec(codec(name, version).spec, version)
    assert made.backend == backend
    return made


class Outcome(NamedTuple):
    """What a call gave, or the class and text of the error that left it.

    The error itself may hold the object, as an AttributeError does.
    """

    result: Any
    kind: type[BaseException] | None = None
    text: str = ""

    def is_documented(self, *others: type[BaseException]) -> bool:
        """Whether it is no error, one of the package's, of ``others``, or an object's own."""
        return (
            self.kind is None
            or issubclass(self.kind, (KafkaAdminProtoError, *others))
            or self.is_an_objects_own
        )

    @property
    def is_an_objects_own(self) -> bool:
        """Whether it is an error that a method of an object raised."""
        return self.kind in RAISED and "hostile" in self.text


def outcome(call: Callable[..., Any], *arguments: Any, **options: Any) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of answers that change from one call to the next
        try:
            return Outcome(call(*arguments, **options))
        except BaseException as error:
            return Outcome(None, type(error), re.sub(r"0x[0-9a-f]+", "0x", str(error)))


def compared(
    found: Codec[Any], plants: list[Plant], call: Callable[[Codec[Any], Any], Any]
) -> tuple[Outcome, bool]:
    """What the codec gives, after a comparison with plain Python's; and if it may be odd."""
    outcomes = []
    other = codec_like("pure", found.name, found.version)
    may_change = False
    for each in (found, other):
        planted = Planted(each, plants, partial(call, each))
        outcomes.append(outcome(call, each, planted.value))
        may_change = planted.may_change
        planted.end()
    mine, theirs = outcomes
    others = () if all(each.is_plain for each in plants) else _BY_PYTHON
    assert mine.is_documented(*others), (planted.about, mine)
    assert theirs.is_documented(*others), (planted.about, theirs)
    # Which of two objects is looked at first is not promised: fields that the version lacks are
    # looked at in a turn of their own.
    one_of_many = len(plants) > 1 and mine.is_an_objects_own and theirs.is_an_objects_own
    assert may_change or one_of_many or mine == theirs, (planted.about, mine, theirs)
    return mine, may_change


def encode(found: Codec[Any], plants: list[Plant], options: int) -> None:
    mine, may_change = compared(found, plants, lambda each, value: each.encode(value))
    if mine.kind is None:
        again = found.encode(found.decode(mine.result))
        # A tagged field that changes may be written at its default.
        assert may_change or again == mine.result


def encode_into(found: Codec[Any], plants: list[Plant], options: int) -> None:
    def call(each: Codec[Any], value: Any) -> bytes:
        buffer = bytearray(b"before")
        try:
            each.encode_into(value, buffer)
        except BaseException:
            assert buffer == b"before"
            raise
        assert buffer.startswith(b"before")
        return bytes(buffer[6:])

    mine, _ = compared(found, plants, call)
    if mine.kind is None:
        found.decode(mine.result)


def encode_behind(found: Codec[Any], plants: list[Plant], options: int) -> None:
    header = codec_like(found.backend, "RequestHeader", 2)
    front = RequestHeader(client_id="me")

    def call(each: Codec[Any], value: Any) -> bytes:
        return each.encode_behind(header, front, value)

    mine, _ = compared(found, plants, call)
    if mine.kind is None:
        found.decode(mine.result[len(header.encode(front)) :])


def json_text(found: Codec[Any], plants: list[Plant], options: int) -> None:
    mask = bool(options & 1)

    def call(each: Codec[Any], value: Any) -> bytes:
        return each.to_json_text(value, mask=mask, records="size" if options & 2 else "base64")

    mine, _ = compared(found, plants, call)
    if mine.kind is None:
        msgspec.json.decode(mine.result)


def scanned_text(found: Codec[Any], plants: list[Plant], options: int) -> None:
    def call(each: Codec[Any], value: Any) -> bytes:
        scanned = each.scanned_json_text(value, mask=bool(options & 1))
        return each.to_json_text(value, mask=bool(options & 1)) if scanned is None else scanned[0]

    compared(found, plants, call)


def buffers(found: Codec[Any], plants: list[Plant], options: int) -> None:
    """Decode from each kind of buffer, whole or cut short."""
    wire = found.encode(filled(found.grammar))
    for each in plants:
        data = wire[: len(wire) - each.target % (len(wire) + 1) if each.conduct & 1 else None]
        outcomes = []
        for one in (found, codec_like("pure", found.name, found.version)):
            buffer = BUFFERS[each.argument % 32 % len(BUFFERS)](data)
            offset = stand_in(0, Conduct(""), bare=bool(each.conduct & BARE))
            calls: list[Callable[..., Any]] = [
                one.decode,
                lambda data, one=one: one.decode(data, zero_copy=True),
                lambda data, one=one: one.decode(data, strict=True),
                lambda data, one=one, offset=offset: one.decode_from(data, offset),
                lambda data, one=one: one.decode_to_json_text(data, mask=bool(options & 1)),
                one.non_canonical,
            ]
            outcomes.append(outcome(calls[each.place[0] % len(calls)], buffer))
            assert outcomes[-1].is_documented(*_BY_PYTHON, BufferError), outcomes
        assert outcomes[0] == outcomes[1], outcomes


def records(found: Codec[Any], plants: list[Plant], options: int) -> None:
    """Write records; the message has no part in it."""
    outcomes = []
    may_change = any(each.conduct % 8 > 3 for each in plants)
    for engine in (record_format._ENGINE, None):
        made = [Record(7, 5, b"key", b"value", (("h", b"x"),)), Record(8, 6, None, b"")]
        for each in plants:
            record = made[each.target % 2]
            spots = dict(places(record, ""))
            truth, put = spots[choice_of(tuple(spots))[each.place]]
            if hasattr(truth, "conduct"):
                continue
            method = choice_of(("", *methods_of(truth)))[each.method]
            conduct = Conduct(method, lie=each.lie())
            if may_change:
                owner = made if each.target & 2 else record
                conduct.harm = lambda owner=owner, how=each.argument: change(owner, how)
            put(stand_in(truth, conduct, bare=bool(each.conduct & BARE)))
        with patch.object(record_format, "_ENGINE", engine):
            outcomes.append(outcome(record_format.write_records_v2, made, 7, 5))
        assert outcomes[-1].is_documented(*_BY_PYTHON), outcomes
    assert may_change or outcomes[0] == outcomes[1], outcomes


def threads(found: Codec[Any], plants: list[Plant], options: int) -> None:
    """Write one value, and read one buffer, while other threads change them."""
    planted = Planted(found, plants, found.encode)
    value, owners = planted.value, planted.owners
    wire = bytearray(found.encode(filled(found.grammar)))
    ends = threading.Event()

    def changes(step: int) -> None:
        while not ends.is_set():
            change(owners[step % len(owners)], step)
            with suppress(BufferError):
                if step % 3:
                    wire.append(step & 255)
                else:
                    del wire[-2:]
            wire[:1] = bytes([step & 255])
            step += 7
            if len(wire) > 4096 or any(isinstance(x, list) and len(x) > 64 for x in owners):
                return

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    others = [threading.Thread(target=changes, args=(options + i,)) for i in range(2)]
    try:
        for each in others:
            each.start()
        for _ in range(8):
            for call in (found.encode, found.to_json_text):
                got = outcome(call, value)
                assert got.is_documented(*_BY_PYTHON), (planted.about, got)
            for read in (found.decode, found.decode_to_json_text, found.decode_from):
                got = outcome(read, wire)
                assert got.is_documented(), got
    finally:
        ends.set()
        for each in others:
            each.join()
        sys.setswitchinterval(interval)


#: By name, and in the order of the input's numbers: new ones go to the end.
ROADS: dict[str, Callable[[Codec[Any], list[Plant], int], None]] = {
    "encode": encode,
    "encode_into": encode_into,
    "encode_behind": encode_behind,
    "json_text": json_text,
    "scanned_text": scanned_text,
    "buffers": buffers,
    "records": records,
    "threads": threads,
}


def seeds() -> Iterator[bytes]:
    """Each conduct of each road on each message, at places all over them."""
    dice = random.Random(1)
    for number, name in enumerate(NAMES):
        versions = catalog().entry(name).versions
        for road in ROADS:
            if road == "records" and number:
                continue  # they are of no message
            version = dice.choice((versions.lowest, versions.highest, versions.highest))
            spots = [path for path, _ in places(filled(codec(name, version).grammar), "")]
            for conduct in range(8):
                made = [
                    plant(
                        dice.choice(spots),
                        "",
                        conduct + BARE * dice.randrange(2),
                        *dice.randbytes(2),
                    )
                    for _ in range(1 + conduct % 2)
                ]
                yield head(name, version, road, conduct) + b"".join(made)
