"""The fuzzing targets without a fuzzer: seeds, findings, damaged seeds; and that they can fail."""

from __future__ import annotations

import importlib
import random
from types import ModuleType
from typing import Any

import pytest

from kafka_admin_proto.capture import request_log
from kafka_admin_proto.capture.dumps import readers
from kafka_admin_proto.capture.tcp import framing
from kafka_admin_proto.codec import Codec, codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol import frames
from kafka_admin_proto.protocol.connection import ServerConnection, scram
from kafka_admin_proto.records.batches import message_sets, record_format
from kafka_admin_proto.schema.kafka_json import reader, writer
from kafka_admin_proto.server.answers import Answers
from kafka_admin_proto.server.network.limits import ConnectionLimiter
from tests.fuzz import (
    captures,
    choice,
    codecs,
    connections,
    definitions,
    dumps,
    hostile,
    limits,
    payloads,
    records,
    servers,
)
from tests.fuzz.run import FOUND, TARGETS
from tests.helpers.every_message import EVERY_DIALECT
from tests.helpers.profile import sample

FINDINGS = sorted(path for path in FOUND.glob("*/*") if path.is_file())
#: How many of its seeds a target gets damaged here; fuzzing itself takes them all.
DAMAGED = 300


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TARGETS)
def test_what_was_found_once(name: str) -> None:
    for path in FINDINGS:
        if path.parent.name == name:
            try:
                target(name).one_input(path.read_bytes())
            except Exception as error:
                error.add_note(f"the input is {path}")
                raise


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TARGETS)
def test_seeds_whole_and_damaged(name: str) -> None:
    module = target(name)
    seeds = list(module.seeds())
    assert len(seeds) > 5
    dice = random.Random(name)
    replay(module, seeds)
    for seed in dice.choices(seeds, k=DAMAGED):
        damaged = bytearray(seed[: dice.randint(1, len(seed))] if dice.random() < 0.3 else seed)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        module.one_input(bytes(damaged))
    for size in range(200):
        module.one_input(dice.randbytes(size))


def target(name: str) -> ModuleType:
    return importlib.import_module(f"tests.fuzz.{name}")


def raises(error: Exception) -> Any:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error

    return fail


def shorter(*args: Any, encode: Any = Codec.encode, **kwargs: Any) -> Any:
    return encode(*args, **kwargs)[:-1]


def keeps_values(found: Any, value: Any, *, encode: Any = Codec.encode, kept: Any = []) -> Any:  # noqa: B006
    kept.append(value)
    return encode(found, value)


def without_last(reader: Any, data: bytes, feed: Any = frames.FrameReader.feed) -> Any:
    return feed(reader, data[:-1])


#: A target, what it leans on, and how that goes wrong: an exception that nobody promised, or
#: something that does not come back.
PLANTED: list[tuple[ModuleType, Any, str, Any, type[Exception]]] = [
    (codecs, Codec, "encode", shorter, AssertionError),
    (codecs, Codec, "from_json", raises(KeyError("x")), KeyError),
    (codecs, Codec, "decode_from", raises(IndexError()), IndexError),
    (payloads, Codec, "decode_from", raises(UnicodeError()), UnicodeError),
    (payloads, frames.FrameReader, "feed", raises(MemoryError()), MemoryError),
    (connections, frames.FrameReader, "_payloads", raises(MemoryError()), MemoryError),
    (connections, scram, "text_of", raises(UnicodeError()), UnicodeError),
    (connections, ServerConnection, "_take_turn", raises(KeyError("x")), KeyError),
    (connections, frames.FrameReader, "feed", without_last, AssertionError),
    (definitions, writer, "_fields_to_list", lambda fields: [], AssertionError),
    (definitions, reader, "_parse", raises(KeyError("x")), KeyError),
    (dumps, readers, "_guess", raises(ValueError("x")), ValueError),
    (records, message_sets, "_whole", raises(KeyError("x")), KeyError),
    (records, records, "write_batch", lambda batch: b"", StopIteration),
    (records, record_format, "varint_at", raises(KeyError("x")), KeyError),
    (dumps, dumps, "frame_field_rows", lambda frame, *, mask: [], AssertionError),
    (captures, framing.Framer, "_cut", raises(KeyError("x")), KeyError),
    (captures, request_log, "_entry", raises(KeyError("x")), KeyError),
    (hostile, Codec, "encode", shorter, DecodeError),
    (hostile, Codec, "encode", keeps_values, AssertionError),
    (hostile, Codec, "to_json", raises(KeyError("x")), AssertionError),
    (hostile, record_format, "_body", raises(KeyError("x")), AssertionError),
    (servers, Answers, "answer", raises(KeyError("x")), AssertionError),
    (servers, ConnectionLimiter, "remove", lambda limiter, connection: None, AssertionError),
]


@pytest.mark.exhaustive
@pytest.mark.skipif(
    codec("VoteRequest", 0).backend == "compiled",
    reason="the faults are planted in plain Python; KAFKA_ADMIN_PROTO_PURE=1 runs it",
)
@pytest.mark.parametrize(("module", "owner", "name", "fault", "kind"), sample(PLANTED, 12))
def test_faults_are_noticed(
    module: ModuleType,
    owner: Any,
    name: str,
    fault: Any,
    kind: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds = list(module.seeds())
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises(kind) as caught:
        replay(module, seeds)
    assert caught.type is kind


def replay(module: ModuleType, inputs: list[bytes]) -> None:
    for data in inputs:
        module.one_input(data)


def test_seeds_reach_every_message_at_every_version() -> None:
    reached = {codecs.chosen(seed) for seed in codecs.seeds()}
    found = {(found.spec.dialect, found.name, found.version) for found in reached}
    assert found == set(EVERY_DIALECT)


def test_more_names_leave_inputs_what_they_were() -> None:
    names = [f"name {number}" for number in range(200)]
    before, after = choice.Choice(names), choice.Choice([*names, "another"])
    assert all(before[choice.number_of(name)] == name for name in names)
    assert all(after[choice.number_of(name)] == name for name in names)
    dice = random.Random(1)
    numbers = [dice.randbytes(choice.SIZE) for _ in range(1000)]
    assert sum(before[number] != after[number] for number in numbers) < 50


def test_memory_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EVERY", 1)
    with pytest.raises(AssertionError, match="in use"), limits.bounded_memory(b"x" * 100):
        list(range(100_000))
    with limits.bounded_memory(b"x" * 100):
        list(range(100))
