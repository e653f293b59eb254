"""Requests that change and describe configs, drawn for both clusters."""

from __future__ import annotations

from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
    alter_configs_request,
    incremental_alter_configs_request,
)
from kafka_admin_proto.messages.describe_configs_request import DescribeConfigsResource
from tests.server.differential.requests.drawing import Draws, Step, patience_of
from tests.server.differential.requests.pools import CONFIGS


def incremental_alter_configs(draws: Draws) -> Step:
    """Configs set, deleted, appended and subtracted."""
    version, node = draws.version(44), draws.node()
    rows = []
    for _ in range(draws.one([1, 1, 1, 1, 2, 3])):
        kind, name = draws.resource(node)
        configs = [
            incremental_alter_configs_request.AlterableConfig(
                key, draws.one([0, 0, 0, 1, 1, 2, 3]), value
            )
            for key, value in draws.configs(kind)
        ]
        rows.append(incremental_alter_configs_request.AlterConfigsResource(kind, name, configs))
    if draws.rarely(15):
        kind = draws.one([0, 1, 3, 64])
        rows.append(incremental_alter_configs_request.AlterConfigsResource(kind, "x"))
    request = IncrementalAlterConfigsRequest(rows, draws.rarely(5))
    return Step(node, version, lambda _: request)


def alter_configs(draws: Draws) -> Step:
    """All configs of resources at once."""
    version, node = draws.version(33), draws.node()
    rows = []
    for _ in range(draws.one([1, 1, 2])):
        kind, name = draws.resource(node)
        configs = [
            alter_configs_request.AlterableConfig(key, value) for key, value in draws.configs(kind)
        ]
        rows.append(alter_configs_request.AlterConfigsResource(kind, name, configs))
    request = AlterConfigsRequest(rows, draws.rarely(5))
    return Step(node, version, lambda _: request, patience_s=patience_of(request))


def describe_configs(draws: Draws) -> Step:
    """All configs of resources, some, and those of resources that are not there."""
    version, node = draws.version(32), draws.node()
    rows = []
    for _ in range(draws.one([1, 1, 2, 3])):
        kind, name = draws.resource(node)
        keys = None
        if draws.rarely(2):
            keys = [draws.one(list(CONFIGS[kind])) for _ in range(draws.one([3, 1, 0]))]
        rows.append(DescribeConfigsResource(kind, name, keys))
    if draws.rarely(20):
        rows.append(DescribeConfigsResource(draws.one([1, 3]), "x"))
    request = DescribeConfigsRequest(rows, version >= 1 and draws.rarely(2))
    return Step(node, version, lambda _: request)


def list_config_resources(draws: Draws) -> Step:
    """Resources by their types, unknown ones too."""
    version = draws.version(74)
    request = ListConfigResourcesRequest()
    if version >= 1:
        kinds = [2, 4, 8, 16, 32, 32, 99]
        request.resource_types = [draws.one(kinds) for _ in range(draws.one([0, 1, 1, 2]))]
    return Step(draws.node(), version, lambda _: request)
