"""Waiting until every live broker has the configs that a controller has accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.config_values import same_value
from kafka_admin_proto.admin.operations.common.waiting import wait_for_all_brokers
from kafka_admin_proto.admin.operations.configs.overrides import read_overrides


async def every_broker_sees_configs(
    caller: Caller, wanted: Mapping[str, Mapping[str, str | None]], *, timeout: float
) -> dict[str, list[str]]:
    """Like ``every_broker_sees``, for the configs that are set for topics themselves.

    ``wanted`` has values by topic and config, None for one that is not set. Sentences show no
    value, which may be a secret.
    """

    async def find_missing(broker: int, asked: Sequence[str], left: float) -> dict[str, list[str]]:
        there = await read_overrides(caller, asked, to=broker, timeout=left)
        return {name: list(_differences(wanted[name], there.get(name))) for name in asked}

    return await wait_for_all_brokers(caller, list(wanted), find_missing, timeout)


def _differences(
    wanted: Mapping[str, str | None], there: Mapping[str, str | None] | None
) -> Iterator[str]:
    if there is None:
        yield "its configs are not known"
        return
    for key, value in wanted.items():
        if not same_value(there.get(key), value):
            yield f"config {key} is not as asked"
