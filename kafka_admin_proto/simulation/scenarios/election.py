"""The quorum's first election, and those after it (KIP-516's "Compatibility with KIP-500")."""

from __future__ import annotations

from kafka_admin_proto.simulation.node import NodeContext
from kafka_admin_proto.simulation.quorum.folder import MetadataFolder
from kafka_admin_proto.simulation.quorum.voter import Voter
from kafka_admin_proto.simulation.world.world import MakeNode, World
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID

VOTERS = (1, 2, 3)
OBSERVER = 4


def voter_maker(folder: MetadataFolder, make: type[Voter] = Voter) -> MakeNode:
    """Makes the lives of one voter, which share a folder."""

    def made(context: NodeContext) -> Voter:
        return make(context, folder, VOTERS)

    return made


def add_quorum(world: World, make: type[Voter] = Voter) -> None:
    """Add three voters, and a broker that only fetches."""
    for node_id in VOTERS:
        world.add(node_id, f"voter {node_id}", voter_maker(MetadataFolder(), make))
    world.add(OBSERVER, "broker 4", voter_maker(MetadataFolder(), make))


def nodes_of(world: World) -> list[Voter]:
    nodes = [world.node(each) for each in world.node_ids if world.is_up(each)]
    return [each for each in nodes if isinstance(each, Voter)]


def leader_of(world: World) -> Voter | None:
    """The leader of the newest epoch among the nodes that are up; None while there is none."""
    leaders = [each for each in nodes_of(world) if each.quorum.role == "leader"]
    return max(leaders, key=lambda each: each.quorum.epoch, default=None)


def is_settled(world: World) -> bool:
    """Whether all that are up know the leader, and the metadata topic's id."""
    nodes, leader = nodes_of(world), leader_of(world)
    return leader is not None and all(
        each.quorum.leader_id == leader.quorum.leader_id
        and each.topic_id != METADATA_TOPIC_ID
        and each.fetching.high_watermark == leader.fetching.log.end.offset
        for each in nodes
    )


def election(seed: int, steps: int) -> World:
    """The election; ``steps`` bounds how many of its chapters are played."""
    world = World(seed, record_states=True)
    chapters = (_first_election, _leader_crashes, _old_leader_returns, _leader_resigns)
    for chapter in chapters[: max(1, steps)]:
        chapter(world)
        world.run_until(lambda: is_settled(world))
        world.run(100)
    return world


def _first_election(world: World) -> None:
    world.step(
        "Three voters start. The metadata topic has no id yet, so Vote and Fetch carry the "
        "sentinel; the leader gives it an id, which is used once it is committed."
    )
    add_quorum(world)


def _leader_crashes(world: World) -> None:
    world.step("The leader crashes. The next election is held with the topic's own id.")
    leader = leader_of(world)
    assert leader is not None
    world.crash(leader.context.node_id)
    world.run_until(lambda: leader_of(world) is not None)


def _old_leader_returns(world: World) -> None:
    world.step("The old leader is back: its files tell epoch and id, and it follows the new one.")
    for node_id in VOTERS:
        if not world.is_up(node_id):
            world.start(node_id)


def _leader_resigns(world: World) -> None:
    world.step("The leader resigns with EndQuorumEpoch: its first successor does not wait.")
    leader = leader_of(world)
    assert leader is not None
    leader.resign()
    world.run_until(lambda: leader_of(world) is not None)
