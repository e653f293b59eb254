"""What 4.4 answers otherwise than 4.3, as real nodes of 4.4.0 do."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_admin_proto import messages as m
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_admin_proto.messages.update_features_request import FeatureUpdateKey
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server.security.authorizer.rules import STANDARD_AUTHORIZER
from kafka_admin_proto.topic_ids import ZERO_TOPIC_ID
from tests.server.handlers.test_create_topics import create, topic
from tests.server.served import Served

_BROKER, _GROUP = 4, 32
_DYNAMIC = "Invalid value org.apache.kafka.common.config.ConfigException: Invalid value {} for "
_DYNAMIC += "configuration {}: {} for configuration Invalid dynamic configuration"


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "code"),
    [
        (None, -1, 0),
        ("ours", 1, 0),
        ("ours", 2, codes.REBOOTSTRAP_REQUIRED),
        ("another", 1, codes.REBOOTSTRAP_REQUIRED),
        ("", 1, codes.REBOOTSTRAP_REQUIRED),
        ("ours", -2, codes.REBOOTSTRAP_REQUIRED),
        ("ours", -1, codes.INVALID_REQUEST),
        (None, 1, codes.INVALID_REQUEST),
    ],
)
def test_the_cluster_and_node_that_a_client_expects(
    cluster_id: str | None, node_id: int, code: int
) -> None:
    served = Served("4.4")
    known = served.state.cluster_id if cluster_id == "ours" else cluster_id
    found = served.ask(m.ApiVersionsRequest("x", "1", known, node_id), 5)
    assert found.error_code == code
    assert bool(found.api_keys) == (code == 0)
    odd = m.ApiVersionsRequest("", "1", known, node_id)
    assert served.ask(odd, 5).error_code == codes.INVALID_REQUEST


def test_offsets_of_a_transaction_name_topics_by_id() -> None:
    configs = {
        "offsets.topic.replication.factor": "1", "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
    }  # fmt: skip
    served = Served("4.4", 1, configs=configs)
    create(served, topic("t", 1, 1))
    known = served.state.topic("t")
    assert known is not None
    for kind, key in ((0, "g"), (1, "txn")):
        served.ask(m.FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]))
    producer = served.ask(m.InitProducerIdRequest("txn", 60_000))

    def committed(topic_id: UUID, number: int = 0) -> int:
        row = TxnOffsetCommitRequestTopic(
            "", topic_id, [TxnOffsetCommitRequestPartition(number, 7)]
        )
        request = m.TxnOffsetCommitRequest(
            "txn", "g", producer.producer_id, producer.producer_epoch, topics=[row]
        )
        (found,) = served.ask(request, 6).topics
        assert found.topic_id == topic_id
        (part,) = found.partitions
        code: int = part.error_code
        return code

    assert committed(known.id) == 0
    assert committed(known.id, 5) == codes.UNKNOWN_TOPIC_OR_PARTITION
    assert committed(UUID(int=77)) == codes.UNKNOWN_TOPIC_ID
    assert committed(ZERO_TOPIC_ID) == codes.UNKNOWN_TOPIC_ID


def _altered(served: Served, kind: int, name: str, **configs: str) -> tuple[int, str]:
    rows = [AlterableConfig(key.replace("_", "."), 0, text) for key, text in configs.items()]
    request = m.IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, rows)])
    (found,) = served.ask(request).responses
    return found.error_code, found.error_message or ""


@pytest.mark.parametrize(
    ("configs", "fault"),
    [
        ({"consumer_session_timeout_ms": "1"},
         "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive."),
        ({"streams_num_standby_replicas": "99"},
         "streams.num.standby.replicas must be less than or equal to 2"),
        ({"streams_task_offset_interval_ms": "1"},
         "streams.task.offset.interval.ms must be greater than or equal to 15000"),
        ({"consumer_heartbeat_interval_ms": "5000", "consumer_session_timeout_ms": "45000"}, ""),
        ({"streams_assignor_name": "x"},
         "streams.assignor.name 'x' is not a registered task assignor. Registered assignors are: "
         "[sticky]."),
        ({"streams_assignor_name": "sticky"}, ""),
        ({"streams_rack_aware_assignment_tags": "a , a"},
         "streams.rack.aware.assignment.tags must not contain duplicate tag keys."),
        ({"errors_deadletterqueue_topic_name": "__x"},
         "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'"),
        ({"errors_deadletterqueue_topic_name": "no prefix is asked for"}, ""),
        ({"no_such": "1"}, "Unknown group config name: no.such"),
    ],
)  # fmt: skip
def test_configs_of_a_group(configs: dict[str, str], fault: str) -> None:
    code = codes.INVALID_CONFIG if fault else 0
    assert _altered(Served("4.4"), _GROUP, "g", **configs) == (code, fault)


@pytest.mark.parametrize("groups", ["consumer", "share", "streams"])
@pytest.mark.parametrize(("broker", "source"), [("", 3), ("1", 2)])
def test_internal_configs_of_a_broker_are_shown_there_and_of_groups_once_set(
    groups: str, broker: str, source: int
) -> None:
    served, name = Served("4.4"), f"{groups}.assignor.offload.enable"

    def shown(kind: int, resource: str, config: str) -> list[tuple[str | None, int]]:
        asked = m.DescribeConfigsRequest([DescribeConfigsResource(kind, resource, None)], True)
        (found,) = served.ask(asked).results
        return [(each.value, each.config_source) for each in found.configs if each.name == config]

    assert shown(_BROKER, "1", f"group.{name}") == shown(_GROUP, "g", name) == []
    changes = {f"group.{name}".replace(".", "_"): "false"}
    assert _altered(served, _BROKER, broker, **changes)[0] == 0
    assert shown(_BROKER, "1", f"group.{name}") == shown(_GROUP, "g", name) == [("false", source)]


def test_a_groups_internal_configs_are_shown_where_they_are_set() -> None:
    served = Served("4.4")

    def shown(name: str) -> dict[str, Any]:
        asked = m.DescribeConfigsRequest([DescribeConfigsResource(_GROUP, name, None)], True)
        (found,) = served.ask(asked).results
        return {each.name: each for each in found.configs}

    internal = "consumer.assignor.offload.enable"
    assert _altered(served, _GROUP, "g", consumer_assignor_offload_enable="false")[0] == 0
    assert shown("g")[internal].value == "false"
    assert internal not in shown("other")
    assignor = shown("other")["streams.assignor.name"]
    assert (assignor.value, assignor.config_source) == ("sticky", 5)
    (synonym,) = assignor.synonyms
    assert synonym.name == "group.streams.assignors"


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("log_remote_copy_lag_ms", "604800001",
         "Value must not exceed log.local.retention.ms (effective value: 604800000)"),
        ("log_local_retention_ms", "604800001",
         "Value must not be more than log.retention.ms property value: 604800000"),
        ("log_local_retention_ms", "-1",
         "Value must not be -1 as log.retention.ms value is set as 604800000."),
        ("log_remote_copy_lag_ms", "604800000", ""),
        ("log_remote_copy_lag_bytes", "99", ""),  # a log of any size is kept
    ],
)  # fmt: skip
def test_what_is_kept_locally_and_copied_late(name: str, value: str, fault: str) -> None:
    expected = (0, "")
    if fault:
        text = _DYNAMIC.format(value, name.replace("_", "."), fault)
        expected = codes.INVALID_REQUEST, text
    assert _altered(Served("4.4"), _BROKER, "", **{name: value}) == expected


def test_levels_that_changed_no_record_can_be_left_again() -> None:
    served = Served("4.4")

    def lowered(now: int, level: int) -> int:
        served.state.append([m.FeatureLevelRecord("metadata.version", now)])
        update = FeatureUpdateKey("metadata.version", level, upgrade_type=2)
        code: int = served.ask(m.UpdateFeaturesRequest(60_000, [update])).error_code
        return code

    assert (lowered(31, 30), lowered(29, 24), lowered(12, 11)) == (0, 0, 0)
    for now, level in ((33, 32), (32, 31), (31, 29), (30, 29), (12, 10)):
        assert lowered(now, level) == codes.INVALID_UPDATE_VERSION, now


def test_who_may_not_alter_configs_of_a_broker_hears_that_first() -> None:
    configs = {"authorizer.class.name": STANDARD_AUTHORIZER}
    row = AlterConfigsResource(_BROKER, "no id", [AlterableConfig("num.io.threads", 0, "9")])
    for release, code in (
        ("4.4", codes.CLUSTER_AUTHORIZATION_FAILED),
        ("4.3", codes.INVALID_REQUEST),
    ):
        served = Served(release, configs=configs)
        (found,) = served.ask(m.IncrementalAlterConfigsRequest([row])).responses
        assert found.error_code == code
