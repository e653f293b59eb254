"""A proxy in front of any cluster: addresses rewritten, and filters for what passes.

Usage::

    async with Proxy("kafka-1:9092", filters=[NoDeletes()]) as proxy:
        client(proxy.bootstrap_servers)

``docs/proxy.md`` says what a filter is, and what passes as it came.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

if TYPE_CHECKING:
    from kafka_admin_proto.proxy.call import Call as Call
    from kafka_admin_proto.proxy.policies import PolicyFilter as PolicyFilter
    from kafka_admin_proto.proxy.proxy import Proxy as Proxy
    from kafka_admin_proto.proxy.sync import SyncProxy as SyncProxy
    from kafka_admin_proto.proxy.tenants.filter import TenantFilter as TenantFilter
else:
    __getattr__, __dir__ = lazy_names(__name__)
