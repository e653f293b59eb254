"""Requests for ACLs, credentials of users and quotas, drawn for both clusters."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.messages import (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    CreateAclsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteAclsRequest,
    DeleteTopicsRequest,
    DescribeAclsRequest,
    DescribeClientQuotasRequest,
    DescribeUserScramCredentialsRequest,
    FindCoordinatorRequest,
    ListGroupsRequest,
    UpdateFeaturesRequest,
    alter_client_quotas_request,
    describe_client_quotas_request,
)
from kafka_admin_proto.messages.alter_user_scram_credentials_request import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.messages.create_partitions_request import CreatePartitionsTopic
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter
from kafka_admin_proto.messages.delete_topics_request import DeleteTopicState
from kafka_admin_proto.messages.describe_user_scram_credentials_request import UserName
from kafka_admin_proto.messages.update_features_request import FeatureUpdateKey
from tests.server.differential.requests import EVERY_REQUEST, topics
from tests.server.differential.requests.drawing import TIMEOUT_MS, Draws, Step
from tests.server.differential.requests.pools import NAMES, RESOURCES
from tests.server.differential.requests.raw import raw

#: Who logs in: a super user, two with ACLs, and a super user whose changes are counted.
ADMIN, ALICE, BOB, CAROL = "admin", "alice", "bob", "carol"
PASSWORDS = {each: f"{each}-secret" for each in (ADMIN, ALICE, BOB, CAROL)}
SUPER_USERS = "User:ANONYMOUS;User:admin;User:carol"

#: The first version of the apis of ACLs whose patterns have a type.
_WITH_PATTERNS = 1
_CLUSTER = "kafka-cluster"
_NAMES = {
    2: [*NAMES[:6], "*", "a", "a", "x", "__"], 3: [*RESOURCES, "*", "o"], 4: [_CLUSTER],
    5: ["t", "*"], 6: ["token"], 7: ["User:sam"],
}  # fmt: skip
_PRINCIPALS = ["User:alice", "User:bob", "User:alice", "User:bob", "User:*"]
_OPERATIONS = [2, 8, 3, 4, 5, 6, 7, 9, 10, 11, 12]
_HOSTS = ["*", "*", "*", "127.0.0.1", "10.0.0.1", "127.0.0.0/8", "10.0.0.0/8"]
_RANGES = ["127.0.0.1/32", "::/0", "10.0.0.0/33", "10.0.0/8", "/", "::1/129", "256.0.0.0/8"]
_USERS = ["sam", "tim", "zoe"]


def first_topics(draws: Draws) -> Step:
    """The topics to begin with, which not everybody may create."""
    step = topics.first_topics(draws)
    step.user = ADMIN
    return step


def create_acls(draws: Draws) -> Step:
    """ACLs of every kind; some twice, some of codes that are none."""
    version = max(_WITH_PATTERNS, draws.version(30))
    odd = draws.rarely(4)
    rows = [_acl(draws, odd=odd) for _ in range(draws.one([1, 1, 2, 2, 3, 0]))]
    if rows and draws.rarely(6):
        rows.append(rows[0])
    request = CreateAclsRequest(rows)
    return Step(draws.node(), version, lambda _: request, user=draws.one([ADMIN] * 5 + [BOB]))


def _acl(draws: Draws, *, odd: bool) -> AclCreation:
    kind = draws.one([2, 2, 2, 2, 4, 4, 4, 3, 3, 5, 6, 7])
    row = AclCreation(
        kind,
        draws.one(_NAMES[kind]),
        draws.one([3, 3, 4]),
        draws.one(_PRINCIPALS),
        draws.one(_HOSTS),
        draws.one(_OPERATIONS),
        draws.one([3, 3, 3, 2]),
    )
    if odd:
        match draws.within(0, 6):
            case 0:
                row.resource_type = draws.one([1, 9, 0])
            case 1:
                row.resource_name = draws.one(["", "x"])
            case 2:
                row.resource_pattern_type = draws.one([1, 2, 9, 0])
            case 3:
                row.principal = draws.one(["alice", "", "Group:g", ":", "User:a:b"])
            case 4:
                row.operation = draws.one([1, 13, 15, 99, 0])
            case 5:
                row.permission_type = draws.one([1, 9, 0])
            case _:
                row.host = draws.one(["", "localhost", *_RANGES])
    return row


def describe_acls(draws: Draws) -> Step:
    """Filters: any, match, literal and prefixed."""
    version = max(_WITH_PATTERNS, draws.version(29))
    found = _filter(draws)
    request = DescribeAclsRequest(*(getattr(found, each) for each in found.__struct_fields__[:7]))
    return Step(draws.node(), version, lambda _: request)


def delete_acls(draws: Draws) -> Step:
    """The same filters, several at once."""
    version = max(_WITH_PATTERNS, draws.version(31))
    request = DeleteAclsRequest([_filter(draws) for _ in range(draws.one([1, 1, 2, 0]))])
    return Step(draws.node(), version, lambda _: request, user=draws.one([ADMIN] * 5 + [BOB]))


def _filter(draws: Draws) -> DeleteAclsFilter:
    kind = draws.one([1, 2, 2, 2, 3, 4])
    name = draws.one([None, None, *_NAMES.get(kind, NAMES), "a.b", "x"])
    found = DeleteAclsFilter(
        kind,
        name,
        draws.one([1, 2, 2, 3, 4]),
        draws.one([None, None, *_PRINCIPALS]),
        draws.one([None, None, None, *_HOSTS]),
        draws.one([1, 1, 1, *_OPERATIONS]),
        draws.one([1, 1, 3, 2]),
    )
    if draws.rarely(15):
        match draws.within(0, 3):
            case 0:
                found.resource_type_filter = draws.one([99, 0])
            case 1:
                found.pattern_type_filter = draws.one([99, 0])
            case 2:
                found.operation = draws.one([99, 0])
            case _:
                found.permission_type = draws.one([99, 0])
    return found


def alter_credentials(draws: Draws) -> Step:
    """Credentials set and deleted, rightly and wrongly."""
    version = draws.version(51)
    deletions = [
        ScramCredentialDeletion(draws.one(_USERS), draws.one([1, 1, 2, 3]))
        for _ in range(draws.one([0, 0, 1, 1, 2]))
    ]
    upsertions = [
        ScramCredentialUpsertion(
            draws.one([*_USERS, *_USERS, ""]),
            draws.one([1, 2, 1, 2, 0]),
            draws.one([4096, 4096, 8192, 4095, 16385]),
            b"salt",
            b"salted",
        )
        for _ in range(draws.one([1, 1, 2, 0]))
    ]
    request = AlterUserScramCredentialsRequest(deletions, upsertions)
    return Step(draws.node(), version, lambda _: request)


def describe_credentials(draws: Draws) -> Step:
    """Users with and without credentials; all of them for those who may."""
    version = draws.version(50)
    users = [UserName(draws.one(_USERS)) for _ in range(draws.one([1, 2, 1, 0]))]
    request = DescribeUserScramCredentialsRequest(users)
    return Step(draws.node(), version, lambda _: request)


def alter_quotas(draws: Draws) -> Step:
    """Quotas that are too high to throttle a client."""
    entities: list[list[tuple[str, str | None]]] = [
        [("user", "sam")], [("user", "sam"), ("client-id", "web")], [("ip", "10.0.0.1")],
        [("client-id", "web")], [("user", "")], [("group", "g")],
    ]  # fmt: skip
    keys = ["producer_byte_rate", "consumer_byte_rate", "connection_creation_rate", "no.such"]
    return _quota(draws, draws.one(entities), draws.one(keys), draws.one([1.0, 1024.0, 0.0, 1.5]))


def limit_changes(draws: Draws) -> Step:
    """How many partitions carol may change: hardly one, or any number."""
    entities: list[list[tuple[str, str | None]]] = [
        [("user", CAROL)], [("user", CAROL), ("client-id", "differ")],
        [("user", CAROL), ("client-id", None)],
    ]  # fmt: skip
    rate = draws.one([0.001, 0.001, 1e9])
    step = _quota(draws, draws.one(entities), "controller_mutation_rate", rate)
    step.user = ADMIN
    return step


def _quota(draws: Draws, entity: Sequence[tuple[str, str | None]], key: str, value: float) -> Step:
    named = [alter_client_quotas_request.EntityData(*each) for each in entity]
    operation = alter_client_quotas_request.OpData(key, value, draws.rarely(3))
    entry = alter_client_quotas_request.EntryData(named, [operation])
    request = AlterClientQuotasRequest([entry], draws.rarely(8))
    return Step(draws.node(), draws.version(49), lambda _: request)


def describe_quotas(draws: Draws) -> Step:
    """All of them, or those of users."""
    version = draws.version(48)
    request = DescribeClientQuotasRequest()
    if draws.rarely(2):
        component = describe_client_quotas_request.ComponentData("user", draws.one([2, 1]), None)
        request.components = [component]
    return Step(draws.node(), version, lambda _: request)


def counted_changes(draws: Draws) -> Step:
    """One topic that carol creates, changes or deletes: of several Kafka picks some at random."""
    change = draws.within(0, 2)
    if change == 0:
        version, name = draws.version(19), draws.new_name()
        topic = CreatableTopic(name, draws.within(1, 3), 1)
        created = CreateTopicsRequest([topic], TIMEOUT_MS, version >= 1 and draws.rarely(4))
        return Step(draws.node(), version, lambda _: created, [name], user=CAROL)
    name = draws.known_name()
    if change == 1:
        version = draws.version(37)
        more = CreatePartitionsTopic(name, draws.within(2, 6), None)
        added = CreatePartitionsRequest([more], TIMEOUT_MS, draws.rarely(4))
        return Step(draws.node(), version, lambda _: added, [name], user=CAROL)
    version = draws.version(20)
    deleted = DeleteTopicsRequest(timeout_ms=TIMEOUT_MS)
    if version >= 6:
        deleted.topics = [DeleteTopicState(name)]
    else:
        deleted.topic_names = [name]
    return Step(draws.node(), version, lambda _: deleted, user=CAROL)


def list_groups(draws: Draws) -> Step:
    """The groups that one may describe: there are none."""
    return Step(draws.node(), draws.version(16), lambda _: ListGroupsRequest())


def find_coordinators(draws: Draws) -> Step:
    """Of share groups: who may not ask has another error than who has no such topic."""
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=["g"])
    return Step(draws.node(), 6, lambda _: request, user=draws.one([ALICE, BOB]))


def update_features(draws: Draws) -> Step:
    """Levels of features that no release has."""
    update = FeatureUpdateKey("no.such", 1, False, 1)
    request = UpdateFeaturesRequest(TIMEOUT_MS, [update])
    return Step(draws.node(), max(1, draws.version(57)), lambda _: request)


_USUAL = (
    *[create_acls] * 16,
    *[delete_acls] * 4,
    *[describe_acls] * 4,
    *[counted_changes] * 5,
    *[limit_changes] * 3,
    *[alter_credentials] * 3,
    *[describe_credentials] * 2,
    *[alter_quotas] * 2,
    *[describe_quotas] * 2,
    *[update_features] * 1,
    *[list_groups] * 1,
    *[find_coordinators] * 1,
)
#: As only a raw client sends them; a limit of changes would be one for all, and slow those down
#: who take back what was changed.
RAW_REQUEST = raw(*(each for each in dict.fromkeys(_USUAL) if each is not limit_changes))
#: What a cluster with users and an authorizer is asked.
REQUESTS = (*EVERY_REQUEST, *_USUAL, *[RAW_REQUEST] * 8)
