"""Error codes: found by number and name, and equal to Kafka's own, live."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kafka_admin_proto
from kafka_admin_proto import ErrorCode, KafkaAdminProtoError, UnknownErrorCodeError, error_code
from kafka_admin_proto.protocol.error_codes import all_errors, error_label, error_name, find_error
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.names import python_name
from kafka_admin_proto.wire.field_names import is_error_field
from tests.helpers.mistyped import mistyped
from tests.helpers.requirements import require_oracle
from tools.oracles.oracle import JavaOracle


@pytest.mark.exhaustive
def test_every_constant_is_kafkas() -> None:
    """Code, name and whether to retry, live from Java's Errors; none is missing, none is ours."""
    require_oracle()
    with JavaOracle() as oracle:
        java = oracle.errors()
    assert len(java) > 130
    ours = [
        {"name": error.name, "code": error.code, "retriable": error.retriable}
        for error in all_errors()
    ]
    assert ours == java


@pytest.mark.exhaustive
def test_an_older_release_calls_the_same_codes_the_same() -> None:
    require_oracle()
    with JavaOracle("3.9.2") as oracle:
        java = oracle.errors()
    assert len(java) > 120
    for row in java:
        assert error_name(int(str(row["code"]))) == row["name"]


def test_by_code_and_by_name() -> None:
    found = error_code(44)
    assert (found.code, found.name, found.retriable) == (44, "POLICY_VIOLATION", False)
    assert found.requests == ()
    for name in ("POLICY_VIOLATION", "policy_violation", "PolicyViolation"):
        assert error_code(name) is found
    assert error_code(3).retriable
    assert error_code(-1).name == "UNKNOWN_SERVER_ERROR"
    assert kafka_admin_proto.ErrorCode is ErrorCode is type(found)


def test_names_and_labels() -> None:
    assert error_name(0) == "NONE"
    assert error_label(36) == "36 TOPIC_ALREADY_EXISTS"
    assert error_label(1003, dialect="kip-4") == "1003 DecreasePartitionsNotAllowed"
    for unknown in (-2, 137, 32767, 1001):
        assert error_name(unknown) is None
        assert error_label(unknown) == str(unknown)


@pytest.mark.parametrize(
    ("key", "dialect", "said"),
    [
        ("POLICY_VIOLATOIN", "kafka", "did you mean POLICY_VIOLATION"),
        ("TopicExists", "kafka", "TOPIC_ALREADY_EXISTS"),
        ("", "kafka", "no error '' in dialect 'kafka'"),
        (137, "kafka", "there are -1 to 136"),
        (44, "kip-4", "there are 1001 to 1012"),
        ("TopicAlreadyExist", "kip-4", "did you mean TopicAlreadyExists"),
        (44, "kip-5", "there are those of kafka, kip-4"),
    ],
)
def test_what_does_not_exist(key: int | str, dialect: str, said: str) -> None:
    with pytest.raises(UnknownErrorCodeError, match=said) as caught:
        error_code(key, dialect=dialect)
    assert isinstance(caught.value, KafkaAdminProtoError)
    assert isinstance(caught.value, LookupError)


def test_the_draft() -> None:
    errors = all_errors("kip-4")
    assert [error.code for error in errors] == [*range(1001, 1013), 1006]
    assert all(error.requests and error.retriable is None for error in errors)
    factor = error_code(1004, dialect="kip-4")
    assert factor.name == "InvalidArgumentReplicationFactor"
    assert factor.requests == ("CreateTopicRequest", "AlterTopicRequest")
    assert error_code("InvalidArgumentTopicConfig", dialect="kip-4").code == 1006
    batch = error_code("MultipleTopicInstructionsInOnebatch", dialect="kip-4")
    assert batch.code == 1012


@pytest.mark.parametrize("dialect", ["kip-4a", "kip-4b"])
def test_drafts_share_their_errors(dialect: str) -> None:
    assert all_errors(dialect) == all_errors("kip-4")
    for error in all_errors(dialect):
        assert error_code(error.name, dialect=dialect) is error
        by_code = error_code(error.code, dialect=dialect)
        assert by_code is find_error(error.code, dialect=dialect)
        assert by_code is error or error.name == "InvalidArgumentTopicConfig"
    with pytest.raises(UnknownErrorCodeError, match=f"dialect '{dialect}'; there are 1001 to 1012"):
        error_code(36, dialect=dialect)


@pytest.mark.parametrize("dialect", ["kafka", "kip-4"])
def test_each_is_told_apart_by_its_sentence(dialect: str) -> None:
    errors = all_errors(dialect)
    assert len({error.name for error in errors}) == len(errors)
    assert len({error.meaning for error in errors}) == len(errors)
    for error in errors:
        assert error.meaning.endswith(".")


def test_error_fields_are_the_int16_that_definitions_call_error_code() -> None:
    found = set()
    # Kafka Streams' own errors stand in what it adds to subscriptions.
    for name in {*catalog().names()} - {"SubscriptionInfoData"}:
        spec = catalog().spec(name)
        for struct in [spec.struct, *spec.structs().values()]:
            for field in struct.fields:
                if is_error_field(python_name(field.name)):
                    assert str(field.type) == "int16", (name, field.name)
                    found.add(field.name)
    assert "AcknowledgeErrorCode" in found


@pytest.mark.parametrize("key", [None, 5.0, True, b"NONE", ["NONE"]], ids=repr)
def test_an_error_has_a_code_or_a_name(key: object) -> None:
    with pytest.raises(TypeError, match="an error is found by its code or its name, not"):
        error_code(mistyped(key))


def test_the_package_loads_them_when_first_named() -> None:
    script = (
        "import sys, kafka_admin_proto as k\n"
        "name = 'kafka_admin_proto.protocol.error_codes'\n"
        "assert name not in sys.modules\n"
        "assert {'error_code', 'ErrorCode'} <= set(dir(k))\n"
        "assert k.error_code(36).name == 'TOPIC_ALREADY_EXISTS' and name in sys.modules\n"
        "assert k.error_code is k.__dict__['error_code']\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
