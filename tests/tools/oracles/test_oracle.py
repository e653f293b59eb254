"""The Java oracle itself: that it answers, refuses and never confuses one answer with another."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from tests.helpers.requirements import require_oracle
from tools.kafka_releases import LAST_WITH_ZOOKEEPER, NEWEST
from tools.oracles.jars import definition_artifacts
from tools.oracles.oracle import Decoded, JavaOracle, JavaRefusal

pytestmark = pytest.mark.exhaustive

#: The newest release, and the last one that has the versions from before Kafka 4.
RELEASES = (NEWEST, LAST_WITH_ZOOKEEPER)

CREATE_TOPICS_V1 = {
    "topics": [
        {
            "name": "t",
            "numPartitions": 3,
            "replicationFactor": 2,
            "assignments": [],
            "configs": [{"name": "k", "value": None}],
        }
    ],
    "timeoutMs": 1000,
    "validateOnly": True,
}
CREATE_TOPICS_V1_BYTES = bytes.fromhex(
    "00000001 000174 00000003 0002 00000000 00000001 00016b ffff 000003e8 01"
)


@pytest.fixture(scope="module", params=RELEASES)
def oracle(request: pytest.FixtureRequest) -> Iterator[JavaOracle]:
    require_oracle()
    with JavaOracle(request.param) as running:
        yield running


@pytest.fixture(scope="module")
def old_oracle() -> Iterator[JavaOracle]:
    require_oracle()
    with JavaOracle(LAST_WITH_ZOOKEEPER) as running:
        yield running


def test_create_topics_v1_to_bytes(old_oracle: JavaOracle) -> None:
    assert old_oracle.encode("CreateTopicsRequest", 1, CREATE_TOPICS_V1) == (
        CREATE_TOPICS_V1_BYTES,
        CREATE_TOPICS_V1,
    )


def test_create_topics_v1_from_bytes(old_oracle: JavaOracle) -> None:
    assert old_oracle.decode("CreateTopicsRequest", 1, CREATE_TOPICS_V1_BYTES) == Decoded(
        reencoded=CREATE_TOPICS_V1_BYTES, json=CREATE_TOPICS_V1, left=0
    )


def test_bytes_left_over_are_counted(old_oracle: JavaOracle) -> None:
    decoded = old_oracle.decode("CreateTopicsRequest", 1, CREATE_TOPICS_V1_BYTES + b"abc")
    assert decoded.left == 3


def test_truncated_body_is_refused(old_oracle: JavaOracle) -> None:
    with pytest.raises(JavaRefusal) as refusal:
        old_oracle.decode("CreateTopicsRequest", 1, CREATE_TOPICS_V1_BYTES[:-1])
    assert refusal.value.kind == "BufferUnderflowException"


def test_what_java_reads_but_does_not_write(oracle: JavaOracle) -> None:
    repeated_unknown_tag = bytes.fromhex("01 00000001 00 02 0500 0500")
    decoded = oracle.decode("CreateTopicsRequest", 5, repeated_unknown_tag)
    assert decoded.reencoded is None


def test_unknown_name_is_refused(oracle: JavaOracle) -> None:
    with pytest.raises(JavaRefusal, match="no message is called CreateTopicRequest"):
        oracle.encode("CreateTopicRequest", 1, {})


def test_version_out_of_range_is_refused(oracle: JavaOracle) -> None:
    with pytest.raises(JavaRefusal, match="not 99") as refusal:
        oracle.random("CreateTopicsRequest", 99, 0)
    assert refusal.value.kind == "UnsupportedVersionException"


def test_deep_json_is_refused_and_the_next_line_answered(oracle: JavaOracle) -> None:
    deep: list[object] = []
    for _ in range(900):
        deep = [deep]
    with pytest.raises(JavaRefusal):
        oracle.encode("CreateTopicsRequest", 4, {"topics": deep})
    assert oracle.encode("ResponseHeader", 0, {"correlationId": 7})[0] == b"\0\0\0\7"


def test_nan_reaches_java(oracle: JavaOracle) -> None:
    quota = {"entity": [], "key": "k", "value": math.nan, "remove": False}
    assert oracle.encode("ClientQuotaRecord", 0, quota) == (
        bytes.fromhex("01 026b 7ff8000000000000 00 00"),
        {**quota, "value": "NaN"},
    )


def test_messages_are_found_in_every_jar(oracle: JavaOracle) -> None:
    messages = {message.name: message for message in oracle.messages()}
    assert messages["CreateTopicsRequest"].api_key == 19
    assert messages["CreateTopicsRequest"].highest == 7
    packages = {message.class_name.rpartition(".")[0] for message in messages.values()}
    assert len(packages) >= 6


def test_random_value_of_every_message_and_version(oracle: JavaOracle) -> None:
    cases = [
        (message.name, version, 1)
        for message in oracle.messages()
        for version in range(message.lowest, message.highest + 1)
    ]
    assert len(cases) > 700
    made = dict(zip(cases, oracle.random_many(cases), strict=True))
    refused = {case: value for case, value in made.items() if isinstance(value, JavaRefusal)}
    assert not refused
    values = {case: value for case, value in made.items() if not isinstance(value, JavaRefusal)}
    read = oracle.decode_many(
        (name, version, data) for (name, version, _), (data, _) in values.items()
    )
    for (case, (data, json)), decoded in zip(values.items(), read, strict=True):
        assert decoded == Decoded(data, json, 0), case


def test_random_is_repeatable(oracle: JavaOracle) -> None:
    first = oracle.random("MetadataResponse", 12, 5)
    assert first == oracle.random("MetadataResponse", 12, 5)
    assert first != oracle.random("MetadataResponse", 12, 6)


def test_answers_keep_their_order_and_refusals_their_place(oracle: JavaOracle) -> None:
    requests = [
        ("ResponseHeader", 0 if number % 3 else 9, {"correlationId": number})
        for number in range(10_000)
    ]
    for number, answer in enumerate(oracle.encode_many(requests)):
        if number % 3:
            assert answer == (number.to_bytes(4, "big"), {"correlationId": number})
        else:
            assert isinstance(answer, JavaRefusal)


def test_a_batch_left_half_read_does_not_shift_the_next_answers(oracle: JavaOracle) -> None:
    some = oracle.encode_many(("ResponseHeader", 0, {"correlationId": n}) for n in range(10_000))
    next(some)
    assert oracle.encode("ResponseHeader", 0, {"correlationId": 7})[0] == b"\0\0\0\7"


def test_lines_longer_than_a_pipe(oracle: JavaOracle) -> None:
    token = {"authBytes": "AAAA" * 500_000}
    data, again = oracle.encode("SaslAuthenticateRequest", 0, token)
    assert (len(data), again) == (1_500_004, token)


def test_artifacts_of_a_release_before_share_groups() -> None:
    assert "kafka-share-coordinator" in definition_artifacts("4.4.0")
    assert "kafka-share-coordinator" not in definition_artifacts("3.9.2")
