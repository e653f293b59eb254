"""The text's scenarios of a topic that is deleted and created again: lines 55 to 75."""

from __future__ import annotations

from kafka_admin_proto.simulation.rules import TEXT, Rules
from kafka_admin_proto.simulation.scenarios.cluster import Cluster
from kafka_admin_proto.simulation.world.world import World

#: Broker 3 starts first, and becomes controller: the text's B1 and B2 are no controllers.
_BROKERS = (3, 1, 2)
_CONTROLLER, _B1, _B2 = _BROKERS
_TOPIC = "A"


def stale_read(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """A leader that has heard nothing of a deletion gives no record to who asks for the new topic.

    ``steps`` records are written to the old topic, one at least.
    """
    cluster = Cluster(seed, brokers=_BROKERS, rules=rules, record_states=True)
    world = cluster.world
    world.step("1. Broker B1 is a leader for topic partition A_p0_id0")
    old = cluster.create(_TOPIC, {0: [_B1, _B2]})
    cluster.settle()
    for _ in range(max(1, steps)):
        cluster.client.produce(_B1, _TOPIC, old.topic_id, 0)
    world.run(200)
    world.network.cut(_CONTROLLER, _B1)
    world.step("2. Topic A id0 is deleted")
    cluster.delete(_TOPIC)
    world.step("3. Topic A id1 is created")
    new = cluster.create(_TOPIC, {0: [_B1, _B2]})
    world.step("4. Broker B1 has received neither LeaderAndIsr nor StopReplica for A_p0_id0")
    world.step("5. Broker B2 has received LeaderAndIsr for A_p0_id1, and starts fetching from B1")
    assert new.topic_id is not None, "the protocol has topic ids"
    cluster.client.fetch(_B1, _TOPIC, new.topic_id, 0)
    world.run(1_000)
    world.step("B1 is reached again: A_p0_id0 goes, A_p0_id1 is there, and B2 fetches it")
    world.network.heal(_CONTROLLER, _B1)
    cluster.settle()
    cluster.client.produce(_B1, _TOPIC, new.topic_id, 0)
    world.run(1_000)
    cluster.client.fetch(_B1, _TOPIC, new.topic_id, 0)
    world.run(100)
    return world


def stale_state(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """A replica that missed its StopReplica meets the new topic: its log makes place.

    ``steps`` records are written to the old topic, one at least.
    """
    cluster = Cluster(seed, brokers=_BROKERS, rules=rules, record_states=True)
    world = cluster.world
    world.step("1. Broker B1 is a replica for A_p0_id0")
    old = cluster.create(_TOPIC, {0: [_B2, _B1]})
    cluster.settle()
    for _ in range(max(1, steps)):
        cluster.client.produce(_B2, _TOPIC, old.topic_id, 0)
    world.run(1_000)
    world.step("2. Topic A id0 is deleted")
    world.network.loses = lambda node, peer, api, kind: (peer, api) == (_B1, "StopReplica")
    cluster.delete(_TOPIC)
    world.step("3. B1 does not receive a StopReplica for A_p0_id0")
    world.step("4. Topic A id1 is created")
    cluster.create(_TOPIC, {0: [_B2, _B1]})
    world.step("5. Broker B1 receives LeaderAndIsr with A_p0_id1")
    world.run(200)
    world.step("StopReplica is sent again after retryMs: nothing of id0 is left to stop")
    world.network.loses = None
    cluster.settle()
    return world


def delete(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """A deletion is answered while a replica's broker is down, and collected in the background.

    The broker stays down until the controller gives up, and is cleaned by the FULL that it starts
    with. ``steps`` records are written before.
    """
    cluster = Cluster(seed, brokers=_BROKERS, rules=rules, record_states=True)
    world = cluster.world
    world.step("Topic A id0 has replicas on brokers 1 and 2")
    old = cluster.create(_TOPIC, {0: [_B1, _B2], 1: [_B2, _B1]})
    cluster.settle()
    for _ in range(max(1, steps)):
        cluster.client.produce(_B1, _TOPIC, old.topic_id, 0)
    world.run(500)
    world.step("Broker 2 goes down")
    world.crash(_B2)
    world.run(1_000)
    world.step("Topic A id0 is deleted: the answer is there at once, and the name is free")
    cluster.delete(_TOPIC)
    world.step("Topic A id1 is created on brokers 1 and 3")
    cluster.create(_TOPIC, {0: [_B1, _CONTROLLER]})
    world.step("StopReplica to broker 2 is retried, and given up in the end")
    world.run(cluster.config.deletion_give_up_ms + 1_000)
    world.step("Broker 2 starts: FULL does not name A, so that its replicas are stale")
    world.start(_B2)
    cluster.settle()
    return world


def bump(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """The bump of the protocol finds topics without ids, and a deletion that is staged.

    ``steps`` records are written before.
    """
    cluster = Cluster(seed, brokers=_BROKERS, rules=rules, topic_ids=False, record_states=True)
    world = cluster.world
    world.step("Before the bump, topics A and B have no ids")
    cluster.create(_TOPIC, {0: [_B1, _B2]})
    cluster.create("B", {0: [_B2, _B1]})
    cluster.settle()
    for _ in range(max(1, steps)):
        cluster.client.produce(_B1, _TOPIC, None, 0)
    world.run(500)
    world.step("Broker 2 goes down")
    world.crash(_B2)
    world.run(1_000)
    world.step("Topic B is deleted: the deletion is staged, and its client waits in vain")
    cluster.delete("B", timeout_ms=1_000)
    cluster.bump()
    world.step("The new controller gives both topics ids, and sends FULL: the files are written")
    world.run(1_000)
    world.step("Broker 2 starts: what was staged goes by StopReplica v4, with B's id")
    world.start(_B2)
    cluster.settle()
    world.step("Topic A has an id now: its deletion is answered at once")
    cluster.delete(_TOPIC)
    cluster.settle()
    return world
