"""Configs count as Kafka's ConfigDef reads them: booleans in any case, all with blanks around."""

from __future__ import annotations

import ast

import pytest

from kafka_admin_proto.errors import SettingsError
from kafka_admin_proto.messages import ConfigRecord, DeleteTopicsRequest, MetadataRequest
from kafka_admin_proto.messages.metadata_request import MetadataRequestTopic
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.server import SyncCluster
from kafka_admin_proto.server.arguments.initial_topics import checked_topics, create_topics
from kafka_admin_proto.server.brokers.view import GROUP_RESOURCE, TOPIC_RESOURCE
from kafka_admin_proto.server.configs.definitions import ConfigDefinition, definitions
from kafka_admin_proto.server.releases import RELEASES, ReleaseNumber
from kafka_admin_proto.server.topics.partition_changes import min_in_sync, unclean_allowed
from tests.package.sources import modules, of_all_sources, parsed
from tests.server.handlers.test_create_topics import create, topic
from tests.server.served import Served

#: String.trim removes all of these; Python's numbers take some of them.
BLANKS = ("  {} ", "\t{}\n", "\x00{}\x1f")


def written(config: ConfigDefinition, way: int) -> str:
    """The default of a config, written in another way that Kafka reads as the same."""
    text = config.default or ""
    if config.type == "BOOLEAN":
        text = (text.upper(), text.capitalize(), text.swapcase())[way]
    elif config.type == "LIST":
        text = (" ,", ",\t", " , ")[way].join(text.split(","))
    elif config.type in ("INT", "LONG", "SHORT") and text[0] != "-":
        text = ("+{}", "00{}", "{}")[way].format(text)
    return BLANKS[way].format(text)


@pytest.mark.parametrize("way", range(3))
@pytest.mark.parametrize("release", RELEASES)
def test_each_config_is_read_as_its_type(release: str, way: int) -> None:
    """Each config of brokers, topics and groups that has a default, written in another way."""
    known = definitions(ReleaseNumber.parse(release))
    plain = Served(release, nodes=1).state
    own = Served(release, nodes=1).state.static[1]  # what the fixture sets itself
    brokers = [each for each in known.broker if each.default is not None and each.name not in own]
    topics = [each for each in known.topic if each.default is not None]
    groups = [each for each in known.group if f"group.{each.name}" in known.brokers]
    assert len(brokers) > 200
    written_out = {each.name: written(each, way) for each in brokers}
    state = Served(release, nodes=1, configs=written_out).state
    for each in brokers:
        assert state.broker_value(each.name) == plain.broker_value(each.name), each
    for each in topics:
        assert state.topic_value("t", each.name) == plain.topic_value("t", each.name), each
    of_topic = [ConfigRecord(TOPIC_RESOURCE, "t", each.name, written(each, way)) for each in topics]
    of_group = [ConfigRecord(GROUP_RESOURCE, "g", each.name, written(each, way)) for each in groups]
    plain.append([*of_topic, *of_group])
    for each in topics:
        assert plain.topic_value("t", each.name) == plain.topic_value("other", each.name), each
    for each in groups:
        of_broker = plain.group_value("other", each.name, 1)
        assert plain.group_value("g", each.name, 1) == of_broker, each


@of_all_sources
def test_no_module_compares_a_boolean_as_text() -> None:
    """Only what reads the values of configs knows their texts."""
    readers = (
        "server/configs/parsing.py",
        "server/configs/given.py",
        "server/security/authorizer/rules.py",
    )
    found = [
        f"{module}:{node.lineno}"
        for module, source in modules().items()
        if module.startswith("kafka_admin_proto/server/") and not module.endswith(readers)
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Constant) and side.value in ("true", "false")
    ]
    assert found == []


@pytest.mark.parametrize("off", ["False", "FALSE", " false ", "fAlSe\t"])
def test_switched_off_in_any_case(off: str) -> None:
    served = Served(configs={"auto.create.topics.enable": off, "delete.topic.enable": off})
    asked = MetadataRequest([MetadataRequestTopic(name="new")])
    (row,) = served.ask(asked).topics
    assert row.error_code == codes.UNKNOWN_TOPIC_OR_PARTITION
    assert served.state.topic("new") is None
    create(served, topic("old"))
    (gone,) = served.ask(DeleteTopicsRequest(topic_names=["old"]), 5).responses
    assert gone.error_code == codes.TOPIC_DELETION_DISABLED
    assert served.state.topic("old") is not None


@pytest.mark.parametrize("on", ["TRUE", " True "])
def test_switched_on_in_any_case(on: str) -> None:
    served = Served()
    create(
        served, topic("t", unclean_leader_election_enable=on, min_insync_replicas=" 2 ", factor=3)
    )
    created = served.state.topic("t")
    assert created is not None
    assert unclean_allowed(served.state, "t")
    assert min_in_sync(served.state, created) == 2
    of_broker = Served(configs={"unclean.leader.election.enable": on})
    assert unclean_allowed(of_broker.state, "any")


def test_a_topic_of_a_folder_is_compared_by_its_values() -> None:
    """Given as "TRUE" it is the topic that is there with "true"; with another value it is not."""
    served = Served()
    for text in ("true", "TRUE"):
        setting = {
            "partitions": 1,
            "configs": {"preallocate": text, "cleanup.policy": "compact , delete"},
        }
        create_topics(served.state, checked_topics({"t": setting}, ReleaseNumber(4, 3), 3, {}))
    other = checked_topics({"t": {"configs": {"preallocate": False}}}, ReleaseNumber(4, 3), 3, {})
    with pytest.raises(SettingsError, match="is there already, with preallocate true, not false"):
        create_topics(served.state, other)


def test_a_cluster_obeys_a_boolean_in_capitals() -> None:
    with SyncCluster(configs={"auto.create.topics.enable": "False"}, topics={"t": 1}) as cluster:
        assert cluster.state.broker_value("auto.create.topics.enable") is False
