"""Electing preferred leaders by the admin schema's message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from kafka_admin_proto.admin.drafts.caller import DraftCaller
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import unanswered
from kafka_admin_proto.admin.operations.common.topic_partitions import by_topic
from kafka_admin_proto.admin.operations.common.waiting import incomplete_message
from kafka_admin_proto.admin.operations.partitions.elections import (
    ElectedLeader,
    Election,
    is_about,
    partition_text,
)
from kafka_admin_proto.admin.operations.topics.descriptions import (
    PartitionDescription,
    TopicDescription,
)
from kafka_admin_proto.admin.retry import Deadline
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
        timeout: float = 30.0,
    ) -> list[ElectedLeader]:
        """As ``ElectLeaders.elect_leaders``, of preferred leaders.

        A code is that of the topic, and so of all its partitions here. The status is checked as
        the draft says: the head of the replicas leads.
        """
        if election != "preferred":
            raise InstructionError(f"{self.dialect} elects preferred leaders, not {election} ones")
        deadline = Deadline(self.default_timeout if timeout <= 0 else timeout)
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
            error, message = answers.get(topic) or unanswered("partition")
            results[topic, number] = ElectedLeader(
                topic=topic,
                partition=number,
                elected=error is None and needed.get((topic, number), False),
                error=error,
                message=message,
            )
        if timeout > 0:
            await self._wait(results, deadline)
        return list(results.values())

    async def _wait(
        self, results: dict[tuple[str, int], ElectedLeader], deadline: Deadline
    ) -> None:
        begun = [each for each, result in results.items() if result.error is None]
        numbers = by_topic(begun)

        def missing(name: str, topic: TopicDescription) -> Iterator[str]:
            there = {each.partition: each for each in topic.partitions}
            for number in numbers[name]:
                found = there.get(number)
                place = partition_text(name, number)
                if found is None:
                    yield f"{place} is unknown"
                elif not _is_preferred(found):
                    yield (
                        f"{place} is led by {found.leader}, not yet by the first of "
                        f"{found.replicas}"
                    )

        left = await self.every_broker_has(list(numbers), missing, deadline)
        for topic, number in begun:
            lacks = [
                each
                for each in left.get(topic, [])
                if is_about(each, partition_text(topic, number))
            ]
            result = results[topic, number]
            results[topic, number] = msgspec.structs.replace(
                result,
                complete=not lacks,
                missing=lacks,
                message=incomplete_message(lacks, deadline) if lacks else result.message,
            )


def _is_preferred(partition: PartitionDescription) -> bool:
    """Whether the head of the replicas leads."""
    return partition.replicas[:1] == [partition.leader]
