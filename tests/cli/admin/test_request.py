"""``kap request``: what is not said means all, or what the cluster chooses; errors say why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click
import pytest

from kafka_admin_proto.cli.admin.request.fields import with_defaults
from kafka_admin_proto.codec import codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.names import json_name
from kafka_admin_proto.server import SyncCluster
from tests.helpers.kap import ended, run_kap

REQUESTS = [
    name for name in catalog().names("kafka") if catalog().entry(name, "kafka").type == "request"
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with SyncCluster(1, topics={"orders": 1}) as found:
        yield found.bootstrap_servers


def asked(cluster: str, line: str) -> tuple[int, dict[str, Any]]:
    result = run_kap(f"request {line}", "-b", cluster)
    return result.exit_code, json.loads(result.stdout)


def test_partitions_are_created_where_the_cluster_puts_them(cluster: str) -> None:
    line = "CreatePartitions --set topics[0].name=orders --set topics[0].count="
    code, found = asked(cluster, line + "6")
    assert (code, found["errors"]) == (0, [])
    code, found = asked(cluster, line + "2")
    (error,) = found["errors"]
    assert (code, error["error"]) == (1, "INVALID_PARTITIONS")
    assert error["message"] == found["response"]["results"][0]["errorMessage"]


def test_what_is_not_named_is_all(cluster: str) -> None:
    topics = asked(cluster, "Metadata")[1]["response"]["topics"]
    assert "orders" in [each["name"] for each in topics]
    where = "--set resources[0].resourceType=2 --set resources[0].resourceName=orders"
    (result,) = asked(cluster, f"DescribeConfigs {where}")[1]["response"]["results"]
    assert len(result["configs"]) > 20


def test_each_sentence_of_the_broker_is_an_error(cluster: str) -> None:
    names = " ".join(
        f"--set topics[{i}].name='{name}'" for i, name in enumerate(["a b", "c d", ""])
    )
    counts = " ".join(f"--set topics[{i}].count=2" for i in range(3))
    code, found = asked(cluster, f"CreatePartitions {names} {counts}")
    assert code == 1
    said = {each["errorMessage"] for each in found["response"]["results"]} - {None}
    assert {each["message"] for each in found["errors"]} - {None} == said


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("topics[1].name=a", "there is no item before 1"),
        ("topics.name=a --set topics[0]=b", "there is no item before 0"),
        ("timeoutMs=1 --set timeoutMs.seconds=1", "seconds is not within a struct"),
        ("topics", "expected PATH=VALUE"),
    ],
)
def test_a_place_that_there_is_not(cluster: str, setting: str, said: str) -> None:
    assert said in ended(run_kap(f"request CreateTopics --set {setting}", "-b", cluster), 2).stderr


def test_an_array_that_may_be_null_is_null() -> None:
    for name in REQUESTS:
        spec = catalog().spec(name, "kafka")
        version = spec.valid_versions.highest
        given = {"topicPartitions": None} if name == "ElectLeadersRequest" else {}
        filled = with_defaults(name, version, given, timeout_ms=5000)
        for field in spec.struct.fields:
            if field.type.is_array and version in field.nullable_versions & field.versions:
                assert filled.get(json_name(field.name)) is None, (name, field.name)
        assert filled.get("timeoutMs", 1) > 0, name
        codec(name, version).from_json(filled)


def test_leaders_of_all_partitions_are_asked_for() -> None:
    with pytest.raises(click.UsageError, match="say topicPartitions, as null would be all"):
        with_defaults("ElectLeadersRequest", 2, {"electionType": 1}, timeout_ms=1)


def test_metadata_creates_no_topic_that_it_is_asked_about(cluster: str) -> None:
    line = "Metadata --set topics[0].name=unheard"
    for _ in range(2):
        code, found = asked(cluster, line)
        assert code == 1
        assert [each["error"] for each in found["errors"]] == ["UNKNOWN_TOPIC_OR_PARTITION"]
    assert "unheard" not in json.dumps(asked(cluster, "Metadata")[1]["response"]["topics"])
    asked(cluster, f"{line} --set allowAutoTopicCreation=true")
    assert "unheard" in json.dumps(asked(cluster, "Metadata")[1]["response"]["topics"])
