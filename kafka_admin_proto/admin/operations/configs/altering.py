"""Altering configs: single ones, or all of a resource at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.config_values import ConfigSetter
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import failure, failure_of, unanswered
from kafka_admin_proto.admin.operations.common.item_retries import retry_items
from kafka_admin_proto.admin.operations.common.metadata import slices
from kafka_admin_proto.admin.operations.configs.resources import (
    ConfigResource,
    ResourceType,
    resource_of,
    route,
)
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import (
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsResponse,
)
from kafka_admin_proto.messages.alter_configs_request import AlterableConfig as ReplacedConfig
from kafka_admin_proto.messages.alter_configs_request import (
    AlterConfigsResource as ReplacedResource,
)
from kafka_admin_proto.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_admin_proto.values import Message

#: A KRaft controller refuses a request that would write over 10,000 records, one for a config.
_RESOURCES_PER_REQUEST = 500

_SET, _DELETE, _APPEND, _SUBTRACT = range(4)


class ConfigChange(ConfigSetter, frozen=True, kw_only=True):
    """Changes of a resource's configs; its other configs stay as they are.

    ``delete`` brings a config back to its default. ``append`` and ``subtract`` add values to lists
    and take them away, several with commas in between.
    """

    config_fields: ClassVar[tuple[str, ...]] = ("set", "append", "subtract")

    resource: ConfigResource
    set: dict[str, str] = {}
    delete: list[str] = []
    append: dict[str, str] = {}
    subtract: dict[str, str] = {}


class AlteredConfigs(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one resource."""

    type: ResourceType
    name: str
    error: str | None = None
    message: str | None = None


class AlterConfigs(Caller):
    """IncrementalAlterConfigs and AlterConfigs."""

    async def alter_configs(
        self,
        changes: Iterable[ConfigChange],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> list[AlteredConfigs]:
        """Change single configs of resources (brokers from 2.3), each resource on its own.

        Raises InstructionError for a resource that is named twice.
        """
        wanted: dict[ConfigResource, ConfigChange] = {}
        for change in changes:
            resource = change.resource
            if resource in wanted:
                raise InstructionError(
                    f"{resource.type} {resource.name!r} is to be altered twice in one call; "
                    "put all its changes into one"
                )
            wanted[resource] = change

        def request(some: Iterable[ConfigResource]) -> Message:
            return IncrementalAlterConfigsRequest(
                resources=[_changed(wanted[each]) for each in some], validate_only=validate_only
            )

        response = IncrementalAlterConfigsResponse
        return await _by_broker(self, list(wanted), request, response, timeout)

    async def replace_configs(
        self,
        configs: Mapping[ConfigResource, Mapping[str, str | None]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> list[AlteredConfigs]:
        """Set all configs of resources at once: what is not given goes back to its default.

        This is the older AlterConfigs, for brokers before 2.3 and for whoever wants just that.
        """
        wanted = dict(configs)

        def request(some: Iterable[ConfigResource]) -> Message:
            return AlterConfigsRequest(
                resources=[
                    ReplacedResource(
                        resource_type=each.number,
                        resource_name=each.name,
                        configs=[ReplacedConfig(*pair) for pair in wanted[each].items()],
                    )
                    for each in some
                ],
                validate_only=validate_only,
            )

        return await _by_broker(self, list(wanted), request, AlterConfigsResponse, timeout)


async def _by_broker(
    caller: Caller,
    resources: Sequence[ConfigResource],
    request: Callable[[Iterable[ConfigResource]], Message],
    response: type[IncrementalAlterConfigsResponse | AlterConfigsResponse],
    timeout: float | None,
) -> list[AlteredConfigs]:
    """Ask each broker for its own resources, side by side, and the controller for the others.

    Controllers take the configs of brokers where the active one is asked, and then no broker has to
    live; loggers belong to one node in any case.
    """
    deadline = call_deadline(caller, timeout)
    by_broker: dict[int | Target, list[ConfigResource]] = {}
    for resource in resources:
        to = route(resource, Target.CONTROLLER)
        if caller.asks_controllers and resource.type == "broker":
            to = Target.CONTROLLER
        by_broker.setdefault(to, []).append(resource)
    parts = [
        (to, some) for to, own in by_broker.items() for some in slices(own, _RESOURCES_PER_REQUEST)
    ]

    async def ask_one(
        to: int | Target, resources: Sequence[ConfigResource]
    ) -> dict[ConfigResource, AlteredConfigs]:
        async def attempt(
            some: list[ConfigResource], left: float
        ) -> Mapping[ConfigResource, AlteredConfigs]:
            reply = await caller.call(request(some), response, to=to, timeout=left)
            return _results(reply.body)

        try:
            return await retry_items(caller, resources, attempt, timeout=deadline.left)
        except KafkaAdminProtoError as failed:
            if len(parts) == 1:
                raise
            return {
                each: AlteredConfigs(type=each.type, name=each.name, **failure_of(failed))
                for each in resources
            }

    answers: dict[ConfigResource, AlteredConfigs] = {}
    for part in await asyncio.gather(*(ask_one(*part) for part in parts)):
        answers |= part
    lost = unanswered("resource", "broker")
    return [
        answers.get(each) or AlteredConfigs(type=each.type, name=each.name, **lost)
        for each in resources
    ]


def _changed(change: ConfigChange) -> AlterConfigsResource:
    return AlterConfigsResource(
        resource_type=change.resource.number,
        resource_name=change.resource.name,
        configs=[
            *(_operation(name, _SET, value) for name, value in change.set.items()),
            *(_operation(name, _DELETE, None) for name in change.delete),
            *(_operation(name, _APPEND, value) for name, value in change.append.items()),
            *(_operation(name, _SUBTRACT, value) for name, value in change.subtract.items()),
        ],
    )


def _operation(name: str, operation: int, value: str | None) -> AlterableConfig:
    return AlterableConfig(name=name, config_operation=operation, value=value)


def _results(
    answer: IncrementalAlterConfigsResponse | AlterConfigsResponse,
) -> dict[ConfigResource, AlteredConfigs]:
    results = {}
    for each in answer.responses:
        resource = resource_of(each.resource_type, each.resource_name)
        if resource is not None:
            results[resource] = AlteredConfigs(
                type=resource.type,
                name=resource.name,
                **failure(each.error_code, each.error_message),
            )
    return results
