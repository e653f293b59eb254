"""ACLs, SCRAM users and quotas: Kafka's commands see what we did, and we what they did."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from kafka_admin_proto.admin import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AdminClient,
    BrokerError,
    ClientQuota,
    PatternType,
    QuotaAlteration,
    QuotaComponent,
    QuotaMatch,
    ResourceType,
    ScramCredential,
    ScramDeletion,
    ScramMechanism,
    ScramUpsertion,
)
from tests.admin.live.helpers.controllers import wait_until
from tests.admin.live.helpers.each_broker import heard_everywhere
from tests.admin.live.helpers.kafka_python import kafka_python_admin
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.admin.live.helpers.secured import PASSWORDS, Secured
from tools.clusters import Cluster

_T = TypeVar("_T")
SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512


def ask(cluster: Cluster, question: Callable[[AdminClient], Awaitable[_T]]) -> _T:
    """What a client of its own answers."""

    async def asked() -> _T:
        async with AdminClient(cluster.bootstrap, timeout=30) as admin:
            return await question(admin)

    return asyncio.run(asked())


def test_acls(cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]) -> None:
    name = unique("acl")
    literal = AclBinding(ResourceType.TOPIC, name, "User:alice", AclOperation.READ)
    prefixed = AclBinding(
        ResourceType.GROUP,
        f"{name}-",
        "User:bob",
        AclOperation.ALL,
        AclPermission.DENY,
        PatternType.PREFIXED,
        "10.0.0.1",
    )
    wrong = AclBinding(ResourceType.CLUSTER, name, "User:bob", AclOperation.ALTER)
    created = ask(cluster, lambda admin: admin.create_acls([literal, wrong, prefixed]))
    assert [(each.acl, each.error) for each in created] == [
        (literal, None), (wrong, "INVALID_REQUEST"), (prefixed, None)
    ]  # fmt: skip
    at = ("--bootstrap-server", cluster.bootstrap)

    def listed() -> str:
        return kafka_tools.run("AclCommand", *at, "--list")

    # The brokers of a ZooKeeper cluster hear of them a moment later.
    wait_until(lambda: name in listed() and f"{name}-" in listed(), "AclCommand lists both")
    text = listed()
    assert f"name={name}, patternType=LITERAL" in text
    assert f"name={name}-, patternType=PREFIXED" in text
    assert "(principal=User:bob, host=10.0.0.1, operation=ALL, permissionType=DENY)" in text
    kafka_tools.run(
        "AclCommand", *at, "--add", "--allow-principal", "User:carol", "--operation", "Describe",
        "--transactional-id", name,
    )  # fmt: skip
    theirs = AclBinding(ResourceType.TRANSACTIONAL_ID, name, "User:carol", AclOperation.DESCRIBE)

    def found(filter: AclFilter) -> list[AclBinding]:
        return ask(cluster, lambda admin: admin.describe_acls(filter))

    async def theirs_too(client: AdminClient) -> bool:
        all_of_them = {literal, theirs, prefixed}
        return all_of_them <= set(await client.describe_acls())

    heard_everywhere(cluster, theirs_too, "what they added")
    assert found(AclFilter(name=name)) == sorted([literal, theirs])
    matching = AclFilter(ResourceType.GROUP, f"{name}-7", pattern_type=PatternType.MATCH)
    assert prefixed in found(matching)
    assert prefixed not in found(AclFilter(ResourceType.GROUP, f"{name}-7"))
    assert found(AclFilter(name=name, principal="User:alice")) == [literal]
    assert found(AclFilter(name=name, operation=AclOperation.DESCRIBE)) == [theirs]
    filters = [AclFilter(name=name), AclFilter(name=f"{name}-"), AclFilter(name=f"{name}-none")]
    deleted = ask(cluster, lambda admin: admin.delete_acls(filters))
    assert [[each.acl for each in result.acls] for result in deleted] == [
        sorted([literal, theirs]), [prefixed], []
    ]  # fmt: skip
    assert not any(result.error for result in deleted)
    wait_until(lambda: name not in listed(), "AclCommand lists none of them")


def test_quotas(cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]) -> None:
    user, client = unique("user"), unique("client")
    both = {"user": user, "client-id": client}
    alterations = [
        QuotaAlteration(both, {"producer_byte_rate": 1024.0, "consumer_byte_rate": 2048.0}),
        QuotaAlteration({"user": user}, {"no_such_quota": 1.0}),
        QuotaAlteration({"client-id": client}, {"request_percentage": 25.0}),
    ]
    checked = ask(cluster, lambda admin: admin.alter_client_quotas(alterations, validate_only=True))
    assert [each.error for each in checked] == [None, "INVALID_REQUEST", None]
    at = ("--bootstrap-server", cluster.bootstrap)
    of_both = [
        *("--entity-type", "users", "--entity-name", user),
        *("--entity-type", "clients", "--entity-name", client),
    ]

    def described() -> str:
        return kafka_tools.run("ConfigCommand", *at, "--describe", *of_both)

    assert "1024" not in described()
    altered = ask(cluster, lambda admin: admin.alter_client_quotas(alterations))
    assert [(each.entity, each.error) for each in altered] == [
        (both, None), ({"user": user}, "INVALID_REQUEST"), ({"client-id": client}, None)
    ]  # fmt: skip
    wait_until(lambda: "producer_byte_rate=1024.0" in described(), "ConfigCommand describes it")
    kafka_tools.run(
        "ConfigCommand", *at, "--alter", "--add-config", "producer_byte_rate=7", *of_both
    )

    def found(*components: QuotaComponent, strict: bool = False) -> list[ClientQuota]:
        return ask(cluster, lambda admin: admin.describe_client_quotas(components, strict=strict))

    of_user = QuotaComponent("user", QuotaMatch.EXACT, user)
    of_client = QuotaComponent("client-id", QuotaMatch.EXACT, client)
    expected = ClientQuota(both, {"consumer_byte_rate": 2048.0, "producer_byte_rate": 7.0})

    async def is_set(client: AdminClient) -> bool:
        return await client.describe_client_quotas([of_user]) == [expected]

    heard_everywhere(cluster, is_set, "what they set")
    assert found(of_user, strict=True) == []
    assert found(of_client, strict=True) == [
        ClientQuota({"client-id": client}, {"request_percentage": 25.0})
    ]
    assert expected in found(of_client)
    assert expected in found()
    removal = [
        QuotaAlteration(both, dict.fromkeys(expected.quotas)),
        QuotaAlteration({"client-id": client}, {"request_percentage": None}),
        QuotaAlteration({"user": None}, {"consumer_byte_rate": 9e6}),
    ]
    ask(cluster, lambda admin: admin.alter_client_quotas(removal))
    default = QuotaComponent("user", QuotaMatch.DEFAULT)
    wait_until(
        lambda: found(default) == [ClientQuota({"user": None}, {"consumer_byte_rate": 9e6})],
        "the default entity",
    )
    wait_until(lambda: found(of_user) + found(of_client) == [], "no quotas left")
    undo = [QuotaAlteration({"user": None}, {"consumer_byte_rate": None})]
    ask(cluster, lambda admin: admin.alter_client_quotas(undo))


def test_users(cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]) -> None:
    ours, theirs = unique("scram"), unique("scram")
    at = ("--bootstrap-server", cluster.bootstrap)
    kafka_tools.run(
        "ConfigCommand", *at, "--alter", "--entity-type", "users", "--entity-name", theirs,
        "--add-config", "SCRAM-SHA-512=[iterations=5000,password=theirs]",
    )  # fmt: skip
    wait_until(
        lambda: (
            ask(cluster, lambda admin: admin.describe_users([theirs]))[0].credentials
            == [ScramCredential(SHA_512, 5000)]
        ),
        "what they set",
    )
    upsertions = [ScramUpsertion(ours, "one"), ScramUpsertion(ours, "two", SHA_256, 8192)]
    deletions = [ScramDeletion(theirs, SHA_512), ScramDeletion("nobody", SHA_256)]
    altered = ask(cluster, lambda admin: admin.alter_users(upsertions, deletions))
    assert [(each.user, each.error) for each in altered] == [
        (ours, None), (ours, None), (theirs, None), ("nobody", "RESOURCE_NOT_FOUND")
    ]  # fmt: skip

    def described(user: str) -> str:
        of_user = ("--entity-type", "users", "--entity-name", user)
        return kafka_tools.run("ConfigCommand", *at, "--describe", *of_user)

    def has_both(text: str) -> bool:
        return "SCRAM-SHA-256=iterations=8192" in text and "SCRAM-SHA-512=iterations=4096" in text

    wait_until(lambda: has_both(described(ours)), "ConfigCommand describes ours")
    wait_until(lambda: "iterations" not in described(theirs), "and theirs no more")

    async def is_gone(client: AdminClient) -> bool:
        (none,) = await client.describe_users([theirs])
        return none.error == "RESOURCE_NOT_FOUND"

    heard_everywhere(cluster, is_gone, "theirs is gone")
    undo = [ScramDeletion(ours, SHA_256), ScramDeletion(ours, SHA_512)]
    assert not ask(cluster, lambda admin: admin.alter_users([], undo))[0].error


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
def test_whoever_was_given_a_password_can_log_in(
    secured: Secured, unique: Callable[[str], str], mechanism: ScramMechanism
) -> None:
    """The salted password is the one that Kafka computes: its brokers take the proof."""
    user = unique("login")
    upsertion = ScramUpsertion(user, "a plain, = word", mechanism, 4096 + 100)
    (altered,) = ask(secured.cluster, lambda admin: admin.alter_users([upsertion]))
    assert altered.error is None
    options = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": str(mechanism),
        "sasl_plain_username": user,
        "sasl_plain_password": upsertion.password,
    }

    def logs_in() -> bool:
        """A broker hears of the user a moment later."""
        try:
            with kafka_python_admin(secured.address("SASL"), **options) as client:
                return bool(client.describe_cluster()["brokers"])
        except Exception as error:  # kafka-python's classes warn where they are imported
            if not type(error).__module__.startswith("kafka."):
                raise
            return False

    wait_until(logs_in, "the user logs in", 60)


async def test_without_rights(secured: Secured) -> None:
    admin = AdminClient(
        secured.address("SASL"),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_username="bob",
        sasl_password=PASSWORDS["bob"],
        timeout=20,
    )
    async with admin:
        acl = AclBinding(ResourceType.TOPIC, "t", "User:bob", AclOperation.READ)
        (created,) = await admin.create_acls([acl])
        assert created.error == "CLUSTER_AUTHORIZATION_FAILED"
        with pytest.raises(BrokerError, match="CLUSTER_AUTHORIZATION_FAILED"):
            await admin.describe_acls()
        with pytest.raises(BrokerError, match="CLUSTER_AUTHORIZATION_FAILED"):
            await admin.describe_users()
        (user,) = await admin.alter_users([ScramUpsertion("bob", "secret-word")])
        assert user.error == "CLUSTER_AUTHORIZATION_FAILED"
