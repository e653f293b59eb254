"""Configs of topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.configs.altering import AlterConfigs
from kafka_admin_proto.admin.operations.configs.describing import DescribeConfigs


class ConfigOperations(DescribeConfigs, AlterConfigs):
    """Describe, alter and replace configs, and list the resources that have some."""
