"""Hostile objects on the compiled engine; ``make fuzz-speed`` draws many more, under sanitizers."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kafka_admin_proto import CreateTopicsRequest, codec
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.records.batches import record_format
from kafka_admin_proto.records.batches.model import Record
from kafka_admin_proto.wire import engine, secrets
from tests.fuzz import hostile
from tests.fuzz.hostile_values import PLANT
from tests.fuzz.run import FOUND
from tests.helpers.mistyped import mistyped
from tests.helpers.profile import draws
from tests.speed.compiled import speed


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Codecs that are made from here on, and records, are the engine's."""
    monkeypatch.setattr(engine, "compiled", speed())
    monkeypatch.setattr(record_format, "_ENGINE", speed().RecordEngine(Record))


def check(data: bytes) -> None:
    hostile.check(hostile.codec_like("compiled", *hostile.chosen(data)), data)


def test_what_was_found_once() -> None:
    for path in sorted((FOUND / "hostile").iterdir()):
        check(path.read_bytes())


@pytest.mark.exhaustive
@pytest.mark.parametrize("road", hostile.ROADS)
def test_seeds_and_drawn(road: str) -> None:
    number = list(hostile.ROADS).index(road)
    seeds = [seed for seed in hostile.seeds() if seed[4] == number]
    dice = random.Random(road)
    for seed in seeds:
        check(seed)
    for seed in dice.choices(seeds, k=draws(50 if road == "threads" else 400)):
        check(seed + dice.randbytes(PLANT * dice.randint(1, 2)))


class Interrupted:
    """Stands for 7; Ctrl-C comes while it is asked for the first time."""

    def __init__(self) -> None:
        self.calls = 0

    def __index__(self) -> int:
        self.calls += 1
        if self.calls == 1:
            raise KeyboardInterrupt
        return 7


def test_ctrl_c_is_not_taken_for_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Codec[Any] = Codec(codec(CreateTopicsRequest, 7).spec, 7)
    assert found.backend == "compiled"
    topic = CreatableTopic("a", num_partitions=mistyped(Interrupted()))
    with pytest.raises(KeyboardInterrupt):
        found.encode(CreateTopicsRequest(topics=[topic]))
    configs: Codec[Any] = Codec(codec("AlterConfigsRequest", 2).spec, 2)
    assert configs.backend == "compiled"
    config = {"name": "ssl.key.password", "value": "hunter2"}
    resource = {"resourceType": 4, "resourceName": "0", "configs": [config]}
    data = configs.encode(configs.from_json({"resources": [resource], "validateOnly": False}))
    answers = iter([KeyboardInterrupt])

    def interrupted(name: str) -> bool:
        for error in answers:
            raise error
        return True

    monkeypatch.setattr(secrets, "_is_secret_text", interrupted)
    with pytest.raises(KeyboardInterrupt):
        configs.decode_to_json_text(data, mask=True)
    assert b"hunter2" not in configs.decode_to_json_text(data, mask=True)
