"""Each rule of the notation, with the definition that breaks it: field, fault and remedy named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_admin_proto import SchemaError
from kafka_admin_proto.schema.kafka_json.reader import read_message
from tests.helpers.mistyped import mistyped


def definition(*fields: dict[str, Any], **top: Any) -> str:
    message: dict[str, Any] = {
        "type": "data",
        "name": "Sample",
        "validVersions": "0-3",
        "flexibleVersions": "2+",
        "fields": list(fields),
    }
    return json.dumps({k: v for k, v in {**message, **top}.items() if v is not ...})


def field(name: str = "Some", type: str = "int32", **more: Any) -> dict[str, Any]:
    given = {"name": name, "type": type, "versions": "0+", **more}
    return {k: v for k, v in given.items() if v is not ...}


def request(headers: Any, **top: Any) -> str:
    """A request of versions 0 to 3, flexible from 2 on, with these ``headerVersions``."""
    return definition(**{"type": "request", "apiKey": 1, "headerVersions": headers, **top})


COMMON = [{"name": "Common", "versions": "0+", "fields": [field("Inner")]}]


def chain(length: int, times: int) -> list[dict[str, Any]]:
    """Common structs each of which has the next one in so many fields."""
    names = [f"S{number}" for number in range(length)]
    fields = [[field(f"F{i}", below) for i in range(times)] for below in names[1:]]
    return [
        {"name": name, "versions": "0+", "fields": inner}
        for name, inner in zip(names, [*fields, []], strict=True)
    ]


#: (definition, the field that the complaint names, a piece of the fault, a piece of the remedy)
BROKEN: list[tuple[str, str, str, str]] = [
    # the field
    (definition(field("has space")), "has space", "invalid field name", "letters and digits"),
    (definition(field("1st")), "1st", "invalid field name", "a letter first"),
    (definition(field(versions=...)), "Some", '"versions" is missing', "add it"),
    (definition(field(versions="x")), "Some", '"versions": \'x\' is not a version range', "2-5"),
    (definition(field(versions="5-3")), "Some", "runs backwards", "none"),
    (definition(field(versions="0-99999")), "Some", "is not a version range", "32767"),
    (definition(field(versions="-1+")), "Some", "is not a version range", "32767"),
    (definition(field(type="int33")), "Some", "unknown type 'int33'", "use one of bool"),
    (definition(field(type="[]")), "Some", "names no element type", "[]int32"),
    (definition(field(type="[][]int32")), "Some", "array of arrays", "array of structs"),
    (definition(field(type="[]records")), "Some", "array of records", "struct"),
    (definition(field(nullableVersions="0+")), "Some", "int32 cannot be null", "nullableVersions"),
    (definition(field(entityType="brokerid")), "Some", "unknown entityType", "brokerId"),
    (definition(field(entityType=5)), "Some", "invalid entityType '5'", "a letter first"),
    (definition(field(entityType="a b\n")), "Some", "invalid entityType", "a letter first"),
    (definition(field(type="[]string", entityType="brokerId")), "Some", "of int32", "change"),
    (definition(field(fields=[field("X")])), "Some", "cannot have fields", "name a struct"),
    (definition(field(type="[]int8", fields=[])), "Some", "cannot have fields", "name a struct"),
    (definition(field(flexibleVersions="2+")), "Some", "override flexibleVersions", "string and"),
    (definition(field(type="string", flexibleVersions="1+")), "Some", "not a subset", "narrow"),
    (definition(field(zeroCopy=True)), "Some", "zeroCopy is for bytes", "remove"),
    (definition(field(mapKey="yes")), "Some", '"mapKey" is a string', "true or false"),
    # tags
    (definition(field(tag=-1, taggedVersions="2+")), "Some", "tag -1 is negative", "from 0"),
    (definition(field(tag=0)), "Some", "no tagged versions", "taggedVersions"),
    (definition(field(taggedVersions="2+")), "Some", "but no tag", "give it a tag"),
    (definition(field(tag=0, taggedVersions="2-3")), "Some", "not open-ended", '"2+"'),
    (definition(field(tag=0, taggedVersions="2+", versions="3+")), "Some", "not a subset of",
     "widen"),
    (definition(field(tag=0, taggedVersions="1+")), "Some", "subset of the flexible", "flexible"),
    (definition(field(type="string", tag=0, taggedVersions="2+", nullableVersions="3+")), "Some",
     "only 3+ are nullable", "or none"),
    (definition(field(type="records", tag=0, taggedVersions="2+")), "Some", "cannot be tagged",
     "remove the tag"),
    (definition(field(type="[]S", fields=[field("Key", mapKey=True, tag=0, taggedVersions="2+")])),
     "Some.Key", "cannot be a map key", "remove"),
    (definition(field("A", tag=0, taggedVersions="2+"), field("B", tag=0, taggedVersions="2+")),
     "B", "has tag 0", "its own tag"),
    (definition(field(tag=1, taggedVersions="2+")), "Sample", "not contiguous", "use tag 0"),
    # defaults
    (definition(field(type="bool", default="yes")), "Some", "is not a bool", "true"),
    (definition(field(default="ten")), "Some", "is not an integer", "0x7f"),
    (definition(field(type="int8", default="128")), "Some", "does not fit int8", "-128 to 127"),
    (definition(field(type="int8", default="0x80")), "Some", "does not fit int8", "-128 to 127"),
    (definition(field(type="uint16", default="-1")), "Some", "does not fit uint16", "0 to 65535"),
    (definition(field(type="uint32", default="4294967296")), "Some", "does not fit", "4294967295"),
    (definition(field(type="float64", default="x")), "Some", "is not a number", "decimal"),
    (definition(field(type="uuid", default="short")), "Some", "is not a uuid", "22 characters"),
    (definition(field(type="bytes", default="ab")), "Some", "is not possible here", "null"),
    (definition(field(type="[]int32", default="1")), "Some", "is not possible here", "null"),
    (definition(field(type="S", fields=[], default="x")), "Some", "is not possible", "null"),
    (definition(field(type="string", nullableVersions="1+", default="null")), "Some",
     "null cannot be the default", 'nullableVersions to "0+"'),
    (definition(field(default={"a": 1})), "Some", '"default" is an object', "a string"),
    (definition(field(default="1" * 5000)), "Some", f"default {'1' * 40} does not fit", "use -2"),
    (definition(field(default="0x" + "f" * 5000)), "Some", "does not fit int32", "use -2"),
    (definition(field(type="uuid", default="A" * 22 + "!!!!")), "Some", "not a uuid", "22"),
    # structs
    (definition(field("A"), field("A")), "A", "has that name", "rename"),
    (definition(field("Ab"), field("ab")), "ab", "has that name", "rename"),
    (definition(field(type="Lost")), "Some", "struct Lost is defined nowhere", "commonStructs"),
    (definition(field("A", "[]S", fields=[field()]), field("B", "S", fields=[field()])), "B",
     "defined twice", "commonStructs"),
    (definition(field(type="Common", fields=[field()]), commonStructs=COMMON), "Some",
     "defines the common struct Common again", "remove its fields"),
    (definition(commonStructs=COMMON * 2), "Sample", "defined twice", "remove one"),
    (definition(commonStructs=[{**COMMON[0], "name": "small"}]), "Sample", "small first letter",
     "capitalise"),
    (definition(commonStructs=[{"name": "C", "fields": []}]), "C", '"versions" is missing', "add"),
    (definition(commonStructs=[{**COMMON[0], "fields": [field(type="Common")]}]), "Common.Some",
     "contains itself", "circle"),
    (definition(commonStructs=chain(41, 1)), "Sample", "nested too deeply", "flatten"),
    (definition(commonStructs=chain(1000, 1)), "Sample", "nested too deeply", "flatten"),
    (definition(commonStructs=chain(1000, 1)[::-1]), "Sample", "nested too deeply", "flatten"),
    (definition(commonStructs=chain(30, 2)), "Sample", "over 10000 fields", "split"),
    (definition(*(field(f"A{i}") for i in range(10_001))), "Sample", "over 10000", "split"),
    (definition(field(mapKey=True)), "Some", "top-level field cannot be a map key", "remove"),
    # the message
    (definition(validVersions=...), "Sample", '"validVersions" is missing', "add it"),
    (definition(validVersions="0+"), "Sample", "no highest version", '"0-N"'),
    (definition(flexibleVersions=...), "Sample", 'no "flexibleVersions"', "0+"),
    (definition(flexibleVersions="2-3"), "Sample", "not open-ended", "plus"),
    (definition(deprecatedVersions="2-7"), "Sample", "go beyond validVersions", "narrow"),
    (definition(type="requests"), "Sample", "unknown message type", "request"),
    (definition(type="request"), "Sample", "needs an api key", "apiKey"),
    (definition(type="response", apiKey=1, listeners=["broker"]), "Sample", "for requests only",
     "remove"),
    (definition(latestVersionUnstable=True), "Sample", "for requests only", "remove"),
    (definition(type="request", apiKey=1, listeners=["brokers"]), "Sample", "unknown listener",
     "controller"),
    # the headers in front of a message
    (definition(headerVersions={"0+": "1"}), "Sample", "for requests and responses", "remove"),
    (request({"0+": "1"}, validVersions="none"), "Sample", "that have versions", "remove"),
    (request("1"), "Sample", '"headerVersions" is a string', '{"0": "1", "1+": "2"}'),
    (request({}), "Sample", '"headerVersions" is an object, {}', '{"0": "1", "1+": "2"}'),
    (request({"x": "1"}), "Sample", "'x' is not a version range", '"2-5"'),
    (request({"none": "1"}), "Sample", 'has "1" for versions "none"', "a header's version"),
    (request({"0+": None}), "Sample", 'has null for versions "0+"', "a header's version"),
    (request({"0+": ["1"] * 99}), "Sample", '"1", "1", for versions "0+"', "header's"),
    (request({"0+": "-1"}), "Sample", 'has "-1" for versions "0+"', "a header's version"),
    (request({"0+": "32768"}), "Sample", 'has "32768" for versions', "a header's version"),
    (request({"1+": "2"}), "Sample", "begin at version 1", "at version 0"),
    (request({"0": "1", "2+": "2"}), "Sample", "0 and 2+ leave a gap", "where the one before"),
    (request({"0-1": "1", "1+": "2"}), "Sample", "0-1 and 1+ leave a gap, or overlap", "begin"),
    (request({"0+": "1", "2+": "2"}), "Sample", "0+ and 2+ leave a gap, or overlap", "begin"),
    (request({"0-1": "1", "2-3": "2"}), "Sample", "2-3, is not open-ended", '"2+"'),
    (request({"0-3": "2", "4+": "3"}), "Sample", "begin above the highest valid", "remove"),
    (request({"0-2": "3", "3+": "2"}), "Sample", "go back from 3 to 2 at version 3", "keep"),
    (request({"0+": "1"}), "Sample", "header version 1 stands in front of the flexible", "2 or"),
    (request({"0+": "0"}, type="response"), "Sample", "flexible versions 2+", "write 1 or more"),
    (request({"0-1": "0", "2+": "1"}, type="response", name="ApiVersionsResponse"), "Response",
     "header version 1 stands in front of an ApiVersions response", "write 0"),
    (definition(apiKey="x"), "Sample", '"apiKey" is a string', "whole number"),
    (definition(aboot="x"), "Sample", 'unknown key "aboot"', "about"),
    (definition(field(nullable="0+")), "Some", 'unknown key "nullable"', "nullableVersions"),
    (definition(mistyped("x")), "", "a field is a string", "JSON object"),
    ("[]", "", "a message is an array", "JSON object"),
    ('{"name": "Sample", "type": "data", "type": "request"}', "", "appears twice", "remove one"),
    ('{"name": "Sample", // x\n  "type" "data"}', "", "line 2 column 10", "correct the JSON"),
    ('{"name": "Sample", /* never', "", "opens on line 1 never ends", "close it"),
    ("[" * 100_000, "", "nested too deeply", "flatten"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "where", "fault", "remedy"), BROKEN)
def test_refused(text: str, where: str, fault: str, remedy: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read_message(text, file="Sample.json")
    error = caught.value
    assert error.file == "Sample.json"
    assert error.field.endswith(where)
    assert fault in error.fault
    assert remedy in error.remedy
    assert str(error).startswith("Sample.json: ")
    assert str(error).endswith(f"{error.fault}; {error.remedy}")


def test_what_upstream_files_contain_is_read() -> None:
    spec = read_message(
        """// a licence
        { "apiKey": "7", "type": "request", "name": "OldRequest", /* text "with // quotes" */
          "listeners": ["zkBroker"], "validVersions": "0-3", "deprecatedVersions": "0",
          "flexibleVersions": "2+", "latestVersionUnstable": false,
          "fields": [
            { "name": "Url", "type": "string", "versions": "0+", "default": "http://x", // here
              "about": "slashes in a string" },
            { "name": "Hex", "type": "int64", "versions": "0+", "default": "0x7fffffffffffffff" },
            { "name": "Number", "type": "int32", "versions": "0+", "default": -1 },
            { "name": "Flag", "type": "bool", "versions": "0+", "default": true },
            { "name": "NoDefault", "type": "string", "versions": "0+", "default": null },
            { "name": "Tagged", "type": "[]uuid", "taggedVersions": "2+", "tag": "0" },
            { "name": "Maybe", "type": "Common", "versions": "1+", "nullableVersions": "1+",
              "default": "null" },
            { "name": "Entity", "type": "int32", "versions": "0+", "entityType": "unknown" } ],
          "commonStructs": [ { "name": "Common", "versions": "0+", "fields": [] } ] }"""
    )
    by_name = {field.name: field for field in spec.fields}
    assert spec.api_key == 7
    assert by_name["Url"].default_value == "http://x"
    assert by_name["Hex"].default_value == (1 << 63) - 1
    assert by_name["Number"].default_value == -1
    assert by_name["Flag"].default_value is True
    assert by_name["NoDefault"].default_value == ""
    assert str(by_name["Tagged"].versions) == "2+"
    assert by_name["Maybe"].default_value is None
    assert by_name["Entity"].entity_type == ""


def test_a_removed_request_is_read() -> None:
    spec = read_message('{"apiKey": 5, "type": "request", "name": "X", "validVersions": "none"}')
    assert spec.valid_versions.empty
