"""The text's scenarios of a topic that is deleted and created again: lines 38 to 75.

Each is a function of a seed, of how many of its steps are played, and of the rules; a step is a
sentence of the trace and the events behind it. By the shipped rules a name is not free before
every replica has gone, so that three of the stories end otherwise: ``_name_is_taken``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from kafka_admin_proto.simulation.rules import TEXT, Rules
from kafka_admin_proto.simulation.scenarios.cluster import Cluster
from kafka_admin_proto.simulation.world.world import World

#: Broker 3 starts first, and becomes controller: the text's B1 and B2 are no controllers.
_BROKERS = (3, 1, 2)
_CONTROLLER, _B1, _B2 = _BROKERS
_TOPIC = "A"
_RECORDS = 3


def stale_read(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """A leader that missed a deletion gives no record of the old topic to a read of the new one.

    Step 5 of the text says id0; it is id1 that B2 has heard of.
    """
    return _play(seed, steps, rules, _stale_read)


def stale_state(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """A replica that missed its StopReplica meets the new topic: its log makes place."""
    return _play(seed, steps, rules, _stale_state)


def delete(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """A deletion is answered while a replica's broker is down, and collected in the background.

    The broker stays down until the controller gives up, and is cleaned by the FULL that it starts
    with.
    """
    return _play(seed, steps, rules, _delete)


def bump(seed: int, steps: int, rules: Rules = TEXT) -> World:
    """The bump of the protocol finds topics without ids, and a deletion that is staged."""
    return _play(seed, steps, rules, _bump, topic_ids=False)


def _play(
    seed: int,
    steps: int,
    rules: Rules,
    story: Callable[[Cluster], Iterator[None]],
    *,
    topic_ids: bool = True,
) -> World:
    """The first steps of a story, one at least."""
    cluster = Cluster(seed, brokers=_BROKERS, rules=rules, topic_ids=topic_ids, record_states=True)
    for _ in islice(story(cluster), max(1, steps)):
        pass
    return cluster.world


def _stale_read(cluster: Cluster) -> Iterator[None]:
    world = cluster.world
    world.step("1. Broker B1 is a leader for topic partition A_p0_id0")
    yield from _with_records(cluster, {0: [_B1, _B2]}, for_ms=200)
    world.network.cut(_CONTROLLER, _B1)
    if not _answers_at_once(cluster):
        yield from _name_is_taken(cluster, lambda: world.network.heal(_CONTROLLER, _B1))
        return
    world.step("2. Topic A id0 is deleted")
    cluster.delete(_TOPIC)
    yield
    world.step("3. Topic A id1 is created")
    new = cluster.create(_TOPIC, {0: [_B1, _B2]})
    yield
    world.step("4. Broker B1 has received neither LeaderAndIsr nor StopReplica for A_p0_id0")
    yield
    world.step("5. Broker B2 has received LeaderAndIsr for A_p0_id1, and starts fetching from B1")
    assert new.topic_id is not None, "the protocol has topic ids"
    cluster.client.fetch(_B1, _TOPIC, new.topic_id, 0)
    world.run(1_000)
    yield
    world.step("B1 is reached again: A_p0_id0 goes, A_p0_id1 is there, and B2 fetches it")
    world.network.heal(_CONTROLLER, _B1)
    cluster.wait_for_metadata()
    cluster.client.produce(_B1, _TOPIC, new.topic_id, 0)
    world.run(1_000)
    cluster.client.fetch(_B1, _TOPIC, new.topic_id, 0)
    world.run(100)
    yield


def _stale_state(cluster: Cluster) -> Iterator[None]:
    world = cluster.world
    world.step("1. Broker B1 is a replica for A_p0_id0")
    yield from _with_records(cluster, {0: [_B2, _B1]}, for_ms=1_000)
    world.network.loses = lambda node, peer, api, kind: (peer, api) == (_B1, "StopReplica")
    if not _answers_at_once(cluster):
        yield from _name_is_taken(cluster, world.network.heal_all)
        return
    world.step("2. Topic A id0 is deleted")
    cluster.delete(_TOPIC)
    yield
    world.step("3. B1 does not receive a StopReplica for A_p0_id0")
    yield
    world.step("4. Topic A id1 is created")
    cluster.create(_TOPIC, {0: [_B2, _B1]})
    yield
    world.step("5. Broker B1 receives LeaderAndIsr with A_p0_id1")
    world.run(200)
    yield
    world.step("StopReplica is sent again after retryMs: nothing of id0 is left to stop")
    world.network.loses = None
    cluster.wait_for_metadata()
    yield


def _delete(cluster: Cluster) -> Iterator[None]:
    world = cluster.world
    world.step("Topic A id0 has replicas on brokers 1 and 2")
    yield from _with_records(cluster, {0: [_B1, _B2], 1: [_B2, _B1]}, for_ms=500)
    yield from _broker_2_goes_down(cluster)
    if not _answers_at_once(cluster):
        yield from _name_is_taken(cluster, lambda: world.start(_B2))
        return
    world.step("Topic A id0 is deleted: the answer is there at once, and the name is free")
    cluster.delete(_TOPIC)
    yield
    world.step("Topic A id1 is created on brokers 1 and 3")
    cluster.create(_TOPIC, {0: [_B1, _CONTROLLER]})
    yield
    world.step("StopReplica to broker 2 is retried, and given up in the end")
    world.run(cluster.config.deletion_give_up_ms + 1_000)
    yield
    world.step("Broker 2 starts: FULL does not name A, so that its replicas are stale")
    world.start(_B2)
    cluster.wait_for_metadata()
    yield


def _bump(cluster: Cluster) -> Iterator[None]:
    world = cluster.world
    world.step("Before the bump, topics A and B have no ids")
    yield from _with_records(cluster, {0: [_B1, _B2]}, {0: [_B2, _B1]}, for_ms=500)
    yield from _broker_2_goes_down(cluster)
    world.step("Topic B is deleted: the deletion is staged, and its client waits in vain")
    cluster.delete("B", timeout_ms=1_000)
    yield
    cluster.bump()
    world.step("The new controller gives both topics ids, and sends FULL: the files are written")
    world.run(1_000)
    yield
    by_id = "v4, with B's id" if cluster.config.rules.dialect == "kip-516" else "v3, by name"
    world.step(f"Broker 2 starts: what was staged goes by StopReplica {by_id}")
    world.start(_B2)
    cluster.wait_for_metadata()
    yield
    when = "at once" if _answers_at_once(cluster) else "when its replicas have gone"
    world.step(f"Topic A has an id now: its deletion is answered {when}")
    cluster.delete(_TOPIC)
    cluster.wait_for_metadata()
    yield


def _answers_at_once(cluster: Cluster) -> bool:
    return cluster.config.rules.deletion_answered == "at_once"


def _name_is_taken(cluster: Cluster, reach: Callable[[], None]) -> Iterator[None]:
    """How a story goes on where a deletion waits for a broker, until ``reach`` brings it back."""
    world, client = cluster.world, cluster.client
    world.step("Topic A id0 is to be deleted: a replica is not reached, and the request times out")
    cluster.delete(_TOPIC)
    yield
    world.step("Topic A id1 is refused: the name is taken until every replica of id0 has gone")
    call = client.create_topic(_CONTROLLER, _TOPIC, {0: [_B1, _B2]})
    world.run_until(lambda: call.ended)
    yield
    world.step("The replica is reached: A id0 goes everywhere, and the deletion ends")
    reach()
    cluster.wait_for_metadata()
    yield
    world.step("Topic A id1 is created: no broker has anything of id0 any more")
    cluster.create(_TOPIC, {0: [_B1, _B2]})
    cluster.wait_for_metadata()
    yield


def _with_records(
    cluster: Cluster,
    replicas: dict[int, list[int]],
    of_other: dict[int, list[int]] | None = None,
    *,
    for_ms: int,
) -> Iterator[None]:
    """Make topic A, and B where it has replicas, and write a few records to A's partition 0."""
    topic = cluster.create(_TOPIC, replicas)
    if of_other is not None:
        cluster.create("B", of_other)
    cluster.wait_for_metadata()
    for _ in range(_RECORDS):
        cluster.client.produce(replicas[0][0], topic.name, topic.topic_id, 0)
    cluster.world.run(for_ms)
    yield


def _broker_2_goes_down(cluster: Cluster) -> Iterator[None]:
    cluster.world.step("Broker 2 goes down")
    cluster.world.crash(_B2)
    cluster.world.run(1_000)
    yield
