"""KIP-108's policies in front of any cluster.

Kafka asks a policy after all of its own checks. So does this filter: it has the broker validate
the request first, and asks the policy of the items that the broker would accept. What the policy
refuses is answered with POLICY_VIOLATION and the policy's text, and the rest is passed on. Topics
that Metadata would create are asked of as well, and are unknown topics where the policy refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

import msgspec

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.loggers import PROXY
from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    EnvelopeRequest,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_admin_proto.policies.altered import altered_list
from kafka_admin_proto.policies.loading import check_policy
from kafka_admin_proto.policies.policies import (
    AlterConfigPolicy,
    AlterConfigRequestMetadata,
    CreateTopicPolicy,
    PolicyError,
    PolicyViolation,
    RequestMetadata,
    ask,
)
from kafka_admin_proto.protocol import api_keys, codes
from kafka_admin_proto.protocol.error_answers import Failure, whole_answer
from kafka_admin_proto.proxy.auto_creation import add_missing, create_missing
from kafka_admin_proto.proxy.call import Call
from kafka_admin_proto.values import Message

_TOPIC, _BROKER = 2, 4
_DELETE, _APPEND, _SUBTRACT = 1, 2, 3
#: ConfigSource in DescribeConfigs: a topic's own value, and Kafka's default.
_OWN, _DEFAULT = 1, 5

_Key = tuple[int, str]
_Asking = Generator[Message, Any, Message | None]
_Request = (
    CreateTopicsRequest
    | CreatePartitionsRequest
    | AlterConfigsRequest
    | IncrementalAlterConfigsRequest
)
_Response = (
    CreateTopicsResponse
    | CreatePartitionsResponse
    | AlterConfigsResponse
    | IncrementalAlterConfigsResponse
)
#: What a policy is asked; a text, where it cannot be asked, is why the item is refused.
_Question = RequestMetadata | AlterConfigRequestMetadata | str


class _Shape(NamedTuple):
    """Where a request has its items and the response its rows, and what names both."""

    items: str
    rows: str
    key: Callable[[Any], _Key]


def _topic(item: Any) -> _Key:
    return _TOPIC, item.name


def _resource(item: Any) -> _Key:
    return item.resource_type, item.resource_name


_SHAPES = {
    api_keys.CREATE_TOPICS: _Shape("topics", "topics", _topic),
    api_keys.CREATE_PARTITIONS: _Shape("topics", "results", _topic),
    api_keys.ALTER_CONFIGS: _Shape("resources", "responses", _resource),
    api_keys.INCREMENTAL_ALTER_CONFIGS: _Shape("resources", "responses", _resource),
}


class PolicyFilter:
    """Asks the policies of an operator; either may be left out.

    The ``CreateTopicPolicy`` is asked of new topics, those that Metadata creates included, and of
    topics that are to get more partitions, of which Kafka asks nobody. The ``AlterConfigPolicy`` is
    asked of changed configs, those of new topics included. An Envelope, which may carry
    any request, is refused. Raises SettingsError for what is no policy, and without any.
    """

    def __init__(
        self,
        create_topic_policy: CreateTopicPolicy | None = None,
        alter_config_policy: AlterConfigPolicy | None = None,
    ) -> None:
        given = {
            "create_topic_policy": create_topic_policy,
            "alter_config_policy": alter_config_policy,
        }
        if not any(given.values()):
            raise SettingsError(f"there is no policy to ask: give {' or '.join(given)}")
        for argument, policy in given.items():
            if policy is not None:
                check_policy(argument, policy)
        self._topics = create_topic_policy
        self._configs = alter_config_policy

    def on_request(
        self, request: _Request | MetadataRequest | EnvelopeRequest, call: Call
    ) -> _Asking:
        """Answer for what is refused, where nothing is left to be done; else pass the rest on."""
        if isinstance(request, EnvelopeRequest):  # any request may be in it
            failure = Failure(codes.CLUSTER_AUTHORIZATION_FAILED)
            return whole_answer(request, call.api_version, failure)
        if isinstance(request, MetadataRequest):
            if self._topics is not None:
                yield from create_missing(request, call, self._may_create)
            return None
        if not self._concerns(request):
            return None
        shape = _SHAPES[call.api_key]
        items = getattr(request, shape.items)
        checked = yield msgspec.structs.replace(request, validate_only=True)
        rows = {shape.key(row): row for row in getattr(checked, shape.rows)}
        accepted = [each for each in items if rows[shape.key(each)].error_code == 0]
        asked = yield from self._asked(request, accepted, rows)
        refused: dict[_Key, tuple[int, str | None]] = {}
        for key, questions in asked.items():
            try:
                for question in questions:
                    self._ask(question)
            except PolicyViolation as violation:
                refused[key] = codes.POLICY_VIOLATION, str(violation)
            except PolicyError:
                refused[key] = codes.UNKNOWN_SERVER_ERROR, None
                if isinstance(request, CreateTopicsRequest) and isinstance(
                    question, RequestMetadata
                ):  # Kafka fails the whole request
                    refused = dict.fromkeys(rows, refused[key])
                    break
        if not refused:
            return None
        for key, (code, text) in refused.items():
            rows[key] = _row(rows[key], shape, code, text)
        left = [each for each in items if shape.key(each) not in refused]
        if request.validate_only or all(rows[shape.key(each)].error_code for each in left):
            setattr(checked, shape.rows, list(rows.values()))
            return checked  # type: ignore[no-any-return]
        setattr(request, shape.items, left)
        call.notes["refused by the policy"] = [rows[key] for key in refused]
        return None

    def on_response(self, response: _Response | MetadataResponse, call: Call) -> None:
        """Put the rows of what was refused behind those of the broker."""
        if isinstance(response, MetadataResponse):
            add_missing(response, call)
            return
        getattr(response, _SHAPES[call.api_key].rows).extend(
            call.notes.get("refused by the policy", ())
        )

    def _may_create(self, topic: Any, row: Any) -> bool:
        """Whether a topic may be created by Metadata, whose answer has no room for a reason."""
        try:
            for question in self._of_new_topic(topic, row):
                self._ask(question)
        except PolicyViolation as violation:
            PROXY.info("Metadata creates no topic %r: %s", topic.name, violation)
            return False
        return True

    def _concerns(self, request: _Request) -> bool:
        if isinstance(request, CreateTopicsRequest):
            with_configs = any(each.configs for each in request.topics)
            return self._topics is not None or (self._configs is not None and with_configs)
        if isinstance(request, CreatePartitionsRequest):
            return self._topics is not None
        return self._configs is not None

    def _ask(self, question: _Question) -> None:
        if isinstance(question, RequestMetadata):
            assert self._topics is not None
            ask(self._topics, question, question.topic)
        elif isinstance(question, AlterConfigRequestMetadata):
            assert self._configs is not None
            ask(self._configs, question, question.resource_name)
        else:
            raise PolicyViolation(question)

    def _asked(
        self, request: _Request, accepted: list[Any], rows: Mapping[_Key, Any]
    ) -> Generator[Message, Any, dict[_Key, list[_Question]]]:
        """What the policies are asked of each item, in their order."""
        if isinstance(request, CreateTopicsRequest):
            return {_topic(each): self._of_new_topic(each, rows[_topic(each)]) for each in accepted}
        if isinstance(request, CreatePartitionsRequest):
            factors = yield from _factors([each.name for each in accepted])
            return {
                _topic(each): [_of_counts(each.name, each.count, factors.get(each.name, -1), {})]
                for each in accepted
            }
        now = yield from _configs([each for each in accepted if each.resource_type == _TOPIC])
        replaces = isinstance(request, AlterConfigsRequest)
        return {
            key: [_of_configs(key, _altered(each, now.get(key, {}), replaces))]
            for each in accepted
            for key in [_resource(each)]
        }

    def _of_new_topic(self, topic: Any, row: Any) -> list[_Question]:
        questions: list[_Question] = []
        configs = {each.name: each.value for each in topic.configs}
        if self._configs is not None and configs:
            questions.append(_of_configs(_topic(topic), configs))
        if self._topics is not None and topic.assignments:
            brokers = {each.partition_index: each.broker_ids for each in topic.assignments}
            questions.append(RequestMetadata(topic=topic.name, assignment=brokers, configs=configs))
        elif self._topics is not None:  # the answer has the broker's defaults
            partitions = row.num_partitions if topic.num_partitions == -1 else topic.num_partitions
            factor = topic.replication_factor
            factor = row.replication_factor if factor == -1 else factor
            questions.append(_of_counts(topic.name, partitions, factor, configs))
        return questions


def _of_counts(name: str, partitions: int, factor: int, configs: Mapping[str, str]) -> _Question:
    if -1 in (partitions, factor):
        return (
            "The policy cannot be asked: the cluster does not say its defaults to this client, so "
            "name partitions and replication factor."
        )
    return RequestMetadata(
        topic=name, partitions=partitions, replication_factor=factor, configs=configs
    )


def _of_configs(key: _Key, configs: Mapping[str, str | None]) -> AlterConfigRequestMetadata:
    kind, name = key
    return AlterConfigRequestMetadata(resource_type=kind, resource_name=name, configs=configs)


def _row(row: Any, shape: _Shape, code: int, text: str | None) -> Any:
    """The row of what is refused, as Kafka has it."""
    if shape.key is _topic:
        return type(row)(name=row.name, error_code=code, error_message=text)
    return type(row)(code, text, row.resource_type, row.resource_name)


def _factors(names: list[str]) -> Generator[Message, Any, dict[str, int]]:
    """The replication factors of topics."""
    topic = MetadataRequest.MetadataRequestTopic
    known: MetadataResponse = yield MetadataRequest(
        [topic(name=each) for each in names], allow_auto_topic_creation=False
    )
    return {
        each.name: len(each.partitions[0].replica_nodes)
        for each in known.topics
        if each.name and each.partitions
    }


def _configs(resources: list[Any]) -> Generator[Message, Any, dict[_Key, dict[str, Any]]]:
    """The configs of topics, as DescribeConfigs has them, by their names."""
    if not resources:
        return {}
    resource = DescribeConfigsRequest.DescribeConfigsResource
    known: DescribeConfigsResponse = yield DescribeConfigsRequest(
        [resource(*_resource(each), None) for each in resources], include_synonyms=True
    )
    return {
        _resource(each): {config.name: config for config in each.configs} for each in known.results
    }


def _altered(resource: Any, now: Mapping[str, Any], replaces: bool) -> dict[str, str | None]:
    """The configs that a change alters; those of brokers always, as Kafka has it."""
    own = {name: each.value for name, each in now.items() if each.config_source == _OWN}
    altered: dict[str, str | None] = {}
    for config in resource.configs:
        operation = 0 if replaces else config.config_operation
        value = None if operation == _DELETE else config.value
        if operation in (_APPEND, _SUBTRACT):
            old = own.get(config.name, _default(now.get(config.name)))
            value = altered_list(old, config.value or "", appends=operation == _APPEND)
        if resource.resource_type == _BROKER or value != own.get(config.name):
            altered[config.name] = value
    return altered


def _default(config: Any) -> str | None:
    synonyms = () if config is None else config.synonyms
    return next((each.value for each in synonyms if each.source == _DEFAULT), None)
