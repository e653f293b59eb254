"""Quotas, users, features, ACLs and voters; ``clients/`` has them beside real clusters."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from kafka_admin_proto.errors import EncodeError
from kafka_admin_proto.messages import (
    AlterClientQuotasRequest,
    AlterUserScramCredentialsRequest,
    DescribeClientQuotasRequest,
    DescribeQuorumRequest,
    DescribeUserScramCredentialsRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    UpdateFeaturesRequest,
)
from kafka_admin_proto.messages import alter_client_quotas_request as quotas
from kafka_admin_proto.messages import alter_user_scram_credentials_request as scram
from kafka_admin_proto.messages.config_record import ConfigRecord
from kafka_admin_proto.messages.describe_quorum_request import PartitionData, TopicData
from kafka_admin_proto.messages.feature_level_record import FeatureLevelRecord
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.update_features_request import FeatureUpdateKey
from kafka_admin_proto.server.releases import RELEASES
from kafka_admin_proto.server.security.scram import credential
from tests.server.clients.admin_requests import admin_requests
from tests.server.served import Served


@pytest.mark.parametrize("release", RELEASES)
def test_each_request_is_answered(release: str) -> None:
    served = Served(release)
    for request in admin_requests():
        assert request.api_key is not None
        try:
            request.encode(served.versions[request.api_key].highest)
        except EncodeError:
            continue  # what this version has no field for
        served.ask(request)


def test_quotas_are_set_described_and_removed() -> None:
    served = Served()
    whom = [quotas.EntityData("user", "anna"), quotas.EntityData("client-id", None)]

    def altered(*ops: quotas.OpData) -> int:
        response = served.ask(AlterClientQuotasRequest([quotas.EntryData(whom, list(ops))]))
        code: int = response.entries[0].error_code
        return code

    assert altered(quotas.OpData("producer_byte_rate", 5.0)) == 0
    assert altered(quotas.OpData("producer_byte_rate", 5.5)) == 42
    (entry,) = served.ask(DescribeClientQuotasRequest([], strict=False)).entries
    assert {(each.entity_type, each.entity_name) for each in entry.entity} == {
        ("user", "anna"),
        ("client-id", None),
    }
    assert [(each.key, each.value) for each in entry.values] == [("producer_byte_rate", 5.0)]
    before = served.state.end_offset
    assert altered(quotas.OpData("producer_byte_rate", 5.0)) == 0
    assert served.state.end_offset == before, "nothing has changed, so nothing is written"
    assert altered(quotas.OpData("producer_byte_rate", 0.0, True)) == 0
    assert served.ask(DescribeClientQuotasRequest([], strict=False)).entries == []


def test_a_credential_has_keys_in_place_of_the_password() -> None:
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", b"salt", 4096)
    record = credential("anna", 1, b"salt", salted, 4096)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    assert record.stored_key == hashlib.sha256(client_key).digest()
    assert record.server_key == hmac.digest(salted, b"Server Key", "sha256")
    assert salted not in (record.salt, record.stored_key, record.server_key)


def test_users_are_described_without_their_credentials() -> None:
    served = Served()
    upsertion = scram.ScramCredentialUpsertion("anna", 2, 8192, b"salt", b"salted")
    served.ask(AlterUserScramCredentialsRequest([], [upsertion]))
    (row,) = served.ask(DescribeUserScramCredentialsRequest(None)).results
    assert (row.user, row.error_code) == ("anna", 0)
    assert [(each.mechanism, each.iterations) for each in row.credential_infos] == [(2, 8192)]


def test_a_dry_run_changes_no_feature() -> None:
    served = Served()
    update = FeatureUpdateKey("group.version", 0, False, 2)
    for validate_only in (True, False):
        served.ask(UpdateFeaturesRequest(1000, [update], validate_only))
        assert ("group.version" in served.state.cluster.features) == validate_only


def test_min_in_sync_is_that_of_all_brokers_where_leaders_are_eligible_by_it() -> None:
    served = Served()
    name = "eligible.leader.replicas.version"
    served.state.append(
        [ConfigRecord(4, "", "min.insync.replicas", None), FeatureLevelRecord(name, 0),
         ConfigRecord(4, "2", "min.insync.replicas", "2")]
    )  # fmt: skip
    served.ask(UpdateFeaturesRequest(1000, [FeatureUpdateKey(name, 1, False, 1)]))
    configs = served.state.cluster.configs
    assert configs == {(4, ""): {"min.insync.replicas": "1"}}


@pytest.mark.parametrize("release", RELEASES)
def test_a_brokers_throttles_are_set(release: str) -> None:
    """ReassignPartitionsCommand sets them; 3.9 does not have them among its broker's configs."""
    rate = AlterableConfig("leader.replication.throttled.rate", 0, "1000")
    resource = AlterConfigsResource(4, "1", [rate])
    (row,) = Served(release).ask(IncrementalAlterConfigsRequest([resource])).responses
    assert (row.error_code, row.error_message) == (0, None)


def test_voters_of_a_static_quorum_show_no_directories() -> None:
    asked = DescribeQuorumRequest([TopicData("__cluster_metadata", [PartitionData(0)])])
    (voter, *_) = Served().ask(asked).topics[0].partitions[0].current_voters
    assert voter.replica_directory_id.int == 0


def test_there_are_no_groups() -> None:
    response = Served().ask(ListGroupsRequest())
    assert (response.error_code, response.groups) == (0, [])
