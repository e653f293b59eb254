"""Every message and version of both releases against Kafka's own classes, live."""

from __future__ import annotations

import os
from typing import Any

import pytest

from kafka_admin_proto import codec
from kafka_admin_proto.schema.catalog import catalog, json_name
from kafka_admin_proto.schema.model import MessageSpec
from kafka_admin_proto.wire.tagged import TaggedFields
from tests.oracle import require_oracle
from tools.oracle import JavaOracle, JavaRefusal

#: Values of each (message, version) that Java draws and we read.
SEEDS = 200 if os.environ.get("KAFKA_ADMIN_PROTO_PROFILE") == "exhaustive" else 3


@pytest.mark.parametrize("release", ["4.4.0", "3.9.2"])
def test_values_drawn_by_java(release: str) -> None:
    """Java's bytes → our value → the same bytes, and the JSON that Java writes."""
    require_oracle()
    checked = 0
    with JavaOracle(release) as oracle:
        cases = [
            (message.name, version)
            for message in oracle.messages()
            for version in range(message.lowest, message.highest + 1)
            if not differs_on_purpose(release, message.name, version)
        ]
        draws = [(name, version, seed) for name, version in cases for seed in range(SEEDS)]
        for draw, drawn in zip(draws, oracle.random_many(draws), strict=True):
            assert not isinstance(drawn, JavaRefusal), (draw, drawn)
            wire, java = drawn
            found = codec(draw[0], draw[1])
            value = found.decode(wire)
            assert found.encode(value) == wire, draw
            assert as_java(found.to_json(value), java, found.spec) == java, draw
            checked += 1
    assert checked >= 720 * SEEDS


def differs_on_purpose(release: str, name: str, version: int) -> bool:
    """Versions in which the older release had something else.

    The overlay lists changed layouts. Keys of internal topics' records had no api key before
    4.0: what is their key now was their only version.
    """
    if release == "4.4.0":
        return False
    now = catalog().entry(name)
    return str(version) in catalog().overlay(name).layout_changed or (
        now.type == "coordinator-key" and version not in now.versions
    )


def as_java(ours: Any, java: Any, spec: MessageSpec) -> Any:
    """Our JSON with the older release's names, and without what Java leaves out.

    That is unknown tags, and the bytes of records, for which it writes an empty string.
    """
    structs = [spec.struct, *spec.structs().values()]
    fields = [field for struct in structs for field in struct.fields]
    former = {json_name(f.name): json_name(f.aliases[0]) for f in fields if f.aliases}
    records = {json_name(f.name) for f in fields if f.type.element == "records"}

    def walk(ours: Any, java: Any) -> Any:
        if isinstance(ours, dict) and isinstance(java, dict):
            result = {}
            for key, item in ours.items():
                name = key if key in java else former.get(key, key)
                if key in records and item is not None:
                    result[name] = ""
                elif key != TaggedFields.JSON_NAME:
                    result[name] = walk(item, java.get(name))
            return result
        if isinstance(ours, list) and isinstance(java, list) and len(ours) == len(java):
            return [walk(item, other) for item, other in zip(ours, java, strict=True)]
        return ours

    return walk(ours, java)
