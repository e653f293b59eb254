"""Frames with all that an explanation has to show, for the tests of the rows and of the page."""

from __future__ import annotations

from uuid import UUID

from kafka_admin_proto import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    DescribeAclsRequest,
    DescribeAclsResponse,
    IncrementalAlterConfigsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.capture import Block, DecodedFrame, FrameDecoder
from kafka_admin_proto.messages.create_topics_request import CreatableTopic
from kafka_admin_proto.messages.describe_acls_response import AclDescription, DescribeAclsResource
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
)
from kafka_admin_proto.messages.list_offsets_request import ListOffsetsPartition, ListOffsetsTopic
from kafka_admin_proto.messages.metadata_response import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_admin_proto.protocol import frame, write_request, write_response

TOPIC_ID = UUID("5a9f0c11-2b3d-4e5f-8a6b-7c8d9e0f1a2b")
PASSWORD = "open-sesame-42"
#: Tries to end its script, to run, and to hide by turning the direction of the text.
HOSTILE = (
    '</script><img src=x onerror="window.broken=1"><!--\u202e\u0000 ]]> &lt;\u2028 {{7*7}} \x1b[2J'
)


def decoded(*payloads: bytes) -> list[DecodedFrame]:
    """The frames of a connection that carried those payloads."""
    stream = b"".join(frame(payload) for payload in payloads)
    return list(FrameDecoder().decode(Block(stream, 0)))


def metadata(topics: int, partitions: int = 3) -> MetadataResponse:
    """A response with that many topics; 100 kB for 400 of them."""
    return MetadataResponse(
        throttle_time_ms=100,
        brokers=[MetadataResponseBroker(node, f"broker-{node}", 9092) for node in range(3)],
        cluster_id="bC1-sample",
        controller_id=1,
        topics=[
            MetadataResponseTopic(
                name=f"topic-{number:05}",
                topic_id=TOPIC_ID,
                topic_authorized_operations=0b1101_1111_1000,
                partitions=[
                    MetadataResponsePartition(
                        partition_index=index,
                        leader_id=index - 1,
                        leader_epoch=7,
                        replica_nodes=[0, 1, 2],
                        isr_nodes=[0, 1],
                    )
                    for index in range(partitions)
                ],
            )
            for number in range(topics)
        ],
    )


def sample_payloads() -> list[bytes]:
    """Requests and responses of several apis; the last ones do not decode."""
    secret = AlterConfigsResource(
        resource_type=4,
        resource_name="1",
        configs=[
            AlterableConfig("ssl.keystore.password", 0, PASSWORD),
            AlterableConfig("log.retention.hours", 0, "24"),
        ],
    )
    tagged = ApiVersionsRequest(
        client_software_name="tester",
        client_software_version="1.0",
        unknown_tagged_fields=((77, b"\x01\x02\x03"),),
    )
    acls = [AclDescription("User:ann", "*", 3, 3), AclDescription("User:bob", "10.0.0.1", 4, 2)]
    requests = [
        write_request(tagged, 3, 1, "demo"),
        write_request(
            CreateTopicsRequest(
                topics=[CreatableTopic("apples", 6, 3), CreatableTopic("pears", -1, -1)],
                timeout_ms=30_000,
            ),
            7, 2, "demo",
        ),
        write_request(MetadataRequest(topics=None), 12, 3, "demo"),
        write_response(metadata(3), 12, 3),
        write_request(IncrementalAlterConfigsRequest(resources=[secret]), 1, 4, "demo"),
        write_request(DescribeAclsRequest(2, "apples", 3, None, None, 1, 1), 2, 5, "demo"),
        write_response(
            DescribeAclsResponse(resources=[DescribeAclsResource(2, "apples", 4, acls)]), 2, 5
        ),
        write_request(
            ListOffsetsRequest(
                replica_id=-1,
                topics=[
                    ListOffsetsTopic(
                        "apples",
                        [
                            ListOffsetsPartition(partition_index=0, timestamp=-2),
                            ListOffsetsPartition(partition_index=1, timestamp=1_729_798_381_000),
                        ],
                    )
                ],
            ),
            7, 6, HOSTILE,
        ),
    ]  # fmt: skip
    bad = bytearray(write_request(CreateTopicsRequest(topics=[CreatableTopic("plums")]), 4, 8, "x"))
    bad[15:17] = b"\x40\x00"  # the length of the topic's name
    return [*requests, bytes(bad), requests[1] + b"\x00\xff"]
