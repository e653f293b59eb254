"""Invariants of every run of the quorum, whatever messages are lost and whatever nodes crash.

``violations`` reads notes in the trace, which outlive crashes; ``unsettled`` looks at the nodes
once the network has been quiet for a while.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_admin_proto.counts import counted
from kafka_admin_proto.simulation.quorum.voter import Voter
from kafka_admin_proto.simulation.world.trace import Trace
from kafka_admin_proto.topic_ids import METADATA_TOPIC_ID, ZERO_TOPIC_ID, topic_id_to_text

_RESERVED = {topic_id_to_text(METADATA_TOPIC_ID), topic_id_to_text(ZERO_TOPIC_ID)}


def violations(trace: Trace) -> Iterator[str]:
    """Sentences about what a run did that it must not do."""
    leaders: dict[int, int] = {}
    votes: dict[tuple[int, int], int] = {}
    epochs: dict[int, int] = {}
    committed: dict[int, tuple[int, int]] = {}
    known: set[str] = set()
    for event in trace.events:
        if event.kind != "note":
            continue
        node, fields = event.node, event.fields
        epoch = fields.get("epoch", 0)
        if "committed" in fields:
            offset, record = fields["committed"], (epoch, fields["checksum"])
            if committed.setdefault(offset, record) != record:
                yield f"the committed record at offset {offset} was replaced"
            continue
        if epoch < epochs.get(node, 0) and epoch:
            yield f"node {node} goes back from epoch {epochs[node]} to {epoch}"
        epochs[node] = max(epoch, epochs.get(node, 0))
        if "leads" in fields and leaders.setdefault(epoch, node) != node:
            yield f"epoch {epoch} has two leaders, nodes {leaders[epoch]} and {node}"
        if "voted_for" in fields:
            vote = votes.setdefault((epoch, node), fields["voted_for"])
            if vote != fields["voted_for"]:
                yield f"node {node} votes for {vote} and {fields['voted_for']} in epoch {epoch}"
        if fields.get("given_topic_id") in _RESERVED:
            yield "the metadata topic is given a reserved id"
        if "known_topic_id" in fields:
            known.add(fields["known_topic_id"])
    if len(known) > 1:
        yield f"the metadata topic has {counted(len(known), 'ids')}"


def unsettled(nodes: Sequence[Voter]) -> Iterator[str]:
    """Sentences about what nodes still wait for though the network is quiet and all are up."""
    leaders = [each for each in nodes if each.quorum.role == "leader"]
    if len(leaders) != 1:
        yield f"{counted(len(leaders), 'nodes')} lead"
        return
    (leader,) = leaders
    for node in nodes:
        name = f"node {node.context.node_id}"
        if node.quorum.epoch != leader.quorum.epoch:
            yield f"{name} is in epoch {node.quorum.epoch}, the leader in {leader.quorum.epoch}"
        elif node is not leader and node.quorum.role != "follower":
            yield f"{name} is {node.quorum.role}"
        if node.fetching.log.entries != leader.fetching.log.entries:
            yield f"{name} has another log than the leader"
        if node.fetching.high_watermark != leader.fetching.log.end.offset:
            yield f"{name} waits for records to be committed"
        if node.topic_id == METADATA_TOPIC_ID:
            yield f"{name} waits for the metadata topic's id"
