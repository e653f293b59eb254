"""What rows of tables say of requests and responses, on bodies in Kafka's JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto import codec
from kafka_admin_proto.schema.catalog import catalog
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.tables.rows.calls import Call
from kafka_admin_proto.tables.rows.derived.audit import OPERATIONS, audit_rows
from kafka_admin_proto.tables.rows.derived.metadata import (
    CONTROLLER_APIS,
    controller_rows,
    record_rows,
    segment_records,
)
from kafka_admin_proto.tables.rows.derived.quorum import QUORUM_APIS, quorum_rows
from kafka_admin_proto.testing.strategies import messages

LOG = Path(__file__).parents[2] / "records" / "data" / "__cluster_metadata-0"
TOPIC_ID = "z77wfp7sQdCu4FTuznBwrg"


def frame(direction: str, api: str, body: Any, **more: Any) -> dict[str, Any]:
    usual = {
        "direction": direction, "api": api, "api_key": 1, "api_version": 0, "ts": 1000,
        "latency_us": 250 if direction == "response" else None, "topic_names": None, "body": body,
    }  # fmt: skip
    if direction == "response":
        usual["ts"] = 1250
    return usual | more


def call(api: str, request: Any, response: Any = None, **more: Any) -> Call:
    answer = None if response is None else frame("response", api, response)
    return Call(frame("request", api, request, **more), answer)


def audit(api: str, request: Any, response: Any = None, **more: Any) -> list[dict[str, Any]]:
    rows = list(audit_rows(call(api, request, response, **more)))
    for row in rows:
        row["parameters"] = json.loads(row["parameters"])
    return rows


def said(row: dict[str, Any], *names: str) -> list[Any]:
    return [row[name] for name in names]


def test_create_topics() -> None:
    asked = [{"name": "fruit", "numPartitions": 3}, {"name": "veg", "numPartitions": 1}]
    answered = [
        {"name": "veg", "errorCode": 36, "errorMessage": "Topic 'veg' already exists."},
        {"name": "fruit", "topicId": TOPIC_ID, "errorCode": 0, "errorMessage": None},
    ]
    fruit, veg = audit(
        "CreateTopics",
        {"topics": asked, "timeoutMs": 30, "validateOnly": True},
        {"topics": answered},
    )
    assert fruit == {
        "operation": "create topic", "topic": "fruit", "topic_id": TOPIC_ID,
        "resource_type": "TOPIC", "resource_name": None,
        "parameters": {"numPartitions": 3, "timeoutMs": 30}, "validate_only": True,
        "answered": True, "error": None, "message": None, "latency_us": 250,
    }  # fmt: skip
    assert said(veg, "topic", "topic_id", "error", "message") == [
        "veg", None, "TOPIC_ALREADY_EXISTS", "Topic 'veg' already exists."
    ]  # fmt: skip


RESOURCE = ("resource_type", "resource_name")


def test_no_response() -> None:
    (row,) = audit("CreateTopics", {"topics": [{"name": "fruit"}]})
    assert said(row, "answered", "error", "latency_us", "validate_only") == [
        False,
        None,
        None,
        None,
    ]


def test_a_response_of_another_topic() -> None:
    told = {"topics": [{"name": "veg", "errorCode": 36}]}
    (row,) = audit("CreateTopics", {"topics": [{"name": "fruit"}]}, told)
    assert said(row, "answered", "error") == [True, None]


def test_delete_topics_by_name_and_by_id() -> None:
    (row,) = audit(
        "DeleteTopics",
        {"topicNames": ["fruit"]},
        {"responses": [{"name": "fruit", "errorCode": 3}]},
    )
    assert said(row, "operation", "topic", "error") == [
        "delete topic", "fruit", "UNKNOWN_TOPIC_OR_PARTITION"
    ]  # fmt: skip
    by_id = {"topics": [{"name": None, "topicId": TOPIC_ID}]}
    answer = {"name": "fruit", "topicId": TOPIC_ID, "errorCode": 0}
    (row,) = audit("DeleteTopics", by_id, {"responses": [answer]})
    assert said(row, "topic", "topic_id", "error") == ["fruit", TOPIC_ID, None]
    refused = {"name": None, "topicId": TOPIC_ID, "errorCode": 29}
    (row,) = audit("DeleteTopics", by_id, {"responses": [refused]})
    assert said(row, "topic", "topic_id", "error") == [None, TOPIC_ID, "TOPIC_AUTHORIZATION_FAILED"]


def test_partitions_that_failed() -> None:
    (row,) = audit(
        "DeleteRecords",
        {"topics": [{"name": "fruit", "partitions": [{"partitionIndex": 1, "offset": 5}]}]},
        {"topics": [{"name": "fruit", "partitions": [{"partitionIndex": 1, "errorCode": 6}]}]},
    )
    assert said(row, "operation", "error", "message") == [
        "delete records", "NOT_LEADER_OR_FOLLOWER", "partition 1: NOT_LEADER_OR_FOLLOWER"
    ]  # fmt: skip
    assert row["parameters"] == {"partitions": [{"partitionIndex": 1, "offset": 5}]}
    failed = {"partitionIndex": 0, "errorCode": 85, "errorMessage": "no"}
    (row,) = audit(
        "AlterPartitionReassignments",
        {"topics": [{"name": "fruit", "partitions": []}]},
        {"errorCode": 0, "responses": [{"name": "fruit", "partitions": [failed]}]},
    )
    assert row["operation"] == "reassign partitions"
    assert row["message"] == "partition 0: NO_REASSIGNMENT_IN_PROGRESS (no)"
    (row,) = audit(
        "AlterPartitionReassignments",
        {"topics": [{"name": "fruit", "partitions": []}]},
        {"errorCode": 41, "errorMessage": "elsewhere", "responses": []},
    )
    assert said(row, "error", "message") == ["NOT_CONTROLLER", "elsewhere"]


@pytest.mark.parametrize("api", ["AlterConfigs", "IncrementalAlterConfigs"])
def test_configs_of_every_resource(api: str) -> None:
    configs = [{"name": "retention.ms", "configOperation": 1, "value": None}]
    asked = [
        {"resourceType": 4, "resourceName": "", "configs": configs},
        {"resourceType": 2, "resourceName": "fruit", "configs": configs},
        {"resourceType": 77, "resourceName": "later", "configs": []},
    ]
    told = [{"resourceType": 2, "resourceName": "fruit", "errorCode": 40, "errorMessage": "bad"}]
    brokers, fruit, later = audit(
        api, {"resources": asked, "validateOnly": False}, {"responses": told}
    )
    assert said(fruit, "operation", "topic", *RESOURCE, "validate_only", "error", "message") == [
        "alter config", "fruit", "TOPIC", None, False, "INVALID_CONFIG", "bad"
    ]  # fmt: skip
    assert said(brokers, "topic", *RESOURCE, "error") == [None, "BROKER", "", None]
    assert said(later, "topic", *RESOURCE) == [None, "77", "later"]
    name = "DELETE" if api == "IncrementalAlterConfigs" else 1
    assert fruit["parameters"] == {"configs": [configs[0] | {"configOperation": name}]}


def test_elections() -> None:
    result = [{"partitionId": 1, "errorCode": 84}, {"partitionId": 2, "errorCode": 0}]
    told = {
        "errorCode": 0,
        "replicaElectionResults": [{"topic": "fruit", "partitionResult": result}],
    }
    asked = {"electionType": 1, "topicPartitions": [{"topic": "fruit", "partitions": [1, 2]}]}
    (row,) = audit("ElectLeaders", asked, told)
    assert said(row, "topic", "error", "message") == [
        "fruit", "ELECTION_NOT_NEEDED", "partition 1: ELECTION_NOT_NEEDED"
    ]  # fmt: skip
    (row,) = audit("ElectLeaders", {"electionType": 0, "topicPartitions": None}, told)
    assert said(row, "topic", "error") == [None, "ELECTION_NOT_NEEDED"]


def test_moves_and_acls() -> None:
    topics = [{"name": "fruit", "partitions": [0, 1]}]
    results = [{"topicName": "fruit", "partitions": [{"partitionIndex": 0, "errorCode": 57}]}]
    (row,) = audit(
        "AlterReplicaLogDirs", {"dirs": [{"path": "/d", "topics": topics}]}, {"results": results}
    )
    assert said(row, "topic", "error") == ["fruit", "LOG_DIR_NOT_FOUND"]
    assert row["parameters"] == {"partitions": [0, 1], "path": "/d"}
    assert row["operation"] == "move replicas"


def test_acls_of_every_resource() -> None:
    creations = [
        {"resourceType": 3, "resourceName": "g", "resourcePatternType": 4, "principal": "User:a"},
        {"resourceType": 2, "resourceName": "fruit", "operation": 3, "permissionType": 2},
    ]
    answers = [{"errorCode": 0}, {"errorCode": 31, "errorMessage": "no"}]
    group, fruit = audit("CreateAcls", {"creations": creations}, {"results": answers})
    assert said(fruit, "operation", "topic", *RESOURCE, "error", "message") == [
        "create acl", "fruit", "TOPIC", None, "CLUSTER_AUTHORIZATION_FAILED", "no"
    ]  # fmt: skip
    assert fruit["parameters"] == {"operation": "READ", "permissionType": "DENY"}
    assert said(group, "topic", *RESOURCE, "error", "parameters") == [
        None, "GROUP", "g", None, {"resourcePatternType": "PREFIXED", "principal": "User:a"}
    ]  # fmt: skip


def test_acls_that_filters_delete() -> None:
    """ResourceType.ANY has topics among what it matches; a name may be null for all."""
    filters = [
        {"resourceTypeFilter": kind, "resourceNameFilter": name, "patternTypeFilter": pattern}
        for kind, name, pattern in ((3, "g", 3), (2, "fruit", 2), (1, None, 1), (1, "veg", 4))
    ]
    answers: list[dict[str, Any]] = [{"errorCode": code} for code in (0, 0, 31, 0)]
    acl = {"errorCode": 0, "resourceType": 2, "resourceName": "fruit", "operation": 4}
    answers[1]["matchingAcls"] = [acl]
    rows = audit("DeleteAcls", {"filters": filters}, {"filterResults": answers})
    assert {row["operation"] for row in rows} == {"delete acl"}
    found = [said(row, "topic", *RESOURCE, "error", "parameters") for row in rows]
    deleted = [acl | {"resourceType": "TOPIC", "operation": "WRITE"}]
    assert found == [
        [None, "GROUP", "g", None, {"patternTypeFilter": "LITERAL"}],
        ["fruit", "TOPIC", None, None, {"patternTypeFilter": "MATCH", "matchingAcls": deleted}],
        [None, "ANY", None, "CLUSTER_AUTHORIZATION_FAILED", {"patternTypeFilter": "ANY"}],
        ["veg", "ANY", "veg", None, {"patternTypeFilter": "PREFIXED"}],
    ]
    (alone,) = audit("DeleteAcls", {"filters": filters[2:3]})
    assert said(alone, "answered", "error") == [False, None]


def test_users_and_quotas() -> None:
    asked = {
        "deletions": [{"name": "old", "mechanism": 1}],
        "upsertions": [{"name": "new", "mechanism": 2, "iterations": 4096}],
    }
    answers = [{"user": "new", "errorCode": 93, "errorMessage": "few"}, {"user": "old"}]
    old, new = audit("AlterUserScramCredentials", asked, {"results": answers})
    assert said(old, "operation", "topic", *RESOURCE, "error", "parameters") == [
        "delete scram credential", None, "USER", "old", None, {"mechanism": "SCRAM_SHA_256"}
    ]  # fmt: skip
    assert said(new, "operation", "resource_name", "error", "message", "parameters") == [
        "set scram credential", "new", "UNACCEPTABLE_CREDENTIAL", "few",
        {"mechanism": "SCRAM_SHA_512", "iterations": 4096},
    ]  # fmt: skip
    entity = [
        {"entityType": "client-id", "entityName": None},
        {"entityType": "user", "entityName": "alice"},
    ]
    ops = [{"key": "producer_byte_rate", "value": 1024.0, "remove": False}]
    answers = [{"errorCode": 42, "errorMessage": "no", "entity": entity[::-1]}]
    quotas = {"entries": [{"entity": entity, "ops": ops}], "validateOnly": True}
    (row,) = audit("AlterClientQuotas", quotas, {"entries": answers})
    assert said(row, "operation", *RESOURCE, "validate_only", "error", "message") == [
        "alter quota", "CLIENT_QUOTA", "user=alice, client-id=<default>", True,
        "INVALID_REQUEST", "no",
    ]  # fmt: skip
    assert row["parameters"] == {"entity": entity, "ops": ops}


def test_features_tokens_and_nodes() -> None:
    update = {"feature": "metadata.version", "maxVersionLevel": 29, "upgradeType": 3}
    asked = {"timeoutMs": 5, "featureUpdates": [update], "validateOnly": False}
    for answer in (
        {"errorCode": 0, "results": [{"feature": "metadata.version", "errorCode": 96}]},
        {"errorCode": 96, "results": []},
    ):
        (row,) = audit("UpdateFeatures", asked, answer)
        assert said(row, "operation", *RESOURCE, "error", "parameters") == [
            "update feature", "FEATURE", "metadata.version", "FEATURE_UPDATE_FAILED",
            {"maxVersionLevel": 29, "upgradeType": "UNSAFE_DOWNGRADE", "timeoutMs": 5},
        ]  # fmt: skip
    (row,) = audit("CreateDelegationToken", {"maxLifetimeMs": -1}, {"tokenId": "t1"})
    assert said(row, *RESOURCE, "parameters") == ["DELEGATION_TOKEN", "t1", {"maxLifetimeMs": -1}]
    (row,) = audit("ExpireDelegationToken", {"hmac": "secret", "expiryTimePeriodMs": -1})
    assert row["parameters"] == {"expiryTimePeriodMs": -1}
    (row,) = audit("UnregisterBroker", {"brokerId": 3}, {"errorCode": 102, "errorMessage": "?"})
    assert said(row, "operation", *RESOURCE, "error", "message") == [
        "unregister broker", "BROKER", "3", "BROKER_ID_NOT_REGISTERED", "?"
    ]  # fmt: skip


def test_groups_and_their_offsets() -> None:
    answers = [{"groupId": "b", "errorCode": 68}, {"groupId": "a", "errorCode": 0}]
    a, b = audit("DeleteGroups", {"groupsNames": ["a", "b"]}, {"results": answers})
    assert said(a, "operation", *RESOURCE, "error") == ["delete group", "GROUP", "a", None]
    assert said(b, "topic", "resource_name", "error") == [None, "b", "NON_EMPTY_GROUP"]
    asked = {"groupId": "a", "topics": [{"name": "fruit", "partitions": [{"partitionIndex": 1}]}]}
    refused = [{"name": "fruit", "partitions": [{"partitionIndex": 1, "errorCode": 86}]}]
    (row,) = audit("OffsetDelete", asked, {"errorCode": 0, "topics": refused})
    assert said(row, "operation", "topic", *RESOURCE, "error") == [
        "delete offsets", "fruit", "GROUP", "a", "GROUP_SUBSCRIBED_TO_TOPIC"
    ]  # fmt: skip
    asked = {"groupId": "s", "topics": [{"topicName": "fruit"}]}
    answer = {"topicName": "fruit", "topicId": TOPIC_ID, "errorCode": 3, "errorMessage": "gone"}
    (row,) = audit("DeleteShareGroupOffsets", asked, {"responses": [answer]})
    assert said(row, "topic", "topic_id", "resource_name", "error", "message") == [
        "fruit", TOPIC_ID, "s", "UNKNOWN_TOPIC_OR_PARTITION", "gone"
    ]  # fmt: skip


def _versions(api: str, suffix: str = "Request") -> list[int]:
    versions: VersionRange = catalog().entry(f"{api}{suffix}").versions
    return list(versions)


@pytest.mark.parametrize("api", OPERATIONS)
@given(data=st.data())
def test_each_element_of_any_request_has_its_row(api: str, data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(_versions(api)))
    bodies = [
        codec(f"{api}{what}", version).to_json(
            data.draw(messages(f"{api}{what}", version)), mask=True
        )
        for what in ("Request", "Response")
    ]
    request, response = bodies
    rows = audit(api, request, response)
    names = {
        "CreateTopics": ("topics",),
        "DeleteTopics": ("topics", "topicNames"),
        "CreatePartitions": ("topics",),
        "DeleteRecords": ("topics",),
        "AlterPartitionReassignments": ("topics",),
        "ElectLeaders": ("topicPartitions",),
        "AlterConfigs": ("resources",),
        "IncrementalAlterConfigs": ("resources",),
        "CreateAcls": ("creations",),
        "DeleteAcls": ("filters",),
        "AlterUserScramCredentials": ("deletions", "upsertions"),
        "AlterClientQuotas": ("entries",),
        "UpdateFeatures": ("featureUpdates",),
        "DeleteGroups": ("groupsNames",),
        "OffsetDelete": ("topics",),
        "DeleteShareGroupOffsets": ("topics",),
        "AlterShareGroupOffsets": ("topics",),
    }.get(api)
    if names is not None:
        asked = [each for name in names for each in request.get(name) or ()]
        if api == "ElectLeaders" and request["topicPartitions"] is None:
            asked = [None]
        assert len(rows) == len(asked)
    assert all(row["answered"] for row in rows)


def test_every_change_of_a_cluster_is_audited() -> None:
    """Requests of those names are rows, but what brokers and transactions send by themselves."""
    verbs = ("Add", "Alter", "Create", "Delete", "Elect", "Expire", "Incremental", "OffsetDelete",
             "Remove", "Renew", "Unregister", "Update")  # fmt: skip
    by_themselves = {
        "AddOffsetsToTxn", "AddPartitionsToTxn", "AlterPartition", "DeleteShareGroupState",
        "UpdateMetadata", "UpdateRaftVoter",
    }  # fmt: skip
    apis = {name.removesuffix("Request") for name in catalog().names() if name.endswith("Request")}
    changes = {api for api in apis if api.startswith(verbs)}
    assert changes - by_themselves == OPERATIONS.keys()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["topics", "name", "responses", "resources", "resourceType", "partitions", "dirs",
             "topicName", "partitionIndex", "topicNames", "creations", "topicStates", "errorCode",
             "partitionStates", "isr", "leader", "ungroupedPartitionStates", "topicPartitions"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON, JSON)
def test_what_logs_say_is_anything(request: Any, response: Any) -> None:
    """Lines of request logs that are not Kafka's JSON raise nothing."""
    for api in OPERATIONS:
        audit(api, request, response)
    for api in QUORUM_APIS:
        list(quorum_rows(call(api, request, response)))
    for api in CONTROLLER_APIS:
        list(controller_rows(api, request))


def test_votes() -> None:
    asked = {"partitionIndex": 0, "replicaEpoch": 5, "replicaId": 2, "preVote": True}
    told = {
        "partitionIndex": 0,
        "errorCode": 0,
        "leaderId": -1,
        "leaderEpoch": 4,
        "voteGranted": True,
    }
    topic = "__cluster_metadata"
    (row,) = quorum_rows(
        call(
            "Vote",
            {"topics": [{"topicName": topic, "partitions": [asked]}]},
            {"errorCode": 0, "topics": [{"topicName": topic, "partitions": [told]}]},
        )
    )
    assert row == {
        "topic": topic, "partition": 0, "replica_id": 2, "epoch": 5, "pre_vote": True,
        "answered": True, "granted": True, "leader_id": -1, "leader_epoch": 4, "error": None,
        "latency_us": 250,
    }  # fmt: skip
    asked = {"partitionIndex": 0, "leaderId": 1, "leaderEpoch": 6}
    (row,) = quorum_rows(
        call("BeginQuorumEpoch", {"topics": [{"topicName": topic, "partitions": [asked]}]})
    )
    assert said(row, "replica_id", "epoch", "pre_vote", "answered", "granted") == [
        1, 6, None, False, None
    ]  # fmt: skip


@pytest.mark.parametrize("api", CONTROLLER_APIS)
@given(data=st.data())
def test_each_partition_of_any_request_has_its_row(api: str, data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(_versions(api)))
    message = data.draw(messages(f"{api}Request", version))
    body = codec(f"{api}Request", version).to_json(message)
    rows = list(controller_rows(api, body))
    count = len(body.get("ungroupedPartitionStates", body.get("ungroupedPartitions", ())))
    for topic in body.get("topicStates", ()):
        count += len(topic["partitionStates"])
    for topic in body.get("topics", ()):
        count += len(topic["partitionIndexes"])
    assert len(rows) == count
    for row in rows:
        assert row["partition"] is not None
        assert row["controller_id"] == body["controllerId"]


def test_the_metadata_log() -> None:
    """A log that a real controller wrote."""
    name = LOG / "00000000000000000000.log"
    rows = list(record_rows(segment_records(str(name), str(name))))
    created = [row for row in rows if row["source"] == "PartitionRecord"]
    assert {row["source"] for row in rows} >= {"TopicRecord", "PartitionRecord"}
    assert all(row["leader"] >= 0 and row["isr"] and row["replicas"] for row in created)
    offsets = [row["log_offset"] for row in rows]
    assert offsets == sorted(offsets)
    named = {row["topic_id"] for row in rows if row["source"] == "TopicRecord"}
    assert {row["topic_id"] for row in created} <= named


def test_times_that_nobody_can_mean() -> None:
    """A record may say anything; a column of microseconds has 63 bits."""
    name = LOG / "00000000000000000000.log"
    record = next(iter(segment_records(str(name), str(name))))
    latest = (1 << 63) // 1000
    times = [next(record_rows([record | {"timestamp": each}]))["ts"] for each in (
        -1, 5, latest, latest + 1, (1 << 63) - 1)]  # fmt: skip
    assert times == [None, 5000, latest * 1000, None, None]


def test_a_snapshot_is_of_its_offset() -> None:
    name = LOG / "00000000000000000042-0000000001.checkpoint"
    records = list(segment_records(str(name), str(name)))
    assert records
    assert {record["offset"] for record in records} == {41}


def test_a_damaged_segment(tmp_path: Path) -> None:
    data = bytearray((LOG / "00000000000000000000.log").read_bytes())
    data[300:340] = bytes(40)
    (tmp_path / "damaged.log").write_bytes(data)
    found = list(segment_records(str(tmp_path / "damaged.log"), "damaged.log"))
    assert [record for record in found if "problem" in record]
    assert [record for record in found if "problem" not in record]
