"""The text's scenarios, and random runs: what ``kap simulate`` plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_admin_proto.simulation.scenarios.deleted_topics import (
    bump,
    delete,
    stale_read,
    stale_state,
)
from kafka_admin_proto.simulation.scenarios.election import election
from kafka_admin_proto.simulation.scenarios.schedule import random_schedule
from kafka_admin_proto.simulation.world.world import World

__all__ = ["SCENARIOS", "WITHOUT_RULES"]

#: Name → the run of a seed with a limit on its steps, and with rules; its trace has the states of
#: the nodes.
SCENARIOS: Mapping[str, Callable[..., World]] = {
    "stale-read": stale_read,
    "stale-state": stale_state,
    "delete": delete,
    "bump": bump,
    "election": election,
    "random": random_schedule,
}
#: Scenarios that take no rules: voters have no rules in the table.
WITHOUT_RULES = ("election",)
