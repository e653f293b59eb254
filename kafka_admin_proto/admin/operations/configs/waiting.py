"""Waiting until every live broker has the configs that a controller has accepted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafka_admin_proto.admin.caller import Caller
from kafka_admin_proto.admin.config_values import same_value
from kafka_admin_proto.admin.operations.common.missing import Missing
from kafka_admin_proto.admin.operations.common.waiting import FindMissing
from kafka_admin_proto.admin.operations.configs.overrides import read_overrides

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
