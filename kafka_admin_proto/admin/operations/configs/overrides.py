"""The configs that are set for topics themselves, read by DescribeConfigs."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.operations.common.metadata import slices
from kafka_admin_proto.admin.operations.configs.entries import is_override
from kafka_admin_proto.admin.retry import Deadline
from kafka_admin_proto.messages import DescribeConfigsResponse
from kafka_admin_proto.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)

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
    deadline = Deadline(caller.default_timeout if timeout is None else timeout)
    overrides = {}
    for some in slices(names, _TOPICS_PER_REQUEST):
        resources = [
            DescribeConfigsResource(
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
