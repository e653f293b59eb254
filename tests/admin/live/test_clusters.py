"""The clusters of the live tests, as other clients than ours see them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.admin.live.helpers.controllers import wait_until
from tests.admin.live.helpers.kafka_python import brokers_of, kafka_python_admin
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.admin.live.helpers.secured import MECHANISMS, NOWHERE, PASSWORDS, Secured
from tools.clusters import Cluster


def test_three_brokers_in_three_racks(cluster: Cluster) -> None:
    assert brokers_of(cluster.bootstrap) == {
        node_id: (cluster.nodes[node_id].ports["PLAINTEXT"], rack)
        for node_id, rack in ((1, "east"), (2, "west"), (3, "north"))
    }


def test_kafkas_commands(
    cluster: Cluster, kafka_tools: KafkaTools, unique: Callable[[str], str]
) -> None:
    """What one client creates, the other describes; a command that fails says so."""
    topic = unique("commands")
    with kafka_python_admin(cluster.bootstrap) as client:
        client.create_topics({topic: {"num_partitions": 2, "replication_factor": 3}})
    at = ("--bootstrap-server", cluster.bootstrap)

    def described() -> bool:
        found = kafka_tools.outcome("TopicCommand", *at, "--describe", "--topic", topic).stdout
        return len(re.findall(rf"Topic: {topic}\tPartition: \d\tLeader: \d", found)) == 2

    wait_until(described, "TopicCommand describes the topic")
    again = kafka_tools.outcome("TopicCommand", *at, "--create", "--topic", topic)
    assert again.status == 1
    assert f"Topic '{topic}' already exists" in again.stdout + again.stderr
    config = ("--entity-type", "topics", "--entity-name", topic)
    kafka_tools.run("ConfigCommand", *at, "--alter", *config, "--add-config", "retention.ms=1000")
    wait_until(
        lambda: "retention.ms=1000" in kafka_tools.run("ConfigCommand", *at, "--describe", *config),
        "ConfigCommand describes what it has set",
    )
    wrong = kafka_tools.outcome("TopicCommand", "--no-such-option")
    assert wrong.status == 1
    assert "no-such-option" in wrong.stdout + wrong.stderr


def test_listeners(secured: Secured) -> None:
    """Each of them lets another client in that does as the listener asks."""
    trusting = {"ssl_cafile": str(secured.authority.file)}
    known = {"ssl_certfile": str(secured.client.file), "ssl_keyfile": str(secured.client.key)}
    login = {"sasl_plain_username": "bob", "sasl_plain_password": PASSWORDS["bob"]}
    ways: list[tuple[str, dict[str, Any]]] = [
        ("PLAINTEXT", {}),
        ("TLS", {"security_protocol": "SSL", **trusting}),
        ("MUTUAL", {"security_protocol": "SSL", **trusting, **known}),
        ("OTHER_NAME", {"security_protocol": "SSL", **trusting, "ssl_check_hostname": False}),
    ]
    for name in MECHANISMS:
        options = {"sasl_mechanism": name, **login}
        ways.append(("SASL", {"security_protocol": "SASL_PLAINTEXT", **options}))
        ways.append(("SASL_TLS", {"security_protocol": "SASL_SSL", **options, **trusting}))
    for listener, options in ways:
        found = brokers_of(secured.address(listener), **options)
        assert [port for port, _ in found.values()] == [secured.cluster.nodes[1].ports[listener]]


def test_an_advertised_address_that_leads_nowhere(secured: Secured) -> None:
    """Metadata has it, and the other listeners have their own."""
    with kafka_python_admin(secured.address("PLAINTEXT")) as client:
        assert client.describe_cluster()["brokers"][0]["host"] == "127.0.0.1"
    properties = (secured.cluster.nodes[1].folder / "broker.properties").read_text()
    assert f"NOWHERE://{NOWHERE}" in properties
