"""Random metadata logs that hang together for the most part: few names, so that they meet."""

from __future__ import annotations

from random import Random
from uuid import UUID

from kafka_admin_proto.messages import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
    UserScramCredentialRecord,
)
from kafka_admin_proto.messages.client_quota_record import EntityData
from kafka_admin_proto.messages.register_broker_record import BrokerEndpoint, BrokerFeature
from kafka_admin_proto.messages.register_controller_record import ControllerEndpoint
from kafka_admin_proto.values import Message

#: A record and its version.
Versioned = tuple[Message, int]

Log = list[list[Versioned]]

_NAMES = ("apple", "pear", "plum")
_DIRECTORIES = [UUID(int=0), UUID(int=1), *(UUID(int=1000 + n) for n in range(3))]


def random_log(random: Random, batches: int, *, transactions: bool) -> Log:
    """Batches of records. A transaction begins and ends with a batch, as controllers do it."""
    log: Log = []
    in_transaction = False
    for _ in range(batches):
        batch = [_record(random) for _ in range(random.randint(1, 8))]
        if transactions and random.random() < 0.3 and not in_transaction:
            batch.insert(0, (BeginTransactionRecord(name="some"), 0))
            in_transaction = True
        elif random.random() < 0.4 and in_transaction:
            ended = random.choice((EndTransactionRecord, AbortTransactionRecord))
            batch.append((ended(), 0))
            in_transaction = False
        log.append(batch)
    return log


def _record(random: Random) -> Versioned:
    make = random.choices(list(_MAKERS), weights=list(_MAKERS.values()))[0]
    return make(random)


def _topic_id(random: Random) -> UUID:
    """Few topics, each with a name of its own, as topic ids are never used twice."""
    return UUID(int=100 + random.randrange(len(_NAMES)))


def _ids(random: Random, most: int = 3) -> list[int]:
    return random.sample((1, 2, 3), random.randint(0, most))


def _maybe_ids(random: Random) -> list[int] | None:
    return _ids(random) if random.random() < 0.5 else None


def _topic(random: Random) -> Versioned:
    topic_id = _topic_id(random)
    return TopicRecord(name=_NAMES[topic_id.int - 100], topic_id=topic_id), 0


def _remove_topic(random: Random) -> Versioned:
    return RemoveTopicRecord(topic_id=_topic_id(random)), 0


def _partition(random: Random) -> Versioned:
    version = random.choice((0, 1, 2))
    record = PartitionRecord(
        partition_id=random.randrange(3),
        topic_id=_topic_id(random),
        replicas=_ids(random),
        isr=_ids(random),
        removing_replicas=_ids(random, 1),
        adding_replicas=_ids(random, 1),
        leader=random.choice((-1, 1, 2)),
        leader_recovery_state=random.choice((0, 0, 1, 2)),
        leader_epoch=random.choice((0, 5, (1 << 31) - 1)),
        partition_epoch=random.choice((0, 9, (1 << 31) - 1)),
    )
    if version >= 1:
        count = len(record.replicas) if random.random() < 0.8 else random.randrange(3)
        record.directories = random.choices(_DIRECTORIES, k=count)
    if version >= 2:
        record.eligible_leader_replicas = _maybe_ids(random)
        record.last_known_elr = _maybe_ids(random)
    return record, version


def _change_partition(random: Random) -> Versioned:
    version = random.choice((0, 1, 2))
    record = PartitionChangeRecord(
        partition_id=random.randrange(3),
        topic_id=_topic_id(random),
        isr=_maybe_ids(random),
        leader=random.choice((-2, -1, 1, 2)),
        replicas=_maybe_ids(random),
        removing_replicas=_maybe_ids(random),
        adding_replicas=_maybe_ids(random),
        leader_recovery_state=random.choice((-1, -1, 0, 1, 3)),
    )
    if version >= 1 and random.random() < 0.5:
        record.directories = random.choices(_DIRECTORIES, k=random.randrange(4))
    if version >= 2:
        record.eligible_leader_replicas = _maybe_ids(random)
        record.last_known_elr = _maybe_ids(random)
    return record, version


def _clear_elr(random: Random) -> Versioned:
    return ClearElrRecord(topic_name=random.choice(("", *_NAMES))), 0


def _register_broker(random: Random) -> Versioned:
    version = random.choice((0, 1, 2, 3, 4))
    record = RegisterBrokerRecord(
        broker_id=random.choice((1, 2)),
        incarnation_id=UUID(int=random.randrange(1 << 128)),
        broker_epoch=random.choice((5, 6)),
        end_points=[
            BrokerEndpoint(name, "127.0.0.1", random.randrange(65536), random.randrange(4))
            for name in ("IN", "OUT")
        ],
        features=[BrokerFeature("metadata.version", 7, random.randint(7, 25))],
        rack=random.choice((None, "r1")),
        fenced=random.random() < 0.5,
    )
    if version >= 1:
        record.in_controlled_shutdown = random.random() < 0.2
    if version >= 3:
        record.log_dirs = random.sample(_DIRECTORIES, random.randrange(3))
    if version >= 4 and random.random() < 0.5:
        record.cordoned_log_dirs = random.sample(_DIRECTORIES, random.randrange(2))
    return record, version


def _change_broker(random: Random) -> Versioned:
    version = random.choice((0, 1, 2, 3))
    record = BrokerRegistrationChangeRecord(
        broker_id=random.choice((1, 2)),
        broker_epoch=random.choice((5, 6)),
        fenced=random.choice((-1, 0, 1, 2)),
    )
    if version >= 1:
        record.in_controlled_shutdown = random.choice((0, 1, 2))
    if version >= 2:
        record.log_dirs = random.sample(_DIRECTORIES, random.randrange(3))
    if version >= 3 and random.random() < 0.5:
        record.cordoned_log_dirs = random.sample(_DIRECTORIES, random.randrange(2))
    return record, version


def _fence(random: Random) -> Versioned:
    fences = random.choice((FenceBrokerRecord, UnfenceBrokerRecord))
    return fences(id=random.choice((1, 2)), epoch=random.choice((5, 6))), 0


def _unregister_broker(random: Random) -> Versioned:
    return UnregisterBrokerRecord(broker_id=random.choice((1, 2, 3)), broker_epoch=5), 0


def _controller(random: Random) -> Versioned:
    if random.random() < 0.4:
        return UnregisterControllerRecord(controller_id=random.choice((1, 2, 3))), 0
    record = RegisterControllerRecord(
        controller_id=random.choice((1, 2)),
        incarnation_id=UUID(int=random.randrange(1 << 128)),
        zk_migration_ready=random.random() < 0.5,
        end_points=[ControllerEndpoint("CONTROLLER", "127.0.0.1", random.randrange(65536), 0)],
    )
    return record, 0


def _config(random: Random) -> Versioned:
    resource, name = random.choice(((2, "apple"), (2, "plum"), (4, ""), (4, "1"), (32, "eaters")))
    value = random.choice((None, "1", "2"))
    key = random.choice(("retention.ms", "ssl.key.password"))
    return ConfigRecord(resource_type=resource, resource_name=name, name=key, value=value), 0


def _feature(random: Random) -> Versioned:
    if random.random() < 0.3:
        return FeatureLevelRecord(name="metadata.version", feature_level=random.randint(7, 33)), 0
    name = random.choice(("group.version", "share.version"))
    return FeatureLevelRecord(name=name, feature_level=random.randint(0, 2)), 0


def _acl(random: Random) -> Versioned:
    if random.random() < 0.4:
        return RemoveAccessControlEntryRecord(id=UUID(int=random.randrange(3) + 500)), 0
    record = AccessControlEntryRecord(
        id=UUID(int=random.randrange(3) + 500),
        resource_type=random.randint(2, 7),
        resource_name=random.choice(_NAMES),
        pattern_type=random.choice((3, 4)),
        principal="User:eve",
        host="*",
        operation=random.randint(2, 15),
        permission_type=random.choice((2, 3)),
    )
    return record, 0


def _quota(random: Random) -> Versioned:
    kinds = random.sample(("user", "client-id"), random.randint(1, 2))
    entity = [EntityData(kind, random.choice((None, "eve"))) for kind in kinds]
    key = random.choice(("producer_byte_rate", "request_percentage"))
    remove = random.random() < 0.3
    return ClientQuotaRecord(entity=entity, key=key, value=random.random(), remove=remove), 0


def _user(random: Random) -> Versioned:
    name, mechanism = random.choice(_NAMES), random.choice((1, 2))
    if random.random() < 0.4:
        return RemoveUserScramCredentialRecord(name=name, mechanism=mechanism), 0
    record = UserScramCredentialRecord(
        name=name, mechanism=mechanism, salt=b"s", stored_key=b"k", server_key=b"l",
        iterations=random.choice((4096, 8192)),
    )  # fmt: skip
    return record, 0


def _token(random: Random) -> Versioned:
    token = random.choice(("one", "two"))
    if random.random() < 0.4:
        return RemoveDelegationTokenRecord(token_id=token), 0
    record = DelegationTokenRecord(
        owner="User:eve", requester="User:adam", token_id=token, issue_timestamp=1000,
        renewers=random.choice(([], ["User:abel", "User:cain"])),
        max_timestamp=9000, expiration_timestamp=random.choice((2000, 3000)),
    )  # fmt: skip
    return record, 0


def _producer_ids(random: Random) -> Versioned:
    return ProducerIdsRecord(broker_id=1, next_producer_id=random.randrange(1 << 40)), 0


def _nothing(random: Random) -> Versioned:
    return NoOpRecord(), 0


_MAKERS = {
    _topic: 3, _remove_topic: 1, _partition: 6, _change_partition: 8, _clear_elr: 1,
    _register_broker: 2, _change_broker: 3, _fence: 2, _unregister_broker: 1, _controller: 2,
    _config: 4, _feature: 2, _acl: 3, _quota: 3, _user: 3, _token: 2, _producer_ids: 1,
    _nothing: 1,
}  # fmt: skip
