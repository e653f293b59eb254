"""A controller whose brokers are elsewhere, asked one request at a time, without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from kafka_admin_proto import codec
from kafka_admin_proto.messages import (
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    CreateTopicsRequest,
    DefaultPrincipalData,
)
from kafka_admin_proto.messages.assign_replicas_to_dirs_request import (
    DirectoryData,
    PartitionData,
    TopicData,
)
from kafka_admin_proto.messages.broker_registration_request import Feature, Listener
from kafka_admin_proto.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
)
from kafka_admin_proto.protocol import frame, read_response, write_request
from kafka_admin_proto.records.metadata.entities import Broker, Partition
from kafka_admin_proto.server import Cluster
from kafka_admin_proto.server.apis import CONTROLLERS, Answer, Caller, served_apis
from kafka_admin_proto.server.brokers.registration import Registration
from kafka_admin_proto.server.network.node import Listener as OwnListener
from kafka_admin_proto.server.quorum.starting import new_controller
from kafka_admin_proto.server.releases import ReleaseNumber
from kafka_admin_proto.server.respond import respond
from kafka_admin_proto.values import Message
from tests.server.still_clock import StillClock

CLUSTER_ID = "b25lIG9mIGEga2luZA"
CONTROLLER = 3000
#: "User:alice" as brokers forward it.
PRINCIPAL = bytes(2) + codec(DefaultPrincipalData, 0).encode(
    DefaultPrincipalData(type="User", name="alice")
)


class Controller:
    """``ask`` answers as the controller would; ``configs`` are those of its properties file."""

    def __init__(self, release: str = "4.4", configs: Mapping[str, str] | None = None) -> None:
        number = ReleaseNumber.parse(release)
        self.clock = StillClock()
        node = Registration(CONTROLLER, [OwnListener("CONTROLLER", "h", "h", 9000)], None, uuid4())
        static = {"node.id": str(CONTROLLER), **(configs or {})}
        self.state = new_controller(number, CLUSTER_ID, static, node, self.clock)
        self.state.apis = served_apis(number, CONTROLLERS)
        self.versions = {each.api_key: each.versions for each in self.state.apis}

    def answer(self, request: Message, version: int | None = None) -> Answer:
        """The answer, which may wait, after its records are appended."""
        assert request.api_key is not None
        if version is None:
            version = self.versions[request.api_key].highest
        seen = codec(type(request), version)
        caller = Caller(CONTROLLER, version, "client", listener="CONTROLLER")
        answer = respond(self.state, request.api_key, seen.decode(seen.encode(request)), caller)
        self.state.append(answer.records)
        return answer

    def ask(self, request: Message, version: int | None = None) -> Any:
        """The response as its bytes say."""
        assert request.api_key is not None
        if version is None:
            version = self.versions[request.api_key].highest
        response = self.answer(request, version).response
        sent = codec(type(response), version)
        return sent.decode(sent.encode(response))

    def broker(self, number: int) -> Broker:
        return self.state.cluster.brokers[number]

    def register(self, number: int, **fields: Any) -> BrokerRegistrationResponse:
        response = self.ask(registration(number, **fields))
        assert isinstance(response, BrokerRegistrationResponse)
        return response

    def beat(self, number: int, **fields: Any) -> Any:
        """A heartbeat of the broker, by default of one that has the whole log."""
        given = {
            "broker_epoch": self.broker(number).epoch,
            "current_metadata_offset": self.state.end_offset - 1,
            **fields,
        }
        return self.ask(BrokerHeartbeatRequest(broker_id=number, **given))

    def start(self, number: int, **fields: Any) -> None:
        """Register and unfence a broker."""
        assert self.register(number, **fields).error_code == 0
        assert not self.beat(number).is_fenced

    def assign(self, number: int, directory: UUID, topic: UUID, partition: int) -> int:
        """Say that a broker's replica is in this directory; the error code."""
        asked = DirectoryData(directory, [TopicData(topic, [PartitionData(partition)])])
        epoch = self.broker(number).epoch
        response = self.ask(AssignReplicasToDirsRequest(number, epoch, directories=[asked]))
        code: int = response.directories[0].topics[0].partitions[0].error_code
        return code

    def create(self, name: str, *replicas: list[int]) -> UUID:
        """Create a topic with these replicas of its partitions."""
        rows = [CreatableReplicaAssignment(i, each) for i, each in enumerate(replicas)]
        topics = [CreatableTopic(name, -1, -1, rows)]
        response = self.ask(CreateTopicsRequest(topics=topics, timeout_ms=1000))
        assert response.topics[0].error_code == 0, response
        found: UUID = response.topics[0].topic_id
        return found

    def partition(self, topic: UUID, number: int = 0) -> Partition:
        found = self.state.topic_by_id(topic)
        assert found is not None
        return found.partitions[number]


async def asked(cluster: Cluster, request: Message, version: int = 0) -> Any:
    """The answer to one request on a connection of its own."""
    host, port = cluster.bootstrap_servers.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(frame(write_request(request, version, 1, "broker")))
        size = int.from_bytes(await reader.readexactly(4), "big")
        data = await reader.readexactly(size)
    finally:
        writer.close()
        await writer.wait_closed()
    assert request.api_key is not None
    response = read_response(data, request.api_key, version)
    assert response.error is None
    return response.body


def registration(number: int, **fields: Any) -> BrokerRegistrationRequest:
    """The request with which a broker of 4.4.0 registers; ``fields`` are others than its own."""
    given = {
        "cluster_id": CLUSTER_ID,
        "incarnation_id": uuid4(),
        "listeners": [Listener("PLAINTEXT", "127.0.0.1", 9000 + number, 0)],
        "features": [
            Feature("metadata.version", 7, 33), Feature("kraft.version", 0, 1),
            Feature("transaction.version", 0, 2), Feature("group.version", 0, 1),
            Feature("eligible.leader.replicas.version", 0, 1), Feature("share.version", 0, 2),
            Feature("streams.version", 0, 1),
        ],
        "log_dirs": [uuid4()],
        **fields,
    }  # fmt: skip
    return BrokerRegistrationRequest(broker_id=number, **given)
