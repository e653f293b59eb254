"""An admin client for Kafka clusters, asynchronous and synchronous.

Asynchronous::

    async with AdminClient("localhost:9092") as admin:
        print(await admin.describe_topics(["orders"]))

and the same without asyncio::

    with SyncAdminClient("localhost:9092") as admin:
        print(admin.describe_topics(["orders"]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

__all__ = [
    "AdminClient",
    "AdminError",
    "AuthenticationError",
    "Broker",
    "BrokerError",
    "ClientConfig",
    "ConfigurationError",
    "ConnectionFailedError",
    "ConnectionLostError",
    "NoSuchBrokerError",
    "Reply",
    "RequestTimedOutError",
    "SyncAdminClient",
    "Target",
    "TlsError",
    "TraceEvent",
    "UnresolvedError",
    "client_config",
]

if TYPE_CHECKING:
    from kafka_admin_proto.admin.caller import Broker, Reply, Target
    from kafka_admin_proto.admin.client import AdminClient
    from kafka_admin_proto.admin.config import ClientConfig, client_config
    from kafka_admin_proto.admin.errors import (
        AdminError,
        AuthenticationError,
        BrokerError,
        ConfigurationError,
        ConnectionFailedError,
        ConnectionLostError,
        NoSuchBrokerError,
        RequestTimedOutError,
        TlsError,
        UnresolvedError,
    )
    from kafka_admin_proto.admin.network.tracing import TraceEvent
    from kafka_admin_proto.admin.sync import SyncAdminClient
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "caller": ["Broker", "Reply", "Target"],
            "client": ["AdminClient"],
            "config": ["ClientConfig", "client_config"],
            "errors": [name for name in __all__ if name.endswith("Error")],
            "network.tracing": ["TraceEvent"],
            "sync": ["SyncAdminClient"],
        },
    )
