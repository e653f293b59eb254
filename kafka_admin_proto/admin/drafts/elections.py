"""Electing preferred leaders by the admin schema's message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_admin_proto.admin.drafts.caller import DraftCaller
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import unanswered
from kafka_admin_proto.admin.operations.common.timeouts import waiting_time
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.operations.common.waiting import Missing, missing_in_partition
from kafka_admin_proto.admin.operations.partitions.elections import ElectedLeader, Election
from kafka_admin_proto.admin.operations.topics.descriptions import (
    PartitionDescription,
    TopicDescription,
)
from kafka_admin_proto.messages import kip_4b
from kafka_admin_proto.messages.kip_4b.preferred_replica_leader_election_request import (
    PreferredReplicaLeaderElectionRequestItem,
)


class ElectByDraft(DraftCaller):
    """PreferredReplicaLeaderElection."""

    async def elect_leaders(
        self,
        partitions: Iterable[tuple[str, int]] | None = None,
        *,
        election: Election = "preferred",
        timeout: float | None = None,
    ) -> list[ElectedLeader]:
        """As ``ElectLeaders.elect_leaders``, of preferred leaders.

        A code is that of the topic, and so of all its partitions here. The status is checked as
        the draft says: the head of the replicas leads.
        """
        if election != "preferred":
            raise InstructionError(f"{self.dialect} elects preferred leaders, not {election} ones")
        timeout, deadline = waiting_time(self, timeout)
        asked = list(dict.fromkeys(partitions or ()))
        before = await self.topic_views(list(by_topic(asked)), deadline)
        needed = {
            (name, each.partition): not _is_preferred(each)
            for name, topic in before.items()
            for each in topic.partitions
        }
        request = kip_4b.PreferredReplicaLeaderElectionRequest(
            [PreferredReplicaLeaderElectionRequestItem(*each) for each in by_topic(asked).items()]
        )
        answers = await self.ask_draft(request, deadline)
        results = {}
        for topic, number in asked or [each for each, needs in needed.items() if needs]:
            why = answers.get(topic) or unanswered("partition")
            results[topic, number] = ElectedLeader(
                topic=topic,
                partition=number,
                elected=why["error"] is None and needed.get((topic, number), False),
                **why,
            )
        if timeout > 0:

            def missing(wanted: Partition, topic: TopicDescription) -> Iterator[Missing]:
                there = {each.partition: each for each in topic.partitions}
                led = there.get(wanted[1])
                if led is None:
                    yield missing_in_partition(*wanted, "is unknown")
                elif not _is_preferred(led):
                    fault = f"is led by {led.leader}, not yet by the first of {led.replicas}"
                    yield missing_in_partition(*wanted, fault)

            results = await self.on_every_broker(results, missing, deadline)
        return list(results.values())


def _is_preferred(partition: PartitionDescription) -> bool:
    return partition.replicas[:1] == [partition.leader]
