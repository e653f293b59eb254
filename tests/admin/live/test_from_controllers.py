"""Clients and commands that are started from controllers (KIP-919)."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from kafka_admin_proto.admin import ConfigChange, ConfigResource, SyncAdminClient
from tests.admin.live.helpers.controllers import active_controller, wait_until
from tests.admin.live.helpers.kafka_tools import KafkaTools
from tests.helpers.kap import ended, run_kap
from tools.clusters import Cluster


def test_configs_of_brokers(kraft_cluster: Cluster, kafka_tools: KafkaTools) -> None:
    """Any node's are described by itself and changed by the active controller."""
    controllers = kraft_cluster.address("CONTROLLER")

    def run(command: str) -> Any:
        environment = {"KAP_BOOTSTRAP_CONTROLLER": controllers, "KAP_OUTPUT": "json"}
        return json.loads(ended(run_kap(command, env=environment)).stdout)

    def value(node: int) -> str | None:
        (found,) = run(f"configs get --broker {node} --key log.cleaner.threads")["resources"]
        return next((str(each["value"]) for each in found["configs"]), None)

    def shown(node: int) -> str:
        """What kafka-configs.sh says of it, started from the same controllers."""
        return kafka_tools.run(
            "ConfigCommand", "--bootstrap-controller", controllers, "--describe",
            "--entity-type", "brokers", "--entity-name", str(node),
        )  # fmt: skip

    def has_value(node: int, expected: str) -> bool:
        return value(node) == expected

    def is_shown(node: int) -> bool:
        return "threads=2" in shown(node)

    def is_not_shown(node: int) -> bool:
        return not is_shown(node)

    for node in kraft_cluster.nodes:
        run(f"configs set --broker {node} log.cleaner.threads=2")
        wait_until(partial(has_value, node, "2"), f"the config of node {node}")
        wait_until(partial(is_shown, node), "ConfigCommand has it")
        run(f"configs unset --broker {node} log.cleaner.threads")
        wait_until(partial(is_not_shown, node), "it is gone")


def test_the_default_of_brokers_and_a_logger(kraft_cluster: Cluster) -> None:
    everyone = ConfigResource("broker")
    node = active_controller(kraft_cluster)
    logger = ConfigResource("broker_logger", str(node))
    name = "log.cleaner.io.buffer.size"
    addresses = kraft_cluster.address("CONTROLLER")
    with SyncAdminClient(bootstrap_controllers=addresses, timeout=40) as admin:
        (set_,) = admin.alter_configs([ConfigChange(resource=everyone, set={name: "600000"})])
        assert set_.error is None

        def values() -> list[str | None]:
            (found,) = admin.describe_configs([everyone])
            return [each.value for each in found.configs if each.name == name]

        wait_until(lambda: values() == ["600000"], "the default of all brokers")
        (gone,) = admin.alter_configs([ConfigChange(resource=everyone, delete=[name])])
        assert gone.error is None
        wait_until(lambda: values() == [], "no default any more")
        (loggers,) = admin.describe_configs([logger])
        assert loggers.error is None
        assert "kafka" in " ".join(each.name for each in loggers.configs)
