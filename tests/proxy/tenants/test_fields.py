"""No field of a message has the name of a topic, a group or a transaction unnoticed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_admin_proto.codec import codec
from kafka_admin_proto.codec.entities import struct_in
from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
    ShareFetchResponse,
    StreamsGroupHeartbeatRequest,
    alter_configs_request,
    incremental_alter_configs_request,
)
from kafka_admin_proto.protocol import api_versions
from kafka_admin_proto.proxy.tenants.fields import NamedField, named_fields
from kafka_admin_proto.proxy.tenants.filter import BETWEEN_BROKERS
from kafka_admin_proto.proxy.tenants.names import PrefixedNames
from kafka_admin_proto.wire.types.arrays import Array
from kafka_admin_proto.wire.types.blobs import Bytes, String
from kafka_admin_proto.wire.types.containers import StructType

#: Fields of text or bytes that name neither topics, groups nor transactions. A field of a new
#: release belongs here or to ``tenants/fields.py``.
_OTHERS = {
    "assignor_name", "auth_bytes", "client_host", "client_id",
    "client_software_name", "client_software_version", "client_tags.key", "client_tags.value",
    "cluster_id", "committed_metadata", "configs.name", "configs.value", "configuration_keys",
    "deletions.name", "documentation", "entity_name", "entity_type", "feature",
    "finalized_features.name", "group_instance_id", "group_state", "group_type", "hmac", "host",
    "host_filter", "instance_id", "leader", "listeners.name", "log_dir", "match", "mechanism",
    "mechanisms", "member_id", "metadata", "metrics", "nodes.name", "ops.key",
    "owner_principal_name", "owner_principal_type", "path", "principal", "principal_filter",
    "principal_name", "principal_type", "process_id", "processor.name", "protocol_data",
    "protocol_name", "protocol_type", "protocols.name", "rack", "rack_id", "reason",
    "requested_metrics", "salt", "salted_password", "server_assignor", "source.name",
    "state_filters", "states_filter", "stores", "subtopology_id", "successors",
    "supported_features.name", "synonyms.name", "token_id", "token_requester_principal_name",
    "token_requester_principal_type", "topic_configs.key", "topic_configs.value",
    "transaction_state", "types_filter", "unknown_state_filters", "upsertions.name", "user",
    "users.name", "values.key",
}  # fmt: skip
#: The topic of the quorum is the cluster's.
_OF_ALL = {"DescribeQuorumRequest.topics.topic_name", "DescribeQuorumResponse.topics.topic_name"}


def test_what_a_field_of_text_names_has_been_looked_at() -> None:
    unknown, seen = set(), set()
    for api in api_versions(unstable=True):
        if api.api_key in BETWEEN_BROKERS:
            continue
        for name in (f"{api.name}Request", f"{api.name}Response"):
            for version in range(api.versions.lowest, api.versions.highest + 1):
                struct = codec(name, version).grammar
                for path in _not_named(struct, named_fields(name, version), ""):
                    known = {path.rpartition(".")[2], ".".join(path.split(".")[-2:])} & _OTHERS
                    seen |= known
                    unknown |= set() if known else {name + path}
    assert unknown == _OF_ALL
    assert _OTHERS - seen == set()


def _not_named(struct: StructType, named: Sequence[NamedField], path: str) -> Iterator[str]:
    """Fields of text and bytes that are not looked at, or are marked as names and not looked at."""
    fields = {each.attribute: each for each in named}
    for member in struct.members:
        wire_type, field = member.wire_type, fields.get(member.attribute)
        if wire_type is None:
            continue
        place = f"{path}.{member.attribute}"
        inside = struct_in(wire_type)
        if inside is not None:
            yield from _not_named(inside, () if field is None else field.inner, place)
            continue
        element = wire_type.element if isinstance(wire_type, Array) else wire_type
        is_marked = member.entity_type in ("topicName", "groupId", "transactionalId")
        if field is None and (is_marked or isinstance(element, String | Bytes)):
            yield place


def test_places_of_topics_are_no_names() -> None:
    """Those of a Streams group that have to be partitioned alike are numbers."""
    of = StreamsGroupHeartbeatRequest
    together = of.CopartitionGroup(source_topics=[0], source_topic_regex=[1])
    part = of.Subtopology(
        source_topics=["a"], source_topic_regex=["b.*", "c"], copartition_groups=[together]
    )
    request = of(group_id="g", topology=of.Topology(subtopologies=[part]))
    names = PrefixedNames("team-")
    names.add(request, 0, request)
    assert (request.group_id, part.source_topics) == ("team-g", ["team-a"])
    assert part.source_topic_regex == [r"team\-(?:b.*)", r"team\-(?:c)"]
    assert (together.source_topics, together.source_topic_regex) == ([0], [1])


def test_the_topic_of_a_groups_dead_letters_has_the_prefix() -> None:
    """Else a tenant had the cluster write to the topics of others."""
    names, config = PrefixedNames("team-"), "errors.deadletterqueue.topic.name"

    found: list[Any] = []
    module: Any
    for module in (alter_configs_request, incremental_alter_configs_request):
        rows = [module.AlterableConfig(name=config, value=each) for each in ("dead", "", None)]
        rows.append(module.AlterableConfig(name="share.session.timeout.ms", value="45000"))
        found.append(module.AlterConfigsResource(32, "g", rows))
    old, new = AlterConfigsRequest([found[0]]), IncrementalAlterConfigsRequest([found[1]])
    names.add(old, 2, old)
    names.add(new, 1, new)
    for resource in found:
        assert resource.resource_name == "team-g"
        assert [each.value for each in resource.configs] == ["team-dead", "", None, "45000"]
    of_result = DescribeConfigsResponse.DescribeConfigsResult
    of_row = DescribeConfigsResponse.DescribeConfigsResourceResult
    synonym = DescribeConfigsResponse.DescribeConfigsSynonym(name=config, value="team-dead")
    own = of_row(name=config, value="team-dead", synonyms=[synonym])
    rows = [own, of_row(name=config, value="other-dead"), of_row(name="other", value="other-dead")]
    response = DescribeConfigsResponse(
        results=[of_result(resource_type=32, resource_name="team-g", configs=rows)]
    )
    assert names.remove(response, 4, DescribeConfigsRequest())
    (result,) = response.results
    assert [each.value for each in result.configs] == ["dead", "other-dead"]
    assert (own.synonyms[0].value, result.configs[1].name) == ("dead", "other")


def test_the_text_about_an_acknowledgement_loses_the_prefix() -> None:
    topic = ShareFetchResponse.ShareFetchableTopicResponse
    row = ShareFetchResponse.PartitionData(acknowledge_error_message="no records of team-orders")
    response = ShareFetchResponse(responses=[topic(partitions=[row])])
    assert PrefixedNames("team-").remove(response, 1, response)
    assert row.acknowledge_error_message == "no records of orders"
