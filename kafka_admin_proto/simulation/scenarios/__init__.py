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

__all__ = ["SCENARIOS"]

#: Name → the run of a seed and of so many steps at most, with the nodes' states in its trace.
SCENARIOS: Mapping[str, Callable[[int, int], World]] = {
    "stale-read": stale_read,
    "stale-state": stale_state,
    "delete": delete,
    "bump": bump,
    "election": election,
    "random": random_schedule,
}
