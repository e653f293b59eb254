"""The cluster itself: its brokers and controller, their api versions, and features."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.cluster.description import DescribeCluster
from kafka_admin_proto.admin.operations.cluster.features import FeatureOperations


class ClusterOperations(DescribeCluster, FeatureOperations):
    """DescribeCluster, ApiVersions, UpdateFeatures, UnregisterBroker."""
