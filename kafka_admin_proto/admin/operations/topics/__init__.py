"""Topics: creating, deleting, listing, describing and altering them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_admin_proto.lazy_names import lazy_names

__all__ = ["TopicOperations"]

# A command that lists topics needs no messages of those that create them.
if TYPE_CHECKING:
    from kafka_admin_proto.admin.operations.topics.operations import TopicOperations
else:
    __getattr__, __dir__ = lazy_names(__name__, {"operations": ["TopicOperations"]})
