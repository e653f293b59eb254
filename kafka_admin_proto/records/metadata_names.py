"""Names of the numbers in metadata records, as Kafka's own enums have them.

A number that none of them has is shown as itself.
"""

from __future__ import annotations

from collections.abc import Mapping

#: ``org.apache.kafka.common.config.ConfigResource.Type``
CONFIG_RESOURCES = {2: "TOPIC", 4: "BROKER", 8: "BROKER_LOGGER", 16: "CLIENT_METRICS", 32: "GROUP"}
TOPIC_RESOURCE = 2

#: ``org.apache.kafka.clients.admin.ScramMechanism``
SCRAM_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}

#: ``org.apache.kafka.common.security.auth.SecurityProtocol``
SECURITY_PROTOCOLS = {0: "PLAINTEXT", 1: "SSL", 2: "SASL_PLAINTEXT", 3: "SASL_SSL"}

#: ``org.apache.kafka.common.resource.ResourceType``
ACL_RESOURCES = {
    2: "TOPIC", 3: "GROUP", 4: "CLUSTER", 5: "TRANSACTIONAL_ID", 6: "DELEGATION_TOKEN", 7: "USER",
}  # fmt: skip
#: ``org.apache.kafka.common.resource.PatternType``
ACL_PATTERNS = {3: "LITERAL", 4: "PREFIXED"}
#: ``org.apache.kafka.common.acl.AclPermissionType``
ACL_PERMISSIONS = {2: "DENY", 3: "ALLOW"}
#: ``org.apache.kafka.common.acl.AclOperation``
ACL_OPERATIONS = {
    2: "ALL", 3: "READ", 4: "WRITE", 5: "CREATE", 6: "DELETE", 7: "ALTER", 8: "DESCRIBE",
    9: "CLUSTER_ACTION", 10: "DESCRIBE_CONFIGS", 11: "ALTER_CONFIGS", 12: "IDEMPOTENT_WRITE",
    13: "CREATE_TOKENS", 14: "DESCRIBE_TOKENS", 15: "TWO_PHASE_COMMIT",
}  # fmt: skip

#: ``org.apache.kafka.metadata.LeaderRecoveryState``
LEADER_RECOVERY_STATES = {0: "RECOVERED", 1: "RECOVERING"}

#: ``org.apache.kafka.metadata.migration.ZkMigrationState`` (Kafka 3.x)
ZK_MIGRATION_STATES = {0: "NONE", 1: "PRE_MIGRATION", 2: "MIGRATION", 3: "POST_MIGRATION"}

METADATA_VERSION = "metadata.version"
#: ``org.apache.kafka.server.common.MetadataVersion``: level of the feature → name.
METADATA_VERSIONS = {
    1: "3.0-IV1", 2: "3.1-IV0", 3: "3.2-IV0", 4: "3.3-IV0", 5: "3.3-IV1", 6: "3.3-IV2",
    7: "3.3-IV3", 8: "3.4-IV0", 9: "3.5-IV0", 10: "3.5-IV1", 11: "3.5-IV2", 12: "3.6-IV0",
    13: "3.6-IV1", 14: "3.6-IV2", 15: "3.7-IV0", 16: "3.7-IV1", 17: "3.7-IV2", 18: "3.7-IV3",
    19: "3.7-IV4", 20: "3.8-IV0", 21: "3.9-IV0", 22: "4.0-IV0", 23: "4.0-IV1", 24: "4.0-IV2",
    25: "4.0-IV3", 26: "4.1-IV0", 27: "4.1-IV1", 28: "4.2-IV0", 29: "4.2-IV1", 30: "4.3-IV0",
    31: "4.4-IV0", 32: "4.4-IV1", 33: "4.4-IV2", 34: "4.5-IV0",
}  # fmt: skip


def name_of(names: Mapping[int, str], number: int) -> str:
    """The number's name, or its digits where it has none."""
    return names.get(number) or str(number)
