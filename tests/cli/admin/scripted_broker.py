"""A broker that keeps its state in memory, on a real socket: enough for each command's happy path.

    with ScriptedBroker() as broker:
        broker.topics["orders"] = Topic(assignment=[[1, 2], [2, 3]])
        run("topics list", "--bootstrap-server", broker.address)

Three brokers share its one port. ``fail`` has what to answer next in place of the usual, and
``requests`` what was asked.
"""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import UUID, uuid5

import kafka_admin_proto.messages as m
from kafka_admin_proto import Message
from kafka_admin_proto.protocol import FrameReader, frame, read_request, supported, write_response
from kafka_admin_proto.protocol.payload_values import Request
from tests.admin.fake_caller import by_partition

_SPACE = UUID(int=7)
BROKERS = (1, 2, 3)
RACKS = {1: "a", 2: "b", 3: None}
CLUSTER_ID = "scripted-cluster-00000"
#: Error codes.
UNKNOWN_TOPIC, EXISTS, FEWER = 3, 36, 37
INVALID_CONFIG, UNKNOWN_ID, GROUP_ID_NOT_FOUND = 40, 100, 69
TOPIC_AUTHORIZATION_FAILED = 29
RESOURCE_NOT_FOUND, NO_REASSIGNMENT = 91, 85


@dataclass
class Topic:
    """A topic: the replicas of each partition, and the configs that are set for it."""

    assignment: list[list[int]] = field(default_factory=lambda: [[1, 2, 3]])
    configs: dict[str, str] = field(default_factory=dict)
    internal: bool = False
    #: Partition → in-sync replicas, where they are not all.
    isr: dict[int, list[int]] = field(default_factory=dict)
    #: Partition → leader, where it is not the first replica.
    leaders: dict[int, int] = field(default_factory=dict)


def topic_id(name: str) -> UUID:
    """The id of the topic of that name."""
    return uuid5(_SPACE, name)


class ScriptedBroker:
    """Answers from a small state; ``address`` is where."""

    def __init__(self) -> None:
        self.topics: dict[str, Topic] = {}
        #: Group → committed offset by topic and partition.
        self.groups: dict[str, dict[tuple[str, int], int]] = {}
        self.acls: list[tuple[int, str, int, str, str, int, int]] = []
        #: User → mechanism → iterations.
        self.users: dict[str, dict[int, int]] = {}
        self.broker_configs: dict[str, str] = {}
        #: Topics whose configs the client may not see.
        self.hidden: set[str] = set()
        self.requests: list[Request] = []
        #: Message class of a request → what to answer once in its place.
        self.fail: dict[str, Message] = {}
        #: Apis that are never answered.
        self.silent: set[str] = set()
        #: Set when such a request has come.
        self.ignored = threading.Event()
        #: Connections so far.
        self.accepted = 0
        self.ends = {"earliest": 0, "latest": 100}
        self._reassigning: dict[tuple[str, int], list[int]] = {}
        self._server = _Server(("127.0.0.1", 0), _Connection)
        self._server.broker = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def asked(self, name: str) -> list[Any]:
        """The bodies of the requests of that name so far."""
        return [r.body for r in self.requests if r.api == name]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._server.end_connections()
        self._thread.join()

    def answer(self, request: Request) -> Message:
        """The response to a request."""
        self.requests.append(request)
        name = type(request.body).__name__
        if name in self.fail:
            return self.fail.pop(name)
        handler: Callable[[Any], Message] = getattr(self, f"_{request.api}")
        return handler(request.body)

    # Each api by its name.

    def _ApiVersions(self, request: m.ApiVersionsRequest) -> Message:
        row = m.ApiVersionsResponse.ApiVersion
        versions = {_key(name): supported(name) for name in _handled(type(self))}
        keys = [row(key, each.lowest, each.highest) for key, each in versions.items()]
        return m.ApiVersionsResponse(api_keys=keys)

    def _Metadata(self, request: m.MetadataRequest) -> Message:
        if request.topics is None:
            found = [self._topic(name) for name in self.topics]
        else:
            names = {topic_id(name): name for name in self.topics}
            found = [
                self._topic(names.get(each.topic_id) if each.name is None else each.name, each)
                for each in request.topics
            ]
        return m.MetadataResponse(
            brokers=[
                m.MetadataResponse.MetadataResponseBroker(each, "127.0.0.1", self.port, RACKS[each])
                for each in BROKERS
            ],
            cluster_id=CLUSTER_ID,
            controller_id=1,
            topics=found,
        )

    def _topic(self, name: str | None, asked: Any = None) -> Any:
        response = m.MetadataResponse.MetadataResponseTopic
        if name not in self.topics:
            if asked is not None and asked.name is None:
                return response(error_code=UNKNOWN_ID, name=None, topic_id=asked.topic_id)
            return response(error_code=UNKNOWN_TOPIC, name=name)
        assert name is not None
        topic = self.topics[name]
        return response(
            name=name,
            topic_id=topic_id(name),
            is_internal=topic.internal,
            partitions=[
                m.MetadataResponse.MetadataResponsePartition(
                    0, number, topic.leaders.get(number, replicas[0]), 4, replicas,
                    topic.isr.get(number, replicas),
                )
                for number, replicas in enumerate(topic.assignment)
            ],
        )  # fmt: skip

    def _CreateTopics(self, request: m.CreateTopicsRequest) -> Message:
        return m.CreateTopicsResponse(
            topics=[self._create(each, request.validate_only) for each in request.topics]
        )

    def _create(self, each: Any, validate_only: bool) -> Any:
        result = m.CreateTopicsResponse.CreatableTopicResult(each.name)
        if each.name in self.topics:
            result.error_code, result.error_message = EXISTS, f"Topic '{each.name}' already exists."
            return result
        if "no.such" in {config.name for config in each.configs}:
            result.error_code, result.error_message = INVALID_CONFIG, "Unknown topic config name"
            return result
        count = max(each.num_partitions, 1)
        factor = max(each.replication_factor, 1)
        assignment = [list(one.broker_ids) for one in each.assignments] or [
            [BROKERS[(number + n) % 3] for n in range(factor)] for number in range(count)
        ]
        configs = {config.name: config.value or "" for config in each.configs}
        result.num_partitions, result.replication_factor = len(assignment), len(assignment[0])
        row = m.CreateTopicsResponse.CreatableTopicConfigs
        result.configs = [row(*each, config_source=1, read_only=False) for each in configs.items()]
        if not validate_only:
            self.topics[each.name] = Topic(assignment, configs)
            result.topic_id = topic_id(each.name)
        return result

    def _DeleteTopics(self, request: m.DeleteTopicsRequest) -> Message:
        names = {topic_id(name): name for name in self.topics}
        results = []
        wanted = [(each.name, each.topic_id) for each in request.topics]
        for name, id_ in [*wanted, *((name, UUID(int=0)) for name in request.topic_names)]:
            name = names.get(id_) if name is None else name
            result = m.DeleteTopicsResponse.DeletableTopicResult(name=name, topic_id=id_)
            if name in self.topics:
                result.topic_id = topic_id(name)
                del self.topics[name]
            else:
                result.error_code = UNKNOWN_ID if name is None else UNKNOWN_TOPIC
            results.append(result)
        return m.DeleteTopicsResponse(responses=results)

    def _CreatePartitions(self, request: m.CreatePartitionsRequest) -> Message:
        results = []
        for each in request.topics:
            result = m.CreatePartitionsResponse.CreatePartitionsTopicResult(each.name)
            topic = self.topics.get(each.name)
            if topic is None:
                result.error_code = UNKNOWN_TOPIC
            elif each.count <= len(topic.assignment):
                result.error_code, result.error_message = FEWER, "Topic has as many already"
            elif not request.validate_only:
                more = [list(one.broker_ids) for one in each.assignments or ()]
                missing = each.count - len(topic.assignment)
                topic.assignment += more or [[1, 2, 3]] * missing
            results.append(result)
        return m.CreatePartitionsResponse(results=results)

    def _DescribeConfigs(self, request: m.DescribeConfigsRequest) -> Message:
        return m.DescribeConfigsResponse(results=[self._configs(r) for r in request.resources])

    def _configs(self, asked: Any) -> Any:
        row = m.DescribeConfigsResponse.DescribeConfigsResult
        result = row(0, None, asked.resource_type, asked.resource_name)
        if asked.resource_type == 2 and asked.resource_name not in self.topics:
            result.error_code = UNKNOWN_TOPIC
            return result
        if asked.resource_name in self.hidden:
            result.error_code = TOPIC_AUTHORIZATION_FAILED
        if asked.resource_type == 16 or result.error_code:  # of client metrics none are set
            return result
        own = self.topics[asked.resource_name].configs if asked.resource_type == 2 else {}
        own = own if asked.resource_type == 2 else self.broker_configs
        every = {"cleanup.policy": "delete", "retention.ms": "604800000", **own}
        result.configs = [
            m.DescribeConfigsResponse.DescribeConfigsResourceResult(
                name=name,
                value=value,
                config_source=(1 if asked.resource_type == 2 else 2) if name in own else 5,
                config_type=2,
            )
            for name, value in sorted(every.items())
            if asked.configuration_keys is None or name in asked.configuration_keys
        ]
        return result

    def _IncrementalAlterConfigs(self, request: m.IncrementalAlterConfigsRequest) -> Message:
        results = []
        for each in request.resources:
            row = m.IncrementalAlterConfigsResponse.AlterConfigsResourceResponse
            result = row(0, None, each.resource_type, each.resource_name)
            of_topic = each.resource_type == 2
            if of_topic and each.resource_name not in self.topics:
                result.error_code = UNKNOWN_TOPIC
            elif "no.such" in {config.name for config in each.configs}:
                result.error_code, result.error_message = INVALID_CONFIG, "Unknown config name"
            elif not request.validate_only:
                own = self.topics[each.resource_name].configs if of_topic else self.broker_configs
                for config in each.configs:
                    if config.config_operation == 1:
                        own.pop(config.name, None)
                    else:
                        own[config.name] = config.value or ""
            results.append(result)
        return m.IncrementalAlterConfigsResponse(responses=results)

    def _DescribeCluster(self, request: m.DescribeClusterRequest) -> Message:
        row = m.DescribeClusterResponse.DescribeClusterBroker
        brokers = [row(each, "127.0.0.1", self.port, RACKS[each]) for each in BROKERS]
        return m.DescribeClusterResponse(cluster_id=CLUSTER_ID, controller_id=1, brokers=brokers)

    def _DescribeQuorum(self, request: m.DescribeQuorumRequest) -> Message:
        r = m.DescribeQuorumResponse
        voters = [
            r.ReplicaState(
                n, log_end_offset=90 + n, last_fetch_timestamp=10**6, last_caught_up_timestamp=10**6
            )
            for n in BROKERS
        ]
        partition = r.PartitionData(
            leader_id=2, leader_epoch=5, high_watermark=91, current_voters=voters
        )
        return r(topics=[r.TopicData("__cluster_metadata", [partition])])

    def _DescribeLogDirs(self, request: m.DescribeLogDirsRequest) -> Message:
        r = m.DescribeLogDirsResponse
        topics = []
        for name, topic in self.topics.items():
            rows = [r.DescribeLogDirsPartition(n, 1000 + n) for n in range(len(topic.assignment))]
            topics.append(r.DescribeLogDirsTopic(name, rows))
        found = r.DescribeLogDirsResult(
            log_dir="/var/kafka", topics=topics, total_bytes=10**9, usable_bytes=10**8
        )
        return r(results=[found])

    def _FindCoordinator(self, request: m.FindCoordinatorRequest) -> Message:
        row = m.FindCoordinatorResponse.Coordinator
        found = [row(each, 1, "127.0.0.1", self.port) for each in request.coordinator_keys]
        return m.FindCoordinatorResponse(coordinators=found)

    def _ListGroups(self, request: m.ListGroupsRequest) -> Message:
        row = m.ListGroupsResponse.ListedGroup
        found = [row(each, "consumer", "Empty", "classic") for each in self.groups]
        return m.ListGroupsResponse(groups=found)

    def _DescribeGroups(self, request: m.DescribeGroupsRequest) -> Message:
        row = m.DescribeGroupsResponse.DescribedGroup
        return m.DescribeGroupsResponse(
            groups=[
                row(group_id=group, group_state="Empty", protocol_type="consumer")
                if group in self.groups
                else row(error_code=GROUP_ID_NOT_FOUND, group_id=group, group_state="Dead")
                for group in request.groups
            ]
        )

    def _DeleteGroups(self, request: m.DeleteGroupsRequest) -> Message:
        row = m.DeleteGroupsResponse.DeletableGroupResult
        gone = {each: self.groups.pop(each, None) is not None for each in request.groups_names}
        results = [row(name, 0 if was else GROUP_ID_NOT_FOUND) for name, was in gone.items()]
        return m.DeleteGroupsResponse(results=results)

    def _OffsetFetch(self, request: m.OffsetFetchRequest) -> Message:
        r = m.OffsetFetchResponse
        groups = []
        for asked in request.groups:
            topics: dict[str, list[Any]] = {}
            for (topic, partition), offset in self.groups.get(asked.group_id, {}).items():
                row = r.OffsetFetchResponsePartitions(partition, offset)
                topics.setdefault(topic, []).append(row)
            of_topic = r.OffsetFetchResponseTopics
            rows = [of_topic(name, partitions=each) for name, each in topics.items()]
            groups.append(r.OffsetFetchResponseGroup(asked.group_id, rows))
        return r(groups=groups)

    def _OffsetCommit(self, request: m.OffsetCommitRequest) -> Message:
        r = m.OffsetCommitResponse
        committed = self.groups.setdefault(request.group_id, {})

        def commit(topic: str, each: Any) -> Any:
            committed[topic, each.partition_index] = each.committed_offset
            return r.OffsetCommitResponsePartition(each.partition_index)

        return r(topics=by_partition(request, r.OffsetCommitResponseTopic, commit))

    def _OffsetDelete(self, request: m.OffsetDeleteRequest) -> Message:
        r = m.OffsetDeleteResponse

        def delete(topic: str, each: Any) -> Any:
            self.groups[request.group_id].pop((topic, each.partition_index), None)
            return r.OffsetDeleteResponsePartition(each.partition_index)

        return r(topics=by_partition(request, r.OffsetDeleteResponseTopic, delete))

    def _ListOffsets(self, request: m.ListOffsetsRequest) -> Message:
        r = m.ListOffsetsResponse

        def offset(_: str, each: Any) -> Any:
            end = self.ends["earliest" if each.timestamp == -2 else "latest"]
            return r.ListOffsetsPartitionResponse(each.partition_index, timestamp=-1, offset=end)

        return r(topics=by_partition(request, r.ListOffsetsTopicResponse, offset))

    def _DeleteRecords(self, request: m.DeleteRecordsRequest) -> Message:
        r = m.DeleteRecordsResponse

        def start(_: str, each: Any) -> Any:
            offset = 100 if each.offset == -1 else each.offset
            return r.DeleteRecordsPartitionResult(each.partition_index, offset)

        return r(topics=by_partition(request, r.DeleteRecordsTopicResult, start))

    def _CreateAcls(self, request: m.CreateAclsRequest) -> Message:
        for a in request.creations:
            self.acls.append((
                a.resource_type, a.resource_name, a.resource_pattern_type, a.principal, a.host,
                a.operation, a.permission_type,
            ))  # fmt: skip
        return m.CreateAclsResponse(
            results=[m.CreateAclsResponse.AclCreationResult() for _ in request.creations]
        )

    def _DescribeAcls(self, request: m.DescribeAclsRequest) -> Message:
        r = m.DescribeAclsResponse
        wanted = (request.principal_filter, request.resource_name_filter)
        return r(
            resources=[
                r.DescribeAclsResource(kind, name, pattern, [
                    r.AclDescription(principal, host, operation, permission)
                ])
                for kind, name, pattern, principal, host, operation, permission in self.acls
                if wanted[0] in (None, principal) and wanted[1] in (None, name)
            ]
        )  # fmt: skip

    def _DeleteAcls(self, request: m.DeleteAclsRequest) -> Message:
        r = m.DeleteAclsResponse
        results = []
        for each in request.filters:
            gone = [acl for acl in self.acls if each.principal_filter in (None, acl[3])]
            self.acls = [acl for acl in self.acls if acl not in gone]
            rows = [r.DeleteAclsMatchingAcl(0, None, *acl) for acl in gone]
            results.append(r.DeleteAclsFilterResult(matching_acls=rows))
        return r(filter_results=results)

    def _DescribeUserScramCredentials(
        self, request: m.DescribeUserScramCredentialsRequest
    ) -> Message:
        r = m.DescribeUserScramCredentialsResponse
        results = []
        for name in [each.name for each in request.users or ()] or list(self.users):
            infos = [r.CredentialInfo(*each) for each in self.users.get(name, {}).items()]
            code = 0 if name in self.users else RESOURCE_NOT_FOUND
            row = r.DescribeUserScramCredentialsResult
            results.append(row(name, code, credential_infos=infos))
        return r(results=results)

    def _AlterUserScramCredentials(self, request: m.AlterUserScramCredentialsRequest) -> Message:
        r = m.AlterUserScramCredentialsResponse
        for each in request.upsertions:
            self.users.setdefault(each.name, {})[each.mechanism] = each.iterations
        for gone in request.deletions:
            self.users[gone.name].pop(gone.mechanism)
        names = {each.name for each in request.upsertions}
        names |= {each.name for each in request.deletions}
        results = [r.AlterUserScramCredentialsResult(user=name) for name in sorted(names)]
        self.users = {name: each for name, each in self.users.items() if each}
        return r(results=results)

    def _AlterPartitionReassignments(
        self, request: m.AlterPartitionReassignmentsRequest
    ) -> Message:
        r = m.AlterPartitionReassignmentsResponse

        def move(topic: str, each: Any) -> Any:
            code = 0
            if topic not in self.topics:
                code = UNKNOWN_TOPIC
            elif each.replicas is None:
                gone = self._reassigning.pop((topic, each.partition_index), None)
                code = NO_REASSIGNMENT if gone is None else 0
            else:
                self.topics[topic].assignment[each.partition_index] = list(each.replicas)
            return r.ReassignablePartitionResponse(each.partition_index, code)

        return r(responses=by_partition(request, r.ReassignableTopicResponse, move))

    def _ListPartitionReassignments(self, request: m.ListPartitionReassignmentsRequest) -> Message:
        r = m.ListPartitionReassignmentsResponse
        topics = []
        for (topic, partition), replicas in self._reassigning.items():
            row = r.OngoingPartitionReassignment(partition, replicas, replicas)
            topics.append(r.OngoingTopicReassignment(topic, [row]))
        return r(topics=topics)

    def _ElectLeaders(self, request: m.ElectLeadersRequest) -> Message:
        r = m.ElectLeadersResponse
        wanted = {each.topic: each.partitions for each in request.topic_partitions or ()}
        if request.topic_partitions is None:
            wanted = {name: list(range(len(each.assignment))) for name, each in self.topics.items()}
        results = []
        for name, partitions in wanted.items():
            code = 0 if name in self.topics else UNKNOWN_TOPIC
            for number in partitions if code == 0 else ():
                self.topics[name].leaders.pop(number, None)
            rows = [r.PartitionResult(partition_id=each, error_code=code) for each in partitions]
            results.append(r.ReplicaElectionResult(name, rows))
        return r(replica_election_results=results)

    def _DescribeClientQuotas(self, request: m.DescribeClientQuotasRequest) -> Message:
        r = m.DescribeClientQuotasResponse
        entry = r.EntryData(
            [r.EntityData("user", "alice")], [r.ValueData("producer_byte_rate", 1024.0)]
        )
        return r(entries=[entry])

    def _AlterClientQuotas(self, request: m.AlterClientQuotasRequest) -> Message:
        r = m.AlterClientQuotasResponse
        rows = [
            [r.EntityData(each.entity_type, each.entity_name) for each in entry.entity]
            for entry in request.entries
        ]
        return r(entries=[r.EntryData(entity=each) for each in rows])


def _handled(kind: type[ScriptedBroker]) -> Iterator[str]:
    """The requests that a broker of this kind answers."""
    for attribute in dir(kind):
        name = f"{attribute[1:]}Request"
        if attribute[0] == "_" and attribute[1:2].isupper() and name in m.__all__:
            yield name


def _key(name: str) -> int:
    key = getattr(m, name).api_key
    assert isinstance(key, int)
    return key


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    broker: ScriptedBroker

    def __init__(self, *args: Any) -> None:
        self.open: set[socket.socket] = set()
        super().__init__(*args)

    def end_connections(self) -> None:
        for each in list(self.open):
            each.close()


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Server)
        self.server.open.add(self.request)
        self.server.broker.accepted += 1
        reader = FrameReader()
        try:
            while data := self.request.recv(65536):
                for payload in reader.feed(data):
                    request = read_request(payload)
                    assert request.header is not None, request.problem
                    assert request.body is not None, request.problem
                    if request.api in self.server.broker.silent:
                        self.server.broker.ignored.set()
                        continue
                    response = self.server.broker.answer(request)
                    answer = write_response(
                        response, request.api_version, request.header.correlation_id
                    )
                    self.request.sendall(frame(answer))
        except OSError:
            pass  # the client has gone
