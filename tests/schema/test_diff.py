"""Two definitions side by side, held against the bytes that their codecs write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_admin_proto import codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.diff import ALWAYS, NEVER, Difference, diff, verdict
from kafka_admin_proto.schema.kip.reader import read_kip
from kafka_admin_proto.testing import messages
from tests.helpers.every_message import EVERY, each_version


def between(left: str, right: str) -> list[Difference]:
    """The differences between ``dialect:Name@version`` and another."""
    sides: list[Any] = []
    for reference in (left, right):
        dialect, _, rest = reference.rpartition(":")
        name, _, version = rest.partition("@")
        sides += [catalog().spec(name, dialect or "kafka"), int(version)]
    return diff(*sides)


@each_version()
def test_a_message_does_not_differ_from_itself(name: str, version: int) -> None:
    spec = catalog().spec(name)
    assert diff(spec, version, spec, version) == []
    assert verdict([]) == "the bytes are the same"


def test_update_metadata_of_kip_516() -> None:
    found = between("kip-516:UpdateMetadataRequest@7", "UpdateMetadataRequest@7")
    by_path = {difference.path: difference for difference in found}
    assert by_path["(message)"].right == "flexible"
    for path in ("ungrouped_partition_states", "live_brokers[].v0_host", "live_brokers[].v0_port"):
        assert by_path[path].right == ""
    assert by_path["live_brokers[].rack"].right == "COMPACT_NULLABLE_STRING"
    assert by_path["topic_states[].topic_name"].bytes_differ == "where topic_states has elements"
    assert verdict(found) == "the bytes always differ"


@pytest.mark.parametrize("kind", ["Request", "Response"])
@pytest.mark.parametrize(
    ("api", "version"), [("StopReplica", 4), ("ListOffsets", 6), ("OffsetForLeaderEpoch", 4)]
)
def test_ids_of_kip_516_stand_in_the_place_of_names(api: str, version: int, kind: str) -> None:
    """t9–t12: what the prose says of them, beside the version before; drafts are not flexible."""
    found = between(f"kip-516:{api}{kind}@{version}", f"{api}{kind}@{version - 1}")
    fields = {d.path: (d.left, d.right) for d in found if not (d.left and d.right)}
    (array,) = {path.rpartition("[]")[0] for path in fields}
    assert fields.pop(f"{array}[].topic_id") == ("topic_id: UUID", "")
    ((left, right),) = fields.values()
    assert left == ""
    assert right.endswith("STRING")
    others = [d for d in found if d.left and d.right]
    assert all("flexible" in d.left or d.right == f"COMPACT_{d.left}" for d in others)


def test_create_topics_of_kip_4() -> None:
    found = between("kip-4:CreateTopicsRequest@1", "CreateTopicsRequest@1")
    differing = [d for d in found if d.bytes_differ != NEVER]
    assert [d.path for d in differing] == ["create_topic_requests[].configs[].config_value"]
    assert verdict(found) == f"the bytes are the same except {differing[0].bytes_differ}"
    assert differing[0].bytes_differ.endswith("config_value is null")
    assert Difference("timeout", "timeout: INT32", "timeout_ms: INT32", NEVER) in found


@pytest.mark.parametrize("kind", ["Request", "Response"])
@pytest.mark.parametrize("version", [0, 1])
def test_the_bytes_of_kip_4_are_those_of_what_shipped(kind: str, version: int) -> None:
    """c10–c21, p31: what the verdict says, for values drawn in the draft's class and in the
    shipped one.
    """
    draft = codec(f"CreateTopics{kind}", version, dialect="kip-4")
    shipped = codec(f"CreateTopics{kind}", version)

    @given(messages(draft.name, version, dialect="kip-4"))
    def there(value: Any) -> None:
        data = draft.encode(value)
        assert shipped.encode(shipped.decode(data, strict=True)) == data

    @given(messages(shipped.name, version))
    def back(value: Any) -> None:
        configs = [c for topic in value.topics for c in topic.configs or []]
        assume(not any(config.value is None for config in configs if kind == "Request"))
        data = shipped.encode(value)
        assert draft.encode(draft.decode(data, strict=True)) == data

    there()
    back()


def one(right: str, *definitions: str) -> Any:
    lines = [f"Ping Request (Version: 0) => {right}", *(f"  {line}" for line in definitions)]
    return read_kip("\n".join(lines))


#: Two messages and when their bytes differ.
PAIRS = [
    (one("a", "a => INT32"), one("b", "b => INT32"), [NEVER]),
    (one("a", "a => INT32"), one("a", "a => UINT32"), ["where a means another value"]),
    (one("a", "a => INT32"), one("a", "a => INT64"), [ALWAYS]),
    (one("a", "a => STRING"), one("a", "a => NULLABLE_STRING"), ["where a is null"]),
    (one("a", "a => STRING"), one("a", "a => BYTES"), [ALWAYS]),
    (one("a", "a => BYTES"), one("a", "a => RECORDS"), [NEVER]),
    (one("[a]", "a => INT8"), one("?[a]", "a => INT8"), ["where a is null"]),
    (one("[a]", "a => INT8"), one("[a]", "a => BOOLEAN"), ["where a means another value"]),
    (one("a", "a => INT8"), one("[a]", "a => INT8"), [ALWAYS]),
    (one("a b", "a => INT8", "b => INT8"), one("b", "b => INT8"), [ALWAYS]),
    (one("[a]", "a => x", "  x => INT8"), one("[a]", "a => x y", "  x => INT8", "  y => INT8"),
     ["where a has elements"]),
    (one("a", "a => INT8"), one("a _tagged_fields", "a => INT8"), [ALWAYS]),
    (one("a<tag: 0> _tagged_fields", "a<tag: 0> => INT8"), one("_tagged_fields"),
     ["where a is not at its default"]),
    (one("a<tag: 0> _tagged_fields", "a<tag: 0> => INT8"),
     one("a<tag: 1> _tagged_fields", "a<tag: 1> => INT8"), ["where a is not at its default"]),
    (one("a<tag: 0> _tagged_fields", "a<tag: 0> => INT8"),
     one("a _tagged_fields", "a => INT8"), [ALWAYS]),
    (one("?a _tagged_fields", "a => x _tagged_fields", "  x => INT8"),
     one("?a _tagged_fields", "a => x _tagged_fields", "  x => INT16"), ["where a is not null"]),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "when"), PAIRS)
def test_each_kind_of_difference(left: Any, right: Any, when: list[str]) -> None:
    assert [d.bytes_differ for d in diff(left, 0, right, 0)] == when
    assert [d.bytes_differ for d in diff(right, 0, left, 0)] == when


@given(st.data())
def test_the_verdict_holds_for_drawn_bytes(data: st.DataObject) -> None:
    """Two versions of one message whose bytes are said to be the same read each other's."""
    name, version = data.draw(st.sampled_from(EVERY))
    assume((name, version + 1) in EVERY)
    spec = catalog().spec(name)
    said = verdict(diff(spec, version, spec, version + 1))
    value = data.draw(messages(name, version, unknown_tags=False))
    wire = codec(name, version).encode(value)
    newer = codec(name, version + 1)
    try:
        same = newer.encode(newer.decode(wire)) == wire
    except DecodeError:
        same = False
    if said == "the bytes are the same":
        assert same
