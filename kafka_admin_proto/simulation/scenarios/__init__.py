"""The text's scenarios, and random runs: what ``kap simulate`` plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_admin_proto.simulation.scenarios.election import election
from kafka_admin_proto.simulation.world.world import World

#: Name → the run of a seed and of so many steps at most, with the nodes' states in its trace.
SCENARIOS: Mapping[str, Callable[[int, int], World]] = {"election": election}
