"""Requests of admin clients that no drawn step has, in the order in which they are sent."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kafka_admin_proto.messages import (
    AddRaftVoterRequest,
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    CreateAclsRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
    DescribeClientQuotasRequest,
    DescribeUserScramCredentialsRequest,
    ListGroupsRequest,
    RemoveRaftVoterRequest,
    UpdateFeaturesRequest,
)
from kafka_admin_proto.messages import alter_client_quotas_request as quotas
from kafka_admin_proto.messages import alter_user_scram_credentials_request as scram
from kafka_admin_proto.messages import describe_client_quotas_request as described
from kafka_admin_proto.messages.add_raft_voter_request import Listener
from kafka_admin_proto.messages.create_acls_request import AclCreation
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter
from kafka_admin_proto.messages.describe_user_scram_credentials_request import UserName
from kafka_admin_proto.messages.update_features_request import FeatureUpdateKey
from kafka_admin_proto.values import Message

_DIRECTORY = UUID(int=7)
_SALT, _SALTED = b"salt", b"salted password"


def admin_requests() -> Iterator[Message]:
    """All of them; what one of them sets, a later one finds or takes back."""
    yield ListGroupsRequest()
    yield from _quotas()
    yield from _users()
    yield from _features()
    yield from _access()
    yield AddRaftVoterRequest(None, 1000, 4, _DIRECTORY, [Listener("CONTROLLER", "localhost", 9)])
    yield RemoveRaftVoterRequest(None, 3, _DIRECTORY)


def _quotas() -> Iterator[Message]:
    anna, default = ("user", "anna"), ("user", None)
    web, address = ("client-id", "web"), ("ip", "10.0.0.1")
    alterations: list[tuple[list[tuple[str, str | None]], list[quotas.OpData]]] = [
        ([anna], [quotas.OpData("producer_byte_rate", 1024.0)]),
        ([anna, web], [quotas.OpData("request_percentage", 12.5)]),
        ([default], [quotas.OpData("controller_mutation_rate", 0.25)]),
        ([address], [quotas.OpData("connection_creation_rate", 3.0)]),
        ([("ip", None)], [quotas.OpData("connection_creation_rate", 2.0**31)]),
        ([web], [quotas.OpData("consumer_byte_rate", 2.0**64)]),
        ([web], [quotas.OpData("consumer_byte_rate", 1.5)]),
        ([web], [quotas.OpData("consumer_byte_rate", 0.0)]),
        ([web], [quotas.OpData("consumer_byte_rate", 0.0, True)]),
        ([anna], [quotas.OpData("connection_creation_rate", 1.0)]),
        ([address], [quotas.OpData("producer_byte_rate", 1.0)]),
        ([address, anna], [quotas.OpData("producer_byte_rate", 1.0)]),
        ([("ip", "no address")], [quotas.OpData("connection_creation_rate", 1.0)]),
        ([("user", "")], [quotas.OpData("producer_byte_rate", 1.0)]),
        ([("group", "g")], [quotas.OpData("producer_byte_rate", 1.0)]),
        ([], [quotas.OpData("producer_byte_rate", 1.0)]),
        ([web], [quotas.OpData("consumer_byte_rate", 1.0)] * 2),
    ]
    for entity, ops in alterations:
        named = [quotas.EntityData(*each) for each in entity]
        yield AlterClientQuotasRequest([quotas.EntryData(named, ops)])
    twice = [
        quotas.EntryData([quotas.EntityData(*web)], [quotas.OpData("consumer_byte_rate", value)])
        for value in (1.0, 2.0)
    ]
    yield AlterClientQuotasRequest(twice, validate_only=True)
    yield AlterClientQuotasRequest(twice)
    filters: list[list[tuple[str, int, str | None]]] = [
        [],
        [("user", 0, "anna")],
        [("user", 1, None)],
        [("user", 2, None)],
        [("user", 2, None), ("client-id", 2, None)],
        [("ip", 2, None)],
        [("ip", 2, None), ("user", 2, None)],
        [("user", 0, None)],
        [("user", 1, "anna")],
        [("user", 2, "anna")],
        [("user", 3, None)],
        [("user", 2, None), ("user", 2, None)],
        [("", 2, None)],
        [("group", 2, None)],
    ]
    for components in filters:
        wanted = [described.ComponentData(*each) for each in components]
        yield DescribeClientQuotasRequest(wanted, strict=False)
        yield DescribeClientQuotasRequest(wanted, strict=True)
    removed = [quotas.OpData("producer_byte_rate", 0.0, True)]
    yield AlterClientQuotasRequest([quotas.EntryData([quotas.EntityData(*anna)], removed)])
    yield DescribeClientQuotasRequest([], strict=False)


def _users() -> Iterator[Message]:
    def upsertion(
        name: str, mechanism: int = 1, iterations: int = 4096
    ) -> scram.ScramCredentialUpsertion:
        return scram.ScramCredentialUpsertion(name, mechanism, iterations, _SALT, _SALTED)

    deletion = scram.ScramCredentialDeletion
    yield AlterUserScramCredentialsRequest([], [upsertion("bert"), upsertion("carl", 2, 16384)])
    yield AlterUserScramCredentialsRequest([], [upsertion("bert", 2)])
    for wrong in (
        upsertion(""),
        upsertion("dora", 3),
        upsertion("dora", 1, 4095),
        upsertion("dora", 1, 16385),
    ):
        yield AlterUserScramCredentialsRequest([], [wrong])
    yield AlterUserScramCredentialsRequest([], [upsertion("dora"), upsertion("dora", 2)])
    yield AlterUserScramCredentialsRequest([deletion("dora", 1), deletion("bert", 3)], [])
    yield AlterUserScramCredentialsRequest([deletion("bert", 2)], [upsertion("bert")])
    yield AlterUserScramCredentialsRequest([deletion("", 2), deletion("carl", 1)], [])
    yield AlterUserScramCredentialsRequest([deletion("carl", 2), deletion("carl", 2)], [])
    yield DescribeUserScramCredentialsRequest(None)
    yield DescribeUserScramCredentialsRequest([UserName("bert"), UserName("zoe")])
    yield DescribeUserScramCredentialsRequest([UserName("bert"), UserName("bert")])
    yield AlterUserScramCredentialsRequest([deletion("bert", 2), deletion("carl", 2)], [])
    yield DescribeUserScramCredentialsRequest([])


def _features() -> Iterator[Message]:
    upgrade, safe, unsafe = 1, 2, 3
    updates = [("metadata.version", level, kind)
               for level in (0, 1, 6, 7, 14, 17, 20, 21, 22, 29, 30, 31)
               for kind in (upgrade, safe, unsafe)]  # fmt: skip
    updates += [(name, level, kind)
                for name in ("transaction.version", "no.such", "kraft.version")
                for level in (0, 1, 2, 3, -1)
                for kind in (0, upgrade, safe, 4)]  # fmt: skip
    for name, level, kind in updates:
        update = FeatureUpdateKey(name, level, False, kind)
        yield UpdateFeaturesRequest(1000, [update], validate_only=True)
    for level, allowed in ((0, False), (0, True), (1, False), (9, True)):  # version 0
        yield UpdateFeaturesRequest(1000, [FeatureUpdateKey("group.version", level, allowed)])
    yield UpdateFeaturesRequest(1000, [], validate_only=True)
    both = [FeatureUpdateKey("group.version", 0, False, safe),
            FeatureUpdateKey("transaction.version", 9, False, upgrade)]  # fmt: skip
    yield UpdateFeaturesRequest(1000, both)
    twice = [FeatureUpdateKey("group.version", level, False, safe) for level in (0, 1)]
    yield UpdateFeaturesRequest(1000, twice, validate_only=True)


def _access() -> Iterator[Message]:
    yield DescribeAclsRequest(1, None, 1, None, None, 1, 1)
    yield CreateAclsRequest([AclCreation(2, "first", 3, "User:anna", "*", 3, 3)])
    yield DeleteAclsRequest([DeleteAclsFilter(2, None, 1, None, None, 1, 1)])
