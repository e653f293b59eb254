"""What the compiled engine does with references, memory and odd values."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from kafka_admin_proto import (
    CreateTopicsRequest,
    EncodeError,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    codec,
)
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.protocol.frames import cut_frame_in_python
from kafka_admin_proto.records.batches.model import Record
from kafka_admin_proto.wire.emit.runtime import Fallback
from kafka_admin_proto.wire.nodes import StructNode
from tests.fuzz.seeds import filled
from tests.helpers.memory import traced
from tests.helpers.mistyped import mistyped
from tests.helpers.processes import python
from tests.speed.compiled import engine_of, speed
from tests.wire.test_hostile_objects import Number

#: Messages with every kind of node in them.
RICH = ["FetchResponse", "CreateTopicsRequest", "MetadataResponse", "AlterClientQuotasRequest",
        "ApiVersionsResponse", "ConsumerGroupHeartbeatResponse"]  # fmt: skip


@pytest.mark.parametrize("name", RICH)
def test_no_reference_is_lost_or_kept(name: str) -> None:
    """Blocks in use do not grow, whether bytes and values are good, cut or odd."""
    found = codec(name, max(codec_versions(name)))
    engine = engine_of(found)
    data = found.encode(filled(found.grammar))

    engine.stand_before(refusal, refusal, refusal)

    def everything() -> None:
        value, _ = engine.read(data, 0)
        engine.read_views(data, 0)
        assert engine.write(value) == data
        engine.write_into(value, bytearray())
        engine.json(data, 0, True, True)
        engine.json_of(value, True, False)
        engine.scanned_json_of(value, True)
        assert engine.encode(engine.decode(data)) == data
        refused(engine.decode_to_json_text, data + b"x")
        for size in range(0, len(data), 3):
            refused(engine.read, data[:size], 0)
            refused(engine.json, data[:size], 0, True, False)
            refused(engine.decode, data[:size])
        for index in range(0, len(data), 2):
            damaged = bytearray(data)
            damaged[index] ^= 0xFF
            refused(engine.read, damaged, 0)
            refused(engine.json, damaged, 0, False, False)
        for attribute in type(value).__struct_fields__:
            odd = msgspec.structs.replace(value, **{attribute: object()})
            refused(engine.write, odd)
            refused(engine.encode, odd)
            refused(engine.json_of, odd, False, False)
            refused(engine.scanned_json_of, odd, False)

    for _ in range(3):
        everything()
    before = blocks()
    for _ in range(20):
        everything()
    assert blocks() - before < 20
    shared = [None, True, (), found.value_class, UUID(int=0)]
    counts = [sys.getrefcount(each) for each in shared]
    for _ in range(50):
        everything()
    grown = [sys.getrefcount(each) - count for each, count in zip(shared, counts, strict=True)]
    assert max(map(abs, grown)) < 50


def blocks() -> int:
    gc.collect()
    return sys.getallocatedblocks()


def refused(call: Any, *arguments: Any) -> None:
    with contextlib.suppress(Exception):
        call(*arguments)


def codec_versions(name: str) -> list[int]:
    from kafka_admin_proto.schema.catalog import catalog

    return list(catalog().entry(name).versions)


#: Each allocation of each call fails in turn: MemoryError, or another way; then all is as before.
#: In a process of its own, as memory ends for all threads of one.
WITHOUT_MEMORY = """
import _testcapi, sys
from kafka_admin_proto import codec
from kafka_admin_proto.wire.emit.runtime import Fallback
from tests.fuzz.seeds import filled
from tests.speed.compiled import engine_of
from tests.speed.test_engine import codec_versions, refusal

for name in sys.argv[1:]:
    found = codec(name, max(codec_versions(name)))
    engine = engine_of(found)
    engine.stand_before(refusal, refusal, refusal)
    data = found.encode(filled(found.grammar))
    value, _ = engine.read(data, 0)
    text, _ = engine.json(data, 0, True, False)
    for call, arguments in [
        (engine.read, (data, 0)),
        (engine.read_views, (data, 0)),
        (engine.write, (value,)),
        (engine.write_into, (value, bytearray())),
        (engine.json, (data, 0, True, False)),
        (engine.json_of, (value, True, False)),
        (engine.scanned_json_of, (value, True)),
        (engine.decode, (data,)),
        (engine.encode, (value,)),
        (engine.decode_to_json_text, (data,)),
    ]:
        for start in range(400):
            done = True
            _testcapi.set_nomemory(start, start + 1)
            try:
                call(*arguments)
            except (MemoryError, Fallback):
                done = False
            finally:
                _testcapi.remove_mem_hooks()
        assert done, "its allocations are more than were tried"
    assert engine.read(data, 0) == (value, len(data))
    assert engine.write(value) == data
    assert engine.json(data, 0, True, False)[0] == text
print("done")
"""


@pytest.mark.exhaustive
def test_it_refuses_when_memory_ends() -> None:
    pytest.importorskip("_testcapi", reason="this Python cannot make memory end")
    root = Path(__file__).parents[2]
    paths = f"{Path(speed().__file__).parents[1]}{os.pathsep}{root}"
    done = python(
        "-c", WITHOUT_MEMORY, *RICH, cwd=root, env=os.environ | {"PYTHONPATH": paths}, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def refusal(*arguments: Any, **options: Any) -> Any:
    raise Fallback


def test_memory_that_ends_is_not_taken_for_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    found = codec("VoteRequest", 0)

    def without_memory(*arguments: Any) -> Any:
        raise MemoryError

    monkeypatch.setitem(vars(found), "_read", without_memory)
    monkeypatch.setitem(vars(found), "_write", without_memory)
    with pytest.raises(MemoryError):
        Codec.decode(found, b"")
    with pytest.raises(MemoryError):
        Codec.encode(found, found.value_class())


def test_values_may_change_while_they_are_written() -> None:
    engine = engine_of(codec(CreateTopicsRequest, 7))
    value = CreateTopicsRequest(topics=[CreatableTopic("a"), CreatableTopic("b")])
    topics: list[Any] = value.topics
    topics[0].num_partitions = Number(topics.clear)
    with pytest.raises(Fallback):
        engine.write(value)
    value = CreateTopicsRequest(topics=[CreatableTopic("a")])
    grown: list[Any] = value.topics
    grown[0].num_partitions = Number(lambda: grown.extend([CreatableTopic("c")] * 9))
    with pytest.raises(Fallback):
        engine.write(value)
    value = CreateTopicsRequest(topics=[CreatableTopic("a")])
    value.timeout_ms = mistyped(Number(lambda: setattr(value, "topics", None)))
    assert engine.write(value)


def test_a_field_that_was_deleted_is_refused() -> None:
    engine = engine_of(codec(CreateTopicsRequest, 7))
    value = CreateTopicsRequest()
    del value.topics
    for call in (engine.write, lambda x: engine.json_of(x, False, False)):
        with pytest.raises(Fallback):
            call(value)


class Renamed(CreatableTopic):
    """A subclass that says itself what one of its fields is."""

    def __getattribute__(self, name: str) -> Any:
        return "renamed" if name == "name" else super().__getattribute__(name)


def test_a_subclass_says_itself_what_its_fields_are() -> None:
    found = codec(CreateTopicsRequest, 4)
    value = CreateTopicsRequest(topics=[Renamed("slot", num_partitions=3)])
    data = engine_of(found).write(value)
    assert b"renamed" in data
    assert data == found.grammar.build(value)
    with pytest.raises(Fallback):
        engine_of(found).json_of(value, False, False)


def test_offsets_and_buffers_that_are_none() -> None:
    engine = engine_of(codec("VoteRequest", 0))
    for offset in (-1, 10, 1 << 62, -(1 << 62)):
        for call in (engine.read, engine.read_views):
            with pytest.raises(Fallback):
                call(b"\0" * 9, offset)
        with pytest.raises(Fallback):
            engine.json(b"\0" * 9, offset, False, False)
    for data in ("text", None, 7, memoryview(b"abcdef")[::2]):
        with pytest.raises((BufferError, TypeError)):
            engine.read(data, 0)
        with pytest.raises((BufferError, TypeError)):
            engine.json(data, 0, False, False)
    with pytest.raises(OverflowError):
        engine.read(b"", 1 << 64)


def test_counts_that_lie_cost_nothing() -> None:
    engine = engine_of(codec("CreateTopicsRequest", 5))
    data = b"\xff\xff\xff\xff\x07" + bytes(6000)
    with traced() as memory:
        with pytest.raises(Fallback):
            engine.read(data, 0)
        with pytest.raises(Fallback):
            engine.json(data, 0, False, False)
    assert memory.peak < 12_000


def test_texts_that_come_again_are_one_object() -> None:
    engine = engine_of(codec("CreateTopicsRequest", 7))
    topics = [CreatableTopic("the-same-name") for _ in range(100)]
    data = codec(CreateTopicsRequest, 7).encode(CreateTopicsRequest(topics=topics))
    value, _ = engine.read(data, 0)
    assert len({id(topic.name) for topic in value.topics}) == 1
    odd = [CreatableTopic("x" * size + "é" * (size % 2)) for size in range(300)]
    data = codec(CreateTopicsRequest, 7).encode(CreateTopicsRequest(topics=odd))
    assert [topic.name for topic in engine.read(data, 0)[0].topics] == [t.name for t in odd]


def test_views_of_records_keep_the_data_and_are_not_copied() -> None:
    partition = PartitionData(records=b"r" * 100)
    value = FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])
    found = codec(FetchResponse, 13)
    data = found.encode(value)
    views, _ = engine_of(found).read_views(data, 0)
    records = views.responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    assert records.obj is data
    assert records == b"r" * 100
    assert engine_of(found).write(views) == data


def test_masks_in_texts_of_bytes() -> None:
    """By the config's name, by the metadata topic, and by unknown tags beside secrets."""
    configs = codec("AlterConfigsRequest", 2)
    value = configs.from_json(
        {"resources": [{"resourceType": 4, "resourceName": "0", "configs": [
            {"name": "ssl.key.password", "value": "hunter2"},
            {"name": "retention.ms", "value": "5"}, {"name": "sasl.jaas.config", "value": None},
        ]}], "validateOnly": False}
    )  # fmt: skip
    text, _ = engine_of(configs).json(configs.encode(value), 0, True, False)
    assert b"hunter2" not in text
    assert text == msgspec.json.encode(configs.to_json(value, mask=True))
    fetch = codec(FetchResponse, 13)
    partition = PartitionData(records=b"secret", unknown_tagged_fields=((9, b"secret"),))
    for number in (1, 2):
        topic = FetchableTopicResponse(topic_id=UUID(int=number), partitions=[partition])
        response = FetchResponse(responses=[topic])
        text, _ = engine_of(fetch).json(fetch.encode(response), 0, True, False)
        assert text == msgspec.json.encode(fetch.to_json(response, mask=True))
        assert text.count(b'"********"') == (2 if number == 1 else 0)


def test_none_is_no_argument() -> None:
    engine = engine_of(codec("VoteRequest", 0))
    for call, arguments in [
        (engine.write_into, (codec("VoteRequest", 0).value_class(), None)),
        (engine.read_behind, (None, b"", 0)),
        (engine.read_behind, (engine, None, 0)),
        (engine.write_behind, (None, None, None)),
        (speed().cut_frame, (None, 1)),
        (speed().RecordEngine(Record).read, (b"", 0, 0, 0, 0, None, None, 1)),
        (speed().RecordEngine(Record).write, (None, 0, 0, None)),
        (speed().RecordEngine(Record).skim, (None, 0, 1, 0, 1)),
    ]:
        with pytest.raises(TypeError):
            call(*arguments)
    for call in (engine.write, engine.encode, lambda x: engine.json_of(x, False, False)):
        with pytest.raises((Fallback, TypeError)):
            call(None)


@pytest.mark.parametrize("fault", ["a name", "too deep", "no slots"])
def test_descriptions_that_do_not_fit_are_refused(fault: str) -> None:
    node: Any = codec(MetadataResponse, 12).grammar.node()
    if fault == "a name":
        node = msgspec.structs.replace(node, fields=node.fields[1:])
    elif fault == "too deep":
        replace = msgspec.structs.replace
        for _ in range(40):
            first = replace(node.fields[0], node=node)
            node = replace(node, fields=(first, *node.fields[1:]))
    else:
        node = StructNode(dict, (), False, frozenset(), False, False)
    with pytest.raises((ValueError, AttributeError)):
        speed().Engine(node)


def test_text_of_every_kind_in_json() -> None:
    found = codec(MetadataResponse, 12)
    engine = engine_of(found)
    texts = [
        *map(chr, range(0x200)), "é", "€", "😀", "\udcff", "a\udcffé", "\u2028", "x" * 300,
        "\x7f\x80", "".join(map(chr, range(128))),
    ]  # fmt: skip
    for text in texts:
        value = MetadataResponse(topics=[MetadataResponseTopic(name=text)])
        data = found.encode(value)
        expected = msgspec.json.encode(found.to_json(value))
        assert engine.json(data, 0, False, False)[0] == expected
        assert engine.json_of(value, False, False) == expected


def test_the_codec_falls_back_to_precise_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_admin_proto.wire import engine

    monkeypatch.setattr(engine, "compiled", speed())
    found: Codec[Any] = Codec(codec("CreateTopicsRequest", 7).spec, 7)
    with pytest.raises(EncodeError, match="expected a list") as caught:
        found.encode_into(CreateTopicsRequest(topics=mistyped(7)), buffer := bytearray(b"x"))
    assert caught.value.path == "topics"
    assert buffer == b"x"
    with pytest.raises(EncodeError, match="expected a list"):
        found.to_json_text(CreateTopicsRequest(topics=mistyped(7)))
    with pytest.raises(EncodeError, match="UTF-8 form") as caught:
        found.to_json_text(CreateTopicsRequest(topics=[CreatableTopic("\ud800")]))
    assert caught.value.path == "topics[0].name"
    data = found.encode(CreateTopicsRequest())
    for wrong in (data[:-1], data + b"x"):
        with pytest.raises(Exception) as one:  # noqa: PT011  # compared with the other's
            found.decode_to_json_text(wrong)
        with pytest.raises(type(one.value)) as other:
            found.decode(wrong)
        assert str(one.value) == str(other.value)


def test_methods_bound_before_the_first_use_are_the_engines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kafka_admin_proto.wire import engine

    monkeypatch.setattr(engine, "compiled", speed())
    found: Codec[Any] = Codec(codec("MetadataRequest", 12).spec, 12)
    early: list[Any] = [found.decode, found.encode, found.decode_to_json_text]
    found.decode(found.encode(MetadataRequest()))
    assert early == [found.decode, found.encode, found.decode_to_json_text]
    assert {type(each.__self__) for each in early} == {speed().Engine}


@pytest.mark.parametrize("size", [0, 1, 100, 5000])
def test_frames_are_cut_alike(size: int) -> None:
    whole = size.to_bytes(4, "big") + b"p" * size
    for data in (
        whole,
        whole + whole,
        whole[:-1],
        whole[:3],
        b"",
        b"\xff" * 9,
        b"\x7f\xff\xff\xff",
    ):
        for limit in (0, size - 1, size, 1 << 40):
            one, other = bytearray(data), bytearray(data)
            assert speed().cut_frame(one, limit) == cut_frame_in_python(other, limit)
            assert one == other
    buffer = bytearray(whole)
    with memoryview(buffer), pytest.raises(BufferError):  # what is looked at keeps its size
        speed().cut_frame(buffer, 1 << 20)
    assert buffer == whole
