"""Three brokers with topics whose partitions can be added, moved and led, without a network."""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_admin_proto.admin.operations.partitions import PartitionOperations
from kafka_admin_proto.admin.operations.partitions.reassignment import ReassignmentOperations
from kafka_admin_proto.admin.operations.topics.alteration import AlterOperations
from kafka_admin_proto.admin.retry import Backoff
from kafka_admin_proto.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from kafka_admin_proto.messages.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from kafka_admin_proto.messages.alter_replica_log_dirs_request import AlterReplicaLogDirsRequest
from kafka_admin_proto.messages.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kafka_admin_proto.messages.create_partitions_request import CreatePartitionsRequest
from kafka_admin_proto.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsRequest
from kafka_admin_proto.messages.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafka_admin_proto.messages.describe_log_dirs_request import DescribeLogDirsRequest
from kafka_admin_proto.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from kafka_admin_proto.messages.elect_leaders_request import ElectLeadersRequest
from kafka_admin_proto.messages.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    IncrementalAlterConfigsRequest,
)
from kafka_admin_proto.messages.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kafka_admin_proto.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from kafka_admin_proto.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from kafka_admin_proto.messages.metadata_request import MetadataRequest
from kafka_admin_proto.messages.metadata_response import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller, by_partition

OK, UNKNOWN, INVALID_PARTITIONS, INVALID_CONFIG, NO_REASSIGNMENT = 0, 3, 37, 40, 85
NOT_NEEDED, NOT_THERE, INVALID_ASSIGNMENT = 84, 9, 39
_SET, _DELETE = 0, 1
_TOPIC_CONFIG, _TOPIC, _BROKER = 1, 2, 4


class Replicas(msgspec.Struct):
    """A partition: its replicas, its leader, and where the replicas are going to."""

    now: list[int]
    leader: int
    target: list[int] | None = None

    @property
    def shown(self) -> list[int]:
        """As Metadata has them: those to come first, then those to go."""
        target = self.target or self.now
        return [*target, *(each for each in self.now if each not in target)]


class Cluster(AlterOperations, PartitionOperations, ReassignmentOperations, FakeCaller):
    """Moves end when ``arrive`` is called, or at once with ``instantly``."""

    backoff = Backoff(0, 0)

    def __init__(self, topics: dict[str, list[list[int]]], *, instantly: bool = True) -> None:
        super().__init__(
            {
                MetadataRequest: self._metadata,
                CreatePartitionsRequest: self._create,
                AlterPartitionReassignmentsRequest: self._reassign,
                ListPartitionReassignmentsRequest: self._list,
                IncrementalAlterConfigsRequest: self._alter_configs,
                DescribeConfigsRequest: self._describe_configs,
                ElectLeadersRequest: self._elect,
                DescribeLogDirsRequest: self._log_dirs,
                AlterReplicaLogDirsRequest: self._move_log_dirs,
            }
        )
        self.topics = {
            name: [Replicas(list(each), each[0]) for each in partitions]
            for name, partitions in topics.items()
        }
        self.instantly = instantly
        #: By "topic name" and "broker id".
        self.configs: dict[str, dict[str, str | None]] = {}
        self.paths: dict[tuple[str, int, int], str] = {}
        self.future: dict[tuple[str, int, int], str] = {}
        #: Brokers that never hear of anything new.
        self.deaf: dict[int, dict[str, list[list[int]]]] = {}

    def replicas(self, topic: str) -> list[list[int]]:
        return [each.shown for each in self.topics[topic]]

    def arrive(self) -> None:
        for partitions in self.topics.values():
            for each in partitions:
                if each.target is not None:
                    each.now, each.target = each.target, None
                    if each.leader not in each.now:
                        each.leader = each.now[0]
        self.paths |= self.future
        self.future.clear()

    def sent(self, kind: type[Message]) -> list[Call]:
        return [call for call in self.calls if isinstance(call.request, kind)]

    def _metadata(self, request: Message, call: Call) -> Message:
        assert isinstance(request, MetadataRequest)
        assert not request.allow_auto_topic_creation
        asked = [each.name for each in request.topics or []]
        found = []
        for name in asked:
            if name not in self.topics:
                found.append(MetadataResponseTopic(error_code=UNKNOWN, name=name))
                continue
            known = [(each.leader, each.shown, each.now) for each in self.topics[name]]
            if call.broker in self.deaf:
                known = [(each[0], each, []) for each in self.deaf[call.broker][name]]
            partitions = [
                MetadataResponsePartition(0, number, leader, replica_nodes=shown, isr_nodes=isr)
                for number, (leader, shown, isr) in enumerate(known)
            ]
            found.append(MetadataResponseTopic(name=name, partitions=partitions))
        return MetadataResponse(topics=found)

    def _create(self, request: Message, call: Call) -> Message:
        assert isinstance(request, CreatePartitionsRequest)
        results = []
        for topic in request.topics:
            there = self.topics.get(topic.name)
            code = UNKNOWN if there is None else OK
            if there is not None and topic.count <= len(there):
                code = INVALID_PARTITIONS
            if there is not None and topic.assignments is not None:
                factor = len(there[0].shown)
                if any(len(each.broker_ids) != factor for each in topic.assignments):
                    code = INVALID_ASSIGNMENT
            if code == OK and there is not None and not request.validate_only:
                assert topic.assignments is not None
                there += [
                    Replicas(list(each.broker_ids), each.broker_ids[0])
                    for each in topic.assignments
                ]
            results.append(CreatePartitionsTopicResult(name=topic.name, error_code=code))
        return CreatePartitionsResponse(results=results)

    def _reassign(self, request: Message, call: Call) -> Message:
        assert isinstance(request, AlterPartitionReassignmentsRequest)

        def moved(topic: str, each: Any) -> ReassignablePartitionResponse:
            code, there = OK, self.topics.get(topic, [])
            if each.partition_index >= len(there):
                code = UNKNOWN
            elif each.replicas is None:
                found = there[each.partition_index]
                code = NO_REASSIGNMENT if found.target is None else OK
                found.target = None
            else:
                there[each.partition_index].target = list(each.replicas)
            return ReassignablePartitionResponse(each.partition_index, code)

        responses = by_partition(request, ReassignableTopicResponse, moved)
        if self.instantly:
            self.arrive()
        return AlterPartitionReassignmentsResponse(responses=responses)

    def _list(self, request: Message, call: Call) -> Message:
        assert isinstance(request, ListPartitionReassignmentsRequest)
        asked = (
            {name: range(len(each)) for name, each in self.topics.items()}
            if request.topics is None
            else {each.name: each.partition_indexes for each in request.topics}
        )
        found = []
        for name, numbers in asked.items():
            own = []
            for number in numbers:
                if name not in self.topics or number >= len(self.topics[name]):
                    continue
                each = self.topics[name][number]
                if each.target is not None:
                    adding = [one for one in each.target if one not in each.now]
                    removing = [one for one in each.now if one not in each.target]
                    own.append(OngoingPartitionReassignment(number, each.shown, adding, removing))
            found.append(OngoingTopicReassignment(name=name, partitions=own))
        return ListPartitionReassignmentsResponse(topics=found)

    def _alter_configs(self, request: Message, call: Call) -> Message:
        assert isinstance(request, IncrementalAlterConfigsRequest)
        responses = []
        for resource in request.resources:
            kind = {_TOPIC: "topic", _BROKER: "broker"}[resource.resource_type]
            key = f"{kind} {resource.resource_name}"
            names = [each.name for each in resource.configs]
            code = INVALID_CONFIG if "no.such.config" in names else OK
            if code == OK and not request.validate_only:
                own = self.configs.setdefault(key, {})
                for each in resource.configs:
                    if each.config_operation == _SET:
                        own[each.name] = each.value
                    else:
                        assert each.config_operation == _DELETE
                        own.pop(each.name, None)
            row = AlterConfigsResourceResponse
            responses.append(row(code, None, resource.resource_type, resource.resource_name))
        return IncrementalAlterConfigsResponse(responses=responses)

    def _describe_configs(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeConfigsRequest)
        results = []
        for each in request.resources:
            own = self.configs.get(f"topic {each.resource_name}", {})
            row = DescribeConfigsResourceResult
            rows = [row(*config, config_source=_TOPIC_CONFIG) for config in own.items()]
            of_resource = (each.resource_type, each.resource_name)
            results.append(DescribeConfigsResult(0, None, *of_resource, rows))
        return DescribeConfigsResponse(results=results)

    def _elect(self, request: Message, call: Call) -> Message:
        assert isinstance(request, ElectLeadersRequest)
        asked = (
            {name: list(range(len(each))) for name, each in self.topics.items()}
            if request.topic_partitions is None
            else {each.topic: each.partitions for each in request.topic_partitions}
        )
        results = []
        for name, numbers in asked.items():
            own = []
            for number in numbers:
                code = OK
                if name not in self.topics or number >= len(self.topics[name]):
                    code = UNKNOWN
                else:
                    found = self.topics[name][number]
                    code = NOT_NEEDED if found.leader == found.now[0] else OK
                    found.leader = found.now[0]
                own.append(PartitionResult(partition_id=number, error_code=code))
            results.append(ReplicaElectionResult(topic=name, partition_result=own))
        return ElectLeadersResponse(replica_election_results=results)

    def _log_dirs(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeLogDirsRequest)
        results = []
        for path in ("/a", "/b"):
            topics = []
            for each in request.topics or []:
                for number in each.partitions:
                    key = (each.topic, number, call.broker)
                    for future, where in ((False, self.paths), (True, self.future)):
                        if where.get(key) == path:
                            shown = DescribeLogDirsPartition(number, is_future_key=future)
                            topics.append(DescribeLogDirsTopic(name=each.topic, partitions=[shown]))
            results.append(DescribeLogDirsResult(log_dir=path, topics=topics))
        return DescribeLogDirsResponse(results=results)

    def _move_log_dirs(self, request: Message, call: Call) -> Message:
        assert isinstance(request, AlterReplicaLogDirsRequest)
        results = []
        for path in request.dirs:
            for topic in path.topics:
                own = []
                for number in topic.partitions:
                    key = (topic.name, number, call.broker)
                    there = call.broker in self.topics[topic.name][number].now
                    if there:
                        self.future[key] = path.path
                        if self.paths.get(key) == path.path:
                            del self.future[key]
                    code = OK if there else NOT_THERE
                    own.append(AlterReplicaLogDirPartitionResult(number, code))
                results.append(AlterReplicaLogDirTopicResult(topic_name=topic.name, partitions=own))
        return AlterReplicaLogDirsResponse(results=results)
