"""The proposals' grammars: their own texts as input, every shipped message there and back."""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import SchemaError
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.kip.reader import read_kip, read_proposal
from kafka_admin_proto.schema.kip.writer import write_grammar
from kafka_admin_proto.schema.layout import LayoutField, layout
from kafka_admin_proto.schema.lint.kip import lint_proposal, read_with_shipped
from kafka_admin_proto.schema.names import python_name
from tests.fuzz.definitions import spelled
from tests.helpers.every_message import DRAFTS, EVERY, each_version
from tests.helpers.profile import draws
from tests.helpers.requirements import require_oracle
from tools.oracles import jars
from tools.oracles.java import run
from tools.oracles.libraries import SLF4J

KIPS = Path(__file__).parent / "proposals"
#: Text → the dialect that its grammars became.
TEXTS = {
    "kip-4-create-topics-v0": "kip-4",
    "kip-4-draft-topic-commands": "kip-4a",
    "kip-4-draft-errors-and-admin-schema": "kip-4b",
    "kip-516-topic-ids": "kip-516",
    "kip-108-create-topic-policy": None,  # prose alone
}

#: What a text has in prose alone, by dialect.
IN_PROSE = {
    "kip-4": {"CreateTopicsResponse"},
    "kip-516": {
        api + kind
        for api in ("StopReplica", "ListOffsets", "OffsetForLeaderEpoch")
        for kind in ("Request", "Response")
    },
}

#: Every slip of the texts: line, rule, a word of the complaint.
SLIPS = {
    "kip-108-create-topic-policy": [],
    "kip-4-create-topics-v0": [],
    "kip-4-draft-errors-and-admin-schema": [
        (63, "misspelt", "AlterTopicReqeust"),
        (86, "misspelt", "AlterTopicReqeust"),
        (137, "undefined", "PartitionId"),
        (137, "undefined", "ReplicaId"),
        (166, "undefined", "PartitionId"),
        (166, "undefined", "ReplicaId"),
        (170, "misplaced", "DeletedConfig"),
        (213, "misspelt", "TopicMetadataReqeust"),
        (215, "misspelt", "TopicMetadataReqeust"),
        (225, "undefined", "TopicName"),
        (225, "undefined", "ConfigEntry"),
        (231, "unnamed", "ReplicasLag"),
        (231, "unnamed", "ReplicasLag"),
        (274, "misspelt", "PreferredReplicaLeaderEleactionRequest"),
    ],
    "kip-4-draft-topic-commands": [
        (11, "misspelt", "TopicMetadaRequest"),
        (34, "disagree", "ReplicationFactor"),
        (36, "undefined", "PartitionId"),
        (36, "undefined", "ReplicaId"),
        (103, "misspelt", "TopicMetadataReqeust"),
        (115, "undefined", "TopicName"),
    ],
    "kip-516-topic-ids": [
        (19, "other-version", "ungrouped_partition_states"),
        (19, "undefined", "UpdateMetadataPartitionState"),
        (23, "undefined", "UpdateMetadataPartitionState"),
        (26, "other-version", "v0_host"),
        (27, "other-version", "v0_port"),
        (49, "misspelt", "TopicDeleteRequest"),
        (65, "misspelt", "ListOffsetRequest"),
        (65, "misspelt", "OffsetsForLeaderEpochRequest"),
        (120, "disagree", "cluster_id"),
        (128, "disagree", "voted_granted"),
        (128, "type-name", "BOOL"),
        (147, "disagree", "cluster_id"),
        (175, "disagree", "cluster_id"),
        (198, "misspelt", "TopicDeleteRequest"),
        (214, "misspelt", "ListOffsetRequest"),
        (214, "misspelt", "OffsetsForLeaderEpochRequest"),
    ],
}  # fmt: skip


def text_of(name: str) -> str:
    return (KIPS / f"{name}.txt").read_text("utf-8")


@pytest.mark.parametrize("name", TEXTS)
def test_the_linter_finds_each_slip_of_the_texts(name: str) -> None:
    found = lint_proposal(text_of(name))
    lines = text_of(name).split("\n")
    assert [(slip.line, slip.rule) for slip in found] == [row[:2] for row in SLIPS[name]]
    for slip, (_, _, word) in zip(found, SLIPS[name], strict=True):
        assert word in slip.fault
        place = lines[slip.line - 1][slip.column - 1 :]
        assert re.match(r"\w+", place), f"{slip} points at {place!r}"
        assert str(slip).startswith(f"{slip.line}:{slip.column}: ")


@pytest.mark.parametrize(("name", "dialect"), TEXTS.items())
def test_the_texts_say_what_the_dialects_have(name: str, dialect: str | None) -> None:
    """a23–a25, a32–a36, a77–a79, a85–a86, a94–a96, a103–a104, a110–a121, b133–b140, b152–b154,
    b162–b170, b187–b189, b196–b197, b203–b205, b213–b214, b220–b232, b271–b273, b282–b284,
    c10–c21, t15–t33, t104–t128, t133–t154, t159–t182: each grammar is that of the dialect's
    files.
    """
    messages = read_with_shipped(text_of(name), file=name).messages
    if dialect is None:
        assert not messages
        return
    # What a text gives only in prose, or with other messages around it, is not in its grammars.
    in_prose = IN_PROSE.get(dialect, set())
    assert messages.keys() | in_prose == set(catalog().names(dialect))
    for message, spec in messages.items():
        ours = catalog().spec(message, dialect)
        for version in spec.valid_versions:
            said = repr(layout(spec, version))
            # The text has [int32 int32] there; its table says what the two are.
            said = said.replace("'Value'", "'ReplicaId'").replace("'Value2'", "'Lag'")
            assert said == repr(layout(ours, version))
            assert not ours.is_flexible(version)


@pytest.mark.parametrize(("dialect", "name"), DRAFTS)
def test_the_drafts_files_have_no_slips(dialect: str, name: str) -> None:
    text = (catalog().folder / dialect / f"{name}.kip").read_text("utf-8")
    assert {slip.rule for slip in lint_proposal(text)} <= {
        "other-version"
    }  # KIP-516 says so itself
    spec = catalog().spec(name, dialect)
    for version in spec.valid_versions:
        again = read_kip(write_grammar(spec, version))
        assert spelled(layout(again, version)) == spelled(layout(spec, version))


@each_version()
def test_every_version_there_and_back(name: str, version: int) -> None:
    spec = catalog().spec(name)
    text = write_grammar(spec, version)
    assert lint_proposal(text) == []
    again = read_kip(text)
    assert (again.name, again.valid_versions.lowest) == (name, version)
    assert again.is_flexible(version) == spec.is_flexible(version)
    assert spelled(layout(again, version)) == spelled(layout(spec, version))


@pytest.mark.parametrize("name", catalog().names())
def test_all_versions_in_one_file(name: str) -> None:
    spec = catalog().spec(name)
    again = read_kip("\n".join(write_grammar(spec, v) for v in spec.valid_versions))
    assert again.valid_versions == spec.valid_versions
    for v in spec.valid_versions:
        assert spelled(layout(again, v)) == spelled(layout(spec, v))
        assert again.is_flexible(v) == spec.is_flexible(v)


@cache
def guide(release: str) -> list[str]:
    """The grammars of the protocol guide that Kafka itself makes for its site."""
    require_oracle()
    artifacts = ("kafka-clients", *SLF4J)
    page = run(jars.fetch(release, artifacts), "org.apache.kafka.common.protocol.Protocol")
    return [html.unescape(block) for block in re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)]


def as_guide_39(text: str) -> str:
    """Our grammar without what the guide of 3.9 does not show: nullability of arrays, tags."""
    lines = []
    hidden: int | None = None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if hidden is not None and indent > hidden:
            continue
        hidden = indent if re.match(r"\s*\w+<tag", line) else None
        if hidden is None:
            line = re.sub(r" \S+<tag: \d+>", "", line).replace("?", "")
            line = line.replace("NULLABLE_RECORDS", "RECORDS")  # always nullable there
            lines.append(line.replace("_tagged_fields", "TAG_BUFFER").rstrip())
    return "\n".join(lines)


@pytest.mark.exhaustive
@pytest.mark.xdist_group("guide")
def test_grammars_are_those_of_kafkas_own_guide() -> None:
    """3.9.2's guide, line by line, for all its messages with a name and version of ours."""
    compared = 0
    for block in guide("3.9.2"):
        match = re.match(r"(\w+) (Request|Response) \(Version: (\d+)\)", block)
        if match is None:
            continue
        name, version = match[1] + match[2], int(match[3])
        name = catalog().current_name(name)
        if str(version) in catalog().overlay(name).layout_changed:
            continue
        ours = as_guide_39(write_grammar(catalog().spec(name), version)).splitlines()
        former = {
            python_name(field.name): python_name(field.aliases[0])
            for struct in (catalog().spec(name).struct, *catalog().spec(name).structs().values())
            for field in struct.fields
            if field.aliases
        }
        ours[0] = ours[0].replace("ListConfigResources", "ListClientMetricsResources")
        theirs = [line.rstrip() for line in block.strip().splitlines()]
        for old in former:
            ours = [re.sub(rf"\b{old}\b", former[old], line) for line in ours]
            theirs = [re.sub(rf"\b{old}\b", former[old], line) for line in theirs]
        assert ours == theirs
        compared += 1
    assert compared > 600


@pytest.mark.exhaustive
@pytest.mark.xdist_group("guide")
def test_the_newest_guides_own_notation_is_read() -> None:
    """4.4.0's guide has braces, ``(compact)`` arrays and ``?``, and no sign of flexibility."""
    compared = 0
    for block in guide("4.4.0"):
        for name, spec in read_proposal(block).messages.items():
            version = spec.valid_versions.lowest
            if name.endswith("Header"):
                continue  # the only messages with a string of the older form in flexible versions
            ours = catalog().spec(name)
            found, wanted = layout(spec, version), layout(ours, version)
            assert as_guide_44(spelled(found)) == as_guide_44(spelled(wanted))
            compared += 1
    assert compared > 560


def as_guide_44(fields: tuple[LayoutField, ...]) -> tuple[LayoutField, ...]:
    """A layout without what that guide leaves out: marks of tagged arrays, nullable records."""
    shown = []
    for field in fields:
        inner = as_guide_44(field.fields)
        nullable = field.nullable and field.element != "records" and field.tag is None
        array = field.is_array and field.tag is None
        compact = field.compact and (field.tag is None or field.element == "string")
        shown.append(
            msgspec.structs.replace(
                field, is_array=array, nullable=nullable, compact=compact, fields=inner
            )
        )
    return tuple(shown)


@given(st.text() | st.text("[]()<>?{}=> \n\tabAB_:*09Request"))
@settings(max_examples=draws(300))
def test_any_text_is_read_or_refused(text: str) -> None:
    for slip in lint_proposal(text):
        assert slip.line >= 1
        assert slip.column >= 1
    for read in (read_kip, read_proposal):
        try:
            read(text)
        except SchemaError as error:
            assert error.fault
            assert error.remedy


@given(st.data())
@settings(max_examples=draws(300))
def test_damaged_grammars(data: st.DataObject) -> None:
    name, version = data.draw(st.sampled_from(EVERY))
    text = write_grammar(catalog().spec(name), version)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 9)))
    text = text[:start] + data.draw(st.text("[]<>?=> \nabT_", max_size=4)) + text[end:]
    lint_proposal(text)
    try:
        spec = read_kip(text)
    except SchemaError:
        return
    again = read_kip("\n".join(write_grammar(spec, v) for v in spec.valid_versions))
    for v in spec.valid_versions:
        assert spelled(layout(again, v)) == spelled(layout(spec, v))


#: A text, the rule that it breaks, and where.
BROKEN = [
    ("Ping Request (Version: 0) => [name\n  name => STRING\n", "syntax", (1, 30)),
    ("Ping Request (Version: 0) => name]\n  name => STRING\n", "syntax", (1, 34)),
    ("Ping Request (Version: 0) => []\n", "syntax", (1, 30)),
    ("Ping Request (Version: 0) => na-me\n", "syntax", (1, 32)),
    ("Ping Request (Version: 0) => name\n  na-me => STRING\n", "syntax", (2, 3)),
    ("  name => STRING\n", "orphan", (1, 3)),
    ("Ping Request (Version: 0) => name\n  name => STRING\n  other => INT8\n", "unused", (3, 3)),
    ("Ping Request (Version: 0) => name\n  other => STRING\n", "disagree", (2, 3)),
    ("Ping Request (Version: 0) => name other\n  name => STRING\n", "undefined", (1, 35)),
    ("Ping Request (Version: 0) => [x]\n  x => [INT32]\n", "ambiguous-array", (1, 31)),
    ("Ping Request (Version: 0) => x\n  x => INT8\n  x => INT32\n", "duplicate", (3, 3)),
    ("Ping Request (Version: 0) => x\n  x => y\n    y => x z\n      z => INT8\n", "circle", (2, 3)),
    ("Ping Request (Version: 0) =>\nPing Request (Version: 0) =>\n", "duplicate", (2, 1)),
    ("Ping Reqeust (Version: 0) =>\n", "misspelt", (1, 1)),
    ("Ping Request (Version: 0) => x\n  x => BOOL\n", "type-name", (2, 8)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "place"), BROKEN)
def test_slips(text: str, rule: str, place: tuple[int, int]) -> None:
    found = [(slip.rule, (slip.line, slip.column)) for slip in lint_proposal(text)]
    assert (rule, place) in found
    if rule == "misspelt":  # in a definition file any name is meant as it stands
        assert read_kip(text).name == "PingReqeust"
        return
    with pytest.raises(SchemaError) as caught:
        read_kip(text, file="Ping.kip")
    assert str(caught.value).startswith("Ping.kip: ")


def test_versions_that_do_not_fit_together() -> None:
    one = "Ping Request (Version: 0) => x\n  x => INT8\n"
    for other, fault in [
        ("Ping Request (Version: 2) => x\n  x => INT8\n", "leave a gap"),
        ("Ping Request (Version: 1) => x\n  x => INT16\n", "its type in version"),
        ("Pong Request (Version: 0) => x\n  x => INT8\n", "defines one message"),
        (
            "Ping Request (Version: 1) => b a\n  a => INT8\n  b => INT8\n"
            "Ping Request (Version: 2) => a b\n  a => INT8\n  b => INT8\n",
            "another order",
        ),
    ]:
        with pytest.raises(SchemaError, match=fault):
            read_kip(one + other)
    with pytest.raises(SchemaError, match="this is no production"):
        read_kip(one + "prose\n")


def test_grammars_that_would_grow_without_end_are_refused() -> None:
    doubling = ["Big Request (Version: 0) => A0"]
    doubling += [f"A{i} => A{i + 1} A{i + 1}" for i in range(30)] + ["A30 => int8 int8"]
    with pytest.raises(SchemaError, match="over 10000 fields"):
        read_kip("\n".join(doubling))
    deep = ["Deep Request (Version: 0) => a0"] + [" " * i + f"a{i} => a{i + 1}" for i in range(99)]
    circle = ["Long Request (Version: 0) => a0"] + [f"a{i} => a{i + 1} y" for i in range(3000)]
    for text in ("\n".join(deep), "\n".join(circle), f"X Request (Version: 0) => {'[' * 99}"):
        with pytest.raises(SchemaError, match="nested too deeply"):
            read_kip(text)
