"""The cluster itself: its brokers and controller, their api versions, features and log dirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

__all__ = ["ClusterOperations"]

# A command that describes log dirs needs no messages of features.
if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.cluster.operations import ClusterOperations
else:
    __getattr__, __dir__ = lazy_names(__name__, {"operations": ["ClusterOperations"]})
