"""Configs of topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from kafka_admin_proto.admin.operations.configs.changing import ChangeConfigs


class ConfigOperations(ChangeConfigs):
    """Describe, alter, change and replace configs, and list the resources that have some."""
