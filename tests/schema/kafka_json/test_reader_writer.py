"""Kafka's JSON of definitions is read, and written as it was."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_admin_proto import SchemaError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.kafka_json.writer import write_message
from tests.helpers.profile import draws


@pytest.mark.parametrize("name", catalog().names())
def test_every_shipped_file_is_as_we_write_it(name: str) -> None:
    text = (catalog().folder / "kafka" / f"{name}.json").read_text("utf-8")
    assert write_message(read_message(text)) == text


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
@example('{"a": 1e999999999}')
@example("1" * 5000)
@settings(max_examples=draws(300))
def test_no_text_breaks_the_reader(text: str) -> None:
    with pytest.raises(SchemaError):
        read_message(text)


@given(st.data())
@settings(max_examples=draws(300))
def test_no_damage_breaks_the_reader(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["CreateTopicsRequest", "FetchResponse", "VoteRequest"]))
    text = (catalog().folder / "kafka" / f"{name}.json").read_text("utf-8")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    damaged = text[:start] + data.draw(st.text(max_size=5)) + text[end:]
    try:
        read_message(damaged, file="x.json")
    except SchemaError as error:
        assert error.file == "x.json"
        assert error.fault
        assert error.remedy


@pytest.mark.parametrize("inner", ["[", '{"about":', '{"name":"F","type":"S","fields":['])
def test_deep_nesting_is_refused_wherever_it_is_noticed(inner: str) -> None:
    closing = {"[": "]", "{": "}"}
    for depth in range(300, 1100, 7):
        end = "".join(closing[sign] for sign in reversed(inner * depth) if sign in closing)
        with pytest.raises(SchemaError):
            read_message('{"name": "X", "fields": ' + inner * depth + "0" + end + "}")


def test_time_grows_with_the_text() -> None:
    """A string that never ends, full of quotes: once each of them started a search."""
    started = time.thread_time()
    with pytest.raises(SchemaError, match="Unterminated string"):
        read_message('"' + '\\"' * 40_000)
    assert time.thread_time() - started < 5
