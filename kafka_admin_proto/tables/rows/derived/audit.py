"""Make rows of the table ``admin_audit`` from requests that change what a cluster has."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pyarrow as pa

from kafka_admin_proto.tables.rows.calls import Call, Json, error_of
from kafka_admin_proto.tables.rows.derived_table import CALL, ORIGIN, TEXT, DerivedTable
from kafka_admin_proto.tables.rows.operations import groups, resources, topics
from kafka_admin_proto.tables.rows.operations.operation import Operations, with_names


def audit_rows(call: Call) -> Iterator[Json]:
    """The columns of ``admin_audit`` from a call's bodies, one row for each operation."""
    api = call.request["api"]
    request = call.request["body"]
    response = None if call.response is None else call.response["body"]
    if not isinstance(request, dict):
        return
    request = with_names(f"{api}Request", request)
    response = with_names(f"{api}Response", response) if isinstance(response, dict) else {}
    validate = request.pop("validateOnly", None)
    for each in OPERATIONS[api](request, response):
        yield {
            "operation": each.what,
            "topic": each.topic,
            "topic_id": each.topic_id,
            "resource_type": each.resource_type,
            "resource_name": each.resource_name,
            "parameters": msgspec.json.encode(each.parameters).decode(),
            "validate_only": validate if isinstance(validate, bool) else None,
            "answered": call.response is not None,
            "error": error_of(*each.codes),
            "message": each.message,
            "latency_us": None if call.response is None else call.response["latency_us"],
        }


#: Api → what makes operations of its request's and response's body, which have names of enums.
OPERATIONS: dict[str, Callable[[Json, Json], Operations]] = {
    "CreateTopics": topics.create_topics,
    "DeleteTopics": topics.delete_topics,
    "CreatePartitions": topics.create_partitions,
    "DeleteRecords": topics.delete_records,
    "AlterPartitionReassignments": topics.reassign,
    "ElectLeaders": topics.elect_leaders,
    "AlterReplicaLogDirs": topics.move_replicas,
    "AlterConfigs": resources.alter_configs,
    "IncrementalAlterConfigs": resources.alter_configs,
    "CreateAcls": resources.create_acls,
    "DeleteAcls": resources.delete_acls,
    "AlterUserScramCredentials": resources.alter_scram_credentials,
    "AlterClientQuotas": resources.alter_quotas,
    "UpdateFeatures": resources.update_features,
    "CreateDelegationToken": resources.create_token,
    "RenewDelegationToken": resources.renew_token,
    "ExpireDelegationToken": resources.expire_token,
    "UnregisterBroker": resources.unregister_broker,
    "UnregisterController": resources.unregister_controller,
    "AddRaftVoter": resources.add_voter,
    "RemoveRaftVoter": resources.remove_voter,
    "DeleteGroups": groups.delete_groups,
    "OffsetDelete": groups.delete_offsets,
    "DeleteShareGroupOffsets": groups.delete_share_offsets,
    "AlterShareGroupOffsets": groups.alter_share_offsets,
}

#: One row for each operation that a request asks for. ``operation`` is a verb and what it is done
#: to. ``topic`` is the topic, null for an election of all topics and for operations on other
#: resources; of an acl the resource's name, which may be a prefix, and of ``delete acl`` a filter's
#: name, null for all names. ``resource_type`` is TOPIC, or the type of what is changed; then
#: ``resource_name`` is its name. Offsets of a group have the group and the topic, a filter for
#: ACLs of all types (ANY) its name in both. ``parameters`` is the rest of the request's element as
#: JSON, with the names of Kafka's enums in place of numbers, secrets masked; of ``delete acl`` with
#: the response's ``matchingAcls``. ``error`` is a name, null for success and where no response was
#: captured (``answered`` tells which).
_SCHEMA = pa.schema(
    [
        *ORIGIN,
        *CALL,
        ("operation", TEXT),
        ("topic", TEXT),
        ("topic_id", TEXT),
        ("resource_type", TEXT),
        ("resource_name", TEXT),
        ("parameters", TEXT),
        ("validate_only", pa.bool_()),
        ("answered", pa.bool_()),
        ("error", TEXT),
        ("message", TEXT),
        ("latency_us", pa.int64()),
    ]
)
TABLE = DerivedTable(
    name="admin_audit", schema=_SCHEMA, apis=OPERATIONS, rows=audit_rows, names_topics=True
)
