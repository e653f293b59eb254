"""The fuzzing targets without a fuzzer: seeds, findings, damaged seeds; and that they can fail."""

from __future__ import annotations

import importlib
import random
from types import ModuleType
from typing import Any

import pytest

from kafka_admin_proto.capture import readers
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.protocol import frames
from kafka_admin_proto.schema import kafka_json
from tests.fuzz import codecs, definitions, dumps, limits, payloads
from tests.fuzz.run import FOUND, TARGETS

FINDINGS = sorted(path for path in FOUND.glob("*/*") if path.is_file())
#: How many of its seeds a target gets damaged here; fuzzing itself takes them all.
DAMAGED = 300


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_found_once(name: str) -> None:
    replay(target(name), [path.read_bytes() for path in FINDINGS if path.parent.name == name])


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


#: A target, what it leans on, and how that goes wrong: an exception that nobody promised, or
#: something that does not come back.
PLANTED: list[tuple[ModuleType, Any, str, Any, type[Exception]]] = [
    (codecs, Codec, "encode", shorter, AssertionError),
    (codecs, Codec, "from_json", raises(KeyError("x")), KeyError),
    (codecs, Codec, "decode_from", raises(IndexError()), IndexError),
    (payloads, Codec, "decode_from", raises(UnicodeError()), UnicodeError),
    (payloads, frames.FrameReader, "feed", raises(MemoryError()), MemoryError),
    (definitions, kafka_json, "_fields_to_list", lambda fields: [], AssertionError),
    (definitions, kafka_json, "_parse", raises(RecursionError()), RecursionError),
    (dumps, readers, "_guess", raises(OSError()), OSError),
]


@pytest.mark.parametrize(("module", "owner", "name", "fault", "kind"), PLANTED)
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
    with pytest.raises(kind):
        replay(module, seeds)


def replay(module: ModuleType, inputs: list[bytes]) -> None:
    for data in inputs:
        module.one_input(data)


def test_memory_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "EVERY", 1)
    with pytest.raises(AssertionError, match="in use"), limits.bounded_memory(b"x" * 100):
        list(range(100_000))
    with limits.bounded_memory(b"x" * 100):
        list(range(100))
