"""Runs of the quorum in which links break, frames are lost and nodes crash, all of it drawn."""

from __future__ import annotations

from random import Random

from kafka_admin_proto.simulation.quorum.state import InconsistentLeaderError
from kafka_admin_proto.simulation.quorum.voter import Voter
from kafka_admin_proto.simulation.scenarios.election import VOTERS, add_quorum, leader_of, nodes_of
from kafka_admin_proto.simulation.world.world import World
from tests.simulation.quorum.invariants import unsettled, violations

#: Virtual time without a loss after which nobody may wait any more.
QUIET_MS = 20_000
_ACTIONS = (
    "crash", "crash a moment", "crash leader", "start", "start", "cut", "heal", "resign",
)  # fmt: skip


def play(seed: int, make: type[Voter] = Voter) -> tuple[World, list[str]]:
    """A drawn run, and what it did that it must not do."""
    world, random = World(seed), Random(f"schedule {seed}")
    try:
        add_quorum(world, make)
        world.network.loss = random.choice([0.0, 0.02, 0.1, 0.3])
        world.network.delay_ms = random.choice([(1, 10), (1, 300)])
        for _ in range(random.randrange(2, 20)):
            _act(world, random)
            world.run(random.choice([5, 5, 50, 400, 1500, 4000]))
        world.network.heal_all()
        for node_id in world.node_ids:
            if not world.is_up(node_id):
                world.start(node_id)
        if not world.run_until(lambda: not list(unsettled(nodes_of(world))), QUIET_MS):
            return world, [*violations(world.trace), *unsettled(nodes_of(world))]
    except (InconsistentLeaderError, AssertionError) as error:
        return world, [*violations(world.trace), f"{type(error).__name__}: {error}"]
    return world, list(violations(world.trace))


def _act(world: World, random: Random) -> None:
    """Crash, start, cut, heal or resign, whichever is drawn and fits."""
    action = random.choice(_ACTIONS)
    leader = leader_of(world)
    up = [each for each in world.node_ids if world.is_up(each)]
    down = [each for each in world.node_ids if not world.is_up(each)]
    if action == "crash" and up:
        world.crash(random.choice(up))
    elif action == "crash a moment" and up:
        node_id = random.choice(up)
        world.crash(node_id)
        world.run(random.randrange(20))
        world.start(node_id)
    elif action == "crash leader" and leader is not None:
        world.crash(leader.context.node_id)
    elif action == "start" and down:
        world.start(random.choice(down))
    elif action == "cut":
        world.network.cut(*random.sample(VOTERS, 2))
    elif action == "heal":
        one, other = random.sample(VOTERS, 2)
        if not world.network.is_up(one, other) and world.is_up(other):
            world.network.heal(one, other)
    elif action == "resign" and leader is not None:
        leader.resign()
