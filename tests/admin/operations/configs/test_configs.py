"""Configs described and altered: each broker's own at that broker, results in order, masks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin.caller import Target
from kafka_admin_proto.admin.errors import ConnectionFailedError
from kafka_admin_proto.admin.operations.configs.altering import AlteredConfigs, ConfigChange
from kafka_admin_proto.admin.operations.configs.changing import ChangeConfigs
from kafka_admin_proto.admin.operations.configs.entries import (
    ConfigEntry,
    ConfigSynonym,
    entry_of_created,
    entry_of_described,
)
from kafka_admin_proto.admin.operations.configs.resources import ConfigResource, ResourceType
from kafka_admin_proto.errors import UnsupportedVersionError
from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka_admin_proto.messages import alter_configs_response as replaced_messages
from kafka_admin_proto.messages import describe_configs_response as described_messages
from kafka_admin_proto.messages import incremental_alter_configs_response as altered_messages
from kafka_admin_proto.messages.create_topics_response import CreatableTopicConfigs
from kafka_admin_proto.messages.list_config_resources_response import (
    ConfigResource as ListedResource,
)
from kafka_admin_proto.schema.versions import VersionRange
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller
from tests.helpers.mistyped import mistyped

_INVALID_CONFIG = 40
_IDS = st.sampled_from(["", "1", "2", "3"])
_RESOURCES = st.lists(
    st.one_of(
        st.builds(ConfigResource, st.just("topic"), st.sampled_from(["a", "b", "refused"])),
        st.builds(ConfigResource, st.sampled_from(["broker", "broker_logger"]), _IDS),
        st.builds(ConfigResource, st.sampled_from(["group", "client_metrics"]), st.just("g")),
    ),
    unique=True,
)

#: The types of resources by their numbers on the wire.
_TYPES: dict[int, ResourceType] = {
    2: "topic", 4: "broker", 8: "broker_logger", 16: "client_metrics", 32: "group",
}  # fmt: skip


def _refused(resource: Any) -> tuple[int, None]:
    return _INVALID_CONFIG if resource.resource_name == "refused" else 0, None


class Client(ChangeConfigs, FakeCaller):
    """Brokers that echo what they are asked about; "refused" is refused, ``ended`` do not answer.

    Answers come in the opposite order.
    """

    def __init__(self, *, ended: int | None = None, listing: VersionRange | None = None) -> None:
        super().__init__(
            {
                DescribeConfigsRequest: self._describe,
                IncrementalAlterConfigsRequest: self._alter,
                AlterConfigsRequest: self._replace,
                ListConfigResourcesRequest: self._list,
            },
            controller=2,
            versions={} if listing is None else {74: listing},
        )
        self.ended = ended

    def _describe(self, request: Message, call: Call) -> Message | Exception:
        assert isinstance(request, DescribeConfigsRequest)
        if call.broker == self.ended:
            return ConnectionFailedError("gone")
        synonym = described_messages.DescribeConfigsSynonym(name="k", value="v", source=5)
        results = []
        for each in reversed(request.resources):
            configs = [
                described_messages.DescribeConfigsResourceResult(
                    name, str(call.broker), config_source=1, config_type=3, documentation="words",
                    synonyms=[synonym],
                )
                for name in each.configuration_keys or ["z", "k"]
            ]  # fmt: skip
            row = described_messages.DescribeConfigsResult
            results.append(row(*_refused(each), each.resource_type, each.resource_name, configs))
        return described_messages.DescribeConfigsResponse(results=results)

    def _alter(self, request: Message, call: Call) -> Message | Exception:
        assert isinstance(request, IncrementalAlterConfigsRequest)
        if call.broker == self.ended:
            return ConnectionFailedError("gone")
        row = altered_messages.AlterConfigsResourceResponse
        rows = [
            row(*_refused(each), each.resource_type, each.resource_name)
            for each in reversed(request.resources)
        ]
        return altered_messages.IncrementalAlterConfigsResponse(responses=rows)

    def _replace(self, request: Message, call: Call) -> Message:
        assert isinstance(request, AlterConfigsRequest)
        row = replaced_messages.AlterConfigsResourceResponse
        rows = [row(0, None, each.resource_type, each.resource_name) for each in request.resources]
        return replaced_messages.AlterConfigsResponse(responses=rows)

    def _list(self, request: Message, call: Call) -> Message:
        assert isinstance(request, ListConfigResourcesRequest)
        numbers = request.resource_types or [16] if call.version == 0 else request.resource_types
        return ListConfigResourcesResponse(
            config_resources=[
                ListedResource(resource_name="x", resource_type=number)
                for number in numbers or [2, 4, 127]
            ]
        )


def place(resource: ConfigResource) -> int | Target:
    """Where a change of the resource belongs."""
    own = resource.type in ("broker", "broker_logger") and resource.name
    return int(resource.name) if own else Target.CONTROLLER


@given(_RESOURCES, st.sampled_from([None, 1, 3]))
def test_resources_are_described_where_they_are(
    resources: list[ConfigResource], ended: int | None
) -> None:
    """Each once, in the order of the call; a broker that has ended leaves the others."""
    client = Client(ended=ended)
    only_ended = {place(each) for each in resources} == {ended}
    any_ended = ended == 1 and all(place(each) is Target.CONTROLLER for each in resources)
    if resources and (only_ended or any_ended):
        with pytest.raises(ConnectionFailedError):
            asyncio.run(client.describe_configs(resources))
        return
    found = asyncio.run(client.describe_configs(resources))
    assert [ConfigResource(each.type, each.name) for each in found] == resources
    asked = [
        resource
        for call in client.calls
        if isinstance(call.request, DescribeConfigsRequest)
        for resource in call.request.resources
    ]
    assert len(asked) == len(resources)
    for each in found:
        where = place(ConfigResource(each.type, each.name))
        broker = where if isinstance(where, int) else 1
        if broker == ended:
            assert each.error == "ConnectionFailedError"
        elif each.name == "refused":
            assert each.error == "INVALID_CONFIG"
        else:
            assert [(entry.name, entry.value) for entry in each.configs] == [
                ("k", str(broker)),
                ("z", str(broker)),
            ]


@given(_RESOURCES, st.sampled_from([None, 3]))
def test_resources_are_altered_where_they_are(
    resources: list[ConfigResource], ended: int | None
) -> None:
    client = Client(ended=ended)
    changes = [ConfigChange(resource=each, set={"k": "v"}) for each in resources]
    if {place(each) for each in resources} == {ended}:
        with pytest.raises(ConnectionFailedError):
            asyncio.run(client.alter_configs(changes))
        return
    results = asyncio.run(client.alter_configs(changes))
    assert [(each.type, each.name) for each in results] == [
        (each.type, each.name) for each in resources
    ]
    for resource, result in zip(resources, results, strict=True):
        gone = ended is not None and place(resource) == ended
        refused = "INVALID_CONFIG" if resource.name == "refused" else None
        assert result.error == ("ConnectionFailedError" if gone else refused)
    for call in client.calls:
        assert isinstance(call.request, IncrementalAlterConfigsRequest)
        for each in call.request.resources:
            assert call.to == place(ConfigResource(_TYPES[each.resource_type], each.resource_name))


def test_controllers_take_the_configs_of_brokers() -> None:
    """The active one is asked to change them; a node knows its own, and its loggers, alone."""
    client = Client()
    client.asks_controllers = True
    broker, logger = ConfigResource("broker", "2"), ConfigResource("broker_logger", "2")
    changes = [ConfigChange(resource=each, set={"k": "v"}) for each in (broker, logger)]
    asyncio.run(client.alter_configs(changes))
    asyncio.run(client.replace_configs({broker: {}}))
    asyncio.run(client.describe_configs([broker]))
    assert [(type(call.request), call.to) for call in client.calls] == [
        (IncrementalAlterConfigsRequest, Target.CONTROLLER),
        (IncrementalAlterConfigsRequest, 2),
        (AlterConfigsRequest, Target.CONTROLLER),
        (DescribeConfigsRequest, 2),
    ]


def test_the_four_operations() -> None:
    client = Client()
    change = ConfigChange(
        resource=ConfigResource("topic", "a"),
        set={"s": "1"},
        delete=["d"],
        append={"p": "2"},
        subtract={"t": "3"},
    )
    results = asyncio.run(client.alter_configs([change], validate_only=True))
    assert results == [AlteredConfigs(type="topic", name="a")]
    [request] = [call.request for call in client.calls]
    assert isinstance(request, IncrementalAlterConfigsRequest)
    assert request.validate_only
    assert [
        (each.name, each.config_operation, each.value) for each in request.resources[0].configs
    ] == [("s", 0, "1"), ("d", 1, None), ("p", 2, "2"), ("t", 3, "3")]


def test_all_configs_of_a_resource_replaced() -> None:
    client = Client()
    topic = ConfigResource("topic", "a")
    results = asyncio.run(client.replace_configs({topic: {"k": "v"}}))
    assert results == [AlteredConfigs(type="topic", name="a")]


def test_keys_that_can_be_read_once_are_those_of_each_resource() -> None:
    client, keys = Client(), ["k"]
    resources = [ConfigResource("topic", "a"), ConfigResource("topic", "b")]
    found = asyncio.run(client.describe_configs(resources, keys=iter(keys)))  # type: ignore[arg-type]
    assert [[entry.name for entry in each.configs] for each in found] == [keys, keys]


def test_synonyms_types_and_documentation() -> None:
    client = Client()
    topic = ConfigResource("topic", "a")
    [plain] = asyncio.run(client.describe_configs([topic], keys=["k"]))
    assert plain.configs == [
        ConfigEntry("k", "1", "DYNAMIC_TOPIC_CONFIG", False, False, False, type="INT")
    ]
    [full] = asyncio.run(client.describe_configs([topic], synonyms=True, documentation=True))
    assert full.configs[0].synonyms == [ConfigSynonym("k", "v", "DEFAULT_CONFIG")]
    assert full.configs[0].documentation == "words"


def test_what_has_configs() -> None:
    """What this package has no name for is left out, and a broker "x", which is none."""
    assert asyncio.run(Client().list_config_resources()) == [ConfigResource("topic", "x")]
    old = Client(listing=VersionRange(0, 0))
    assert asyncio.run(old.list_config_resources(["client_metrics"])) == [
        ConfigResource("client_metrics", "x")
    ]
    with pytest.raises(UnsupportedVersionError):
        asyncio.run(old.list_config_resources())


def test_mistakes_of_the_caller() -> None:
    with pytest.raises(ValueError, match="has no configs; there are topic, broker"):
        ConfigResource(mistyped("topics"))
    with pytest.raises(ValueError, match="give its id"):
        ConfigResource("broker", "localhost")
    twice = [ConfigChange(resource=ConfigResource("topic", "a"))] * 2
    with pytest.raises(ValueError, match="'a' is to be altered twice"):
        asyncio.run(Client().alter_configs(twice))


def test_no_repr_shows_a_credential() -> None:
    name, value = "listener.name.x.ssl.keystore.password", "hunter2"
    change = ConfigChange(resource=ConfigResource("broker", "1"), set={name: value})
    entry = ConfigEntry(name, value, None, False, False, True)
    synonym = ConfigSynonym(name, value, None)
    for each in (change, entry, synonym):
        assert value not in repr(each)
        assert name in repr(each)


def test_a_sensitive_value_that_is_sent_all_the_same_is_dropped() -> None:
    synonym = described_messages.DescribeConfigsSynonym(name="k", value="hush", source=5)
    described = described_messages.DescribeConfigsResourceResult(
        name="k", value="hush", is_sensitive=True, config_source=1, synonyms=[synonym]
    )
    created = CreatableTopicConfigs(name="k", value="hush", is_sensitive=True, config_source=1)
    for found in (
        entry_of_described(described, synonyms=True, documentation=False),
        entry_of_created(created),
    ):
        assert found.value is None
        assert all(each.value is None for each in found.synonyms or ())
