"""Bodies ↔ Arrow columns, for every message and version, without a JVM."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.mistyped import mistyped
from tests.spark.needs import require

pa = require("pyarrow")

from kafka_admin_proto import DecodeError, EncodeError, codec
from kafka_admin_proto.codec import Codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.spark.columns.arrow_arrays import masked
from kafka_admin_proto.spark.columns.decode import Wanted, decode_array, pieces
from kafka_admin_proto.spark.columns.encode import encode_array
from kafka_admin_proto.spark.columns.reader import source
from kafka_admin_proto.spark.columns.tree import column_of
from kafka_admin_proto.testing import messages
from kafka_admin_proto.wire.types.base import WireType
from tests.helpers.every_message import DRAFTS, SHIPPED, each_layout
from tests.helpers.profile import sample
from tests.spark.expected import binary, row_of, same
from tools.oracles.damage import with_wrong_lengths


def decoded(rows: list[bytes | None], wanted: Wanted, versions: Any = None) -> list[Any]:
    """The rows' results as builtins; each array is what Arrow itself finds valid."""
    results: list[Any] = []
    of_rows = None if versions is None else pa.array(versions, pa.int32())
    for array in decode_array(binary(rows), of_rows, wanted):
        array.validate(full=True)
        assert array.type == wanted.result_type()
        results += array.to_pylist()
    assert len(results) == len(rows)
    return results


@pytest.mark.exhaustive
@each_layout(sample((*SHIPPED, *DRAFTS), 20))
def test_drawn_values(found: Codec[Any]) -> None:
    """Good rows, null ones and damaged ones in one array: each says what the codec says."""
    values = st.lists(messages(found.value_class, found.version), max_size=5)

    @settings(max_examples=4)  # each of several rows, three times
    @given(values, st.integers(0, 1 << 32))
    def check(values: list[Any], seed: int) -> None:
        rows = [found.encode(value) for value in values]
        check_round_trip(found, values, rows)
        mixed = damaged(found, rows, random.Random(seed))
        check_permissive(found, mixed)

    check()


def check_round_trip(found: Codec[Any], values: list[Any], rows: list[bytes]) -> None:
    dialect = found.spec.dialect
    shown = Wanted(found.name, found.version, dialect, "FAILFAST", True)
    results = decoded(list(rows), shown)
    for value, result in zip(values, results, strict=True):
        assert same(result, row_of(found, value))
    array = pa.array([None, *results], shown.value_type())
    assert encode_array(array, None, shown).to_pylist() == [None, *rows]
    masked = Wanted(found.name, found.version, dialect, "FAILFAST")
    for value, result in zip(values, decoded(list(rows), masked), strict=True):
        assert same(result, row_of(found, value, mask=True))


def damaged(found: Codec[Any], rows: list[bytes], chance: random.Random) -> list[bytes | None]:
    """The rows among null, cut, longer, flipped and lying ones."""
    mixed: list[bytes | None] = [None, b"", chance.randbytes(chance.randrange(40)), *rows]
    for row in rows:
        mixed.append(row + b"\x00")
        mixed += (row[: chance.randrange(len(row))] for _ in range(3 if row else 0))
        for _ in range(4 if row else 0):
            flipped = bytearray(row)
            flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
            mixed.append(bytes(flipped))
        lies = [lie for _, _, lie in with_wrong_lengths(found, row)]
        mixed += chance.sample(lies, min(4, len(lies)))
    chance.shuffle(mixed)
    return mixed


def check_permissive(found: Codec[Any], rows: list[bytes | None]) -> None:
    wanted = Wanted(found.name, found.version, found.spec.dialect, show_secrets=True)
    for row, result in zip(rows, decoded(rows, wanted), strict=True):
        if row is None:
            assert result == {"value": None, "error": None, "raw": None}
            continue
        try:
            value = found.decode(row)
        except DecodeError as error:
            assert result == {"value": None, "error": str(error), "raw": row}
            continue
        assert same(result["value"], row_of(found, value))
        if result["error"] is None:
            assert result["raw"] is None
        else:
            assert "U+FFFD" in result["error"]
            assert "\ufffd" in str(result["value"])
            assert result["raw"] == row


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", sample(catalog().names(), 30))
def test_rows_of_all_versions(name: str) -> None:
    """A version for each row: the struct has the fields of all of them."""
    spec = catalog().spec(name)
    versions = list(spec.valid_versions)
    each = [messages(name, version) for version in versions]

    @settings(max_examples=3)
    @given(st.tuples(*each), st.randoms(use_true_random=False))
    def check(values: tuple[Any, ...], chance: random.Random) -> None:
        order = [*range(len(versions)), *range(len(versions))]
        chance.shuffle(order)
        codecs = [codec(name, versions[place]) for place in order]
        rows: list[bytes | None] = [
            found.encode(values[place]) for found, place in zip(codecs, order, strict=True)
        ]
        of_rows = [versions[place] for place in order]
        wanted = Wanted(name, None, mode="FAILFAST", show_secrets=True)
        results = decoded(rows, wanted, of_rows)
        for found, place, result in zip(codecs, order, results, strict=True):
            row = row_of(found, values[place], versions=spec.valid_versions)
            assert same(result, row)
        array = pa.array(results, wanted.value_type())
        again = encode_array(array, pa.array(of_rows, pa.int32()), wanted)
        assert again.to_pylist() == rows

    check()


CREATE = "CreateTopicsRequest"


def create_topics(config: str = "ssl.key.password", value: str = "hunter2") -> bytes:
    found = codec(CREATE, 7)
    body = {
        "topics": [
            {
                "name": "orders",
                "numPartitions": 3,
                "replicationFactor": 1,
                "assignments": [],
                "configs": [{"name": config, "value": value}],
            }
        ],
        "timeoutMs": 1000,
        "validateOnly": False,
    }
    return found.encode(found.from_json(body))


def test_unknown_tags_of_messages_with_credentials_are_masked() -> None:
    found = codec(CREATE, 7)
    body = found.encode(found.value_class(unknown_tagged_fields=((9, b"hunter2"),)))
    (array,) = decode_array(binary([body]), None, Wanted(CREATE, 7, mode="FAILFAST"))
    tags = array.to_pylist()[0]["_unknownTaggedFields"]
    assert tags == [{"tag": 9, "data": b"********"}]
    with pytest.raises(EncodeError, match="_unknownTaggedFields: the value is masked"):
        encode_array(array, None, Wanted(CREATE, 7))


def test_secrets_that_are_lists_are_masked_element_by_element() -> None:
    texts = pa.array([["a", None], None, []], pa.list_(pa.string()))
    assert masked(texts).to_pylist() == [["********", None], None, []]
    numbers = pa.array([[1], None], pa.list_(pa.int32()))
    assert masked(numbers).to_pylist() == [[None], None]


def test_secrets_are_masked_in_raw() -> None:
    body = create_topics()
    (result,) = decoded([body + b"\x00"], Wanted(CREATE, 7))
    assert result["value"] is None
    assert "1 byte left" in result["error"]
    assert len(result["raw"]) == len(body) + 1
    assert b"hunter2" not in result["raw"]
    assert b"ssl.key.password" not in result["raw"]
    for end in range(len(body)):
        (result,) = decoded([body[:end]], Wanted(CREATE, 7))
        assert b"hunter2"[:3] not in result["raw"]


def test_a_mask_is_not_written() -> None:
    (array,) = decode_array(binary([create_topics()]), None, Wanted(CREATE, 7, mode="FAILFAST"))
    with pytest.raises(EncodeError, match=r"topics\[\]\.configs\[\]\.value: the value is masked"):
        encode_array(array, None, Wanted(CREATE, 7))
    (array,) = decode_array(
        binary([create_topics("cleanup.policy", "********")]),
        None,
        Wanted(CREATE, 7, mode="FAILFAST"),
    )
    assert encode_array(array, None, Wanted(CREATE, 7)).to_pylist() == [
        create_topics("cleanup.policy", "********")
    ]


@pytest.mark.parametrize("version", [12, 17])
def test_records_of_the_metadata_topic_are_masked(version: int) -> None:
    """In a Fetch response they hold credentials; those of other topics are as they are."""
    found = codec("FetchResponse", version)
    topics = []
    for name, topic_id in (
        ("__cluster_metadata", "AAAAAAAAAAAAAAAAAAAAAQ"),
        ("orders", "AAAAAAAAAAAAAAAAAAAAFQ"),
    ):
        partitions = [
            {
                "partitionIndex": index,
                "errorCode": 0,
                "highWatermark": 1,
                "lastStableOffset": 1,
                "logStartOffset": 0,
                "abortedTransactions": None,
                "preferredReadReplica": -1,
                "records": "c2VjcmV0",
            }
            for index in range(2)
        ]
        key = {"topicId": topic_id} if version >= 13 else {"topic": name}
        topics.append({**key, "partitions": partitions})
    body = found.encode(
        found.from_json({"throttleTimeMs": 0, "errorCode": 0, "sessionId": 0, "responses": topics})
    )

    def records(show_secrets: bool) -> list[list[bytes]]:
        wanted = Wanted("FetchResponse", version, mode="FAILFAST", show_secrets=show_secrets)
        (result,) = decoded([body], wanted)
        return [[p["records"] for p in topic["partitions"]] for topic in result["responses"]]

    assert records(show_secrets=False) == [[b"********"] * 2, [b"secret"] * 2]
    assert records(show_secrets=True) == [[b"secret"] * 2, [b"secret"] * 2]
    (result,) = decoded([body[:-1]], Wanted("FetchResponse", version))
    assert result["raw"] == b"*" * (len(body) - 1)


def test_versions_that_do_not_exist() -> None:
    rows: list[bytes | None] = [create_topics(), create_topics(), None, create_topics()]
    results = decoded(rows, Wanted(CREATE, None), [7, 99, 99, None])
    assert results[0]["value"]["topics"][0]["name"] == "orders"
    assert "has versions 0-7, not 99" in results[1]["error"]
    assert results[1]["raw"] == b"*" * len(create_topics())
    assert results[2] == {"value": None, "error": None, "raw": None}
    assert "version null" in results[3]["error"]
    with pytest.raises(LookupError, match="not 99"):
        decoded(rows, Wanted(CREATE, None, mode="FAILFAST"), [7, 99, 99, None])


def test_text_that_is_not_utf8() -> None:
    """It is shown with U+FFFD, and the row says so; its bytes are beside it, without secrets."""
    odd = create_topics().replace(b"orders", b"or\xffers")
    fine, odd_row = decoded([create_topics(), odd], Wanted(CREATE, 7))
    assert (fine["error"], fine["raw"]) == (None, None)
    assert odd_row["value"]["topics"][0]["name"] == "or\ufffders"
    assert "not UTF-8" in odd_row["error"]
    assert odd_row["raw"] == odd.replace(b"\x08hunter2", b"*" * 8)
    (row,) = decoded([odd], Wanted(CREATE, 7, mode="FAILFAST"))
    assert row == odd_row["value"]


def test_failfast_raises_the_first_fault() -> None:
    rows: list[bytes | None] = [create_topics(), create_topics()[:-1], b""]
    with pytest.raises(DecodeError, match=r"CreateTopicsRequest v7, .* at byte \d+"):
        decoded(rows, Wanted(CREATE, 7, mode="FAILFAST"))


def test_a_batch_is_given_out_in_pieces() -> None:
    row = create_topics()
    rows = binary([row] * 100)
    assert list(pieces(rows, len(row) * 30)) == [(0, 30), (30, 60), (60, 90), (90, 100)]
    assert list(pieces(rows, 1)) == [(place, place + 1) for place in range(100)]
    assert list(pieces(binary([None, None]))) == [(0, 2)]
    assert [len(array) for array in decode_array(binary([]), None, Wanted(CREATE, 7))] == [0]
    (sliced,) = decode_array(rows[10:20], None, Wanted(CREATE, 7, mode="FAILFAST"))
    assert len(sliced) == 10
    (shown,) = decode_array(rows[10:20], None, Wanted(CREATE, 7, "kafka", "FAILFAST", True))
    assert encode_array(shown[5:], None, Wanted(CREATE, 7)).to_pylist() == [row] * 5


def test_a_struct_may_leave_fields_out() -> None:
    topics = [{"name": "a", "numPartitions": 2}, {"replicationFactor": None, "name": "b"}]
    array = pa.array([{"topics": topics}, None])
    (body, null) = encode_array(array, None, Wanted(CREATE, 5)).to_pylist()
    assert null is None
    value = codec(CREATE, 5).decode(body)
    assert [topic.name for topic in value.topics] == ["a", "b"]
    assert [topic.num_partitions for topic in value.topics] == [2, 0]
    assert value.timeout_ms == 60000


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"topic": []}, r"topic: unknown field; CreateTopicsRequest has topics, timeoutMs"),
        ({"topics": [{"nme": "a"}]}, r"topics\[\]\.nme: unknown field"),
        ({"topics": "all"}, r"topics: expected an array, got string"),
        ({"topics": ["all"]}, r"topics\[\]: expected a struct \(CreatableTopic\), got string"),
        ({"timeoutMs": 1 << 40}, r"timeout_ms: expected an integer from -2147483648"),
        ({"topics": [{"name": 5}]}, r"topics\[0\]\.name: expected a str"),
        ({"validateOnly": True}, r"validate_only: this version does not have the field"),
    ],
)
def test_what_cannot_be_written(row: dict[str, Any], fault: str) -> None:
    with pytest.raises(EncodeError, match=fault):
        encode_array(pa.array([row]), None, Wanted(CREATE, 0))


def test_a_wrong_uuid_is_refused() -> None:
    row = {"topics": [{"topicId": "orders"}]}
    with pytest.raises(EncodeError, match=r"topics\[\]\.topic_id: expected a uuid of 22"):
        encode_array(pa.array([row]), None, Wanted("MetadataRequest", 12))


def test_the_callers_slips() -> None:
    with pytest.raises(ValueError, match="PERMISSIVE"):
        Wanted(CREATE, 7, mode=mistyped("DROPMALFORMED")).check()
    with pytest.raises(LookupError, match="did you mean CreateTopicsRequest"):
        Wanted("CreateTopics", 7).check()
    with pytest.raises(LookupError, match="versions 0-7"):
        Wanted(CREATE, 8).check()


def test_many_bad_rows_cost_little() -> None:
    """Taking rows back out again looks at each good one once."""
    found = codec("MetadataResponse", 12)
    good = found.encode(
        found.from_json(
            {
                "throttleTimeMs": 0,
                "brokers": [{"nodeId": n, "host": "h", "port": 1, "rack": None} for n in range(50)],
                "clusterId": None,
                "controllerId": 1,
                "topics": [],
            }
        )
    )
    rows: list[bytes | None] = [good, good[:-1]] * 500
    results = decoded(rows, Wanted("MetadataResponse", 12))
    assert [result["error"] is None for result in results] == [True, False] * 500


def test_the_source_is_there_to_read() -> None:
    assert "def read(b):" in source(codec(CREATE, 7))


class Unheard(WireType):
    """A kind of type that no column is for."""

    label = "UNHEARD_OF"


def test_a_type_without_a_column_is_named() -> None:
    with pytest.raises(TypeError, match="ColumnOf has no rule for UNHEARD_OF"):
        column_of(Unheard(), count())
