"""Slips of definitions in Kafka's JSON: all of them, each in its line."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import SchemaError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.lint.kafka_json import lint_definition

FILES = sorted((catalog().folder / "kafka").glob("*.json"))
SEVERAL = """\
// A comment with a "brace" {
{
  "apiKey": "19", "type": "request", "name": "WishRequest",
  "validVersions": "0-2", "flexibleVersions": "2+", "colour": "red",
  "fields": [
    { "name": "Text", "type": "strin", "versions": "0+" },
    { "name": "Count", "type": "int32", "versions": "0+", "tag": "x",
      "about": [7] },
    { "name": "Inner", "type": "[]Inner", "versions": "0+", "fields": [
      { "name": "Id", "type": "int32", "versions": "zero" },
      { "name": "Late", "type": "int32", "versions": "0+", "nullableVersions": "1+" }
    ]},
    7
  ]
}
"""


def places(text: str) -> list[tuple[int, str]]:
    return [(slip.line, slip.fault.partition(": ")[0]) for slip in lint_definition(text)]


def test_all_slips_of_a_file_with_their_lines() -> None:
    found = lint_definition(SEVERAL)
    assert [(slip.line, slip.column) for slip in found] == [
        (4, 53), (6, 23), (7, 59), (8, 7), (10, 40), (11, 7), (11, 7),
    ]  # fmt: skip
    faults = "\n".join(slip.fault for slip in found)
    for said in (
        'WishRequest: unknown key "colour"',
        "WishRequest.Text: unknown type 'strin'",
        'WishRequest.Count: "tag" is a string, "x"',
        'WishRequest.Count: "about" is an array, [7]',
        'WishRequest.Inner.Id: "versions": ',
        "WishRequest.Inner.Late: type int32 cannot be null",
        "a field is a number, 7",
    ):
        assert said in faults


def test_rules_between_fields_name_the_second_one() -> None:
    text = """{
      "apiKey": 1, "type": "request", "name": "A", "validVersions": "0-1", "flexibleVersions": "1+",
      "fields": [
        { "name": "Name", "type": "[]One", "versions": "0+", "fields": [
          { "name": "X", "type": "int8", "versions": "0+" },
          { "name": "x", "type": "int8", "versions": "0+" }] },
        { "name": "Name", "type": "Nowhere", "versions": "0+" },
        { "name": "Tag", "type": "int8", "versions": "0+", "tag": 1, "taggedVersions": "0+" }
      ]}"""
    assert [line for line, _ in places(text)] == [6, 7, 7, 8]
    fixed = text.replace('"x"', '"Y"')
    found = lint_definition(fixed)
    assert [slip.line for slip in found] == [7, 7, 8]
    assert "another field of this struct has that name" in found[0].fault
    assert "struct Nowhere is defined nowhere" in found[1].fault
    assert "not a subset of the flexible" in found[2].fault


def test_fields_that_no_valid_version_has() -> None:
    """Kafka's generator takes them; a common struct's field may be missing in one of its places."""
    text = """{
      "type": "data", "name": "A", "validVersions": "1-2", "flexibleVersions": "none",
      "fields": [
        { "name": "Old", "type": "int8", "versions": "0" },
        { "name": "New", "type": "int8", "versions": "3+" },
        { "name": "Late", "type": "[]One", "versions": "2+", "fields": [
          { "name": "Early", "type": "int8", "versions": "0-1" } ] },
        { "name": "Other", "type": "Shared", "versions": "2+" }
      ],
      "commonStructs": [ { "name": "Shared", "versions": "1+", "fields": [
        { "name": "First", "type": "int8", "versions": "1" },
        { "name": "Never", "type": "int8", "versions": "0" } ] } ] }"""
    assert [(slip.line, slip.fault.partition(":")[0]) for slip in lint_definition(text)] == [
        (4, "A.Old"), (5, "A.New"), (7, "A.Early"), (12, "A.Never"),
    ]  # fmt: skip
    read_message(text)


@pytest.mark.parametrize(
    ("field", "faults"),
    [
        ('"headerVersions": []', ['"headerVersions" is an array, []']),
        ('"headerVersions": {"x": "1"}', ["\"headerVersions\": 'x' is not a version range"]),
        ('"headerVersions": {"0": "a"}', ['"headerVersions" has "a" for versions "0"']),
        ('"headerVersions": {"0": "1", "1+": "2"}', []),
        ('"listeners": [1, "broker"]', ["a listener is 1"]),
        ('"listeners": ["zoo"]', ["unknown listener 'zoo'"]),
    ],
)
def test_a_slip_of_a_message_is_said_once(field: str, faults: list[str]) -> None:
    text = f"""{{ "apiKey": 3, "type": "request", "name": "ARequest", "fields": [],
      "validVersions": "0-1", "flexibleVersions": "none",
      {field} }}"""
    found = [slip.fault.removeprefix("ARequest: ") for slip in lint_definition(text)]
    assert found == faults
    if faults:
        with pytest.raises(SchemaError):
            read_message(text)
    else:
        assert read_message(text).header_versions


def test_json_that_does_not_parse() -> None:
    (slip,) = lint_definition('{\n  "name": "A",\n  "type" "request"\n}')
    assert (slip.line, slip.column, slip.rule) == (3, 10, "json")
    (slip,) = lint_definition("{ /* never ends")
    assert "never ends" in slip.fault
    (slip,) = lint_definition("[" * 100_000)
    assert "nested too deeply" in slip.fault
    (slip,) = lint_definition("[7]")
    assert slip.fault.endswith("a message is an array, [7]")
    (slip,) = lint_definition("9" * 5000)
    assert slip.rule == "json"


def test_a_key_that_is_there_twice() -> None:
    text = '{\n "name": "A",\n "type": "data",\n "validVersions": "0",\n "type": "header",\n' + (
        ' "name": "A", "flexibleVersions": "none", "fields": []}'
    )
    (slip,) = lint_definition(text)
    assert (slip.line, slip.column) == (5, 2)
    assert 'key "type" appears twice' in slip.fault


@pytest.mark.parametrize("file", FILES[::12], ids=lambda file: file.stem)
def test_shipped_definitions_have_none(file: Any) -> None:
    assert lint_definition(file.read_text()) == []


@given(st.sampled_from(FILES), st.data())
def test_each_planted_slip_is_found_in_its_line(file: Any, data: st.DataObject) -> None:
    lines = file.read_text().split("\n")
    fields = [
        at for at, line in enumerate(lines) if line.lstrip().startswith('"name": ') and at > 3
    ]
    chosen = sorted(data.draw(st.sets(st.sampled_from(fields)))) if fields else []
    for at in chosen:
        lines[at] = lines[at].replace('"name": ', '"oddity": 7, "name": ', 1)
    found = lint_definition("\n".join(lines))
    assert [slip.line for slip in found] == [at + 1 for at in chosen]
    assert all('unknown key "oddity"' in slip.fault for slip in found)


def damaged(value: Any, dice: random.Random) -> Any:
    """The definition with a key left out, added, or of another value, somewhere in it."""
    objects = []

    def walk(each: Any) -> None:
        if isinstance(each, dict):
            objects.append(each)
        for inner in each.values() if isinstance(each, dict) else each:
            if isinstance(inner, (dict, list)):
                walk(inner)

    walk(value)
    for _ in range(dice.randrange(1, 4)):
        chosen = dice.choice(objects)
        key = dice.choice([*chosen, "tag", "taggedVersions", "oddity", "nullableVersions"])
        other: Any = dice.choice([None, 7, "0+", "1-3", "none", "bytes", "Other", [], {}, True, ""])
        if other is None:
            chosen.pop(key, None)
        else:
            chosen[key] = other
    return value


@given(st.integers(0, 1 << 32), st.sampled_from(FILES))
def test_there_are_slips_where_the_reader_refuses(seed: int, file: Any) -> None:
    text = json.dumps(damaged(json.loads(strip(file.read_text())), random.Random(seed)), indent=1)
    try:
        read_message(text)
    except SchemaError:
        slips = lint_definition(text)
        assert slips
        assert all(1 <= slip.line <= text.count("\n") + 1 for slip in slips)
    else:
        assert lint_definition(text) == []


def strip(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.strip().startswith("//"))
