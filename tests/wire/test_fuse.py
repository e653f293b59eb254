"""The fused code beside the tree that it was made of; its values meet in test_every_message."""

from __future__ import annotations

import copy
import itertools
import linecache
import random
import traceback
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import (
    CreateTopicsRequest,
    EncodeError,
    FetchResponse,
    MetadataResponse,
    ProduceRequest,
    VoteRequest,
    codec,
)
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.testing import messages
from kafka_admin_proto.values import StructValue
from kafka_admin_proto.wire.emit.emitters import JsonEmitter, ReadEmitter, WriteEmitter
from kafka_admin_proto.wire.emit.runtime import Fallback
from kafka_admin_proto.wire.fuse import fuse_json, fuse_read, fuse_write
from kafka_admin_proto.wire.options import PLAIN_JSON, JsonOptions
from kafka_admin_proto.wire.types.containers import MessageType
from kafka_admin_proto.wire.types.fixed import Integer
from kafka_admin_proto.wire.types.member import Member
from tests.helpers.every_message import DRAFTS, SHIPPED, each_layout
from tests.helpers.mistyped import mistyped
from tests.helpers.profile import sample

#: What may stand in a field by mistake, or just about be meant.
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 0.0, 2.5, float("nan"), 1 << 70, -(1 << 40), "", "text", "\ud800",
    "x" * 40_000, b"", b"bytes", bytearray(b"ab"), memoryview(b"cd"), memoryview(b"abcd")[::2],
    [], [1], ["a"], [None], (), (1, 2), ("a",), {}, {1: 2}, {"a"}, UUID(int=5), object(),
    CreatableTopic("t"), ((7, b"x"),), ((1, "x"),), ((-1, b""),), ((3, b"a"), (3, b"b")),
    [(9, b"x")], iter([]), range(2),
]  # fmt: skip


@each_layout(sample((*SHIPPED, *DRAFTS), 80))
def test_drawn_values(found: Codec[Any]) -> None:
    """Values with something odd somewhere are refused alike; JSON is the tree's."""

    @settings(max_examples=min(25, settings().max_examples))  # each with five mistakes
    @given(messages(found.value_class, found.version), st.integers(0, 1 << 32))
    def check(value: Any, seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(4):
            check_mistake(found, with_something_odd(value, dice))
        check_json(found, value, with_something_odd(value, dice))

    check()


def check_mistake(found: Codec[Any], damaged: Any) -> None:
    """Both write the same bytes, or both refuse the value."""
    assert fused(found, damaged) == by_tree(found, damaged)


def check_json(found: Codec[Any], value: Any, damaged: Any) -> None:
    for mask, record_sizes in itertools.product((False, True), repeat=2):
        options = JsonOptions(mask=mask, record_sizes=record_sizes)
        made = found._json(options)
        assert repr(made(value)) == repr(found.grammar.to_json(value, options))
        try:
            by_fused = made(damaged)
        except Exception:  # the tree is asked then
            continue
        assert repr(by_fused) == repr(found.grammar.to_json(damaged, options))


def with_something_odd(value: Any, dice: random.Random) -> Any:
    """A copy with one field, at any depth, replaced."""
    value = copy.deepcopy(value)
    place = value
    while True:
        names = place.__struct_fields__
        if not names:
            return value
        name = dice.choice(names)
        inner = getattr(place, name)
        if isinstance(inner, list) and inner and dice.random() < 0.7:
            index = dice.randrange(len(inner))
            if not isinstance(inner[index], msgspec.Struct) or dice.random() < 0.2:
                inner[index] = dice.choice(ODD)
                return value
            place = inner[index]
        elif isinstance(inner, msgspec.Struct) and dice.random() < 0.7:
            place = inner
        else:
            setattr(place, name, dice.choice(ODD))
            return value


def fused(found: Codec[Any], value: Any) -> bytes | None:
    """Through the codec, which warns (an error here) where only the fused code refuses."""
    try:
        return found.encode(value)
    except EncodeError as error:
        assert error.message == f"{found.name} v{found.version}"
        return None


def by_tree(found: Codec[Any], value: Any) -> bytes | None:
    try:
        return found.grammar.build(value)
    except EncodeError:
        return None


def test_the_source_is_there_for_people_and_tracebacks() -> None:
    found = codec("CreateTopicsRequest", 4)
    source = found.source()
    assert source.startswith("def read(b, p):\n")
    assert "\ndef write(x):\n" in source
    with pytest.raises(Fallback) as caught:
        found._fused_read.function(b"\x00\x00\x00\x01", 0)
    frame = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert frame.line
    assert frame.filename.startswith("<kafka_admin_proto decode CreateTopicsRequest v")
    assert frame.line in source
    assert linecache.getline(frame.filename, 1) == "def read(b, p):\n"


def test_versions_with_the_same_layout_share_code() -> None:
    v2, v3, v4, v5 = (codec("CreateTopicsRequest", version) for version in (2, 3, 4, 5))
    assert v2._fused_read.function is v4._fused_read.function
    assert v2._fused_write.function is v3._fused_write.function
    assert v4._fused_read.function is not v5._fused_read.function
    draft = codec("VoteRequest", 0, dialect="kip-516")
    assert codec("VoteRequest", 0)._fused_read.function is not draft._fused_read.function


def test_versions_with_tagged_fields_share_code_too() -> None:
    flexible = codec("CreateTopicsRequest", 6), codec("CreateTopicsRequest", 7)
    assert flexible[0]._fused_read.function is flexible[1]._fused_read.function
    assert flexible[0]._fused_write.function is flexible[1]._fused_write.function


class Scaled(Integer):
    """An int32 in units of a factor that the emitted code knows as a constant."""

    def __init__(self, factor: int) -> None:
        super().__init__("int32")
        self.factor = factor

    def emit_read(self, e: ReadEmitter, target: str) -> None:
        e.fixed("i", target, f"{target} *= {e.named('factor', self.factor)}")

    def emit_write(self, e: WriteEmitter, value: str) -> None:
        e.fixed("i", f"{value} // {e.named('factor', self.factor)}")

    def emit_json(self, e: JsonEmitter, value: str) -> str:
        return f"{value} // {e.named('factor', self.factor)}"


class Amount(StructValue):
    amount: int = 0


def amounts(factor: int) -> MessageType:
    member = Member(0, "amount", "amount", (), Scaled(factor), int)
    return MessageType("Amount v0", "Amount", Amount, (member,), flexible=False)


def test_types_with_the_same_source_and_other_constants_do_not_share_code() -> None:
    """The second type read with the first one's constant: it was not part of what was compared."""
    wire = b"\0\0\0\x06"
    for factor in (10, 1000, 1000):  # the third finds the second's functions
        tree = amounts(factor)
        assert fuse_read(tree).function(wire, 0) == (Amount(6 * factor), 4)
        assert fuse_write(tree).function(Amount(6 * factor)) == wire
        assert fuse_json(tree, PLAIN_JSON).function(Amount(6 * factor)) == {"amount": 6}


@pytest.mark.parametrize("emitter", [ReadEmitter(), WriteEmitter(), JsonEmitter(PLAIN_JSON)])
def test_constants_are_named_through_methods_that_keep_a_key(emitter: Any) -> None:
    """What a type could put in beside them would not be compared."""
    before = dict(emitter.keys())
    emitter.namespace()["factor"] = 10
    assert "factor" not in emitter.namespace()
    assert emitter.named("factor", 10) == emitter.named("factor", 10) == "factor"
    other = emitter.constant("F", 10)
    assert set(dict(emitter.keys())) == {*before, "factor", other}
    assert set(dict(emitter.keys())) == set(emitter.namespace())
    with pytest.raises(ValueError, match="factor is the name of another constant"):
        emitter.named("factor", 1000)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_is_read(kind: Any) -> None:
    found = codec(CreateTopicsRequest, 7)
    value = CreateTopicsRequest([CreatableTopic("apples")])
    assert found.decode(kind(found.encode(value))) == value
    assert found.decode_at(kind(b"??" + found.encode(value)), 2) == value


def test_zero_copy() -> None:
    partition = PartitionData(records=b"r" * 100)
    value = FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])
    found = codec(FetchResponse, 13)
    data = found.encode(value)
    views = found.decode(data, zero_copy=True)
    records: Any = views.responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    assert records.obj is data
    assert views == value
    assert found.encode(views) == data
    assert found.to_json(views) == found.to_json(value)
    assert isinstance(found.decode(data).responses[0].partitions[0].records, bytes)


@pytest.mark.parametrize("options", [{}, {"strict": True}])
@pytest.mark.parametrize("topic", ["apples", "\udcff"])
def test_zero_copy_of_what_the_tree_reads(options: dict[str, bool], topic: str) -> None:
    """Text that is not UTF-8 and ``strict`` are the tree's, which gives views as well."""
    found = codec(FetchResponse, 12)
    partition = PartitionData(records=b"r" * 100)
    response = FetchableTopicResponse(topic=topic, partitions=[partition])
    data = found.encode(FetchResponse(responses=[response]))
    for buffer in (data, bytearray(data), memoryview(data)):
        views = found.decode_at(buffer, 0, zero_copy=True, **options)
        records: Any = views.responses[0].partitions[0].records
        assert isinstance(records, memoryview)
        assert records.tobytes() == b"r" * 100
        assert records.obj is data or buffer is not data
        assert found.encode(views) == data
        plain = found.decode(buffer, **options)
        assert isinstance(plain.responses[0].partitions[0].records, bytes)


def test_encode_into() -> None:
    buffer = bytearray(b"before")
    found = codec(VoteRequest, 0)
    found.encode_into(VoteRequest(cluster_id="c"), buffer)
    assert buffer == b"before" + found.encode(VoteRequest(cluster_id="c"))
    with pytest.raises(EncodeError):
        found.encode_into(VoteRequest(cluster_id=mistyped(b"c")), buffer)
    assert buffer.startswith(b"before")
    assert len(buffer) == 6 + len(found.encode(VoteRequest(cluster_id="c")))


def test_a_bug_in_fused_code_says_so_and_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    found = codec(ProduceRequest, 9)
    value = ProduceRequest(acks=1)
    data = found.encode(value)

    def broken(*args: Any) -> Any:
        raise IndexError("planted")

    monkeypatch.setitem(vars(found), "_read", broken)
    monkeypatch.setitem(vars(found), "_write", broken)
    with pytest.warns(RuntimeWarning, match="ProduceRequest v9> reads by its tree"):
        assert Codec.decode(found, data) == value
    with pytest.warns(RuntimeWarning, match="writes by its tree"):
        assert Codec.encode(found, value) == data


@pytest.mark.parametrize("text", ["\ud800", "a\udfffé", "\ud83d\ude00"])
@pytest.mark.parametrize("name", ["encode", "to_json", "to_json_text"])
def test_text_without_a_utf8_form_is_refused_in_json_too(name: str, text: str) -> None:
    value = MetadataResponse(topics=[MetadataResponseTopic(), MetadataResponseTopic(name=text)])
    for version in (1, 12):
        found: Codec[Any] = codec(MetadataResponse, version)
        with pytest.raises(EncodeError, match="expected text that has a UTF-8 form") as caught:
            getattr(found, name)(value)
        assert caught.value.path == "topics[1].name"


def test_text_that_is_not_utf8_is_left_to_the_tree() -> None:
    found = codec(MetadataResponse, 12)
    value = MetadataResponse(cluster_id="\udcff\udcfe")
    data = found.encode(value)
    assert b"\xff\xfe" in data
    assert found.decode(data) == value
