"""Alterations of topics, planned as requests that Kafka ships before anything is changed.

KIP-4's drafts proposed an AlterTopic request that never shipped, in two readings that differ; Kafka
has CreatePartitions, AlterPartitionReassignments and IncrementalAlterConfigs instead.
``planning`` turns an instruction (``instructions``) into steps (``plans``) by either reading;
``operations.topics.alteration`` reads the topics' states and carries a plan out.
docs/alter-topic.md has the tables of both.
"""

from __future__ import annotations

from kafka_admin_proto.admin.alter.instructions import TopicAlteration, once_each
from kafka_admin_proto.admin.alter.plans import (
    AddPartitionsStep,
    AlterPlan,
    AlterTopicStep,
    DeleteConfigStep,
    ReassignStep,
    SetConfigStep,
    TopicPlan,
    render_plan,
)

__all__ = [
    "AddPartitionsStep",
    "AlterPlan",
    "AlterTopicStep",
    "DeleteConfigStep",
    "ReassignStep",
    "SetConfigStep",
    "TopicAlteration",
    "TopicPlan",
    "once_each",
    "render_plan",
]
