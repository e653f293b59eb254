"""Slips of proposals: a message without a reading hides none of the others."""

from __future__ import annotations

import pytest

from kafka_admin_proto.schema.kip.reader import read_kip, read_proposal
from kafka_admin_proto.schema.layout import layout
from kafka_admin_proto.schema.lint.kip import lint_proposal

#: A sound message with one slip: ``lost`` is defined nowhere.
HEARTBEAT = "\nHeartbeat Request (Version: 0) => group_id lost\n  group_id => STRING\n"
#: A text whose first message has no reading → where the slip is, and what it says.
UNREADABLE = {
    """Vote Request (Version: 0) => a
  a => INT32
Vote Request (Version: 1) => a
  a => INT64
""": ((4, 3), "VoteRequest: a: its type in version 0 is not that of version 1"),
    """Vote Request (Version: 0) => a b
  a => INT8
  b => INT8
Vote Request (Version: 1) => b a
  a => INT8
  b => INT8
""": ((4, 1), "VoteRequest: the fields of version 0 stand in another order than later ones"),
    f"Big Request (Version: 0) => {' '.join(f'x{i}' for i in range(10_001))}\n": (
        (1, 1),
        "BigRequest: over 10000 fields",
    ),
    "Deep Request (Version: 0) => a0\n"
    + "".join(f"  a{i} => a{i + 1} b\n" for i in range(41))
    + "  a41 => INT8\n  b => INT8\n": ((1, 1), "DeepRequest: line 42: nested too deeply"),
}


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_message_without_a_reading_hides_no_other(text: str) -> None:
    place, fault = UNREADABLE[text]
    slips = lint_proposal(text + HEARTBEAT + "the VoteRequest and the BigRequest\n")
    (found,) = [slip for slip in slips if slip.rule == "unreadable"]
    assert (found.line, found.column) == place
    assert found.fault == fault
    assert found.remedy.startswith("left out; ")
    assert any("lost is defined nowhere" in slip.fault for slip in slips)
    assert not any(slip.rule == "misspelt" for slip in slips)
    assert "HeartbeatRequest" in read_proposal(text + HEARTBEAT).messages


def test_a_message_that_is_nested_too_deeply_hides_no_other() -> None:
    deep = "Deep Request (Version: 0) => a0\n" + "".join(
        f"{' ' * i}a{i} => a{i + 1}\n" for i in range(60)
    )
    slips = lint_proposal(deep + HEARTBEAT)
    assert next(slip for slip in slips if slip.rule == "unreadable").line > 40
    assert any("lost is defined nowhere" in slip.fault for slip in slips)


def test_a_gap_between_versions_has_its_line_and_the_newer_ones_are_read() -> None:
    text = "".join(f"Vote Request (Version: {v}) => a\n  a => INT32\n" for v in (0, 11, 13, 14))
    (slip,) = lint_proposal(text)
    assert (slip.line, slip.column, slip.rule) == (5, 1, "gap")
    assert slip.fault == "VoteRequest has versions 11 and 13, and none between them"
    assert str(read_proposal(text).messages["VoteRequest"].valid_versions) == "13-14"


def test_heads_and_arrays_as_people_write_them() -> None:
    heads = {
        "ProduceRequestV3 => a": ("ProduceRequest", 3),
        "ProduceResponse_V3 => a": ("ProduceResponse", 3),
        "Request Header => client_id": ("RequestHeader", 1),
        "RequestHeader => client_id": ("RequestHeader", 1),
        "Response Header => a": ("ResponseHeader", 0),
    }
    for head, (name, version) in heads.items():
        text = f"{head}\n  a => INT16\n  client_id => NULLABLE_STRING\n"
        ((found, spec),) = read_proposal(text).messages.items()
        assert (found, spec.valid_versions.lowest) == (name, version)
    assert read_proposal("Vote Request (Version: 0) => aV2\n  aV2 => INT8\n").slips == []
    for form, compact in (("ARRAY", False), ("array", False), ("COMPACT_ARRAY", True)):
        text = f"Vote Request (Version: 0) => a [b]\n  a => {form}(INT32)\n  b => INT32\n"
        first, second = layout(read_kip(text), 0)
        assert (first.type, first.compact) == (second.type, compact)


@pytest.mark.parametrize(
    "head",
    ["Foo Request (Version: 1-3)", "Foo Request (Versions: 0, 1)", "Foo Response (version 2)",
     "FooRequest V1", "Request Header V2", "Foo Request (Version: )"],
)  # fmt: skip
def test_a_head_that_no_message_has_is_no_prose(head: str) -> None:
    """Its fields would be those of the message above, and nothing would say so."""
    for written in (head, head.replace(" ", "\N{NO-BREAK SPACE}")):  # as Confluence has it
        text = f"Vote Request (Version: 0) => b\n  b => INT8\n {written} => a\n  a => INT8\n"
        slip = lint_proposal(text)[0]
        assert (slip.line, slip.column, slip.rule) == (3, 2, "syntax")
        assert slip.fault == f"{head!r} is no head of a message"
    prose = (
        "The Foo Request (Version: 1) leads to => another, as Request (that of a client) => does"
    )
    prose += "\nThe Request (see KIP-1) => a\nEach Response (of the broker) => the client"
    assert lint_proposal(f"{prose}\nA request of Foo => b\n") == []
