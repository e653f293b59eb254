"""Describing configs, and listing the resources that have configs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.operations.common.failures import (
    failure,
    failure_of,
    raise_failure,
    unanswered,
)
from kafka_admin_proto.admin.operations.common.metadata import slices
from kafka_admin_proto.admin.operations.configs.entries import ConfigEntry, entry_of_described
from kafka_admin_proto.admin.operations.configs.resources import (
    ConfigResource,
    ResourceType,
    resource_of,
    route,
    type_number,
)
from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.messages import (
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka_admin_proto.protocol import api_keys
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

#: A broker answers with all configs of a resource, some 3 KB, more with documentation.
_RESOURCES_PER_REQUEST = 250
#: Since these versions of DescribeConfigs there are synonyms, and documentation and types.
_SYNONYMS, _DOCUMENTATION = 1, 3
#: Since this version of ListConfigResources there are others than client metrics.
_ALL_TYPES = 1


class ResourceConfigs(msgspec.Struct, frozen=True, kw_only=True):
    """The configs of one resource, by name, or why there are none."""

    type: ResourceType
    name: str
    configs: list[ConfigEntry] = []
    error: str | None = None
    message: str | None = None


class DescribeConfigs(Caller):
    """DescribeConfigs and ListConfigResources."""

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        keys: Sequence[str] | None = None,
        synonyms: bool = False,
        documentation: bool = False,
        timeout: float | None = None,
    ) -> list[ResourceConfigs]:
        """The configs of each resource, in the order of the call, or those named in ``keys``.

        Brokers do not send the values of sensitive configs. ``synonyms`` asks for each place that
        a value may come from, ``documentation`` for words about it (brokers from 2.6). A broker's
        resources are asked of that broker; if it does not answer, they have its error.
        """
        wanted = list(dict.fromkeys(resources))
        names = None if keys is None else list(keys)  # for each resource
        deadline = call_deadline(self, timeout)
        by_broker: dict[int | Target, list[ConfigResource]] = {}
        for resource in wanted:
            by_broker.setdefault(route(resource, Target.ANY), []).append(resource)
        lowest = _DOCUMENTATION if documentation else _SYNONYMS if synonyms else 0

        async def ask(
            to: int | Target, some: Sequence[ConfigResource]
        ) -> dict[ConfigResource, ResourceConfigs]:
            request = DescribeConfigsRequest(
                resources=[
                    DescribeConfigsRequest.DescribeConfigsResource(
                        resource_type=resource.number,
                        resource_name=resource.name,
                        configuration_keys=names,
                    )
                    for resource in some
                ],
                include_synonyms=synonyms,
                include_documentation=documentation,
            )
            reply = await self.call(
                request,
                DescribeConfigsResponse,
                to=to,
                timeout=deadline.left,
                versions=VersionRange(lowest, MAX_VERSION),
            )
            described = {}
            for result in reply.body.results:
                resource = resource_of(result.resource_type, result.resource_name)
                if resource is None:
                    continue
                entries = [
                    entry_of_described(each, synonyms=synonyms, documentation=documentation)
                    for each in result.configs
                    if names is None or each.name in names  # brokers take none for all
                ]
                described[resource] = ResourceConfigs(
                    type=resource.type,
                    name=resource.name,
                    configs=sorted(entries, key=lambda entry: entry.name),
                    **failure(result.error_code, result.error_message),
                )
            return described

        async def ask_one(to: int | Target) -> dict[ConfigResource, ResourceConfigs]:
            described: dict[ConfigResource, ResourceConfigs] = {}
            try:
                for some in slices(by_broker[to], _RESOURCES_PER_REQUEST):
                    described |= await ask(to, some)
            except KafkaAdminProtoError as failed:
                if len(by_broker) == 1:
                    raise
                for resource in by_broker[to]:
                    if resource not in described:
                        described[resource] = ResourceConfigs(
                            type=resource.type, name=resource.name, **failure_of(failed)
                        )
            return described

        answers: dict[ConfigResource, ResourceConfigs] = {}
        for part in await asyncio.gather(*map(ask_one, by_broker)):
            answers |= part
        lost = unanswered("resource", "broker")
        return [
            answers.get(each) or ResourceConfigs(type=each.type, name=each.name, **lost)
            for each in wanted
        ]

    async def list_config_resources(
        self, types: Iterable[ResourceType] = (), *, timeout: float | None = None
    ) -> list[ConfigResource]:
        """The resources with configs, of these types or of all the broker knows (from 4.1).

        Brokers from 3.7 list client metrics alone. Raises UnsupportedVersionError for others.
        """
        numbers = [type_number(each) for each in types]
        deadline = call_deadline(self, timeout)
        apis = await self.versions(Target.ANY, timeout=deadline.left)
        spoken = apis.get(api_keys.LIST_CONFIG_RESOURCES, VersionRange.NONE)
        # Version 0 has no types in its request: client metrics are all that it lists.
        old = numbers == [type_number("client_metrics")] and _ALL_TYPES not in spoken
        reply = await self.call(
            ListConfigResourcesRequest(resource_types=[] if old else numbers),
            ListConfigResourcesResponse,
            timeout=deadline.left,
            versions=VersionRange(0, 0) if old else VersionRange(_ALL_TYPES, MAX_VERSION),
        )
        raise_failure(reply.body.error_code, context="ListConfigResources")
        resources = [
            resource_of(each.resource_type, each.resource_name)
            for each in reply.body.config_resources
        ]
        return sorted(
            (each for each in resources if each is not None),
            key=lambda each: (each.type, each.name),
        )
