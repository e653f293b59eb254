"""The compiled engine beside the tree: the same values, bytes, refusals and JSON, layout by layout.

The properties of ``tests/wire`` run through codecs on the engine as well, with ``make test-speed``.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError, EncodeError
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.render import field_scan
from kafka_admin_proto.testing import messages
from kafka_admin_proto.wire.emit.runtime import Fallback
from kafka_admin_proto.wire.options import JsonOptions
from tests.fuzz.seeds import filled
from tests.helpers.absent_fields import absent_fields, holding
from tests.helpers.every_message import DRAFTS, SHIPPED, Message, each_layout
from tests.helpers.profile import EXHAUSTIVE, sample
from tests.speed.compiled import engine_of
from tests.wire.test_fuse import with_something_odd
from tools.oracles.damage import damage

#: Records, tags, nullable structs and uuids; secrets by name; all kinds of arrays.
RICH = [Message("kafka", name) for name in ("FetchResponse", "AlterConfigsRequest", "VoteRequest")]
OTHERS = [each for each in (*SHIPPED, *DRAFTS) if each not in RICH]
#: The others take longer than they are worth, here: they run on the engine in ``tests/wire`` too.
VALUES = 3 if EXHAUSTIVE else 8


@pytest.mark.exhaustive
@each_layout([*RICH, *sample(OTHERS, 25)])
def test_drawn_values(found: Codec[Any]) -> None:
    engine = engine_of(found)

    @settings(max_examples=VALUES)
    @given(
        messages(found.value_class, found.version), st.integers(0, 1 << 32), st.binary(max_size=40)
    )
    def check(value: Any, seed: int, noise: bytes) -> None:
        dice = random.Random(seed)
        data = by_tree(found, value)
        assert data is not None
        check_writing(found, engine, value, data)
        for _ in range(2):
            odd = with_something_odd(value, dice)
            check_writing(found, engine, odd, by_tree(found, odd))
        check_reading(found, engine, data)
        check_json(found, engine, data)
        for damaged in (noise, data[: dice.randint(0, len(data))], damage(found, data, dice)):
            if check_reading(found, engine, damaged):
                check_json(found, engine, damaged)

    check()


@each_layout()
def test_fields_that_a_version_lacks(found: Codec[Any]) -> None:
    """The value of an ignorable one is dropped, at any depth, and refused if of a wrong type."""
    engine, value = engine_of(found), filled(found.grammar)
    data = engine.write(value)
    for owner, member in absent_fields(found.grammar, value):
        assert member.absent_type is not None
        for odd in (filled(member.absent_type), object()):
            with holding(owner, member.attribute, odd):
                check_writing(found, engine, value, by_tree(found, value))
    assert engine.write(value) == data


def by_tree(found: Codec[Any], value: Any) -> bytes | None:
    try:
        return found.grammar.build(value)
    except EncodeError:
        return None


def check_writing(found: Codec[Any], engine: Any, value: Any, expected: bytes | None) -> None:
    """The tree's bytes, or a refusal as the tree has one; a buffer gets them as well or stays."""
    buffer = bytearray(b"before")
    try:
        data = engine.write(value)
        engine.write_into(value, buffer)
    except Exception:
        assert expected is None
        assert buffer == b"before"
        return
    assert data == expected
    assert buffer == b"before" + data


def check_reading(found: Codec[Any], engine: Any, data: bytes) -> bool:
    """The tree's value and end, of any kind of buffer; whether the data is a body and no more."""
    try:
        expected, end = found._parse(data, 0, None)
    except DecodeError:
        for refused in (data, bytearray(data)):
            with pytest.raises(Fallback):
                engine.read(refused, 0)
        with pytest.raises(Fallback):
            engine.json(data, 0, False, False)
        return False
    for buffer in (data, bytearray(data), memoryview(data)):
        value, stop = engine.read(buffer, 0)
        assert (value, stop) == (expected, end)
        assert repr(value) == repr(expected)
    shifted, stop = engine.read(b"??" + data, 2)
    assert (shifted, stop) == (expected, end + 2)
    assert engine.read_views(data, 0) == (expected, end)
    return end == len(data)


def check_scans(found: Codec[Any], engine: Any, value: Any, mask: bool, expected: bytes) -> None:
    """What the scans of fields find, beside the same text."""
    text, codes, ids, invalid = engine.scanned_json_of(value, mask)
    assert text == expected
    assert sorted(set(codes)) == field_scan.error_codes(found, value)
    assert list(dict.fromkeys(ids)) == field_scan.topic_ids(found, value)
    assert invalid == field_scan.has_invalid_utf8(found, value)


def check_json(found: Codec[Any], engine: Any, data: bytes) -> None:
    """Text of bytes and of their value: what msgspec makes of ``to_json``."""
    value, _ = engine.read(data, 0)
    for mask in (False, True):
        for sizes in (False, True):
            options = JsonOptions(mask=mask, record_sizes=sizes)
            expected = msgspec.json.encode(found.grammar.to_json(value, options))
            assert engine.json_of(value, mask, sizes) == expected
            if not sizes:
                check_scans(found, engine, value, mask, expected)
            try:
                text, end = engine.json(data, 0, mask, sizes)
            except Fallback:  # a known tag that comes twice
                assert found.non_canonical(data)
            else:
                assert (text, end) == (expected, len(data))
