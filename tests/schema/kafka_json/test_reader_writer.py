"""Kafka's JSON of definitions is read, and written as it was."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_admin_proto import SchemaError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.kafka_json.writer import write_message
from kafka_admin_proto.schema.lint.kafka_json import lint_definition
from tests.helpers.profile import draws


@pytest.mark.parametrize("name", catalog().names())
def test_every_shipped_file_is_as_we_write_it(name: str) -> None:
    text = (catalog().folder / "kafka" / f"{name}.json").read_text("utf-8")
    assert write_message(read_message(text)) == text


def one_field(**keys: Any) -> str:
    field = {"name": "Some", "type": "int32", "versions": "0+"} | keys
    message = {"type": "data", "name": "Sample", "validVersions": "0", "flexibleVersions": "0+"}
    return json.dumps(message | {"fields": [field]})


#: What Jackson makes of each value, as Kafka's ``MessageGenerator`` sets it up.
FLAGS: dict[bool | None, tuple[Any, ...]] = {
    True: (True, 1, -1, "true", "True", "TRUE", " true "),
    False: (False, 0, None, "false", "False", "FALSE", "", " ", "null"),
    None: ("tRUE", "0", "1", "yes", 1.0, [True], {}),
}
TAGS: dict[int | None, tuple[Any, ...]] = {
    0: (0, "0", " 0 ", "+0", "00", 0.0),
    None: (None, "", " ", "null"),
    -1: (True, "0x0", "0.0", "zero", [0], 0.5),
}
TEXTS: dict[str, tuple[Any, ...]] = {
    "7": ("7", 7),
    "true": ("true", True),
    "": ("", None),
    "-": (["7"], {}),
}


@pytest.mark.parametrize("key", ["ignorable", "mapKey"])
@pytest.mark.parametrize(("wanted", "values"), FLAGS.items())
def test_flags_are_what_kafkas_generator_takes(
    key: str, wanted: bool | None, values: tuple[Any, ...]
) -> None:
    for value in values:
        inner = {"name": "Key", "type": "string", "versions": "0+", key: value}
        text = one_field(type="[]One", fields=[inner])
        if wanted is None:
            assert f'"{key}" is ' in refusal(text)
            assert len(lint_definition(text)) == 1, value
            continue
        (field,) = read_message(text).structs()["One"].fields
        assert (field.map_key if key == "mapKey" else field.ignorable) is wanted, value
        assert lint_definition(text) == []


@pytest.mark.parametrize(("wanted", "values"), TAGS.items())
def test_numbers_are_what_kafkas_generator_takes(
    wanted: int | None, values: tuple[Any, ...]
) -> None:
    for value in values:
        text = one_field(tag=value, taggedVersions="none" if wanted is None else "0+")
        if wanted == -1:
            assert '"tag" is ' in refusal(text), value
        else:
            assert read_message(text).fields[0].tag == wanted, value


@pytest.mark.parametrize(("wanted", "values"), TEXTS.items())
def test_texts_are_what_kafkas_generator_takes(wanted: str, values: tuple[Any, ...]) -> None:
    for value in values:
        text = one_field(type="string", default=value)
        if wanted == "-":
            assert '"default" is an ' in refusal(text)
        else:
            assert read_message(text).fields[0].default == wanted


def test_one_value_stands_for_an_array_of_it() -> None:
    inner = {"name": "Id", "type": "int32", "versions": 0}
    message = {
        "apiKey": " 7 ", "type": "request", "name": "Sample", "validVersions": 0,
        "flexibleVersions": "", "listeners": "broker",
        "fields": {"name": "One", "type": "Common", "versions": "0+"},
        "commonStructs": {
            "name": "Common", "versions": "0+", "deprecatedVersions": "0", "fields": inner,
        },
    }  # fmt: skip
    spec = read_message(json.dumps(message))
    assert (spec.api_key, spec.listeners, str(spec.valid_versions)) == (7, ("broker",), "0")
    assert [field.name for field in spec.fields] == ["One"]
    assert [field.name for field in spec.structs()["Common"].fields] == ["Id"]
    assert lint_definition(json.dumps(message)) == []
    assert "a field is a string" in refusal(json.dumps(message | {"fields": "x"}))


def test_header_versions_are_read_and_written() -> None:
    message = {
        "apiKey": 18, "type": "response", "name": "ApiVersionsResponse", "validVersions": "2-5",
        "flexibleVersions": "3+", "headerVersions": {"4+": 0, " 0-3": " 0 "}, "fields": [],
    }  # fmt: skip
    text = json.dumps(message)
    spec = read_message(text)
    assert [(str(versions), header) for versions, header in spec.header_versions] == [
        ("0-3", 0), ("4+", 0),
    ]  # fmt: skip
    assert lint_definition(text) == []
    written = write_message(spec)
    assert json.loads(written)["headerVersions"] == {"0-3": "0", "4+": "0"}
    assert read_message(written) == spec
    (slip,) = lint_definition(text.replace('"4+": 0', '"4+": 1'))
    assert "in front of an ApiVersions response" in slip.fault


def test_a_default_with_a_zero_in_front_is_octal_as_in_java() -> None:
    """The generator looks at the text as a decimal number, and writes it into Java's code."""
    for text, value in {"017": 15, "-017": -15, "+010": 8, "00": 0, "0": 0, "-0": 0}.items():
        assert read_message(one_field(default=text)).fields[0].default_value == value
    assert "no octal number" in refusal(one_field(default="019"))
    assert "does not fit int8" in refusal(one_field(type="int8", default="0177"))
    assert read_message(one_field(type="float64", default="017")).fields[0].default_value == 17


def test_forks_have_entity_types_of_their_own() -> None:
    text = one_field(entityType="streamId")
    assert read_message(text).fields[0].entity_type == "streamId"
    assert lint_definition(text) == []
    for misspelt in ("topicname", "TopicName"):
        assert "write 'topicName'" in refusal(one_field(type="string", entityType=misspelt))


def refusal(text: str) -> str:
    with pytest.raises(SchemaError) as caught:
        read_message(text)
    return str(caught.value)


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


@pytest.mark.exhaustive
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
