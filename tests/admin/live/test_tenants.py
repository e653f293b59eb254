"""Two tenants of a real cluster, behind proxies: Kafka's own words, patterns and groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from kafka_admin_proto.admin import (
    AclBinding,
    AclFilter,
    AclOperation,
    AdminClient,
    NewTopic,
    ResourceType,
    SyncAdminClient,
)
from kafka_admin_proto.proxy import SyncProxy, TenantFilter
from tests.admin.live.helpers.each_broker import heard_everywhere
from tests.proxy.tenants.clients import read_and_write, transact_and_read
from tools.clusters import Cluster

_ALL = AclBinding(ResourceType.TOPIC, "*", "User:tenant", AclOperation.READ)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_tenants_of_a_real_cluster(
    kraft_cluster: Cluster, unique: Callable[[str], str], protocol: str
) -> None:
    foreign: list[str] = []
    for mark in (b"one", b"two"):
        prefix = unique(mark.decode()) + "-"
        tenant = TenantFilter(prefix)
        with (
            SyncProxy(kraft_cluster.bootstrap, [tenant]) as proxy,
            SyncAdminClient(proxy.bootstrap_servers) as client,
        ):
            servers = proxy.bootstrap_servers
            made = client.create_topics([NewTopic("orders", 2, 3), NewTopic("bills", 1, 3)])
            assert [each.error for each in made] == [None, None]
            (refused,) = client.create_topics([NewTopic("o" * 247, 1)])
            assert refused.message is not None
            assert f"the length of '{'o' * 247}' is longer than the max" in refused.message
            assert read_and_write(servers, mark) == [mark]
            group = {"group.id": "billing", "group.protocol": protocol}
            assert transact_and_read(servers, mark, **group) == [mark]
            assert [each.name for each in client.list_topics()] == ["bills", "orders"]
            assert [each.name for each in client.describe_topics()] == ["bills", "orders"]
            groups = [each.group_id for each in client.list_groups().groups]
            assert groups == ["billing", "readers"]
            listed = client.list_transactions().transactions
            assert [each.transactional_id for each in listed] == ["writer"]
            (created,) = client.create_acls([_ALL])
            assert created.error is None
            heard_everywhere(kraft_cluster, partial(_has_acl, prefix), f"an ACL of {prefix}")
            assert client.describe_acls(AclFilter(ResourceType.TOPIC)) == [_ALL]
            client.delete_acls([AclFilter(ResourceType.TOPIC, "*")])
            for each in foreign:
                (deleted,) = client.delete_topics(topic_ids=[each])
                assert deleted.error == "UNKNOWN_TOPIC_ID"
            foreign = [each.topic_id or "" for each in client.list_topics()]


async def _has_acl(prefix: str, client: AdminClient) -> bool:
    found = await client.describe_acls(AclFilter(ResourceType.TOPIC))
    return any(each.name.startswith(prefix) for each in found)
