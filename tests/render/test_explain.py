"""Explanations: each byte of any frame in exactly one row, and what the rows say."""

from __future__ import annotations

import json
import random
import re
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto import FetchRequest
from kafka_admin_proto.capture import Block, DecodedFrame, FrameDecoder
from kafka_admin_proto.capture.record import frame_field_rows
from kafka_admin_proto.cli.captures.explain import explanation_of
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.errors import DecodeError
from kafka_admin_proto.protocol import frame, write_request
from kafka_admin_proto.render.explain import Explanation, explain
from kafka_admin_proto.render.fields import FieldRow
from kafka_admin_proto.render.html import PageFrame, html_page
from kafka_admin_proto.render.text import printable
from kafka_admin_proto.testing import messages
from tests.helpers.every_message import DRAFTS, SHIPPED, each_layout
from tests.helpers.profile import sample
from tests.render.frames import HOSTILE, PASSWORD, TOPIC_ID, decoded, sample_payloads
from tools.oracles.damage import with_wrong_lengths


def check_whole(explanation: Explanation, data: bytes, *, mask: bool) -> None:
    """Every byte is in exactly one row, in order; the tree has each row once, in its place."""
    at = 0
    digits = []
    for row in explanation.rows:
        assert row.start == at <= row.end
        digits += explanation.row_hex(row)
        at = row.end
    assert at == len(data)
    assert "".join(digits) == explanation.hex()
    assert len(digits) == len(data)
    for shown, byte in zip(digits, data, strict=True):
        assert shown == f"{byte:02x}" or (mask and shown == "**")
    nodes = explanation.nodes()
    assert [node.row for node in nodes if node.row is not None] == list(explanation.rows)
    above: list[Any] = []
    for node in nodes:
        del above[node.depth :]
        assert len(above) == node.depth
        assert all(outer.start <= node.start and node.end <= outer.end for outer in above)
        assert node.path.endswith(node.label)
        above.append(node)
    block = "".join(html_page([PageFrame(1, "title", lambda: explanation)]))
    found = re.search('<script type="application/json"[^>]*>(.*)</script>', block)
    assert found is not None
    page = json.loads(found[1])
    start = 0
    for node, numbers in zip(nodes, batched(page["nodes"]), strict=True):
        own, shape, value, meaning = numbers
        depth, label, type_, _ = page["shapes"][shape]
        assert (node.depth, node.start) == (depth, start)
        assert printable(node.label) == page["texts"][label]
        start += own
        if node.row is not None:
            told = (node.row.type, node.row.shown_value, node.row.meaning)
            numbers = (type_, value, meaning)
            assert [page["texts"][text] for text in numbers] == list(map(printable, told))
    assert start == len(data)
    assert page["hex"] == explanation.hex()


def batched(numbers: list[int]) -> list[tuple[int, ...]]:
    return list(zip(*[iter(numbers)] * 4, strict=True))


def check_frame(found: DecodedFrame) -> None:
    for mask, records in ((True, True), (False, True), (True, False), (False, False)):
        explanation = explanation_of(found, mask=mask, records=records)
        check_whole(explanation, found.data, mask=mask)
        faults = [row for row in explanation.rows if row.kind == "fault"]
        assert len(faults) == (found.error is not None)
        shown = found.shown(mask=mask)  # what may be a token has no codec there
        if isinstance(shown.error, DecodeError) and shown.codec is not None:
            assert faults[0].start == min(shown.error.offset, len(found.data))
            assert faults[0].meaning == shown.error.fault


@pytest.mark.exhaustive
@each_layout(sample([*SHIPPED, *DRAFTS], 12))
def test_any_bytes_of_any_message(body: Codec[Any]) -> None:
    decoder = FrameDecoder(
        unit="body", api=body.name, version=body.version, dialect=body.spec.dialect
    )

    def check_bytes(data: bytes) -> DecodedFrame:
        (found,) = decoder.decode(Block(data, 0))
        check_frame(found)
        return found

    @settings(max_examples=2)  # each damaged in six ways, and all of them explained in four
    @given(messages(body.value_class, body.version), st.integers(0, 1 << 32))
    def check(value: Any, seed: int) -> None:
        data = body.encode(value)
        found = check_bytes(data)
        assert found.error is None
        kinds = {row.kind for row in explanation_of(found, mask=True).rows}
        assert kinds <= {"field"}
        draw = random.Random(seed)
        lies = [lie for _, _, lie in with_wrong_lengths(body, data)]
        flipped = bytearray(data)
        for place in draw.choices(range(len(data)), k=2) if data else ():
            flipped[place] ^= 1 << draw.randrange(8)
        cut = data[: draw.randint(0, len(data))]
        some = draw.sample(lies, min(2, len(lies)))
        for damaged in (*some, bytes(flipped), cut, data + b"\x05", draw.randbytes(20)):
            check_bytes(damaged)

    check()


@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_on_the_wire(noise: bytes, framed: bool) -> None:
    stream = frame(noise) if framed else noise
    for found in FrameDecoder().decode(Block(stream, 0)):
        check_frame(found)


@given(st.integers(0, len(sample_payloads()) - 1), st.integers(0, 1 << 32))
def test_damaged_frames(which: int, seed: int) -> None:
    draw = random.Random(seed)
    payload = bytearray(sample_payloads()[which])
    for _ in range(3):
        payload[draw.randrange(len(payload))] = draw.randrange(256)
    for found in decoded(*sample_payloads()[:which], bytes(payload)):
        check_frame(found)


def rows_of(found: DecodedFrame, **more: Any) -> dict[str, tuple[str, str]]:
    """Path → value and meaning, as they are shown."""
    assert found.codec is not None
    explanation = explain(
        frame_field_rows(found), found.data, message=found.codec.name, error=found.error, **more
    )
    return {row.path: (row.shown_value, row.meaning) for row in explanation.rows}


@pytest.fixture(scope="module")
def samples() -> list[DecodedFrame]:
    return decoded(*sample_payloads())


def test_what_fields_mean(samples: list[DecodedFrame]) -> None:
    topics = rows_of(samples[1])
    assert topics["size"] == ("53", "53 bytes follow")
    assert topics["header.request_api_key"] == ("19", "CreateTopics")
    assert topics["header.request_api_version"] == ("7", "flexible: compact lengths, tagged fields")
    assert topics["topics"] == ("2 items", "count 2, written plus one")
    assert topics["topics[0].name"] == ('"apples"', "length 6, written plus one")
    assert topics["topics[1].num_partitions"][1].startswith("the broker's default")
    assert topics["timeout_ms"] == ("30000", "30 s")
    assert rows_of(samples[2])["topics"] == ("null", "count 0 is null")
    versions = rows_of(samples[0])
    assert versions["unknown_tagged_fields[77]"] == ("3 bytes", "kept as it is")
    metadata_rows = rows_of(samples[3])
    assert metadata_rows["topics[0].partitions[0].leader_id"] == ("-1", "no leader")
    assert metadata_rows["topics[0].error_code"] == ("0", "NONE")
    assert metadata_rows["topics[0].topic_authorized_operations"] == (
        "3576", "READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS",
    )  # fmt: skip
    acls = rows_of(samples[6])
    assert acls["resources[0].pattern_type"] == ("4", "PREFIXED")
    assert acls["resources[0].acls[1].permission_type"] == ("2", "DENY")
    offsets = rows_of(samples[7])
    assert offsets["replica_id"] == ("-1", "a consumer, no replica")
    assert offsets["topics[0].partitions[0].timestamp"][1] == "earliest: the start of the log"
    assert offsets["topics[0].partitions[1].timestamp"][1] == "2024-10-24 19:33:01.000 UTC"
    assert json.loads(offsets["header.client_id"][0]) == HOSTILE


def test_topic_ids_have_the_names_that_are_known(samples: list[DecodedFrame]) -> None:
    path = "topics[0].topic_id"
    assert rows_of(samples[3])[path][1] == ""
    assert rows_of(samples[3], topic_names={TOPIC_ID: "apples"})[path][1] == "topic apples"
    assert rows_of(samples[3], topic_names={UUID(int=9): "pears"})[path][1] == ""


def test_a_known_tag_is_named() -> None:
    (found,) = decoded(write_request(FetchRequest(cluster_id="c1"), 12, 1))
    explanation = explanation_of(found, mask=True)
    rows = [row for row in explanation.rows if row.path == "cluster_id"]
    assert [(row.type, row.meaning) for row in rows] == [
        ("TAGGED_FIELDS", "the tag of cluster_id"),
        ("COMPACT_NULLABLE_STRING", "length 2, written plus one"),
    ]


@pytest.mark.parametrize(
    ("code", "dialect", "words"),
    [
        (36, "kafka", "TOPIC_ALREADY_EXISTS: "),
        (9999, "kafka", "no error code of Kafka's"),
        (1004, "kip-4", ""),
        (36, "kip-516", "TOPIC_ALREADY_EXISTS: "),
    ],
)
def test_errors_of_the_dialect(code: int, dialect: str, words: str) -> None:
    row = FieldRow("error_code", 0, 2, "INT16", code)
    explanation = explain([row], code.to_bytes(2, "big"), message="X", dialect=dialect)
    meaning = explanation.rows[0].meaning
    assert meaning.startswith(words)
    assert meaning != ""


def test_a_bad_frame_is_explained_up_to_the_fault(samples: list[DecodedFrame]) -> None:
    explanation = explanation_of(samples[8], mask=False)
    *_, topics, fault, rest = explanation.rows
    assert topics.path == "topics"
    assert (fault.start, fault.end, fault.kind) == (19, 21, "fault")
    assert fault.path == "topics[0].name"
    assert fault.meaning == "string needs 16384 bytes, 24 left"
    assert (rest.start, rest.end, rest.kind) == (21, 45, "rest")
    left_over = explanation_of(samples[9], mask=False).rows[-1]
    assert (left_over.path, left_over.kind) == ("(left over)", "fault")
    assert left_over.end - left_over.start == 2


def test_secrets_stay_hidden(samples: list[DecodedFrame]) -> None:
    hidden = explanation_of(samples[4], mask=True)
    assert PASSWORD.encode().hex() not in hidden.hex()
    assert PASSWORD not in repr([(row.value, row.meaning) for row in hidden.rows])
    assert PASSWORD.encode().hex() in explanation_of(samples[4], mask=False).hex()
    # What follows a fault may be one; the bytes of the length that the reason quotes are not.
    bad = explanation_of(samples[8], mask=True)
    assert bad.row_hex(bad.rows[-2]) == ["40", "00"]
    assert set(bad.row_hex(bad.rows[-1])) == {"**"}


def test_bytes_that_no_row_has_become_rows() -> None:
    rows = [FieldRow("a", 2, 4, "INT16", 5), FieldRow("b", 6, 7, "INT8", 1)]
    explanation = explain(rows, bytes(9))
    assert [(row.start, row.end, row.kind) for row in explanation.rows] == [
        (0, 2, "rest"), (2, 4, "field"), (4, 6, "rest"), (6, 7, "field"), (7, 9, "rest"),
    ]  # fmt: skip
    check_whole(explanation, bytes(9), mask=False)


def test_finer_rows_of_records_fit_in() -> None:
    """What decodes record batches replaces their one row by many, with longer paths."""
    finer = [
        FieldRow("records", 0, 4, "BYTES", "00"),
        FieldRow("records.batches[0].base_offset", 4, 12, "INT64", 7),
        FieldRow("records.batches[0].records[0].length", 12, 13, "VARINT", 3),
    ]
    explanation = explain(finer, bytes(13))
    assert [(node.path, node.depth, node.start, node.end) for node in explanation.nodes()] == [
        ("records", 0, 0, 13),
        ("records.batches", 1, 4, 13),
        ("records.batches[0]", 2, 4, 13),
        ("records.batches[0].base_offset", 3, 4, 12),
        ("records.batches[0].records", 3, 12, 13),
        ("records.batches[0].records[0]", 4, 12, 13),
        ("records.batches[0].records[0].length", 5, 12, 13),
    ]
