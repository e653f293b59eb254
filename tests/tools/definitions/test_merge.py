"""Two releases of a message in one definition."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_admin_proto.schema.kafka_json.reader import read_message
from kafka_admin_proto.schema.kafka_json.writer import write_message
from kafka_admin_proto.schema.layout import layout
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.schema.overlay import MessageOverlay, read_overlay
from tests.helpers.requirements import skip_or_fail
from tools.definitions import import_schemas
from tools.definitions.merge import MergeError, merge
from tools.oracles.oracle import why_unavailable


def spec(versions: str, *fields: dict[str, Any], flexible: str = "none", **top: Any) -> MessageSpec:
    message = {"type": "data", "name": "M", "validVersions": versions, "flexibleVersions": flexible}
    return read_message(json.dumps({**message, "fields": list(fields), **top}))


def field(name: str, type: str = "int32", versions: str = "0+", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, "versions": versions, **more}


def test_a_dropped_version_stays_as_the_older_release_had_it() -> None:
    older = spec(
        "0-3",
        field("A"),
        field("Gone", "[]S", "0-1", fields=[field("X", versions="0-1")]),
        field("B", "string", nullableVersions="1+", ignorable=True),
        field("Tail", versions="1-2"),
    )
    newer = spec(
        "2-5",
        field("A"),
        field("B", "string", "2+", nullableVersions="2+"),
        field("C", versions="4+"),
    )
    merged = merge(older, newer, "1.0")
    assert (merged.aliases, merged.layout_changed) == ({}, {"2": "1.0: with Tail"})
    assert str(merged.spec.valid_versions) == "0-5"
    assert [f"{f.name} {f.versions} {f.nullable_versions}" for f in merged.spec.fields] == [
        "A 0+ none",
        "Gone 0-1 none",
        "B 0+ 1+",
        "Tail 1 none",
        "C 4+ none",
    ]
    assert merged.spec.fields[2].ignorable
    for version in (0, 1):
        assert layout(merged.spec, version) == layout(older, version)
    for version in (2, 3, 4, 5):
        assert layout(merged.spec, version) == layout(newer, version)


def test_a_renamed_field_keeps_its_older_name_as_an_alias() -> None:
    inner = field("Epoch")
    older = spec("0-1", field("Rows", "[]R", fields=[field("CandidateId"), inner]))
    newer = spec("1-2", field("Rows", "[]R", fields=[field("ReplicaId"), inner]))
    merged = merge(older, newer, "1.0")
    assert merged.aliases == {"Rows.ReplicaId": ["CandidateId"]}
    assert merged.layout_changed == {}
    assert layout(merged.spec, 0) == layout(newer, 1)


def test_a_layout_that_changed_is_the_newer_ones_and_noted() -> None:
    older = spec("0", field("A"), field("Z"))
    newer = spec("0-1", field("A"), field("New"), field("Z"))
    merged = merge(older, newer, "1.0")
    assert merged.layout_changed == {"0": "1.0: without New"}
    assert layout(merged.spec, 0) == layout(newer, 0)


def test_a_message_that_the_newer_release_removed() -> None:
    older = spec("0-2", field("A", versions="1+"), flexible="2+")
    merged = merge(older, spec("none"), "1.0").spec
    assert (str(merged.valid_versions), str(merged.flexible_versions)) == ("0-2", "2+")
    assert [layout(merged, v) for v in range(3)] == [layout(older, v) for v in range(3)]


def test_what_makes_no_range_is_for_a_person_to_decide() -> None:
    older = spec("0-1", field("B", "string", nullableVersions="0"))
    newer = spec("2-5", field("B", "string", nullableVersions="3+"))
    with pytest.raises(MergeError, match=r"0 and 3\+ do not make one range"):
        merge(older, newer, "1.0")
    with pytest.raises(MergeError, match="leave a gap"):
        merge(spec("0"), spec("2"), "1.0")


def test_the_shipped_schemas_are_what_the_jars_hold() -> None:
    """Each version has the layout of the release it comes from; no sentence came along."""
    if reason := why_unavailable():
        skip_or_fail(reason)
    merged = import_schemas.merged_definitions(*import_schemas.RELEASES)
    folder = import_schemas.SCHEMAS / "kafka"
    overlays = read_overlay((import_schemas.SCHEMAS / "overlay.json").read_bytes())
    assert {path.stem for path in folder.glob("*.json")} == set(merged)
    for name, item in merged.items():
        text = (folder / f"{name}.json").read_text("utf-8")
        assert text == write_message(item.spec)
        assert '"about"' not in text
        overlay = overlays.get(name, MessageOverlay())
        assert overlay.aliases == item.aliases
        assert overlay.layout_changed == item.layout_changed
        assert overlay.formerly == item.formerly
