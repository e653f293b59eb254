"""Properties of every message at every version, on values drawn at random."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import DecodeError, TrailingBytesError
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.testing import messages
from tests.helpers.every_message import DRAFTS, SHIPPED, each_layout, made_ready
from tests.helpers.memory import traced
from tests.helpers.profile import EXHAUSTIVE, sample
from tools.oracles.damage import with_wrong_lengths

#: What a decoded value may take of memory, as a multiple of its frame, and what raising and
#: reporting an error takes whatever the frame's size.
MEMORY_FACTOR = 64
MEMORY_OF_AN_ERROR = 8 * 1024
#: Limits of values of which each length is damaged in turn: long ones would take minutes.
SHORT: dict[str, Any] = {"max_size": 24, "max_items": 3}


@each_layout()
def test_drawn_values(found: Codec[Any]) -> None:
    @given(
        messages(found.value_class, found.version, **SHORT),
        st.integers(0, 1 << 32),
        st.binary(max_size=40),
    )
    def check(value: Any, seed: int, noise: bytes) -> None:
        data = found.encode(value)
        check_round_trip(found, value, data)
        if EXHAUSTIVE and seed % 3:
            return  # what follows takes four times as long as all of the above
        check_damaged_bytes(found, value, data, random.Random(seed))
        check_flipped_bytes(found, data, random.Random(seed))
        check_any_bytes(found, noise)

    check()


@each_layout(sample([*SHIPPED, *DRAFTS], 20))
def test_long_values(found: Codec[Any]) -> None:
    """Lengths and counts at which the wire changes its form, there and back."""

    @given(messages(found.value_class, found.version))
    def check(value: Any) -> None:
        check_round_trip(found, value, found.encode(value))

    check()


@pytest.mark.exhaustive
@each_layout(sample([*SHIPPED, *DRAFTS], 20))
def test_memory_of_hostile_lengths(found: Codec[Any]) -> None:
    """Tracing memory is slow: of each value a few lengths are made huge, others of the next."""
    made_ready(found)

    @settings(max_examples=min(25, settings().max_examples))  # each traced four times
    @given(messages(found.value_class, found.version, **SHORT), st.integers(0, 1 << 32))
    def check(value: Any, seed: int) -> None:
        data = found.encode(value)
        lies = [lie for _, _, lie in with_wrong_lengths(found, data, huge_only=True)]
        for damaged in [data, *random.Random(seed).sample(lies, min(3, len(lies)))]:
            limit = MEMORY_FACTOR * len(damaged) + MEMORY_OF_AN_ERROR
            # All threads count, Spark's and those of the run as well: twice is no accident.
            assert any(peak_of_decoding(found, damaged) < limit for _ in range(2))

    check()


def peak_of_decoding(found: Codec[Any], data: bytes) -> int:
    """The most memory, in bytes, that decoding has in use; only here is it traced."""
    with traced() as memory, contextlib.suppress(DecodeError):
        found.decode(data)
    return memory.peak


def check_round_trip(found: Codec[Any], value: Any, data: bytes) -> None:
    """Bytes and JSON there and back; the grammar alone does the same as the codec."""
    assert found.decode(data, strict=True) == value
    check_parity(found, data)
    assert found.encode(found.decode(data)) == data
    assert found.non_canonical(data) == []
    assert found.grammar.parse(data) == value
    assert found.grammar.build(value) == data
    obj = found.to_json(value)
    again = found.from_json(json.loads(json.dumps(obj)))
    assert found.to_json(again) == obj
    if '"NaN"' not in json.dumps(obj):  # JSON has one NaN, the wire has many
        assert again == value


def check_damaged_bytes(found: Codec[Any], value: Any, data: bytes, dice: random.Random) -> None:
    """Truncated anywhere, with bytes after the end, with each length negative or huge.

    Most values are cut at some places; the exhaustive profile cuts some of them at every byte.
    """
    ends = range(len(data))
    everywhere = EXHAUSTIVE and dice.random() < 0.1
    for end in ends if everywhere else dice.sample(ends, min(len(ends), 12)):
        error = refusal(found, data[:end])
        assert error.offset <= end
        assert error.path
    with pytest.raises(TrailingBytesError) as caught:
        found.decode(data + b"\x00\x01")
    assert (caught.value.value, caught.value.rest) == (value, b"\x00\x01")
    assert caught.value.offset == len(data)
    for path, start, damaged in with_wrong_lengths(found, data):
        error = refusal(found, damaged)
        assert (error.path, error.offset) == (path, start)


def check_flipped_bytes(found: Codec[Any], data: bytes, flips: random.Random) -> None:
    flipped = bytearray(data)
    for _ in range(flips.randint(1, 3) if flipped else 0):
        flipped[flips.randrange(len(flipped))] ^= 1 << flips.randrange(8)
    check_any_bytes(found, bytes(flipped))


def check_any_bytes(found: Codec[Any], data: bytes) -> None:
    """Whatever the bytes: a value or a DecodeError; and canonical bytes survive."""
    check_parity(found, data)
    try:
        decoded = found.decode(data)
    except DecodeError:
        return
    encoded = found.encode(decoded)
    assert found.encode(found.decode(encoded)) == encoded
    assert encoded == data or found.non_canonical(data)


def check_parity(found: Codec[Any], data: bytes) -> None:
    """The fused code alone does what the tree does, text that is not UTF-8 excepted.

    Where the fused code fails and the tree does not, decoding warns, which is an error here.
    """
    try:
        value, end = found._read(data, 0)
    except UnicodeDecodeError:
        return
    except Exception:
        end = len(data) + 1
    if end > len(data):
        with pytest.raises(DecodeError):
            found.grammar.parse(data)
        return
    by_tree, end_by_tree = found._parse(data, 0, None)
    assert (value, end) == (by_tree, end_by_tree)
    views, end = found.decode_from(data, zero_copy=True)
    assert (views, end) == (by_tree, end_by_tree)
    assert found.encode(value) == found.encode(views) == found.grammar.build(value)


def refusal(found: Codec[Any], data: bytes) -> DecodeError:
    """The error of decoding; it names the message."""
    try:
        found.decode(data)
    except DecodeError as error:
        assert error.message == f"{found.name} v{found.version}"
        assert error.expected
        return error
    raise AssertionError(f"{data.hex()} was decoded")
