"""The configs that are set for topics themselves, and waiting until every broker has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.config_values import same_value
from kafka_admin_proto.admin.operations.common.metadata import slices
from kafka_admin_proto.admin.operations.common.waiting import FindMissing, Missing
from kafka_admin_proto.admin.operations.configs.entries import is_override
from kafka_admin_proto.messages import DescribeConfigsRequest, DescribeConfigsResponse

#: A broker answers with all configs of a topic, some 3 KB.
_TOPICS_PER_REQUEST = 250
_TOPIC = 2


async def read_overrides(
    caller: Caller,
    names: Sequence[str],
    *,
    to: int | Target = Target.ANY,
    timeout: float | None = None,
) -> dict[str, dict[str, str | None]]:
    """The overridden configs of topics by name, without those that the broker has an error for."""
    deadline = call_deadline(caller, timeout)
    overrides = {}
    for some in slices(names, _TOPICS_PER_REQUEST):
        resources = [
            DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=_TOPIC, resource_name=name, configuration_keys=None
            )
            for name in some
        ]
        reply = await caller.call(
            DescribeConfigsRequest(resources=resources),
            DescribeConfigsResponse,
            to=to,
            timeout=deadline.left,
        )
        for result in reply.body.results:
            if result.error_code == 0:
                overrides[result.resource_name] = {
                    config.name: config.value for config in result.configs if is_override(config)
                }
    return overrides


#: Values by topic and config, None for a config that is not set.
WantedConfigs = Mapping[str, Mapping[str, str | None]]


def in_configs(caller: Caller, wanted: WantedConfigs) -> FindMissing[str]:
    """Look for the configs of topics that a broker has; no value is shown, it may be a secret."""

    async def find_missing(
        broker: int, asked: Sequence[str], left: float
    ) -> dict[str, list[Missing]]:
        there = await read_overrides(caller, asked, to=broker, timeout=left)
        return {name: list(_missing(name, wanted[name], there.get(name))) for name in asked}

    return find_missing


def _missing(
    topic: str, wanted: Mapping[str, str | None], there: Mapping[str, str | None] | None
) -> Iterator[Missing]:
    if there is None:
        yield Missing(topic, "its configs are not known")
        return
    for key, value in wanted.items():
        if not same_value(there.get(key), value):
            yield Missing(topic, f"config {key} is not as asked")
