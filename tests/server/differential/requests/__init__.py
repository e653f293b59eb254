"""Requests drawn for a cluster, or for two at once: valid and invalid, biased to the edges."""

from tests.server.differential.requests import cluster, configs, topics
from tests.server.differential.requests.raw import raw

#: What draws a step, as often as it is drawn.
_USUAL = (
    *[topics.create_valid_topics] * 4,
    *[topics.create_topics] * 8,
    *[topics.create_many_partitions] * 1,
    *[topics.create_partitions] * 5,
    *[topics.delete_topics] * 4,
    *[topics.metadata] * 4,
    *[topics.describe_topic_partitions] * 3,
    *[configs.incremental_alter_configs] * 9,
    *[configs.alter_configs] * 4,
    *[configs.describe_configs] * 4,
    *[configs.list_config_resources] * 1,
    *[cluster.alter_partition_reassignments] * 4,
    *[cluster.list_partition_reassignments] * 1,
    *[cluster.elect_leaders] * 3,
    *[cluster.describe_cluster] * 1,
    *[cluster.describe_quorum] * 1,
    *[cluster.describe_log_dirs] * 2,
    *[cluster.find_coordinator] * 1,
    *[cluster.api_versions] * 1,
    *[cluster.refused_versions] * 2,
)
#: Each api as often as the others, as only a raw client sends it.
RAW_REQUEST = raw(*dict.fromkeys(_USUAL))
EVERY_REQUEST = (*_USUAL, *[RAW_REQUEST] * 12)

__all__ = ["EVERY_REQUEST", "RAW_REQUEST"]
