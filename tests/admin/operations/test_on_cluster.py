"""Operations of several requests, on a reference cluster of two brokers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import pytest

from kafka_admin_proto.admin import (
    AlteredUser,
    ConfigChange,
    ConfigResource,
    FetchedRecords,
    InstructionError,
    NewRecord,
    NewTopic,
    NoSuchBrokerError,
    PartitionReplicas,
    QuotaAlteration,
    RequestTimedOutError,
    ScramMechanism,
    ScramUpsertion,
    SyncAdminClient,
    TopicAlteration,
    raise_for_errors,
)
from kafka_admin_proto.errors import RemoteProtocolError, UnsupportedVersionError
from kafka_admin_proto.server import SyncCluster

SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512
UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.fixture(scope="module")
def cluster() -> Iterator[SyncCluster]:
    with SyncCluster(brokers=2, topics={"a": 2, "b": 1}, propagation_delay_s=0.0) as found:
        yield found


@pytest.fixture
def admin(cluster: SyncCluster) -> Iterator[SyncAdminClient]:
    with SyncAdminClient(cluster.bootstrap_servers, timeout=10) as found:
        yield found


def test_changed_configs_are_seen_and_those_not_set_are_named(admin: SyncAdminClient) -> None:
    topic, broker = ConfigResource("topic", "a"), ConfigResource("broker", "1")
    first = ConfigChange(resource=topic, set={"retention.ms": "7"}, delete=["flush.ms"])
    other = ConfigChange(resource=broker, delete=["log.retention.ms"])
    lost = ConfigChange(resource=ConfigResource("topic", "lost"), delete=["flush.ms"])
    found = admin.change_configs([first, other, lost])
    assert [(r.name, r.not_set, r.complete, r.error) for r in found] == [
        ("a", ["flush.ms"], True, None),
        ("1", ["log.retention.ms"], None, None),
        ("lost", (), None, UNKNOWN),
    ]
    back = ConfigChange(resource=topic, delete=["retention.ms"])
    (tried,) = admin.change_configs([back], validate_only=True)
    assert (tried.not_set, tried.complete) == ([], None)
    (done,) = admin.change_configs([back], timeout=0)
    assert (done.not_set, done.complete) == ([], None), "it is set going, and not waited for"


def test_all_that_was_set_for_a_resource_itself_is_unset(admin: SyncAdminClient) -> None:
    topic, broker = ConfigResource("topic", "a"), ConfigResource("broker", "1")
    lost, none_set = ConfigResource("topic", "lost"), ConfigResource("topic", "b")
    own, of_all = {"flush.ms": "7", "segment.ms": "8"}, ConfigResource("broker", "")
    inherited = ConfigChange(resource=of_all, set={"log.retention.ms": "9"})
    admin.change_configs([ConfigChange(resource=topic, set=own), inherited])
    for validate_only in (True, False):
        results = admin.unset_all_configs(
            [lost, topic, broker, none_set], validate_only=validate_only
        )
        assert [(r.name, [*r.change.delete], r.error) for r in results] == [
            ("lost", [], UNKNOWN), ("a", [*own], None), ("1", [], None), ("b", [], None),
        ]  # fmt: skip
        assert results[1].complete is (None if validate_only else True)
    emptied, kept = admin.describe_configs([topic, of_all])
    assert not [each for each in emptied.configs if each.source == "DYNAMIC_TOPIC_CONFIG"]
    assert "9" in {each.value for each in kept.configs if each.name == "log.retention.ms"}


def test_a_broker_that_lags_makes_a_change_incomplete(
    cluster: SyncCluster, admin: SyncAdminClient
) -> None:
    cluster.delay_metadata(60, 2)
    try:
        change = ConfigChange(resource=ConfigResource("topic", "b"), set={"flush.ms": "7"})
        (found,) = admin.change_configs([change], timeout=0.5)
    finally:
        cluster.delay_metadata(0)
    assert (found.complete, found.error) == (False, None)
    assert list(map(str, found.missing)) == ["broker 2: config flush.ms is not as asked"]


def test_quotas_that_were_not_set_are_named_where_it_is_asked(admin: SyncAdminClient) -> None:
    entity = {"user": "u", "client-id": None}
    admin.alter_client_quotas([QuotaAlteration(entity, {"producer_byte_rate": 1.0})])
    admin.alter_client_quotas([QuotaAlteration({"user": "u"}, {"consumer_byte_rate": 1.0})])
    change = QuotaAlteration(entity, {"producer_byte_rate": None, "consumer_byte_rate": None})
    (found,) = admin.alter_client_quotas([change], look_up=True)
    assert (found.error, found.not_set) == (None, ["consumer_byte_rate"])
    (again,) = admin.alter_client_quotas([change])
    assert again.not_set == ()


def test_partitions_are_found_by_names_and_pattern(admin: SyncAdminClient) -> None:
    found = admin.find_partitions(["b", "lost"], pattern="a|b")
    assert found.partitions == [("b", 0), ("a", 0), ("a", 1)]
    assert [(each.name, each.error) for each in found.failed] == [("lost", UNKNOWN)]
    assert [each.name for each in found.matched] == ["a", "b"]
    assert admin.find_partitions().partitions == [("a", 0), ("a", 1), ("b", 0)]
    assert admin.find_partitions(["b"]).matched == []


def test_a_reassignment_is_planned_and_not_begun(admin: SyncAdminClient) -> None:
    rows = [PartitionReplicas(topic, 0, [2, 1]) for topic in ("b", "lost")]
    found = admin.plan_reassignment([*rows, PartitionReplicas("a", 7, [1])])
    (now,) = [each.partitions[0].replicas for each in admin.describe_topics(["b"])]
    assert [(each.topic, each.current, each.replicas, each.error) for each in found] == [
        ("b", now, [2, 1], None), ("lost", None, [2, 1], UNKNOWN), ("a", None, [1], UNKNOWN),
    ]  # fmt: skip
    assert admin.list_partition_reassignments() == []
    with pytest.raises(NoSuchBrokerError, match="broker 9 is not among the live ones"):
        admin.plan_reassignment([PartitionReplicas("b", 0, [9])])


def test_users_are_deleted_with_all_their_passwords(admin: SyncAdminClient) -> None:
    admin.alter_users([ScramUpsertion("eve", "word", each) for each in (SHA_256, SHA_512)])
    assert admin.delete_users(["eve"], [SHA_512]) == [AlteredUser("eve", SHA_512)]
    lost, deleted = admin.delete_users(["eve", "lost"])
    assert (lost.user, lost.mechanism, lost.error) == ("lost", None, "RESOURCE_NOT_FOUND")
    assert deleted == AlteredUser("eve", SHA_256)
    assert admin.delete_users([]) == []


def test_a_cluster_without_coordinators_is_not_waited_for() -> None:
    """The topic of the coordinators would need more nodes, and an api is missing."""
    configs, versions = {"transaction.state.log.replication.factor": 3}, {"EndTxn": "none"}
    with (
        SyncCluster(1, configs=configs, api_versions=versions) as cluster,
        SyncAdminClient(cluster.bootstrap_servers) as admin,
        pytest.raises(UnsupportedVersionError, match="this cluster serves no transactions"),
    ):
        admin.describe_transactions(["one"], timeout=600)


@pytest.mark.parametrize("wait", [math.nan, -math.inf, -0.1])
def test_a_wait_that_is_none(admin: SyncAdminClient, wait: float) -> None:
    with pytest.raises(InstructionError, match="max_wait is 0 or more seconds, not"):
        admin.fetch({("orders", 0): 0}, max_wait=wait)


def test_an_endless_wait_fits_its_field(admin: SyncAdminClient) -> None:
    (found,) = admin.fetch({("nowhere", 0): 0}, max_wait=math.inf, timeout=math.inf)
    assert found.error == "UNKNOWN_TOPIC_OR_PARTITION"


@pytest.fixture
def orders() -> Iterator[SyncCluster]:
    with SyncCluster(topics={"orders": 2}) as found:
        yield found


def test_where_to_read_from_is_said_once_and_without_partitions_nowhere(
    orders: SyncCluster,
) -> None:
    with SyncAdminClient(orders.bootstrap_servers, timeout=10) as admin:
        assert admin.plan_reading(["orders"], partitions=[]).offsets == {}
        assert admin.plan_reading(["orders"]).offsets == {("orders", 0): 0, ("orders", 1): 0}
        for begin in ("latest", 7, -7):
            with pytest.raises(InstructionError, match="one of begin and since_ms"):
                admin.plan_reading(["orders"], begin=begin, since_ms=0)
        with pytest.raises(InstructionError, match="max_bytes is 0 or more, not -1"):
            admin.fetch({("orders", 0): 0}, max_bytes=-1)


def test_configs_without_keys_are_none(admin: SyncAdminClient) -> None:
    (found,) = admin.describe_configs([ConfigResource("topic", "a")], keys=[])
    assert (found.configs, found.error) == ([], None)


def test_records_that_do_not_read_name_their_partition(orders: SyncCluster) -> None:
    orders.produce("orders", [{"value": "paid", "partition": 1}])
    with (
        SyncAdminClient(orders.bootstrap_servers, timeout=10) as admin,
        orders.faults.add(api="Fetch", garbage="records"),
        pytest.raises(RemoteProtocolError, match=r"^records of orders-1 at offset 0: .*CRC"),
    ):
        admin.fetch({("orders", 1): 0})


def test_batches_that_were_written_before_a_failure_are_results(orders: SyncCluster) -> None:
    records = [NewRecord(value=bytes(700_000), partition=0) for _ in range(3)]
    with (
        SyncAdminClient(orders.bootstrap_servers, timeout=10) as admin,
        orders.faults.add(api="Produce", throttle_ms=60_000),
    ):
        found = admin.produce("orders", records, timeout=1)
    assert [(each.records, each.error) for each in found] == [
        (1, None), (1, "RequestTimedOutError"), (1, "RequestTimedOutError"),
    ]  # fmt: skip
    assert len(orders.records("orders")) == 1


def test_batches_before_a_record_that_cannot_be_written_are_results(orders: SyncCluster) -> None:
    good = NewRecord(value=bytes(700_000), partition=0)
    bad = msgspec.structs.replace(good, timestamp_ms=2**63)
    with SyncAdminClient(orders.bootstrap_servers, timeout=10) as admin:
        found = admin.produce("orders", [good, bad, good])
        with pytest.raises(InstructionError, match="a record that no batch can have"):
            admin.produce("orders", [bad, good])
    assert [each.error for each in found] == [None, "InstructionError", "InstructionError"]
    assert len(orders.records("orders")) == 1


def test_a_fetch_over_a_quota_brings_nothing_yet(orders: SyncCluster) -> None:
    """The answer has no partitions, which an answer without a quota may not be."""
    orders.produce("orders", [{"value": "x" * 1000, "partition": each} for each in (0, 1)])
    at = {("orders", 0): 0, ("orders", 1): 0}
    quotas = {"consumer_byte_rate": 1.0}
    everyone = QuotaAlteration({"client-id": None}, quotas)
    with SyncAdminClient(orders.bootstrap_servers, timeout=10) as admin:
        raise_for_errors(admin.alter_client_quotas([everyone]))
        assert admin.fetch(at) == [
            FetchedRecords(topic="orders", partition=each, next_offset=0) for each in (0, 1)
        ]
        with pytest.raises(RequestTimedOutError, match="as a quota is exceeded"):
            admin.fetch(at, timeout=0.2)
    with SyncAdminClient(orders.bootstrap_servers, timeout=10) as admin:
        raise_for_errors(
            admin.alter_client_quotas(
                [QuotaAlteration({"client-id": None}, {"consumer_byte_rate": None})]
            )
        )
        assert [len(each.records) for each in admin.fetch(at)] == [1, 1]


def test_wanted_topics_are_created_and_altered(admin: SyncAdminClient) -> None:
    wanted = [
        NewTopic("later", 3, 1, configs={"retention.ms": "5", "flush.ms": None}),
        NewTopic("grown", 2),
        NewTopic("kept", 1, configs={"retention.ms": "7.0", "flush.ms": None}),
        NewTopic("no name"),
    ]
    admin.create_topics([NewTopic("grown", 1, 1, configs={"retention.ms": "7"})])
    admin.create_topics([NewTopic("kept", 1, 1, configs={"retention.ms": "7"})])
    plan = admin.plan_apply_topics(wanted)
    assert [each.configs for each in plan.create] == [{"retention.ms": "5"}]
    assert [each.name for each in plan.alter.topics] == ["grown"]
    for validate_only in (True, False):
        applied = admin.run_apply_plan(plan, validate_only=validate_only)
        assert [(each.name, each.action, each.error) for each in applied] == [
            ("later", "create", None), ("grown", "alter", None), ("kept", "none", None),
            ("no name", "none", "INVALID_TOPIC_EXCEPTION"),
        ]  # fmt: skip
    described = admin.describe_topics(["later", "grown"], configs=True)
    assert [(len(each.partitions), each.configs) for each in described] == [
        (3, {"retention.ms": "5"}), (2, {"retention.ms": "7"}),
    ]  # fmt: skip
    again = admin.plan_apply_topics(wanted)
    assert (again.create, again.alter.topics) == ([], [])
    with pytest.raises(InstructionError, match="'grown'"):
        admin.plan_apply_topics([NewTopic("grown"), NewTopic("grown")])


def test_replicas_that_stay_leave_the_steps_behind_them(
    cluster: SyncCluster, admin: SyncAdminClient
) -> None:
    """What the controller refuses of one partition, or of all, is said of the topic."""
    admin.create_topics([NewTopic("moved", assignment={0: [1], 1: [1]})])
    change = TopicAlteration("moved", assignment={0: [2], 1: [2]}, configs={"retention.ms": "7"})
    reassign, code = "AlterPartitionReassignments", "POLICY_VIOLATION"
    with cluster.faults.add(api=reassign, topic="moved", partition=1, error=code):
        (part,) = admin.alter_topics([change])
    assert (part.error, part.done) == (code, 1)
    assert part.message is not None
    assert part.message.startswith("replicas: partition 1: ")
    assert part.message.endswith("; 1 of 3 steps had been taken")
    with cluster.faults.add(api=reassign, error="CLUSTER_AUTHORIZATION_FAILED"):
        (whole,) = admin.alter_topics([change])
    assert (whole.error, whole.done) == ("CLUSTER_AUTHORIZATION_FAILED", 0)
    (done,) = admin.alter_topics([change])
    assert (done.error, done.complete) == (None, True)
