"""What a secured cluster is asked for its ACLs, quotas and users, and how these are taken back."""

from __future__ import annotations

from kafka_admin_proto.messages import (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    DeleteAclsRequest,
    DescribeAclsRequest,
    DescribeClientQuotasRequest,
    DescribeUserScramCredentialsRequest,
)
from kafka_admin_proto.messages.alter_client_quotas_request import EntityData, EntryData, OpData
from kafka_admin_proto.messages.alter_user_scram_credentials_request import ScramCredentialDeletion
from kafka_admin_proto.messages.delete_acls_request import DeleteAclsFilter
from tests.server.differential.wire import Nodes

_ALL_ACLS = DescribeAclsRequest(1, None, 1, None, None, 1, 1)
_ALL_QUOTAS = DescribeClientQuotasRequest()
_ALL_USERS = DescribeUserScramCredentialsRequest(None)
#: (request, version) for every node.
ACCESS_QUESTIONS = ((_ALL_ACLS, 3), (_ALL_QUOTAS, 1), (_ALL_USERS, 0))
#: With quotas of both kinds Kafka looks for the one that counts as this cluster does: with one kind
#: a client without a quota has a bucket of its own, which forgets what was overdrawn.
_OTHERS = ([("user", "other")], [("user", "other"), ("client-id", "other")])
_RATE = "controller_mutation_rate"


def reset_access(cluster: Nodes) -> None:
    """Delete all ACLs, quotas and credentials."""
    cluster.ask(0, DeleteAclsRequest([DeleteAclsFilter(1, None, 1, None, None, 1, 1)]), 3)
    entries = [
        EntryData(
            [EntityData(part.entity_type, part.entity_name) for part in each.entity],
            [OpData(value.key, 0.0, True) for value in each.values],
        )
        for each in cluster.ask(0, _ALL_QUOTAS, 1).entries
    ]
    cluster.ask(0, AlterClientQuotasRequest(entries), 1)
    entries = [
        EntryData([EntityData(*part) for part in each], [OpData(_RATE, 1.0)]) for each in _OTHERS
    ]
    cluster.ask(0, AlterClientQuotasRequest(entries), 1)
    for user in cluster.ask(0, _ALL_USERS, 0).results:
        deletions = [
            ScramCredentialDeletion(user.user, each.mechanism) for each in user.credential_infos
        ]
        for deletion in deletions:
            cluster.ask(0, AlterUserScramCredentialsRequest([deletion], []), 0)
