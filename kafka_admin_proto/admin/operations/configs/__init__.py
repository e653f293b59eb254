"""Configs of topics, brokers, loggers, groups and client metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

__all__ = ["ConfigOperations"]

# Descriptions of topics need what topics override, and none of the requests that alter configs.
if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.configs.operations import ConfigOperations
else:
    __getattr__, __dir__ = lazy_names(__name__, {"operations": ["ConfigOperations"]})
