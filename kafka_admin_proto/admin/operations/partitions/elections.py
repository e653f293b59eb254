"""Electing leaders: the preferred one, which is the first replica, or an unclean one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.common.failures import (
    Failure,
    failure,
    raise_failure,
    unanswered,
)
from kafka_admin_proto.admin.operations.common.item_retries import retry_items
from kafka_admin_proto.admin.operations.common.timeouts import waiting_time, wire_timeout_ms
from kafka_admin_proto.admin.operations.common.topic_partitions import Partition, by_topic
from kafka_admin_proto.admin.operations.common.waiting import (
    Missing,
    in_metadata,
    missing_in_partition,
    wait_for_results,
)
from kafka_admin_proto.messages import ElectLeadersResponse
from kafka_admin_proto.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kafka_admin_proto.messages.metadata_response import MetadataResponseTopic
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

Election = Literal["preferred", "unclean"]

#: On the wire; before version 1 there are preferred elections only.
_NUMBERS: dict[Election, int] = {"preferred": 0, "unclean": 1}
_NOT_NEEDED = "ELECTION_NOT_NEEDED"


class ElectedLeader(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one partition.

    ``elected`` says that it has another leader now. A partition with the right leader needs no
    election: ``elected`` is False then and there is no error.
    """

    topic: str
    partition: int
    elected: bool
    error: str | None = None
    message: str | None = None
    complete: bool | None = None
    missing: list[Missing] = []


class ElectLeaders(Caller):
    """ElectLeaders (brokers from 2.2, unclean elections from 2.4)."""

    async def elect_leaders(
        self,
        partitions: Iterable[tuple[str, int]] | None = None,
        *,
        election: Election = "preferred",
        timeout: float | None = None,
    ) -> list[ElectedLeader]:
        """Elect leaders of partitions, by (topic, partition), each on its own.

        None, or no partitions, stands for all of the cluster; then only those are in the result
        that needed an election. A preferred election is done when every live broker has the first
        replica as the leader, an unclean one when there is a leader at all: with a ``timeout``
        (seconds) above 0 the call waits for that.
        """
        if election not in get_args(Election):
            raise InstructionError(f"election is {election!r}; it is 'preferred' or 'unclean'")
        asked = list(dict.fromkeys(partitions or ()))
        timeout, deadline = waiting_time(self, timeout)

        async def attempt(some: list[Partition], left: float) -> dict[Partition, ElectedLeader]:
            return await _elect(self, some, election, left)

        if asked:
            answers = await retry_items(self, asked, attempt, timeout=deadline.left)
            lost = unanswered("partition")
            results = [
                answers.get((topic, number))
                or ElectedLeader(topic=topic, partition=number, elected=False, **lost)
                for topic, number in asked
            ]
        else:
            everything = await attempt([], deadline.left)
            results = [each for _, each in sorted(everything.items()) if each.elected or each.error]
        if timeout <= 0:
            return results

        def missing(wanted: Partition, topic: MetadataResponseTopic | None) -> Iterator[Missing]:
            there = () if topic is None else topic.partitions
            led = next((each for each in there if each.partition_index == wanted[1]), None)
            if topic is None:
                yield Missing(wanted[0], f"topic {wanted[0]!r} is unknown", wanted[1])
            elif led is None:
                yield missing_in_partition(*wanted, "is unknown")
            elif led.leader_id < 0:
                yield missing_in_partition(*wanted, "has no leader")
            elif election == "preferred" and led.leader_id != (first := led.replica_nodes[0]):
                fault = f"is led by {led.leader_id}, not yet by {first}"
                yield missing_in_partition(*wanted, fault)

        begun = {(each.topic, each.partition): each for each in results}
        done = await wait_for_results(self, begun, in_metadata(self, missing), deadline)
        return list(done.values())


async def _elect(
    caller: Caller, partitions: list[Partition], election: Election, left: float
) -> dict[Partition, ElectedLeader]:
    request = ElectLeadersRequest(
        election_type=_NUMBERS[election],
        topic_partitions=[
            TopicPartitions(topic=topic, partitions=numbers)
            for topic, numbers in by_topic(partitions).items()
        ]
        or None,
        timeout_ms=wire_timeout_ms(left),
    )
    reply = await caller.call(
        request, ElectLeadersResponse, to=Target.CONTROLLER, timeout=left,
        versions=VersionRange(_NUMBERS[election], MAX_VERSION),
    )  # fmt: skip
    raise_failure(reply.body.error_code, context=f"{election} election")
    elected = {}
    for topic in reply.body.replica_election_results:
        for row in topic.partition_result:
            why = failure(row.error_code, row.error_message)
            is_elected = why["error"] is None
            if why["error"] == _NOT_NEEDED:
                why = Failure(error=None, message="it has the right leader already")
            elected[topic.topic, row.partition_id] = ElectedLeader(
                topic=topic.topic, partition=row.partition_id, elected=is_elected, **why
            )
    return elected
