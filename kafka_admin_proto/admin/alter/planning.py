"""Planning: the steps that turn a topic's state into what an instruction asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args
from zlib import crc32

import msgspec

from kafka_admin_proto.admin.alter.instructions import TopicAlteration
from kafka_admin_proto.admin.alter.plans import (
    AddPartitionsStep,
    DeleteConfigStep,
    ReassignStep,
    SetConfigStep,
    Step,
    TopicPlan,
)
from kafka_admin_proto.admin.config_values import same_value
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.counts import counted
from kafka_admin_proto.errors import PlacementError
from kafka_admin_proto.placement import count_moves, place_new, regenerate

#: The topic-commands draft of KIP-4, or its draft of errors and admin schema.
DraftReading = Literal["first", "second"]

#: More than all partitions of the largest clusters together.
_MOST_PARTITIONS = 1_000_000

#: Kafka's name of an error → the one that the second draft has in its place.
_DRAFT_ERRORS = {
    "INVALID_PARTITIONS": "InvalidArgumentPartitions",
    "INVALID_REPLICATION_FACTOR": "InvalidArgumentReplicationFactor",
    "INVALID_REPLICA_ASSIGNMENT": "InvalidArgumentReplicaAssignment",
    "INVALID_CONFIG": "InvalidArgumentTopicConfig",
    "REASSIGNMENT_IN_PROGRESS": "ReassignPartitionsInProgress",
}


class TopicState(msgspec.Struct, frozen=True):
    """A topic as it is.

    ``replicas`` are those of each partition in order; of the partitions in ``reassigning`` those
    that they will have. ``configs`` are the topic's own; None where the client may not see them.
    """

    replicas: list[list[int]]
    configs: Mapping[str, str | None] | None = None
    reassigning: frozenset[int] = frozenset()


class _RefusedError(Exception):
    """The instruction cannot be carried out: Kafka's name of the error, and a sentence."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(error, message)
        self.error, self.message = error, message


def check_reading(reading: DraftReading) -> None:
    """Raise InstructionError for a text that is no reading."""
    if reading not in get_args(DraftReading):
        raise InstructionError(f"reading is {reading!r}; it is 'first' or 'second'")


def plan_topic(
    alteration: TopicAlteration,
    state: TopicState | None,
    racks: Mapping[int, str | None],
    *,
    reading: DraftReading = "first",
    seed: int | None = None,
    elsewhere: Mapping[int, int] | None = None,
) -> TopicPlan:
    """The steps for one topic; None as its state stands for a topic that does not exist.

    ``racks`` are the live brokers with their racks. Assignments are generated with ``seed``, or
    else one out of the topic's name, and ``elsewhere``, as ``placement.place_new`` takes them.
    """
    check_reading(reading)
    name = alteration.name
    if state is None:
        missing = "the topic does not exist; create it first"
        return TopicPlan(name, error="UNKNOWN_TOPIC_OR_PARTITION", message=missing)
    planner = _Planner(alteration, state, racks, seed, elsewhere or {})
    try:
        wanted = planner.by_first_draft() if reading == "first" else planner.by_second_draft()
        steps = [*planner.partition_steps(wanted), *planner.config_steps()]
    except (_RefusedError, PlacementError) as refused:
        error = refused.error
        shown = _DRAFT_ERRORS.get(error, error) if reading == "second" else error
        message = refused.message if isinstance(refused, _RefusedError) else str(refused)
        return TopicPlan(name, error=shown, message=message)
    moves = count_moves(state.replicas, wanted[: len(state.replicas)])
    return TopicPlan(name, steps=steps, moves=moves, notes=planner.notes)


class _Planner:
    """Plans one instruction by either reading; ``notes`` say what of it needs no step."""

    def __init__(
        self,
        alteration: TopicAlteration,
        state: TopicState,
        racks: Mapping[int, str | None],
        seed: int | None,
        elsewhere: Mapping[int, int],
    ) -> None:
        self.notes: list[str] = []
        self._alteration, self._state, self._racks = alteration, state, racks
        self._seed = crc32(alteration.name.encode()) if seed is None else seed
        self._elsewhere = elsewhere

    def by_first_draft(self) -> list[list[int]]:
        """The replicas of all partitions afterwards, by the first draft."""
        partitions, factor = self._alteration.wanted_partitions, self._alteration.wanted_factor
        if self._alteration.assignment:
            for field, value in (("partitions", partitions), ("replication factor", factor)):
                if value is not None:
                    self.notes.append(f"{field} {value} is ignored: there is an assignment")
            return self._with_assignment(self._alteration.assignment)
        self._check_number(partitions)
        if partitions is not None and partitions < len(self._state.replicas):
            raise _RefusedError(
                "INVALID_PARTITIONS",
                f"the topic has {counted(len(self._state.replicas), 'partitions')}, and "
                f"{partitions} would be "
                "fewer; a topic never loses partitions",
            )
        if factor is not None:
            added = 0 if partitions is None else partitions - len(self._state.replicas)
            return self._with_factor(factor, added)
        if partitions is not None:
            return self._with_partitions(partitions)
        return self._state.replicas

    def by_second_draft(self) -> list[list[int]]:
        """The same by the second draft, with its names of errors."""
        asked, now = self._alteration, self._state.replicas
        partitions, factor = asked.wanted_partitions, asked.wanted_factor
        things = {
            "the number of partitions": partitions is not None,
            "the replication factor": factor is not None,
            "configs": bool(asked.configs or asked.delete_configs),
        }
        if sum(things.values()) > 1:
            both = " and ".join(thing for thing, given in things.items() if given)
            raise _RefusedError(
                "MultipleInstructionsForOneTopic",
                f"{both} are to change at once; make it one instruction after the other",
            )
        if partitions is None:
            if asked.assignment:
                self.notes.append("the assignment is ignored: no number of partitions is given")
            return now if factor is None else self._with_factor(factor, 0)
        if partitions < 0:
            raise _RefusedError(
                "INVALID_PARTITIONS",
                f"{partitions} is no number of partitions; name more than there are ({len(now)})",
            )
        if partitions <= len(now):
            raise _RefusedError(
                "DecreasePartitionsNotAllowed",
                f"the topic has {counted(len(now), 'partitions')}, and {partitions} would be no "
                "more; name more",
            )
        self._check_number(partitions)
        if not asked.assignment:
            return self._with_partitions(partitions)
        wanted = self._with_assignment(asked.assignment)
        if wanted[: len(now)] != now or len(wanted) != partitions:
            raise _RefusedError(
                "INVALID_REPLICA_ASSIGNMENT",
                f"the assignment has to name the new partitions {len(now)} to {partitions - 1}, "
                "and leaves the others as they are",
            )
        return wanted

    def _check_number(self, partitions: int | None) -> None:
        """Refuse before replicas are placed, as too many would take hours and all memory."""
        if partitions is not None and partitions > _MOST_PARTITIONS:
            raise _RefusedError(
                "INVALID_PARTITIONS",
                f"no cluster takes {counted(partitions, 'partitions')}, which is more than "
                f"{_MOST_PARTITIONS}",
            )

    def _with_assignment(self, assignment: Mapping[int, Sequence[int]]) -> list[list[int]]:
        """The current replicas with those of the assignment in their place or behind them."""
        wanted = [list(each) for each in self._state.replicas]
        same = 0
        for partition in sorted(assignment):
            replicas = list(assignment[partition])
            self._check_replicas(partition, replicas)
            if 0 <= partition < len(wanted):
                same += wanted[partition] == replicas
                wanted[partition] = replicas
            elif partition == len(wanted):
                wanted.append(replicas)
            else:
                raise _RefusedError(
                    "INVALID_REPLICA_ASSIGNMENT",
                    f"partition {partition} cannot be added: the next one is {len(wanted)}",
                )
        if same:
            self.notes.append(f"the assignment leaves {counted(same, 'partitions')} as before")
        return wanted

    def _check_replicas(self, partition: int, replicas: list[int]) -> None:
        fault = None
        now = self._state.replicas
        there = now[partition] if 0 <= partition < len(now) else []
        unknown = [each for each in replicas if each not in self._racks and each not in there]
        if not replicas:
            fault = "has no replicas in the assignment; name one broker or more"
        elif len({*replicas}) != len(replicas):
            fault = f"has a broker twice in {replicas}; name each once"
        elif unknown:
            fault = (
                f"is to have a replica on broker {unknown[0]}, which is not among the live ones "
                f"({', '.join(map(str, sorted(self._racks)))})"
            )
        if fault is not None:
            raise _RefusedError("INVALID_REPLICA_ASSIGNMENT", f"partition {partition} {fault}")

    def _with_factor(self, factor: int, added: int) -> list[list[int]]:
        """All partitions at another replication factor, and new ones."""
        now = self._state.replicas
        if all(len(replicas) == factor for replicas in now):
            self.notes.append(f"the replication factor is {factor} already")
            return [*now, *self._new_partitions(added, factor)]
        self._note_dead_brokers()
        return regenerate(
            self._racks, now, replication_factor=factor, new_partitions=added,
            seed=self._seed, elsewhere=self._elsewhere,
        )  # fmt: skip

    def _note_dead_brokers(self) -> None:
        """Replicas on brokers that are not live are given to others, which the user should see."""
        gone = {each for replicas in self._state.replicas for each in replicas} - {*self._racks}
        for broker in sorted(gone):
            self.notes.append(f"broker {broker} is not live: its replicas go to other brokers")

    def _with_partitions(self, partitions: int) -> list[list[int]]:
        now = self._state.replicas
        if partitions == len(now):
            self.notes.append(f"the topic has {counted(partitions, 'partitions')} already")
        return [*now, *self._new_partitions(partitions - len(now), len(now[0]) if now else 1)]

    def _new_partitions(self, count: int, factor: int) -> list[list[int]]:
        if count <= 0:
            return []
        return place_new(
            self._racks, count, factor, fixed=self._state.replicas,
            seed=self._seed, elsewhere=self._elsewhere,
        )  # fmt: skip

    def partition_steps(self, wanted: list[list[int]]) -> Iterator[Step]:
        """New partitions first: a cluster adds none while replicas of the topic move.

        It also wants as many replicas of a new partition as the first partition has at that time.
        Where the new ones are to have another number, they are added with that many and get the
        number that was asked for with the others.
        """
        now = self._state.replicas
        new = wanted[len(now) :]
        if new:
            factor = len(now[0]) if now else len(new[0])
            if self._state.reassigning:
                self._refuse_reassigning(min(self._state.reassigning))
            made = [self._at_factor(replicas, factor) for replicas in new]
            yield AddPartitionsStep(current=len(now), count=len(wanted), assignments=made)
            now = [*now, *made]
        for partition, (current, replicas) in enumerate(zip(now, wanted, strict=True)):
            if current == replicas:
                continue
            if partition in self._state.reassigning:
                self._refuse_reassigning(partition)
            yield ReassignStep(partition=partition, current=current, replicas=replicas)

    def _refuse_reassigning(self, partition: int) -> None:
        raise _RefusedError(
            "REASSIGNMENT_IN_PROGRESS",
            f"the replicas of partition {partition} are moving already; wait until they have "
            "arrived, or cancel that first",
        )

    def _at_factor(self, replicas: list[int], factor: int) -> list[int]:
        others = [broker for broker in sorted(self._racks) if broker not in replicas]
        return [*replicas, *others][:factor]

    def config_steps(self) -> Iterator[Step]:
        there = self._state.configs or {}
        both = [
            name for name in self._alteration.delete_configs if name in self._alteration.configs
        ]
        if both:
            raise _RefusedError(
                "INVALID_CONFIG", f"config {both[0]} is to be set and deleted at once; choose one"
            )
        for name, value in self._alteration.configs.items():
            if name in there and same_value(there[name], value):
                self.notes.append(f"config {name} has this value already")
            else:
                yield SetConfigStep(name=name, value=value, current=there.get(name))
        for name in dict.fromkeys(self._alteration.delete_configs):
            if name in there or self._state.configs is None:
                yield DeleteConfigStep(name=name, current=there.get(name))
            else:
                self.notes.append(f"config {name} is not set for the topic")
