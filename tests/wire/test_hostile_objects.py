"""Objects with methods of their own in a value: its bytes are whole, and its errors say the field.

``tests/fuzz/hostile.py`` draws them; this file runs on the compiled engine too.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto import CreateTopicsRequest, EncodeError, FetchResponse, ProduceRequest, codec
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.fetch_response import FetchableTopicResponse
from kafka_admin_proto.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_admin_proto.wire import secrets
from tests.helpers.mistyped import mistyped

CODEC = codec(CreateTopicsRequest, 7)


class Number:
    """Stands for 7 and calls something when it is asked for it."""

    def __init__(self, called: Any = lambda: None) -> None:
        self.called = called

    def __index__(self) -> int:
        self.called()
        return 7


class Text(str):
    def encode(self, *arguments: Any) -> Any:
        return b"other"


class Raw(bytes):
    def __len__(self) -> int:
        return 1

    def __bytes__(self) -> bytes:
        return b"other"


class Items(list[Any]):
    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        return iter(())


class Pair(tuple[Any, ...]):
    __slots__ = ()

    def __iter__(self) -> Any:
        return iter(("other", "pair"))


class Tag(int):
    def __lt__(self, other: object) -> bool:
        return True


def topics(*names: Any, **fields: Any) -> Any:
    return CreateTopicsRequest(topics=[CreatableTopic(name, **fields) for name in names])


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        (topics(Text("name")), topics("name")),
        (CreateTopicsRequest(topics=Items(topics("a", "b").topics)), topics("a", "b")),
        (topics("a", num_partitions=Number()), topics("a", num_partitions=7)),
        (
            CreateTopicsRequest(unknown_tagged_fields=(Pair((Tag(9), Raw(b"ab"))), (5, b""))),
            CreateTopicsRequest(unknown_tagged_fields=((9, b"ab"), (5, b""))),
        ),
    ],
)
def test_a_subclass_counts_for_what_is_in_it(odd: Any, plain: Any) -> None:
    assert CODEC.encode(odd) == CODEC.grammar.build(odd) == CODEC.encode(plain)
    if isinstance(odd.topics, Items):
        return  # only bytes are a copy of it: JSON asks it for its items
    for mask in (False, True):
        assert CODEC.to_json_text(odd, mask=mask) == CODEC.to_json_text(plain, mask=mask)


def produce(records: Any) -> ProduceRequest:
    partition = PartitionProduceData(records=records)
    return ProduceRequest(topic_data=[TopicProduceData("t", partition_data=[partition])])


@pytest.mark.parametrize(
    "records", [Raw(b"abcdefgh"), memoryview(b"abcdefgh").cast("I"), bytearray(b"abcdefgh")]
)
def test_records_are_their_bytes(records: Any) -> None:
    found = codec(ProduceRequest, 8)
    plain = produce(b"abcdefgh")
    assert found.encode(produce(records)) == found.encode(plain)
    assert found.grammar.build(produce(records)) == found.encode(plain)
    for size in ("size", "base64"):
        assert found.to_json_text(produce(records), records=mistyped(size)) == found.to_json_text(
            plain, records=mistyped(size)
        )


def test_a_view_that_was_released_is_an_error_with_its_path() -> None:
    view = memoryview(b"records")
    view.release()
    with pytest.raises(EncodeError, match="expected a memoryview that is not released") as caught:
        codec(ProduceRequest, 8).encode(produce(view))
    assert caught.value.path == "topic_data[0].partition_data[0].records"


def test_text_of_what_has_no_json_form_is_an_error_with_its_path() -> None:
    for wrong in (object(), 1j):
        with pytest.raises(EncodeError) as caught:
            CODEC.to_json_text(topics("a", num_partitions=wrong))
        assert caught.value.path == "topics[0].num_partitions"


@pytest.mark.parametrize("changes", ["append", "pop", "clear", "append and pop"])
def test_bytes_are_whole_where_a_list_changes_meanwhile(changes: str) -> None:
    value = topics("a", "b")
    items = value.topics

    def change() -> None:
        if "append" in changes and len(items) < 9:
            items.append(CreatableTopic("new"))
        if changes == "clear":
            items.clear()
        elif "pop" in changes and items:
            items.pop()

    items[0].num_partitions = Number(change)
    again = CODEC.decode(CODEC.encode(value))
    assert CODEC.encode(again)


def test_a_stack_that_ends_is_one_error() -> None:
    """A second try at each level of the stack would double the time with each of them."""
    value = topics("a")
    calls = 0

    def enter_again() -> None:
        nonlocal calls
        calls += 1
        CODEC.encode(value)

    value.topics[0].num_partitions = Number(enter_again)
    for call in (CODEC.encode, CODEC.to_json_text):
        calls = 0
        with pytest.raises(RecursionError):
            call(value)
        assert calls < sys.getrecursionlimit()


def test_config_names_of_a_subclass_are_not_kept() -> None:
    name = Text("ssl.key.password")
    ends = weakref.ref(name)
    assert secrets.is_secret_name(name)
    del name
    assert ends() is None, "the cache of names keeps it"


def test_a_uuid_that_says_itself_what_it_is() -> None:
    class Odd(UUID):
        def __getattribute__(self, name: str) -> Any:
            return 1.5 if name == "int" else super().__getattribute__(name)

    found = codec(FetchResponse, 13)
    value = FetchResponse(responses=[FetchableTopicResponse(topic_id=Odd(int=5))])
    for call in (found.encode, found.to_json_text):
        with pytest.raises(EncodeError, match=r"expected a uuid\.UUID of 128 bits") as caught:
            call(value)
        assert caught.value.path == "responses[0].topic_id"
